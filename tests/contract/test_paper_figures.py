"""The papers' figures and the tables beside them say what their results say."""

import csv
import json

import numpy as np
import pytest

from benchmarks.papers import (
    ablation_tables,
    ablations,
    claims,
    code_usage,
    paper_figures,
    retrieved_pictures,
    rsh_times,
    tie_tables,
    time_tables,
)
from tests.contract.public import DOCS

FOLDER = DOCS / "notes" / "reproduction"


def write(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)


@pytest.fixture
def times(tmp_path):
    """Times of two methods: the same to encode, RSH three times as long to train.

    The first turn is twice as slow as the second.
    """
    rows = [
        ["one", work, method, 4, n_rows, n_bits, turn, (2 - turn) * n_rows * n_bits * factor / 1e6]
        for turn in (0, 1)
        for work, counts in (("encode", (100, 1000)), ("train", (50, 500)))
        for method, factor in (("ssh", 1), ("rsh-paper", 3 if work == "train" else 1))
        for n_rows, n_bits in rsh_times.places(counts)
    ]
    write(tmp_path / "times" / "rsh_times.csv", [rsh_times.COLUMNS, *rows])
    about = {
        "titles": {"one": "Set one"},
        "machine": "a machine",
        "turns": 2,
        "load": 3,
        "command": "run",
    }
    (tmp_path / "times" / "rsh_times.json").write_text(json.dumps(about))
    return tmp_path


def test_times_by_rows_have_the_most_bits_and_the_other_way_round(times):
    assert rsh_times.places((50, 500)) == [(50, 32), *((500, n) for n in (8, 16, 24, 32))]
    lines = paper_figures.read(times / "times" / "rsh_times.csv")
    seconds = paper_figures.fastest(lines)
    assert paper_figures.seconds_by(seconds, "train", "n_rows") == (
        32,
        {"ssh": [(50, 0.0016), (500, 0.016)], "rsh-paper": [(50, 0.0048), (500, 0.048)]},
    )
    most, found = paper_figures.seconds_by(seconds, "train", "n_bits")
    assert most == 500
    assert [bits for bits, _ in found["ssh"]] == [8, 16, 24, 32]


def test_the_table_of_times_is_beside_ssh(times):
    text = time_tables.rsh_times(times)
    assert (
        "*Set one*: over all numbers of rows and bits, RSH as printed trains 3.00 to 3.00" in text
    )
    assert '"``rsh-paper``", "8.00", "32.0", "0.00480", "0.0120", "0.0480"' in text
    assert "the fastest of 2 turns (``run``). Measured on a machine, at a load of 3 by" in text
    assert time_tables.rsh_times(times / "nothing") == time_tables.NOTHING


def test_figures_without_results_are_not_drawn(tmp_path):
    pytest.importorskip("matplotlib")
    paper_figures.write_pictures(tmp_path)
    assert list((tmp_path / "pictures").iterdir()) == []


@pytest.fixture(scope="module")
def drawn():
    pytest.importorskip("matplotlib")
    return {name: draw(FOLDER) for name, draw in paper_figures.FIGURES.items()}


def test_every_figure_is_drawn_and_on_the_page(drawn):
    page = (DOCS / "notes" / "reproduction.rst").read_text(encoding="utf-8")
    for name, figure in drawn.items():
        assert figure is not None, name
        assert page.count(f".. image:: reproduction/pictures/{name}.svg\n   :alt: ") == 1, name
    assert page.count(".. image:: reproduction/retrieved.png\n   :alt: ") == 1
    assert (FOLDER / "retrieved.png").stat().st_size < 300_000


def test_ranges_of_ties_are_drawn_from_worst_to_best(drawn):
    figure = drawn["tie-ranges"]
    assert [ax.get_title() for ax in figure.axes] == ["12 bits", "24 bits", "32 bits", "48 bits"]
    names = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    results = claims.Results.read(FOLDER)
    low, high = zip(*results.ranges("talr_cifar", "setting-1", "ap", names[-1], 48).values())
    [[start, end]] = figure.axes[-1].collections[-1].get_segments()
    assert (start[0], end[0]) == pytest.approx((np.mean(low), np.mean(high)))


def test_curves_have_points_at_every_rank(drawn):
    by_recall, by_rank, *_ = drawn["lwh-curves"].axes
    for recall, rank in zip(by_recall.lines, by_rank.lines):
        assert list(rank.get_xdata()) == sorted(rank.get_xdata())
        assert len(rank.get_xdata()) >= 6
        assert list(recall.get_xdata()) == list(rank.get_ydata())  # recall both times


def test_boxes_of_trials_have_three_orders_of_each_length(drawn):
    [ax] = drawn["tie-trials"].axes
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        "worst order",
        "mean of all orders",
        "best order",
    ]
    assert len(ax.patches) == 3 * len(ax.get_xticks())


def test_usage_counts_codes_that_hold_so_many_rows():
    codes = np.array([[0, 1], [0, 1], [1, 1], [0, 0]])
    assert code_usage.usage(codes) == [(1, 2), (2, 1)]
    about = json.loads((FOLDER / "usage" / "code_usage.json").read_text(encoding="utf-8"))
    held = {}
    for line in paper_figures.read(FOLDER / "usage" / "code_usage.csv"):
        n_rows = int(line["n_rows"]) * int(line["n_codes"])
        held[line["method"]] = held.get(line["method"], 0) + n_rows
    assert set(held) == set(code_usage.OF_USAGE)
    assert set(held.values()) == {about["n_database"]}


def test_likeness_is_a_share_of_the_coarse_class():
    rng = np.random.default_rng(0)
    distances = rng.integers(0, 5, (7, 30))
    coarse = rng.random((7, 30)) < 0.5
    fine = coarse & (rng.random((7, 30)) < 0.5)
    near, far = [], []
    for row in range(7):
        within = [k for k in range(30) if coarse[row, k] and distances[row, k] <= 1]
        at_two = [k for k in range(30) if coarse[row, k] and distances[row, k] == 2]
        if within and at_two:
            near.append(np.mean([fine[row, k] for k in within]))
            far.append(np.mean([fine[row, k] for k in at_two]))
    assert code_usage.alike(distances, coarse, fine) == pytest.approx([np.mean(near), np.mean(far)])


def test_a_slack_for_all_is_that_of_the_worst_batch():
    """One slack is never above a slack each, which may choose another ranking for each query."""
    rng = np.random.default_rng(0)
    queries, weights = rng.normal(size=(6, 5)), rng.normal(size=(5, 3))
    batches = [(rng.normal(size=(6, 5)), rng.random(6)) for _ in range(4)]
    slacks = {}
    for name, master in ablations.SOLVERS.items():
        solver = master(queries, 0.01, np.random.RandomState(0), patience=np.inf)
        for batch in batches:
            solver.add(*batch)
        slacks[name] = solver.slack(weights)
    gram = weights @ weights.T
    violations = np.array(
        [losses - np.einsum("qi,ij,qj->q", queries, gram, a) for a, losses in batches]
    )
    violations = np.vstack([np.zeros(6), violations])  # the true rankings
    each, one = violations.max(axis=0).mean(), violations.mean(axis=1).max()
    assert slacks[ablations.SLACK_EACH] == pytest.approx(each, rel=1e-5)
    assert slacks[ablations.ONE_SLACK] == pytest.approx(one, rel=1e-5)
    assert one < each


def test_correlation_of_bits_is_a_mean_over_pairs():
    codes = np.array([[0, 0, 1], [0, 0, 0], [1, 1, 1], [1, 1, 0]])
    assert ablations.squared_correlation(codes) == pytest.approx(1 / 3)
    never = np.column_stack([codes, np.ones(4, int)])
    assert ablations.squared_correlation(never) == pytest.approx(1 / 3)
    assert ablations.squared_correlation(1 - codes) == pytest.approx(1 / 3)


def test_tables_of_ablations_have_means_over_the_seeds():
    results = claims.Results.read(FOLDER)
    for part, measures in ablation_tables.PARTS.items():
        text = ablation_tables.text_of(results, FOLDER, part)
        for measure in measures:
            [first, *_] = results.tasks(part)
            runs = results.runs[part, first, measure]
            (method, _), by_seed = next(iter(sorted(runs.items())))
            mean = np.mean([value for value, _, _ in by_seed.values()])
            shown = f"{mean:.4f}" if measure == "bit_correlation" else f"{mean:.2f}"
            assert f'"``{method}``", "{shown} ±' in text
        assert f"5 seeds (``python -m benchmarks.papers.ablations {part} --data" in text
    assert ablation_tables.text_of(claims.Results({}), FOLDER, "slacks") == (
        ablation_tables.NOTHING
    )


def test_pictures_are_the_nearest_first_and_of_a_query_with_many():
    distances = np.array([[3, 1, 0, 2, 2, 9], [1, 1, 2, 0, 2, 2]])
    assert list(retrieved_pictures.retrieved(distances[0], True)) == [2, 1]
    assert list(retrieved_pictures.retrieved(distances[0], False)) == [3, 4]
    assert retrieved_pictures.choose_query([distances], [0, 1]) == 1


def test_one_random_order_stands_beside_what_is_printed():
    nothing = np.nan, np.nan
    at = ("tie_orders", "setting-1")
    runs = {
        (*at, "ap"): {("bre", 32): {0: (0.5, 0.4, 0.6), 1: (0.52, 0.42, 0.62)}},
        (*at, "ap:one random order"): {("bre", 32): {0: (0.501, *nothing), 1: (0.523, *nothing)}},
    }
    text = tie_tables.unaware(claims.Results(runs))
    row = '"``bre``", ".510", ".512", ".410 to .610", ".502", ".500", ".465 to .543"'
    assert row in text
    assert "32 bits; 2 seeds" in text
    assert '"``fasthash``", "", "", "", ".742", ".742", ".710 to .770"' in text
