"""Verdicts on the papers' claims: the rule, the texts, and that nobody writes them by hand."""

import csv
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.papers import claims, experiments, papers, tie_orders, tie_tables, verdicts
from tests.contract.public import DOCS, ROOT

FOLDER = DOCS / "notes" / "reproduction"
COLUMNS = (
    "part,task,n_queries,n_database,n_train,method,n_bits,seed,measure,value,low,high,fit_seconds"
)
SEEDS = range(5)


def leads(mean, spread=0.001):
    """Five leads of this mean."""
    return tuple(mean + spread * np.array([-1.0, 0.5, 0.0, -0.5, 1.0]))


def judged(table, rule="every"):
    """Verdict on lines of leads; each line is a tuple of means by length."""
    cells = [
        verdicts.Cell(("set", "left", f"rival {row}"), 8 * (column + 1), leads(mean))
        for row, line in enumerate(table)
        for column, mean in enumerate(line)
    ]
    return verdicts.judge(verdicts.tested_cells(cells, rule), rule)


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
def test_the_rule(table, rule, verdict):
    assert judged(table, rule) == verdict


OPPOSITE = {"confirmed": "contradicted", "contradicted": "confirmed", "undecided": "undecided"}
LINES = st.lists(
    st.lists(st.sampled_from([-0.1, 0.0, 0.1]), min_size=1, max_size=4), min_size=1, max_size=4
)


@settings(max_examples=30)
@given(LINES)
def test_turned_leads_turn_the_verdict_of_one_line_and_of_most(table):
    turned = [[-mean for mean in line] for line in table]
    assert judged(turned, "most") == OPPOSITE[judged(table, "most")]
    one = judged(table[:1])
    assert judged(turned[:1]) == OPPOSITE[one]


@settings(max_examples=30)
@given(LINES, st.data())
def test_a_better_cell_never_makes_the_verdict_worse(table, data):
    row = data.draw(st.integers(0, len(table) - 1))
    column = data.draw(st.integers(0, len(table[row]) - 1))
    better = [list(line) for line in table]
    better[row][column] = 0.1
    order = ["contradicted", "undecided", "confirmed"]
    for rule in verdicts.RULES:
        before, after = judged(table, rule), judged(better, rule)
        assert order.index(after) >= order.index(before)


def test_few_seeds_decide_nothing():
    for n in (1, 2):
        [tested] = verdicts.tested_cells([verdicts.Cell(("a", "b", "c"), 8, (0.1,) * n)], "every")
        assert tested.side == 0
        assert verdicts.judge([tested]) == "undecided"


def test_cells_of_few_seeds_do_not_raise_the_p_values_of_others():
    enough = verdicts.Cell(("a", "b", "c"), 8, leads(0.1))
    few = [verdicts.Cell(("a", "b", "c"), n, (0.1, 0.1)) for n in range(30)]
    alone, beside = (
        verdicts.tested_cells(cells, "every")[0] for cells in ([enough], [enough, *few])
    )
    assert alone.p_value == beside.p_value < 0.001


def test_lines_are_corrected_for_on_the_side_where_one_decides():
    """Raw p-values of .02 and .04: two lengths of a line, of ten lines."""
    unit = np.array([-1.0, 0.5, 0.0, -0.5, 1.0])
    steps = unit.std(ddof=1) / np.sqrt(5) * np.array([3.747, 2.999])  # t with 4 degrees
    for sign, rule, n in ((1, "every", 2), (-1, "every", 20), (1, "most", 20), (-1, "some", 2)):
        cells = [
            verdicts.Cell(("set", "left", f"rival {row}"), bits, tuple(sign * step + unit))
            for row in range(10)
            for bits, step in enumerate(steps)
        ]
        tested = verdicts.tested_cells(cells, rule)
        assert tested[0].p_value == pytest.approx(0.02 * n, rel=0.01)
        assert all(each.side == sign for each in tested) == (n == 2)


def test_differences_of_chance_are_undecided():
    """At the level .05 after Holm's correction, over many made-up claims of eight cells."""
    rng = np.random.default_rng(0)
    found = []
    for _ in range(200):
        cells = [
            verdicts.Cell(("set", "left", "rival"), bits, tuple(rng.normal(size=5)))
            for bits in range(8)
        ]
        found.append(any(each.side for each in verdicts.tested_cells(cells, "every")))
    assert np.mean(found) < 0.1


@pytest.fixture
def folder(tmp_path):
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
    "rival": 'ours = ["good"], others = ["bad"]',
    "without": 'ours = ["good"], others = ["bad", "absent"]',
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
    "length": 'ours = ["good"], than = { bits = 16 }, bits = [32]',
    "no length": 'ours = ["good"], than = { bits = 12 }, bits = [32]',
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
    "without": "undecided",
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
    "length": "confirmed",
    "no length": "not tested",
    "nobody": "not tested",
}


def test_every_kind_of_comparison(folder):
    found = folder()
    assert {name: each.verdict for name, each in found.items()} == EXPECTED
    assert found["without"].missing == {"absent": {}}
    assert not any(found[name].missing for name in EXPECTED if name not in ("without", "nobody"))
    names = ("rival", "number", "shorter", "range", "length")
    assert [len(found[name].tested) for name in names] == [6, 3, 4, 4, 2]


@pytest.mark.parametrize(
    ("rule", "ours", "alone", "with_an_absent_rival"),
    [
        ("every", "good", "confirmed", "undecided"),
        ("every", "bad", "contradicted", "contradicted"),
        ("most", "good", "confirmed", "undecided"),
        ("most", "bad", "contradicted", "contradicted"),
        ("some", "good", "confirmed", "confirmed"),
        ("some", "bad", "contradicted", "undecided"),
    ],
)
def test_methods_without_results_could_not_agree(folder, rule, ours, alone, with_an_absent_rival):
    folder()
    results = claims.Results.read(folder.folder)
    other = "bad" if ours == "good" else "good"
    for rivals, verdict in (([other], alone), ([other, "absent"], with_an_absent_rival)):
        compared = {"part": "made", "measure": "ap", "ours": [ours], "others": rivals}
        claim = {"id": "c", "rule": rule, "compare": [compared]}
        assert claims.judge_claim(claim, results).verdict == verdict


@pytest.mark.parametrize(
    ("lacking", "text"),
    [
        ([("one", 16)], "``bad`` (16 bits of one)"),
        ([("one", 8), ("one", 32)], "``bad`` (8, 32 bits of one)"),
        ([("two", 8), ("two", 16), ("two", 32)], "``bad`` (8, 16, 32 bits of two)"),
    ],
)
def test_a_rival_without_some_results_could_not_agree(folder, lacking, text):
    folder()
    assert without(folder, {"bad"}, lacking) == ("undecided", f"Without results: {text}.")
    # Of lengths and sets that neither side has, nothing is missing.
    assert without(folder, {"bad", "good"}, lacking) == ("confirmed", "")


def without(folder, methods, lacking):
    """Verdict on the first claim, and what it says is missing, without some results."""
    path = folder.folder / "results" / "made.csv"
    before = path.read_text()
    gone = [f",{task},10,100,50,{name},{bits}," for task, bits in lacking for name in methods]
    kept = [line for line in before.splitlines() if not any(each in line for each in gone)]
    path.write_text("\n".join(kept) + "\n")
    [claim] = [c for c in claims.read_claims(folder.folder)["claim"] if c["id"] == "rival"]
    judged = claims.judge_claim(claim, claims.Results.read(folder.folder))
    path.write_text(before)
    return judged.verdict, "".join(re.findall(r"Without results: .*\.", claims.sentence(judged)))


def test_rows_that_an_experiment_declares_are_missing_until_they_are_run():
    declared = claims.DECLARED["talr_cifar", "setting-1"]
    figures = {seed: (0.6 + lead, 0.5, 0.7) for seed, lead in zip(SEEDS, leads(0))}
    behind = {seed: (0.5, 0.4, 0.6) for seed in SEEDS}
    runs = {("talr-ap", n): figures for n in declared.n_bits}
    runs |= {("mihash", n): behind for n in declared.n_bits}
    results = claims.Results({("talr_cifar", "setting-1", "ap"): runs})
    compared = {"part": "talr_cifar", "measure": "ap", "ours": ["talr-ap"], "others": ["mihash"]}
    claim = {"id": "c", "compare": [compared]}
    assert claims.judge_claim(claim, results).verdict == "confirmed"
    runs |= {("talr-ap", 99): figures}  # nobody asked for it
    assert claims.judge_claim(claim, results).verdict == "confirmed"
    del runs["mihash", declared.n_bits[0]], runs["talr-ap", declared.n_bits[0]]
    assert claims.judge_claim(claim, results).verdict == "undecided"


def test_other_numbers_are_another_verdict(folder):
    assert folder()["rival"].verdict == "confirmed"
    before = claims.texts(folder.folder)["p.inc"]
    turned = {("bad", task, bits): 0.9 for task in ("one", "two") for bits in (8, 16, 32)}
    assert folder(other=turned)["rival"].verdict == "contradicted"
    after = claims.texts(folder.folder)["p.inc"]
    assert "**Confirmed.** As claimed in 6 of 6" in before
    assert "**Contradicted.** As claimed in 0 of 6 comparisons, the opposite in 6" in after
    level = {("bad", task, bits): FIGURES["good", task, bits] for _, task, bits in turned}
    assert folder(other=level)["rival"].verdict == "undecided"


@pytest.mark.parametrize(
    ("table", "answer"),
    [
        ([(0.1, 0.1), (0.1, 0.1)], "Yes."),
        ([(0.1, 0.1), (-0.1, -0.1)], "Not always."),
        ([(-0.1, -0.1), (0.0, 0.0)], "No."),
        ([(0.1, 0.1), (0.1, 0.1), (0.0, 0.0)], "Mostly; not certain everywhere."),
        ([(0.1, 0.1), (0.0, 0.0), (0.0, 0.0)], "Not known."),
        ([], "Not known."),
    ],
)
def test_the_answer_is_made_from_all_lines(table, answer):
    cells = [
        verdicts.Cell(("set", "left", f"rival {row}"), 8 * (column + 1), leads(mean))
        for row, line in enumerate(table)
        for column, mean in enumerate(line)
    ]
    tested = verdicts.tested_cells(cells, "every")
    verdict = verdicts.judge(tested) if tested else claims.NOT_TESTED
    assert claims.answer(claims.Judged({}, verdict, tested)) == answer


def test_a_question_of_readers_takes_every_comparison_of_two_methods():
    """Each is taken once, with all lengths, and the question of a claim has its condition."""
    read = claims.read_claims(FOLDER)["claim"]
    [asked] = [claim for claim in read if claim.get("ask") == "Is TALR better than HashNet?"]
    sets = {(given["part"], given.get("task")) for given in asked["compare"]}
    assert {("talr_cifar", "setting-1"), ("talr_cifar", "setting-2")} < sets
    assert {part for part, _ in sets} >= {"talr_imagenet", "talr_nus_wide"}
    for claim in read:
        for condition in ("With many classes", "By NDCG", "On several labels"):
            if claim["says"].startswith(condition) and "ask" in claim:
                assert condition.lower() in claim["ask"].lower()


def test_a_line_on_both_sides_says_at_which_lengths(folder):
    found = folder(other={("bad", "one", 32): 0.9})
    assert found["rival"].verdict == "undecided"
    text = claims.because(found["rival"])
    assert text.startswith(
        "1 of 2 lines for it, 0 against it, 1 for it at one length and against it at another. "
    )
    assert text.endswith("p < .001, for it at 8, 16 bits and against it at 32 bits.")
    assert "for it at 8, 16 bits and against it at 32 bits" in claims.sentence(found["rival"])
    assert "at one length" not in claims.because(found["task"])


def test_each_factor_has_a_line(folder):
    folder()
    compared = {"part": "made", "measure": "ap", "ours": ["good"], "others": ["bad"]}
    between = [compared | {"factor": 1.5}, compared | {"factor": 9, "lower": True}]
    claim = {"id": "c", "compare": between}
    judged = claims.judge_claim(claim, claims.Results.read(folder.folder))
    assert judged.verdict == "confirmed"
    rights = {each.cell.line[2] for each in judged.tested}
    assert rights == {"bad, times 1.5", "bad, times 9"}


def test_two_values_that_are_near_are_told_by_their_distance(folder):
    assert "against ``two``: at most .1000 apart, p < .001" in claims.because(folder()["within"])


def test_where_results_are_missing_is_said(folder):
    declared = claims.Judged({"compare": [{}]}, "undecided", missing={"a": {}, "b": {"one": [8]}})
    sets = {method: dict.fromkeys(places) for method, places in declared.missing.items()}
    assert [claims._missing(*each) for each in sets.items()] == [
        "``a``",
        "``b`` (one)",
    ]


@pytest.mark.parametrize(("far", "scale"), [(0.2, "linear"), (0.9, "symlog")])
def test_pictures_show_0_and_every_lead(folder, far, scale):
    pytest.importorskip("matplotlib")
    other = {("bad", task, 8): FIGURES["good", task, 8] - far for task in ("one", "two")}
    near = {("bad", t, n): FIGURES["good", t, n] - 0.1 for t in ("one", "two") for n in (16, 32)}
    judged = folder(other=other | near)["rival"]
    [axes] = claims.draw(judged).axes
    low, high = axes.get_xlim()
    assert axes.get_xscale() == scale
    assert low < 0 < max(each.interval[1] for each in judged.tested) < high
    assert 0 in axes.get_xticks()


def test_texts_hold_the_numbers(folder):
    folder()
    text = claims.texts(folder.folder)["p.inc"]
    assert '"one", "``good``", "``bad``", "**+.300** ±.000"' in text
    assert ".. _claim-rival:" in text
    assert "Without results: ``absent``." in text
    questions = claims.texts(folder.folder)["questions.inc"]
    assert ":ref:`Question rival? <claim-rival>`\n     - Yes.\n" in questions
    assert "     - 2 of 2 lines for it, 0 against it. Closest: one, ``good`` against ``bad``: " in (
        questions
    )
    assert questions.count("Without results: ``absent``.") == 1


def test_methods_of_few_seeds_are_named(folder):
    folder(other={("slow", "one", 8): 0.1})
    lines = (folder.folder / "results" / "made.csv").read_text().splitlines()
    kept = [line for line in lines if ",slow," not in line or line.split(",")[7] == "0"]
    (folder.folder / "results" / "made.csv").write_text("\n".join(kept) + "\n")
    [claim] = [c for c in claims.read_claims(folder.folder)["claim"] if c["id"] == "rival"]
    claim["compare"][0]["others"] = ["bad", "slow"]
    judged = claims.judge_claim(claim, claims.Results.read(folder.folder))
    assert judged.verdict == "undecided"
    assert "Fewer than 3, which decide nothing, have ``slow``." in claims.sentence(judged)
    [row] = [line for line in claims.block(judged).splitlines() if '"``slow``"' in line]
    assert row.count(", 1 seed") == 1
    assert "±" not in row


@pytest.mark.parametrize(
    ("value", "measure", "text"),
    [
        (-0.0123, "ap", "-.012"),
        (1.5, "ndcg", "+1.500"),
        (-3634.2, "distinct_codes", "-3,634"),
        (0.25, "train_seconds", "+0.250"),
    ],
)
def test_leads_are_shown_by_their_measure(value, measure, text):
    assert claims.show_lead(value, measure) == text


@pytest.mark.parametrize(("mean", "says_so"), [(0.001, True), (0.1, False), (-0.1, False)])
def test_a_line_on_neither_side_says_how_far_it_may_be(mean, says_so):
    line = "set", "left", "right"
    tested = verdicts.tested_cells([verdicts.Cell(line, 8, leads(mean, 0.01))], "every")
    ends = [claims.show_lead(end, "ap") for end in tested[0].interval]
    text = claims._line(line, tested, claims.Judged({"compare": [{"measure": "ap"}]}, "", tested))
    assert text.endswith(f", 95 % intervals within {ends[0]} and {ends[1]}") == says_so
    assert ("intervals" in text) == says_so


def test_measures_of_one_claim_are_lines_of_their_own():
    runs = {
        ("made", "one", measure): {
            (method, 8): {seed: (value, np.nan, np.nan) for seed in SEEDS}
            for method, value in (("good", 0.2), ("bad", 0.1))
        }
        for measure in ("ap", "ndcg")
    }
    compared = [
        {"part": "made", "measure": measure, "ours": ["good"], "others": ["bad"]}
        for measure in ("ap", "ndcg")
    ]
    claim = {"id": "both", "paper": "p", "where": "1", "says": "S.", "compare": compared}
    judged = claims.judge_claim(claim, claims.Results(runs))
    assert [each.cell.line[0] for each in judged.tested] == ["one, AP", "one, NDCG"]
    assert judged.measures == "AP and NDCG"


def test_pictures_are_drawn(folder):
    pytest.importorskip("matplotlib")
    folder()
    figure = claims.draw({each.name: each for each in claims.judge_all(folder.folder)}["rival"])
    [axes] = figure.axes
    assert [label.get_text() for label in axes.get_yticklabels()] == [
        "good / bad (1)",
        "good / bad (2)",
    ]
    assert [len(each.get_offsets()) for each in axes.collections[1::2]] == [2, 2, 2]


def test_the_page_has_what_the_results_give():
    """``python -m benchmarks.papers.claims`` writes it anew."""
    for name, text in claims.texts(FOLDER).items():
        written = (FOLDER / "verdicts" / name).read_text(encoding="utf-8")
        assert written == text, f"{name}: run python -m benchmarks.papers.claims"


def test_every_claim_has_a_verdict_and_a_place_on_the_page():
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
    rst = (DOCS / "notes" / "reproduction.rst").read_text(encoding="utf-8")
    for name in ("questions", "counts", *papers):
        assert f".. include:: reproduction/verdicts/{name}.inc" in rst


def test_claims_of_mathematics_name_tests_that_are_there():
    for claim in claims.read_claims(FOLDER)["claim"]:
        if "shown" in claim:
            path, name = claim["shown"].split("::")
            assert f"def {name}(" in (ROOT / path).read_text(encoding="utf-8"), claim["id"]


def test_comparisons_name_measures_and_places_that_there_are():
    results = claims.Results.read(FOLDER)
    declared = experiments.PARTS
    places = {part: results.tasks(part) for part, _, _ in results.runs}
    places |= {part: [task.key for task in of.tasks] for part, of in declared.items()}
    for claim in claims.read_claims(FOLDER)["claim"]:
        for compared in claim.get("compare", ()):
            if compared["part"] in places:
                tasks = places[compared["part"]]
                assert compared.get("task", tasks[0]) in tasks, claim["id"]
            assert compared["measure"] in claims.TITLES, claim["id"]


def test_references_of_claims_have_their_labels():
    pages = "".join(path.read_text(encoding="utf-8") for path in DOCS.rglob("*.rst"))
    text = (FOLDER / "claims.toml").read_text(encoding="utf-8") + "".join(
        (DOCS / "notes" / name).read_text(encoding="utf-8")
        for name in ("reproduction.rst", "ties.rst")
    )
    named = {found.split("<")[-1].rstrip(">") for found in re.findall(r":ref:`([^`]+)`", text)}
    known = set(re.findall(r"^\.\. _([\w-]+):$", pages, re.M))
    known |= {f"claim-{claim['id']}" for claim in claims.read_claims(FOLDER)["claim"]}
    assert {name for name in named if not name.startswith("sphx_glr")} <= known


WHO_IS_AHEAD = re.compile(
    r"\b(ahead|behind|better|worse|best|beats?|outperforms?|wins?|gains?|loses?|confirmed|contradicted)\b"
)


def test_nobody_writes_by_hand_who_is_ahead():
    """The page itself explains; what it says of methods comes from results."""
    text = (DOCS / "notes" / "reproduction.rst").read_text(encoding="utf-8")
    text = (
        text[: text.index("How verdicts are made")] + text[text.index("What stands in for what") :]
    )
    assert WHO_IS_AHEAD.findall(text) == []
    assert Path(FOLDER / "claims.toml").is_file()


def test_leads_that_papers_print():
    assert tie_tables.printed_lead(papers.CIFAR_S1, 32) == pytest.approx(0.014)
    ranges = [(low, high) for low, _, high in papers.TIES_32_BITS.values()]
    assert tie_tables.n_overlapping(ranges) == (4, 10)
    assert tie_tables.n_overlapping([(0, 1), (1, 2), (3, 4)]) == (1, 3)


def test_ranges_of_ties_are_means_over_the_seeds():
    at = {seed: (0.5, 0.4 - 0.01 * seed, 0.6) for seed in SEEDS}
    runs = {tie_tables.IN: {("talr-ap", 32): at, ("mihash", 32): at, ("lsh", 32): at}}
    results = claims.Results(runs)
    assert tie_tables.mean_ranges(results, 32) == {
        name: pytest.approx((0.38, 0.6)) for name in ("mihash", "talr-ap")
    }
    text = tie_tables.against_leads(results)
    assert '"32", ".220", ".220", ".220", ".014", "1 of 1"' in text
    assert '"``lsh``", ".220"' in tie_tables.every_range(results)


def test_distances_of_random_orders_are_at_most_what_is_said():
    nothing = np.nan, np.nan
    figures = {
        "": {seed: (0.5, 0.4, 0.6) for seed in SEEDS},
        ":one random order": {seed: (0.5 + 0.00101 * seed, *nothing) for seed in SEEDS},
        ":ten random orders": {seed: (0.5 - 0.00012, *nothing) for seed in SEEDS},
    }
    runs = {
        ("tie_orders", "random-orders", measure + kind): {("lsh", 16): of}
        for measure in ("ap", "ndcg")
        for kind, of in figures.items()
    }
    text = tie_tables.random_orders(claims.Results(runs))
    assert "Over 5 seeds, one random order is at most .0041 from the exact mean" in text
    assert "and the mean of ten at most .0002." in text


def test_random_orders_are_those_of_a_sort():
    distances = np.array([[1, 0, 1, 2]], dtype=np.uint8)
    relevant = np.array([[True, False, False, True]])
    ap, ndcg = tie_orders.sorted_measures(distances, relevant, np.array([2, 0, 1, 3]))
    assert ap == (1 / 3 + 2 / 4) / 2  # in the order 1, 2, 0, 3
    assert ndcg == pytest.approx((1 / 2 + 1 / np.log2(5)) / (1 + 1 / np.log2(3)))
    rng = np.random.default_rng(0)
    codes, y = rng.integers(0, 2, (60, 6)), rng.integers(0, 3, 60)
    values = tie_orders.measures_of(codes[:20], codes[20:], y[:20], y[20:], 0)
    for measure in ("ap", "ndcg"):
        exact, low, high = values[measure]
        assert low < values[f"{measure}:one random order"][0] < high
        assert values[f"{measure}:ten random orders"][0] == pytest.approx(exact, abs=0.03)
