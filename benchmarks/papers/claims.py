"""Verdicts on the claims of the papers, from the results of their experiments.

    python -m benchmarks.papers.claims --output docs/notes/reproduction

Claims are in ``claims.toml`` of the output folder, results in its folders ``results``, ``ties``,
``usage``, ``ablations`` and ``times``. No data are needed. For each paper a file of claims with
verdicts, differences and tests is written into the folder ``verdicts``, with a list of questions, a
count of all verdicts, and the tables of the page about ties. The documentation includes them, and
draws the pictures when it is built.
"""

import argparse
import csv
import json
import math
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.papers import ablation_tables, paper_figures, tie_tables, time_tables
from benchmarks.papers.experiments import PARTS
from benchmarks.papers.verdicts import (
    CONFIRMED,
    CONTRADICTED,
    LEAST_SEEDS,
    UNDECIDED,
    Cell,
    Tested,
    by_line,
    judge,
    side_of_line,
    tested_cells,
)
from benchmarks.sheet import csv_table, number

NOT_TESTED = "not tested"
VERDICTS = (CONFIRMED, CONTRADICTED, UNDECIDED, NOT_TESTED)
TITLES = {
    "ap": "AP",
    "ndcg": "NDCG",
    "acg": "ACG within radius 3",
    "ph2": "precision within radius 2",
    "mlgap": "mLGAP",
    "recall@1000": "recall at 1,000",
    "ndcg:gain=linear:discount=log2": "NDCG, equation 12",
    "ap@5000:normalize=retrieved": "AP at 5,000",
    "ap@1000:normalize=retrieved": "AP at 1,000",
    time_tables.TRAIN: "processor seconds to train",
    time_tables.ENCODE: "processor microseconds to encode a row",
    "code_entropy": "entropy of the codes in bits",
    "distinct_codes": "codes in use",
    "precision@100": "precision at 100",
    "precision@1000": "precision at 1,000",
    "alike within 1": "share of the query's fine class within distance 1",
    "alike at 2": "share of the query's fine class at distance 2",
    "alike within 1 less at 2": "share of the fine class within distance 1, less that at 2",
    "ap:one random order": "AP of one random order",
    "ndcg:one random order": "NDCG of one random order",
    "iterations": "iterations",
    "bit_correlation": "mean squared correlation of two bits",
}
NOT_SHARES = (time_tables.TRAIN, time_tables.ENCODE, "code_entropy", "distinct_codes", "iterations")
PATTERNS = ("results/*.csv", "ties/*.csv", "usage/likeness.csv", "ablations/*.csv")
MOST_LINES_OF_A_SENTENCE = 3
DECLARED = {(name, task.key): task for name, part in PARTS.items() for task in part.tasks}

Missing = dict[str, dict[str, list[int]]]
"""Lengths without results, by method and set."""


@dataclass(frozen=True)
class Results:
    """Figures of the runs of all parts: ``runs[part, task, measure][method, n_bits][seed]``.

    A figure is (value, low, high). `titles` are names of the sets by part and task.
    """

    runs: dict[tuple[str, str, str], dict[tuple[str, int], dict[int, tuple[float, ...]]]]
    titles: dict[tuple[str, str], str] = field(default_factory=dict)

    @classmethod
    def read(cls, folder: Path) -> "Results":
        """Read the CSV files of runs; there may be none."""
        runs: dict = {}
        titles = {}
        for path in sorted(each for pattern in PATTERNS for each in folder.glob(pattern)):
            with open(path, encoding="utf-8", newline="") as file:
                for line in csv.DictReader(file):
                    figure = tuple(_number(line[name]) for name in ("value", "low", "high"))
                    _add(runs, line, figure)
            about = path.with_suffix(".json")
            if about.exists():
                tasks = json.loads(about.read_text(encoding="utf-8")).get("tasks", {})
                for task, of in tasks.items():
                    titles[path.stem, task] = of["title"]
        for line in time_tables.of_most_rows(folder):
            _add(runs, line, (line["value"], math.nan, math.nan))
            titles[line["part"], line["task"]] = line["title"]
        return cls(runs, titles)

    def tasks(self, part: str) -> list[str]:
        """Sets of a part, by name."""
        return sorted({task for of, task, _ in self.runs if of == part})

    def title(self, part: str, task: str) -> str:
        """What a set is called."""
        title = self.titles.get((part, task), task)
        return f"{title}, {task.replace('-', ' ')}" if task.startswith("setting") else title

    def lengths(self, part: str, task: str, measure: str, method: str) -> list[int]:
        """Code lengths that a method has figures of."""
        of = self.runs.get((part, task, measure), {})
        return sorted(n_bits for name, n_bits in of if name == method)

    def figures(
        self, part: str, task: str, measure: str, method: str, n_bits: int, ranged: bool = False
    ) -> dict[int, float]:
        """Value by seed, or the range over tie orders."""
        found = self.runs.get((part, task, measure), {}).get((method, n_bits), {})
        values = {
            seed: high - low if ranged else value for seed, (value, low, high) in found.items()
        }
        return {seed: value for seed, value in values.items() if not math.isnan(value)}

    def ranges(
        self, part: str, task: str, measure: str, method: str, n_bits: int
    ) -> dict[int, tuple[float, float]]:
        """Worst and best order of ties, by seed."""
        found = self.runs.get((part, task, measure), {}).get((method, n_bits), {})
        return {
            seed: (low, high)
            for seed, (_, low, high) in found.items()
            if not math.isnan(high - low)
        }


def _add(runs, line, figure):
    of = runs.setdefault((line["part"], line["task"], line["measure"]), {})
    by_seed = of.setdefault((line["method"], int(line["n_bits"])), {})
    by_seed[int(line["seed"])] = figure


def _number(text):
    return float(text) if text else math.nan


class Comparison:
    """One comparison of a claim: what is on the left, on the right, and which side is claimed."""

    def __init__(self, given: Mapping[str, Any], results: Results, names_measure: bool = False):
        self.given, self.results, self.names_measure = given, results, names_measure
        self.part, self.measure = given["part"], given["measure"]
        self.ranged = given.get("range", False)
        self.tasks = [given["task"]] if "task" in given else results.tasks(self.part)

    def missing(self) -> Missing:
        """Lengths at which a method has no results, by method and set.

        A set counts where any method of the comparison has results of it.
        """
        lacking: Missing = {}
        for task in self.tasks:
            asked: dict[str, set[int]] = {}
            for ours in self.given["ours"]:
                for other in [ours, *self._rivals(ours)]:
                    lengths = self._wanted(task, ours) & self._wanted(task, other)
                    asked.setdefault(ours, set()).update(lengths)
                    asked.setdefault(other, set()).update(lengths)
            left = {name: lengths - self._found(task, name) for name, lengths in asked.items()}
            if left != asked:
                for name in left:
                    if left[name]:
                        lacking.setdefault(name, {})[self._title(task)] = sorted(left[name])
        return lacking

    def found(self) -> set[str]:
        """Methods that have results on any of the sets."""
        return {
            name
            for task in self.tasks
            for name in [*self.given["ours"], *self.given.get("others", ())]
            if self._found(task, name)
        }

    def _wanted(self, task, method):
        """Code lengths at which a set is to have results of a method."""
        runs = self.results.runs.get((self.part, task, self.measure), {})
        wanted = {n_bits for _, n_bits in runs}
        declared = DECLARED.get((self.part, task))
        if declared is not None:
            wanted = set(declared.lengths.get(method, declared.n_bits))
            wanted &= set(declared.n_bits if method in declared.methods else ())
        return wanted & set(self.given.get("bits", wanted))

    def _found(self, task, method):
        return set(self.results.lengths(self.part, task, self.measure, method))

    def cells(self) -> list[Cell]:
        """Leads of all sets, methods, rivals and lengths that have results on both sides."""
        return [
            Cell((self._title(task), left, right), n_bits, tuple(leads))
            for task in self.tasks
            for left, right, n_bits, leads in self._leads(task)
            if leads
        ]

    def _title(self, task):
        title = self.results.title(self.part, task)
        return f"{title}, {TITLES[self.measure]}" if self.names_measure else title

    def _leads(self, task) -> Iterator[tuple[str, str, int, list[float]]]:
        if self.given.get("overlap"):
            yield from self._overlaps(task)
            return
        for method in self.given["ours"]:
            for n_bits in self._lengths(task, method):
                for right, (left_values, right_values) in self._sides(task, method, n_bits):
                    yield method, right, n_bits, self._both(left_values, right_values)

    def _lengths(self, task, method):
        lengths = self.results.lengths(self.part, task, self.measure, method)
        wanted = self.given.get("bits", lengths)
        return [n_bits for n_bits in lengths if n_bits in wanted]

    def _figures(self, method, n_bits, **other):
        at = {"part": self.part, "measure": self.measure} | other
        return self.results.figures(
            at["part"], at["task"], at["measure"], method, n_bits, self.ranged
        )

    def _sides(self, task, method, n_bits):
        """Yield what stands on the right, and the values by seed of both sides."""
        figures = partial(self._figures, task=task)
        left, than = figures(method, n_bits), self.given.get("than", {})
        if "number" in self.given:
            number = self.given["number"]
            shown = f"{number:g}" if self.measure in NOT_SHARES else show(number, self.measure)
            yield shown, (left, dict.fromkeys(left, number))
            return
        other_bits = self._other_length(task, method, n_bits)
        if other_bits is None:
            return
        if "others" not in self.given:
            right = self._figures(method, other_bits, **({"task": task} | _places(than)))
            yield self._name_of_right(than, task), (left, right)
            return
        for rival in self._rivals(method):
            theirs = figures(rival, n_bits)
            if not theirs:
                continue
            if self.given.get("lead"):
                first = _difference(figures(method, other_bits), figures(rival, other_bits))
                yield f"{rival}, {other_bits} bits", (_difference(left, theirs), first)
            else:
                factor = self.given.get("factor")
                yield rival + (f", times {factor:g}" if factor else ""), (left, theirs)

    def _rivals(self, method):
        return [name for name in self.given.get("others", ()) if name != method]

    def _other_length(self, task, method, n_bits):
        """Length on the right; None where there is none."""
        kind = self.given.get("than", {}).get("bits")
        if kind is None:
            return n_bits
        lengths = self.results.lengths(self.part, task, self.measure, method)
        if isinstance(kind, int):
            return kind if kind in lengths else None
        shorter = [length for length in lengths if length < n_bits]
        if not shorter:
            return None
        return shorter[0] if kind == "shortest" else shorter[-1]

    def _name_of_right(self, than, task):
        if "measure" in than:
            return TITLES[than["measure"]]
        if "task" in than:
            return self.results.title(self.part, than["task"])
        return f"its {'shortest' if than['bits'] == 'shortest' else 'next shorter'} code"

    def _both(self, left, right):
        """Leads of the seeds that both sides have, in the order of the seeds."""
        factor, sign = self.given.get("factor", 1), -1 if self.given.get("lower") else 1
        pairs = [(left[seed], right[seed]) for seed in sorted(left.keys() & right.keys())]
        if "within" in self.given:
            return [self.given["within"] - abs(ours - theirs) for ours, theirs in pairs]
        return [sign * (ours - factor * theirs) for ours, theirs in pairs]

    def _overlaps(self, task):
        """Share of the pairs of methods whose ranges overlap, less the number."""
        lengths = {
            n_bits for method in self.given["ours"] for n_bits in self._lengths(task, method)
        }
        for n_bits in sorted(lengths):
            ranges = [
                self.results.ranges(self.part, task, self.measure, method, n_bits)
                for method in self.given["ours"]
            ]
            ranges = [of for of in ranges if of]
            if len(ranges) < 2:
                continue
            shares = []
            for seed in sorted(set.intersection(*(set(of) for of in ranges))):
                pairs = list(combinations([of[seed] for of in ranges], 2))
                met = [max(a[0], b[0]) <= min(a[1], b[1]) for a, b in pairs]
                shares.append(sum(met) / len(met) - self.given["number"])
            yield f"pairs of {len(ranges)} methods", f"{self.given['number']:g}", n_bits, shares


def _places(than):
    return {name: than[name] for name in ("task", "measure") if name in than}


def _difference(left, right):
    return {seed: left[seed] - right[seed] for seed in left.keys() & right.keys()}


@dataclass(frozen=True)
class Judged:
    """A claim, its verdict, and what it rests on."""

    claim: Mapping[str, Any]
    verdict: str
    tested: list[Tested] = field(default_factory=list)
    missing: Missing = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Identifier of the claim."""
        return self.claim["id"]

    @property
    def measure(self) -> str:
        """Measure of the first comparison."""
        return self.claim["compare"][0]["measure"]

    @property
    def measures(self) -> str:
        """What the measures of all comparisons are called."""
        names = dict.fromkeys(given["measure"] for given in self.claim["compare"])
        return " and ".join(TITLES[name] for name in names)

    @property
    def is_of_experiment(self) -> bool:
        """Whether it rests on results."""
        return bool(self.tested)


def judge_claim(claim: Mapping[str, Any], results: Results) -> Judged:
    """Give the verdict on one claim."""
    if "shown" in claim:
        return Judged(claim, CONTRADICTED if claim.get("contradicted") else CONFIRMED)
    if "untested" in claim:
        return Judged(claim, NOT_TESTED)
    several = len({given["measure"] for given in claim["compare"]}) > 1
    comparisons = [Comparison(given, results, several) for given in claim["compare"]]
    cells = [cell for comparison in comparisons for cell in comparison.cells()]
    found = set().union(*(comparison.found() for comparison in comparisons))
    missing: Missing = {}
    for comparison in comparisons:
        for name, places in comparison.missing().items():
            missing.setdefault(name, {}).update(places if name in found else {})
    if not cells:
        return Judged(claim, NOT_TESTED, missing=missing)
    rule = claim.get("rule", "every")
    tested = tested_cells(cells, rule)
    verdict = judge(tested, rule)
    # One case confirms "a few cases" without the others, and only all of them contradict it.
    if missing and verdict == (CONTRADICTED if rule == "some" else CONFIRMED):
        verdict = UNDECIDED
    return Judged(claim, verdict, tested, missing)


def show(value: float, measure: str) -> str:
    """A figure as the tables show it: shares without the zero before the point."""
    if measure in NOT_SHARES:
        return number(value)
    return f"{value:.3f}".replace("0.", ".", 1) if abs(value) < 1 else f"{value:.3f}"


def show_lead(value: float, measure: str) -> str:
    """A lead with its sign."""
    return ("-" if value < 0 else "+") + show(abs(value), measure)


def show_p(values: list[float]) -> str:
    """One p-value, or the smallest and the largest."""
    low, high = (f"{p:.3f}".replace("0.", ".", 1) for p in (min(values), max(values)))
    if max(values) < 0.001:
        return "p < .001"
    if min(values) < 0.001:
        return f"p at most {high}"
    return f"p = {low}" if low == high else f"p {low} to {high}"


def sentence(judged: Judged) -> str:
    """What the verdict rests on: numbers of cells, and the lines that decide it."""
    claim = judged.claim
    if "shown" in claim:
        return f"{claim['because']} Test: ``{claim['shown']}``."
    if "untested" in claim:
        return claim["untested"]
    if not judged.tested:
        return "There are no results yet."
    sides = [each.side for each in judged.tested]
    seeds = sorted({len(each.cell.leads) for each in judged.tested})
    n = f"{seeds[0]}" if len(seeds) == 1 else f"{seeds[0]} to {seeds[-1]}"
    text = (
        f"As claimed in {sides.count(1)} of {len(sides)} comparisons, the opposite in "
        f"{sides.count(-1)}; n = {n} seed{'s' * (seeds[-1] > 1)}. "
    )
    few = _names(judged, enough=False) - _names(judged, enough=True)
    if seeds[-1] < LEAST_SEEDS:
        text += f"Fewer than {LEAST_SEEDS} seeds decide nothing. "
    elif few:
        text += f"Fewer than {LEAST_SEEDS}, which decide nothing, have {', '.join(sorted(few))}. "
    lines = by_line(judged.tested)
    ordered = sorted(lines, key=lambda line: _mean(lines[line]))
    against = [line for line in ordered if side_of_line(lines[line]) < 0]
    if against:
        shown = against[:MOST_LINES_OF_A_SENTENCE]
        text += f"Against it: {_list(shown, lines, judged)}"
        rest = len(against) - len(shown)
        text += f", and {rest} more." if rest else "."
    else:
        text += f"Closest: {_list(ordered[:1], lines, judged)}."
    if judged.missing:
        names = ", ".join(_missing(*each) for each in judged.missing.items())
        text += f" Without results: {names}."
    return text


def _missing(method, places):
    """A method without results, and on which sets, or at which lengths, where it has some."""
    if not places:
        return f"``{method}``"
    texts = [
        f"{', '.join(map(str, lengths))} bits of {of}" if lengths else of
        for of, lengths in places.items()
    ]
    return f"``{method}`` ({'; '.join(texts)})"


def _names(judged, enough):
    """What the lines with enough seeds, or with too few, are of."""
    return {
        name_of(name)
        for each in judged.tested
        if (len(each.cell.leads) >= LEAST_SEEDS) == enough
        for name in each.cell.line[1:]
    }


def _mean(tested):
    return sum(each.cell.mean for each in tested) / len(tested)


def _list(names, lines, judged):
    return "; ".join(_line(name, lines[name], judged) for name in names)


def _line(line, tested, judged):
    measure, leads = judged.measure, [each.cell.mean for each in tested]
    low, high = show_lead(min(leads), measure), show_lead(max(leads), measure)
    span = low if low == high else f"{low} to {high}"
    apart = {given.get("within") for given in judged.claim["compare"]}
    if None not in apart:
        span = f"at most {max(apart) - min(leads):.4f} apart".replace("0.", ".", 1)
    title, left, right = line
    p_values = [each.p_value for each in tested if len(each.cell.leads) >= LEAST_SEEDS]
    of_test = show_p(p_values) if p_values else "too few seeds to test"
    if is_mixed(tested):
        of_test += f", for it at {_lengths(tested, 1)} and against it at {_lengths(tested, -1)}"
    elif p_values and side_of_line(tested) == 0:
        lows, highs = zip(*(each.interval for each in tested if np.isfinite(each.interval[0])))
        ends = (show_lead(end, measure) for end in (min(lows), max(highs)))
        of_test += ", 95 % intervals within {} and {}".format(*ends)
    return f"{title}, {name_of(left)} against {name_of(right)}: {span}, {of_test}"


def is_mixed(tested: list[Tested]) -> bool:
    """Whether a line is for the claim at one code length and against it at another."""
    return {1, -1} <= {each.side for each in tested}


def _lengths(tested, side):
    return f"{', '.join(str(each.cell.n_bits) for each in tested if each.side == side)} bits"


def name_of(text: str) -> str:
    """A method in the font of code, other names as they are."""
    plain = text[:1].isdigit() or text[:1] in ".+-" or " " in text.partition(",")[0]
    if plain or text in TITLES.values():
        return text
    method, _, rest = text.partition(",")
    return f"``{method}``" + (f",{rest}" if rest else "")


def block(judged: Judged) -> str:
    """A claim with results as a piece of the page: claim, verdict, picture, table."""
    claim = judged.claim
    rows = []
    lengths = sorted({each.cell.n_bits for each in judged.tested})
    for (title, left, right), tested in by_line(judged.tested).items():
        at = {each.cell.n_bits: each for each in tested}
        cells = [_cell(at[n_bits], judged.measure) if n_bits in at else "" for n_bits in lengths]
        rows.append([title, name_of(left), name_of(right), *cells])
    header = ["set", "left", "right", *(f"{n_bits} bits" for n_bits in lengths)]
    table = csv_table([header, *rows], f"Leads in {judged.measures}")
    alt = f"{claim['says']} {judged.verdict.capitalize()}."
    return f"""
.. _claim-{judged.name}:

.. rubric:: {claim["says"]}

**{judged.verdict.capitalize()}.** {sentence(judged)}
({claim["where"][:1].upper()}{claim["where"][1:]}.)

.. image:: reproduction/pictures/{judged.name}.svg
   :alt: {alt}

.. raw:: html

   <details><summary>Table</summary>

{table}
.. raw:: html

   </details>
"""


def _cell(tested, measure):
    cell = tested.cell
    lead = show_lead(cell.mean, measure)
    if len(cell.leads) == 1:
        return f"{lead}, 1 seed"
    return f"{f'**{lead}**' if tested.side else lead} ±{show(cell.deviation, measure)}"


def rows_of(judged: list[Judged]) -> str:
    """Claims without results as a table: claim, verdict, what shows it."""
    lines = [".. list-table::", "   :header-rows: 1", "   :widths: 36 14 50", ""]
    lines += ["   * - claim", "     - verdict", "     - by"]
    for each in judged:
        where = each.claim["where"]
        lines += [
            f"   * - .. _claim-{each.name}:",
            "",
            f"       {each.claim['says']} ({where[:1].upper()}{where[1:]}.)",
            f"     - {each.verdict}",
            f"     - {sentence(each)}",
        ]
    return "\n".join(lines) + "\n"


def questions(all_judged: list[Judged], papers: Mapping[str, Any]) -> str:
    """The lists of questions at the top of the page, one for each paper."""
    links, texts = [], []
    for paper, about in papers.items():
        asked = [
            each for each in all_judged if each.claim["paper"] == paper and "ask" in each.claim
        ]
        if asked:
            name, label = about.get("short", about["title"]), f"questions-{paper}"
            links.append(f"* :ref:`{name} <{label}>`\n")
            texts.append(f".. _{label}:\n\n.. rubric:: {name}\n\n{_questions_of_a_paper(asked)}")
    return "\n".join(["".join(links), *texts])


def _questions_of_a_paper(asked):
    lines = [".. list-table::", "   :header-rows: 1", "   :widths: 30 13 57", ""]
    lines += ["   * - question", "     - answer", "     - because"]
    for each in asked:
        lines += [
            f"   * - :ref:`{each.claim['ask']} <claim-{each.name}>`",
            f"     - {answer(each)}",
            f"     - {because(each)}",
        ]
    return "\n".join(lines) + "\n"


def answer(judged: Judged) -> str:
    """Answer the question of a claim plainly, by all of its lines."""
    if judged.verdict == CONFIRMED:
        return "Yes."
    if "shown" in judged.claim:
        return "No."
    if not judged.tested:
        return "Not known."
    _, sides = _units(judged)
    if judged.verdict == CONTRADICTED:
        return "Not always." if 1 in sides else "No."
    if -1 in sides:
        return "Not shown."
    return "Mostly; not certain everywhere." if sides.count(1) > len(sides) / 2 else "Not known."


def _units(judged: Judged) -> tuple[str, list[int]]:
    """What a verdict counts, lines or comparisons, and which side each of them is on."""
    if judged.claim.get("rule", "every") == "every":
        return "lines", [side_of_line(of) for of in by_line(judged.tested).values()]
    return "comparisons", [each.side for each in judged.tested]


def because(judged: Judged) -> str:
    """How many lines or comparisons are for a claim, the closest line, and what is missing."""
    if "shown" in judged.claim:
        return f"Shown by a test: {judged.claim['because']}"
    if not judged.tested:
        return "There are no results yet."
    lines = by_line(judged.tested)
    unit, sides = _units(judged)
    n_mixed = sum(map(is_mixed, lines.values())) if unit == "lines" else 0
    line = min(lines, key=lambda line: (side_of_line(lines[line]) >= 0, _mean(lines[line])))
    named = "Most against it" if side_of_line(lines[line]) < 0 else "Closest"
    mixed = f", {n_mixed} for it at one length and against it at another" if n_mixed else ""
    text = (
        f"{sides.count(1)} of {len(sides)} {unit} for it, {sides.count(-1)} against it{mixed}. "
        f"{named}: {_line(line, lines[line], judged)}."
    )
    if judged.missing:
        missing = judged.missing.items()
        names = ", ".join(_missing(method, dict.fromkeys(places)) for method, places in missing)
        text += f" Without results: {names}."
    return text


def counts(all_judged: list[Judged], papers: Mapping[str, Any]) -> str:
    """Numbers of verdicts by paper, of the claims that are the paper's own."""
    all_judged = [each for each in all_judged if "everywhere" not in each.claim]
    rows = [["paper", *VERDICTS]]
    total: Counter[str] = Counter()
    for paper, about in papers.items():
        of = Counter(each.verdict for each in all_judged if each.claim["paper"] == paper)
        total += of
        rows.append([f"{about['title']} ({about['authors']})", *(of[v] for v in VERDICTS)])
    rows.append(["all", *(total[verdict] for verdict in VERDICTS)])
    return csv_table(rows)


def read_claims(folder: Path) -> dict[str, Any]:
    """Read ``claims.toml``: the papers and their claims."""
    read = tomllib.loads((folder / "claims.toml").read_text(encoding="utf-8"))
    for claim in read["claim"]:
        if "everywhere" in claim:
            claim["compare"] = _everywhere(claim["everywhere"], read["claim"])
    return read


def _everywhere(asked: Mapping[str, Any], claims: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """All comparisons of two methods by their values, each set and measure once."""
    found = {}
    for given in (given for claim in claims for given in claim.get("compare", [])):
        ours = [method for method in given.get("ours", []) if method in asked["ours"]]
        is_plain = given.keys() <= {"part", "task", "measure", "ours", "others", "bits"}
        if is_plain and ours and asked["other"] in given.get("others", []):
            place = given["part"], given.get("task"), given["measure"], tuple(ours)
            found[place] = {**given, "ours": ours, "others": [asked["other"]]}
            found[place].pop("bits", None)
    return [
        given
        for (part, task, *of), given in found.items()
        if task is None or (part, None, *of) not in found
    ]


def judge_all(folder: Path) -> list[Judged]:
    """Verdicts on all claims of a folder."""
    results = Results.read(folder)
    return [judge_claim(claim, results) for claim in read_claims(folder)["claim"]]


def texts(folder: Path) -> dict[str, str]:
    """All files of the folder ``verdicts``, by name."""
    judged, papers = judge_all(folder), read_claims(folder)["papers"]
    found = {"questions.inc": questions(judged, papers), "counts.inc": counts(judged, papers)}
    for paper in papers:
        mine = [each for each in judged if each.claim["paper"] == paper]
        parts = [block(each) for each in mine if each.is_of_experiment]
        others = [each for each in mine if not each.is_of_experiment]
        if others:
            parts.append(f"\n.. rubric:: Mathematics, and what has no results\n\n{rows_of(others)}")
        found[f"{paper}.inc"] = "".join(parts)
    found["rsh_times.inc"] = time_tables.rsh_times(folder)
    results = Results.read(folder)
    return found | ablation_tables.texts(results, folder) | tie_tables.texts(results)


def write_texts(folder: Path) -> None:
    """Write the folder ``verdicts``."""
    (folder / "verdicts").mkdir(exist_ok=True)
    for name, text in texts(folder).items():
        (folder / "verdicts" / name).write_text(text, encoding="utf-8")


def write_pictures(folder: Path) -> None:
    """Draw the leads of each claim with results into the folder ``pictures``."""
    from matplotlib import rc_context

    paper_figures.write_pictures(folder)
    (folder / "pictures").mkdir(exist_ok=True)
    with rc_context({"svg.fonttype": "none"}):
        for judged in judge_all(folder):
            if judged.is_of_experiment:
                draw(judged).savefig(folder / "pictures" / f"{judged.name}.svg")


COLOURS = {1: "#0072b2", 0: "#767676", -1: "#d55e00"}
MARKERS = "osD^vPX*"


def draw(judged: Judged) -> Any:
    """Leads with 95 % intervals: a row for each line, a marker for each length."""
    from matplotlib.figure import Figure

    lines = by_line(judged.tested)
    lengths = sorted({each.cell.n_bits for each in judged.tested})
    figure = Figure(
        figsize=(7.2, 0.8 + 0.34 * len(lines) + 0.13 * len({title for title, _, _ in lines})),
        layout="constrained",
    )
    axes = figure.subplots()
    axes.axvline(0, color="#767676", linewidth=1)
    sets = list(dict.fromkeys(title for title, _, _ in lines))
    labels = [
        f"{left} / {right}" + (f" ({sets.index(title) + 1})" if len(sets) > 1 else "")
        for title, left, right in lines
    ]
    for place, n_bits in enumerate(lengths):
        at = [
            (row, each)
            for row, tested in enumerate(lines.values())
            for each in tested
            if each.cell.n_bits == n_bits
        ]
        offset = (place - (len(lengths) - 1) / 2) * 0.7 / len(lengths)
        ys = [row + offset for row, _ in at]
        colours = [COLOURS[each.side] for _, each in at]
        lows, highs = zip(*(each.interval for _, each in at))
        axes.hlines(ys, lows, highs, colours, linewidth=1.2)
        means = [each.cell.mean for _, each in at]
        axes.scatter(means, ys, 16, colours, marker=MARKERS[place % len(MARKERS)])
    _scale(axes, judged.tested)
    axes.set_yticks(range(len(lines)), labels, fontsize=8)
    axes.set_ylim(len(lines) - 0.5, -0.5)
    names = ", ".join(f"{n} {_SHAPES[i % len(_SHAPES)]}" for i, n in enumerate(lengths))
    key = "\n".join(f"({number}) {title}" for number, title in enumerate(sets, 1))
    figure.supxlabel(
        f"lead in {judged.measures}; right of 0: as claimed\n"
        f"bits: {names}\n" + (key if len(sets) > 1 else sets[0]),
        fontsize=8,
    )
    axes.tick_params(axis="x", labelsize=8)
    axes.spines[["top", "right"]].set_visible(False)
    return figure


def _scale(axes, tested):
    """Limits that hold 0 and all leads; far leads on a logarithmic scale where most are near 0."""
    ends = [0.0, *(each.cell.mean for each in tested)]
    ends += [end for each in tested for end in each.interval if np.isfinite(end)]
    far = max(map(abs, ends))
    near = float(np.median([abs(each.cell.mean) for each in tested]))
    is_logarithmic = far > FAR * near > 0
    if is_logarithmic:
        near = float(f"{near:.0e}")
        axes.set_xscale("symlog", linthresh=near)
        far *= 1.2
    room = 0.05 * far
    low, high = min(min(ends), -room) - room, max(max(ends), room) + room
    axes.set_xlim(low, high)
    if is_logarithmic:
        powers = 10.0 ** np.arange(math.ceil(math.log10(2 * near)), math.floor(math.log10(far)) + 1)
        marks = [near, *powers]
        ticks = [tick for tick in (*(-each for each in marks), 0, *marks) if low <= tick <= high]
        axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        axes.set_xticks([], minor=True)


FAR = 5  # times the median lead, from which on the scale is logarithmic
_SHAPES = ("circle", "square", "diamond", "triangle", "down", "plus", "cross", "star")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--output", default="docs/notes/reproduction", help="folder of claims and results"
    )
    options = parser.parse_args()
    folder = Path(options.output)
    write_texts(folder)
    for each in judge_all(folder):
        print(f"{each.verdict:13s} {each.name}")


if __name__ == "__main__":
    main()
