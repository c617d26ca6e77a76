"""Means, marks and their notation."""

import csv
import io
import math
from dataclasses import replace

import numpy as np
import pytest

from sklearn_hashrank.comparison._best import marked_method
from sklearn_hashrank.comparison._columns import COLUMNS
from sklearn_hashrank.comparison._result_tables import (
    Notation,
    csv_cell,
    escape_latex,
    escape_markdown,
    summarize,
    to_csv,
    to_latex,
    to_markdown,
)
from sklearn_hashrank.comparison._runner import RunResult


def results(**values):
    """Runs of 8 bits, each method with its AP of seed 0, 1, ..."""
    return [
        RunResult(
            method, 8, seed, {"ap": ap, "ap_pessimistic": ap - 0.1, "ap_optimistic": ap + 0.1}
        )
        for method, of_seeds in values.items()
        for seed, ap in enumerate(of_seeds)
    ]


def marked(values, queries=None):
    """Name of the marked method, by values of seeds and of their queries."""
    runs = [
        RunResult(
            method, 8, seed, {"ap": value},
            {"of_queries": {"ap": queries[method][seed]}} if queries else {},
        )
        for method, of_seeds in values.items()
        for seed, value in of_seeds.items()
    ]  # fmt: skip
    return marked_method(runs, "ap", 8)


@pytest.mark.parametrize(
    ("values", "best"),
    [
        ({"a": [0.5, 0.6], "b": [0.4, 0.5]}, "a"),  # paired: the difference does not vary
        ({"a": [0.5, 0.6], "b": [0.45, 0.54]}, None),  # ahead by .055 +- .005: t = 11, p = .058
        ({"a": [0.5, 0.6, 0.7], "b": [0.45, 0.54, 0.64]}, "a"),  # t = 17, p = .003
        ({"a": [0.5, 0.6], "b": [0.55, 0.5]}, None),  # ahead by .025 +- .075
        ({"a": [0.5, 0.6], "b": [0.5, 0.6]}, None),  # equal
        ({"a": [0.6], "b": [0.1]}, None),  # a single seed
        ({"a": [0.5, 0.6]}, None),  # a single method
        ({"a": [0.50, 0.60, 0.70], "b": [0.49, 0.61, 0.69], "c": [0.1, 0.1, 0.1]}, None),
        ({"a": [0.5, 0.6], "b": []}, None),
    ],
)
def test_best_is_ahead_over_seeds(values, best):
    values = {method: dict(enumerate(of_seeds)) for method, of_seeds in values.items()}
    assert marked(values) == best


def test_the_leader_must_be_ahead_of_everyone_not_only_of_the_runner_up():
    steady = {0: 0.5, 1: 0.5, 2: 0.5}
    runner_up = {0: 0.45, 1: 0.45, 2: 0.45}
    erratic = {0: 0.8, 1: 0.2, 2: 0.3}
    assert marked({"steady": steady, "runner_up": runner_up}) == "steady"
    assert marked({"steady": steady, "runner_up": runner_up, "erratic": erratic}) is None


def test_best_is_ahead_over_queries_too():
    """Two seeds that happen to agree are no evidence where their queries do not."""
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(2, 2, 50)) * 0.3
    noise -= noise.mean(axis=2, keepdims=True)
    for ahead, best in ((0.01, None), (0.4, "a")):
        queries = {
            "a": {seed: (0.5 + ahead + noise[0, seed]).tolist() for seed in range(2)},
            "b": {seed: (0.5 + noise[1, seed]).tolist() for seed in range(2)},
        }
        values = {m: {s: float(np.mean(v)) for s, v in each.items()} for m, each in queries.items()}
        values["b"] = {seed: values["a"][seed] - ahead for seed in range(2)}
        assert marked(values) == "a"
        assert marked(values, queries) == best


@pytest.mark.parametrize("n_rivals", [1, 4])
def test_equal_methods_are_seldom_best(n_rivals):
    """Under the hypothesis that all are alike, at most one time in twenty."""
    rng = np.random.default_rng(0)
    n_trials, n_seeds, n_queries, n_marked = 400, 3, 40, 0
    for _ in range(n_trials):
        of_seed = rng.normal(size=(n_rivals + 1, n_seeds, 1)) * 0.03
        drawn = 0.5 + of_seed + rng.normal(size=(n_rivals + 1, n_seeds, n_queries)) * 0.2
        queries = {
            str(m): {s: list(drawn[m, s]) for s in range(n_seeds)} for m in range(len(drawn))
        }
        values = {m: {s: float(np.mean(v)) for s, v in each.items()} for m, each in queries.items()}
        n_marked += marked(values, queries) is not None
    assert n_marked / n_trials <= 0.05 + 4 * math.sqrt(0.05 * 0.95 / n_trials)


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        ([0.0103, 0.0107], ".0105 ± .0003"),
        ([0.010301, 0.010345], ".01032 ± .00003"),
        ([0.7, 0.71], ".705 ± .007"),
        ([0.70003, 0.70005], ".70004 ± .00001"),
        ([0.0103], ".0103"),
        ([0.7], ".700"),
        ([0.000001, 0.000002], ".00000 ± .00000"),
        ([0.1, 0.1 + 1e-15], ".100 ± .000"),
        ([0.0363, 0.0363 + 1e-15], ".0363 ± .0000"),
    ],
)
def test_digits_follow_the_spread(values, shown):
    runs = [RunResult("a", 8, seed, {"ph2": value}) for seed, value in enumerate(values)]
    assert f" {shown} |" in to_markdown(summarize(runs, COLUMNS))


def test_means_deviations_and_ranges():
    [table] = summarize(results(a=[0.5, 0.7, 0.6], b=[0.1, 0.1, 0.1]), COLUMNS)
    cell = table.cells["a", 8]
    assert cell.mean == pytest.approx(0.6)
    assert cell.deviation == pytest.approx(0.1)
    assert (cell.low, cell.high) == pytest.approx((0.5, 0.7))
    assert cell.best
    assert not table.cells["b", 8].best


def test_markdown():
    found = to_markdown(summarize(results(**{"a|b": [0.5, 0.7], "c": [0.1, 0.3]}), COLUMNS))
    assert found.splitlines()[2:] == [
        "| method |                        8 bits |",
        "| ------ | ----------------------------: |",
        "| a\\|b   | **.600** ± .141 [.500 \N{EN DASH} .700] |",
        "| c      |     .200 ± .141 [.100 \N{EN DASH} .300] |",
    ]


def test_latex():
    found = to_latex(summarize(results(a_b=[0.5, 0.7], c=[0.1, 0.3]), COLUMNS))
    assert r"a\_b & \textbf{.600} $\pm$ .141 [.500 -- .700] \\" in found
    assert r"\caption{AP$_T$: mean $\pm$ standard deviation over seeds, " in found
    assert found.count(r"\begin{tabular}{lr}") == found.count(r"\end{tabular}") == 1
    assert r"\label{tab:ap}" in found
    own = to_latex(summarize(results(a=[0.5, 0.7]), COLUMNS), caption="50 % of all")
    assert r"\caption{50 \% of all}" in own


def test_one_table_for_all_measures():
    runs = [
        replace(r, scores={**r.scores, "ph2": r.scores["ap"] / 2})
        for r in results(a=[0.5, 0.7, 0.61], b=[0.1, 0.3, 0.2])
    ]
    runs += [replace(r, n_bits=16) for r in runs]
    tables = summarize(runs, COLUMNS)
    found = to_latex(tables, Notation(2, False), "Three seeds.", is_combined=True)
    assert found.count(r"\label{tab:comparison}") == 1
    assert found.count(r"\begin{tabular}{lrrrr}") == found.count(r"\end{table}") == 1
    assert r" & \multicolumn{2}{c}{AP$_T$} & \multicolumn{2}{c}{PH2} \\" in found
    assert r"\cmidrule(lr){2-3} \cmidrule(lr){4-5}" in found
    assert "method & 8 bits & 16 bits & 8 bits & 16 bits" in found
    assert r"b & .20 $\pm$ .10 & .20 $\pm$ .10 & .10 $\pm$ .05 & .10 $\pm$ .05 \\" in found
    assert r"\caption{AP$_T$, PH2: mean $\pm$ standard deviation over seeds. Three seeds.}" in found
    rows = [line for line in found.splitlines() if line.endswith(r"\\")]
    widths = [line.count("&") for line in rows if "multicolumn" not in line]
    assert set(widths) == {4}


@pytest.mark.parametrize("wrong", [{"decimals": -1}, {"decimals": 1.5}, {"ranges": 1}])
def test_wrong_notations_of_cells(wrong):
    with pytest.raises(ValueError, match=f"{next(iter(wrong))} must be"):
        Notation(**wrong)


def test_times_have_three_significant_digits():
    runs = [RunResult("a", 8, s, {"fit_seconds": t}) for s, t in enumerate((0.000123456, 0.0002))]
    runs += [RunResult("b", 8, s, {"fit_seconds": t}) for s, t in enumerate((1234.5, 1234.5))]
    found = to_markdown(summarize(runs, COLUMNS))
    assert " .000162 ± .000054 |" in found
    assert " 1234 ± 0 |" in found
    assert "**." not in found  # no time is best, however clear


def test_csv_keeps_every_digit_and_quotes():
    value = 0.1 + 0.2
    found = to_csv([RunResult("a,b", 8, 0, {"ap": value}), RunResult("c", 8, 0, error='a "b", c')])
    assert found.splitlines() == [
        "method,n_bits,seed,ap,error",
        f'"a,b",8,0,{value!r},',
        'c,8,0,,"a ""b"", c"',
    ]


HOSTILE = "<script>alert('1')</script> ![x](http://x) `c` *b* _i_ |\n\x1b[31m \udc80 &amp; $\\foo$"


def test_names_are_text_in_every_format():
    markdown = to_markdown(summarize(results(**{HOSTILE: [0.5, 0.7]}), COLUMNS))
    assert len(markdown.splitlines()) == 5
    [row] = [line for line in markdown.splitlines() if "script" in line]
    assert row.startswith("| &lt;script&gt;alert('1')&lt;/script&gt; \\!\\[x\\](http://x) \\`c\\`")
    assert r"\*b\* \_i\_ \| \\x1b\[31m \\udc80 &amp;amp; \$\\foo\$ |" in row
    latex = to_latex(summarize(results(**{HOSTILE: [0.5, 0.7]}), COLUMNS))
    assert r"\textless{}script\textgreater{}" in latex
    assert r"\textbar{} \textbackslash{}x1b[31m" in latex
    text = to_csv([RunResult(HOSTILE, 8, 0, error=HOSTILE)])
    assert len(text.splitlines()) == 2
    (markdown + latex + text).encode("utf-8")


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t=", "\r", "\uff1d"])
def test_no_text_of_a_csv_file_is_a_formula(start):
    name = f"{start}HYPERLINK(1)"
    text = to_csv([RunResult(name, 8, 0, {name: -0.5}, error=name)])
    for row in csv.reader(io.StringIO(text)):
        assert not any(cell.lstrip().startswith(("=", "+", "@", "\uff1d")) for cell in row)
    assert csv_cell(-0.5) == -0.5  # a number is none
    assert csv_cell("talr-ap") == "talr-ap"


def test_ordinary_names_stay_as_they_are():
    assert escape_markdown("talr-ap:batch_size=5") == "talr-ap:batch_size=5"
    assert escape_latex("talr-ap") == "talr-ap"
    assert escape_latex("[x]") == "{}[x]"  # after a line break [ would begin an option
