"""Verdicts on the papers' claims: the rule, the texts, and that nobody writes them by hand."""

import csv
import importlib
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.contract.public import DOCS, ROOT

FOLDER = DOCS / "reproduction"
COLUMNS = (
    "part,task,n_queries,n_database,n_train,method,n_bits,seed,measure,value,low,high,fit_seconds"
)
SEEDS = range(5)


@pytest.fixture(scope="module")
def modules():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "benchmarks"))
        yield importlib.import_module("claims"), importlib.import_module("verdicts")


@pytest.fixture(scope="module")
def claims(modules):
    return modules[0]


@pytest.fixture(scope="module")
def verdicts(modules):
    return modules[1]


def leads(mean, spread=0.001):
    """Five leads of this mean."""
    return tuple(mean + spread * np.array([-1.0, 0.5, 0.0, -0.5, 1.0]))


def judged(verdicts, table, rule="every"):
    """Verdict on lines of leads; each line is a tuple of means by length."""
    cells = [
        verdicts.Cell(("set", "left", f"rival {row}"), 8 * (column + 1), leads(mean))
        for row, line in enumerate(table)
        for column, mean in enumerate(line)
    ]
    return verdicts.judge(verdicts.test_cells(cells), rule)


@pytest.mark.parametrize(
    ("table", "rule", "verdict"),
    [
        ([(0.1, 0.1, 0.1)], "every", "confirmed"),
        ([(0.1, 0.1, 0.0)], "every", "confirmed"),
        ([(0.1, 0.0, 0.0)], "every", "undecided"),
        ([(0.1, 0.1, -0.1)], "every", "undecided"),
        ([(-0.1, -0.1, 0.0)], "every", "contradicted"),
        ([(0.1, 0.1), (-0.1, -0.1)], "every", "contradicted"),
        ([(0.1, 0.1), (0.0, 0.0)], "every", "undecided"),
        ([(0.1, 0.1), (-0.1, -0.1)], "most", "undecided"),
        ([(0.1, 0.1), (0.1, -0.1)], "most", "confirmed"),
        ([(-0.1, -0.1), (0.1, -0.1)], "most", "contradicted"),
        ([(-0.1, -0.1), (0.1, -0.1)], "some", "confirmed"),
        ([(-0.1, -0.1)], "some", "contradicted"),
        ([(-0.1, 0.0)], "some", "undecided"),
    ],
)
def test_the_rule(verdicts, table, rule, verdict):
    assert judged(verdicts, table, rule) == verdict


OPPOSITE = {"confirmed": "contradicted", "contradicted": "confirmed", "undecided": "undecided"}
LINES = st.lists(
    st.lists(st.sampled_from([-0.1, 0.0, 0.1]), min_size=1, max_size=4), min_size=1, max_size=4
)


@given(LINES)
def test_turned_leads_turn_the_verdict_of_one_line_and_of_most(table):
    verdicts = importlib.import_module("verdicts")
    turned = [[-mean for mean in line] for line in table]
    assert judged(verdicts, turned, "most") == OPPOSITE[judged(verdicts, table, "most")]
    one = judged(verdicts, table[:1])
    assert judged(verdicts, turned[:1]) == OPPOSITE[one]


@given(LINES, st.data())
def test_a_better_cell_never_makes_the_verdict_worse(table, data):
    verdicts = importlib.import_module("verdicts")
    row = data.draw(st.integers(0, len(table) - 1))
    column = data.draw(st.integers(0, len(table[row]) - 1))
    better = [list(line) for line in table]
    better[row][column] = 0.1
    order = ["contradicted", "undecided", "confirmed"]
    for rule in verdicts.RULES:
        before, after = judged(verdicts, table, rule), judged(verdicts, better, rule)
        assert order.index(after) >= order.index(before)


def test_few_seeds_decide_nothing(verdicts):
    for n in (1, 2):
        [tested] = verdicts.test_cells([verdicts.Cell(("a", "b", "c"), 8, (0.1,) * n)])
        assert tested.side == 0
        assert verdicts.judge([tested]) == "undecided"


def test_differences_of_chance_are_undecided(verdicts):
    """At the level .05 after Holm's correction, over many made-up claims of eight cells."""
    rng = np.random.default_rng(0)
    found = []
    for _ in range(200):
        cells = [
            verdicts.Cell(("set", "left", "rival"), bits, tuple(rng.normal(size=5)))
            for bits in range(8)
        ]
        found.append(any(each.side for each in verdicts.test_cells(cells)))
    assert np.mean(found) < 0.1


@pytest.fixture
def folder(tmp_path, claims):
    """A folder with one claim of each kind of comparison, and a way to give it results."""
    text = """
    [papers.p]
    title = "Title"
    authors = "Authors"
    """
    for name, more in KINDS.items():
        text += f"""
    [[claim]]
    id = "{name}"
    paper = "p"
    where = "section 1"
    ask = "Question {name}?"
    says = "Claim {name}."
    compare = [{{ part = "made", measure = "ap", {more} }}]
    """
    (tmp_path / "claims.toml").write_text(text)
    (tmp_path / "results").mkdir()

    def give(**values):
        with open(tmp_path / "results" / "made.csv", "w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(COLUMNS.split(","))
            for (method, task, bits), value in {**FIGURES, **values.pop("other", {})}.items():
                for seed, step in zip(SEEDS, leads(0)):
                    reach = 0.4 / bits
                    numbers = value + step, value + step - reach, value + step + reach
                    row = ["made", task, 10, 100, 50, method, bits, seed, "ap", *numbers, value]
                    writer.writerow(row)
        return {each.name: each for each in claims.judge_all(tmp_path)}

    give.folder = tmp_path
    return give


KINDS = {
    "rival": 'ours = ["good"], others = ["bad", "absent"]',
    "lower": 'ours = ["bad"], others = ["good"], lower = true',
    "number": 'ours = ["good"], number = 0.5, task = "one"',
    "task": 'ours = ["good"], task = "one", than = { task = "two" }',
    "shorter": 'ours = ["good"], than = { bits = "shorter" }',
    "range": 'ours = ["good"], range = true, than = { bits = "shorter" }, lower = true',
    "within": 'ours = ["good"], task = "one", than = { task = "two" }, within = 0.2',
    "far": 'ours = ["good"], task = "one", than = { task = "two" }, within = 0.01',
    "overlap": 'ours = ["good", "bad"], overlap = true, number = 0.5',
    "factor": 'ours = ["good"], others = ["bad"], factor = 5',
    "lead": 'ours = ["good"], others = ["bad"], lead = true, than = { bits = "shortest" }',
    "nobody": 'ours = ["absent"], others = ["good"]',
}
FIGURES = {
    (method, task, bits): 0.2 + 0.3 * (method == "good") + 0.1 * (task == "one") + bits / 1000
    for method in ("good", "bad")
    for task in ("one", "two")
    for bits in (8, 16, 32)
}
EXPECTED = {
    "rival": "confirmed",
    "lower": "confirmed",
    "number": "confirmed",
    "task": "confirmed",
    "shorter": "confirmed",
    "range": "confirmed",
    "within": "confirmed",
    "far": "contradicted",
    "overlap": "contradicted",
    "factor": "contradicted",
    "lead": "undecided",
    "nobody": "not tested",
}


def test_every_kind_of_comparison(folder):
    found = folder()
    assert {name: each.verdict for name, each in found.items()} == EXPECTED
    assert found["rival"].missing == ["absent"]
    sizes = [len(found[name].tested) for name in ("rival", "number", "shorter", "range")]
    assert sizes == [6, 3, 4, 4]


def test_other_numbers_are_another_verdict(folder, claims):
    assert folder()["rival"].verdict == "confirmed"
    before = claims.texts(folder.folder)["p.inc"]
    turned = {("bad", task, bits): 0.9 for task in ("one", "two") for bits in (8, 16, 32)}
    assert folder(other=turned)["rival"].verdict == "contradicted"
    after = claims.texts(folder.folder)["p.inc"]
    assert "**Confirmed.** As claimed in 6 of 6" in before
    assert "**Contradicted.** As claimed in 0 of 6 comparisons, the opposite in 6" in after
    level = {("bad", task, bits): FIGURES["good", task, bits] for _, task, bits in turned}
    assert folder(other=level)["rival"].verdict == "undecided"


def test_texts_hold_the_numbers(folder, claims):
    folder()
    text = claims.texts(folder.folder)["p.inc"]
    assert '"one", "``good``", "``bad``", "**+.300** ±.000"' in text
    assert ".. _claim-rival:" in text
    assert "Without results: ``absent``." in text
    questions = claims.texts(folder.folder)["questions.inc"]
    assert ":ref:`Question rival? <claim-rival>`\n     - confirmed\n" in questions


def test_pictures_are_drawn(folder, claims):
    pytest.importorskip("matplotlib")
    folder()
    figure = claims.draw({each.name: each for each in claims.judge_all(folder.folder)}["rival"])
    [axes] = figure.axes
    assert [label.get_text() for label in axes.get_yticklabels()] == [
        "good / bad (1)",
        "good / bad (2)",
    ]
    assert [len(each.get_offsets()) for each in axes.collections[1::2]] == [2, 2, 2]


def test_the_page_has_what_the_results_give(claims):
    """``python benchmarks/claims.py`` writes it anew."""
    for name, text in claims.texts(FOLDER).items():
        written = (FOLDER / "verdicts" / name).read_text(encoding="utf-8")
        assert written == text, f"{name}: run python benchmarks/claims.py"


def test_every_claim_has_a_verdict_and_a_place_on_the_page(claims):
    judged = claims.judge_all(FOLDER)
    assert len(judged) >= 90
    assert len({each.name for each in judged}) == len(judged)
    assert {each.verdict for each in judged} <= set(claims.VERDICTS)
    page = "".join(claims.texts(FOLDER).values())
    for each in judged:
        assert page.count(f".. _claim-{each.name}:") == 1, each.name
        kinds = [kind for kind in ("shown", "untested", "compare") if kind in each.claim]
        assert len(kinds) == 1, each.name
    papers = claims.read_claims(FOLDER)["papers"]
    assert {each.claim["paper"] for each in judged} == set(papers)
    rst = (DOCS / "reproduction.rst").read_text(encoding="utf-8")
    for name in ("questions", "counts", *papers):
        assert f".. include:: reproduction/verdicts/{name}.inc" in rst


def test_claims_of_mathematics_name_tests_that_are_there(claims):
    for claim in claims.read_claims(FOLDER)["claim"]:
        if "shown" in claim:
            path, name = claim["shown"].split("::")
            assert f"def {name}(" in (ROOT / path).read_text(encoding="utf-8"), claim["id"]


def test_comparisons_name_methods_and_places_that_results_have(claims):
    results = claims.Results.read(FOLDER / "results")
    parts = {part for part, _, _ in results.runs}
    for claim in claims.read_claims(FOLDER)["claim"]:
        for compared in claim.get("compare", ()):
            if compared["part"] in parts:
                tasks = results.tasks(compared["part"])
                assert compared.get("task", tasks[0]) in tasks, claim["id"]


WHO_IS_AHEAD = re.compile(
    r"\b(ahead|behind|better|worse|best|beats?|outperforms?|wins?|gains?|loses?|confirmed|contradicted)\b"
)


def test_nobody_writes_by_hand_who_is_ahead():
    """The page itself explains; what it says of methods comes from results."""
    text = (DOCS / "reproduction.rst").read_text(encoding="utf-8")
    text = (
        text[: text.index("How verdicts are made")] + text[text.index("What stands in for what") :]
    )
    assert WHO_IS_AHEAD.findall(text) == []
    assert Path(FOLDER / "claims.toml").is_file()
