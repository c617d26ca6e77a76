"""The rule that turns leads, one for each seed, into a verdict on a claim.

A lead is how far the values of a seed are on the side that the claim names. A cell holds the leads
of one set, method, rival and code length; a line the cells of all code lengths.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from sklearn_hashrank.metrics import holm_correction, paired_test

CONFIRMED, CONTRADICTED, UNDECIDED = "confirmed", "contradicted", "undecided"
LEVEL = 0.05
LEAST_SEEDS = 3
SHARE = 0.5  # of the code lengths of a line


@dataclass(frozen=True)
class Cell:
    """Leads of the seeds, by what they are of.

    `line` is the set, the method and the rival or whatever stands on the right.
    """

    line: tuple[str, str, str]
    n_bits: int
    leads: tuple[float, ...]

    @property
    def mean(self) -> float:
        """Mean lead over the seeds."""
        return float(np.mean(self.leads))

    @property
    def deviation(self) -> float:
        """Standard deviation over the seeds; 0 of one seed."""
        return float(np.std(self.leads, ddof=1)) if len(self.leads) > 1 else 0.0


@dataclass(frozen=True)
class Tested:
    """A cell, its p-value after Holm's correction, and the interval of its mean."""

    cell: Cell
    p_value: float
    interval: tuple[float, float]

    @property
    def side(self) -> int:
        """1: the lead is above 0, -1: below, 0: neither is certain."""
        if not self.p_value < LEVEL:
            return 0
        return 1 if self.cell.mean > 0 else -1


# What p-values of leads above and below 0 are corrected for. A claim about every line is confirmed
# by all lines together, so that each may be tested alone, and contradicted by any of them.
CORRECTED_FOR = {"every": ("line", "all"), "most": ("all", "all"), "some": ("all", "line")}


def tested_cells(cells: Sequence[Cell], rule: str) -> list[Tested]:
    """Test each mean lead against 0, and correct the p-values by Holm's method.

    The test is Student's: five seeds have 32 changes of sign, whose smallest p-value is 1/16. Fewer
    seeds than three show nothing; such cells are not corrected for. `rule` is that of the verdict.
    """
    tests = {
        place: paired_test(cell.leads, np.zeros(len(cell.leads)), method="student")
        for place, cell in enumerate(cells)
        if len(cell.leads) >= LEAST_SEEDS
    }
    lines: dict[tuple[str, str, str], list[int]] = {}
    for place in tests:
        lines.setdefault(cells[place].line, []).append(place)

    def corrected(places):
        return dict(zip(places, holm_correction([tests[place].pvalue for place in places])))

    p_values = {"all": corrected(list(tests)), "line": {}}
    for places in lines.values():
        p_values["line"] |= corrected(places)
    above, below = CORRECTED_FOR[rule]
    return [
        Tested(
            cell,
            float(p_values[above if cell.mean > 0 else below][place]),
            tests[place].confidence_interval,
        )
        if place in tests
        else Tested(cell, 1.0, (-np.inf, np.inf))
        for place, cell in enumerate(cells)
    ]


def judge(tested: Iterable[Tested], rule: str = "every") -> str:
    """Give the verdict on a claim by its tested cells.

    A line is for the claim where at least half of its cells are above 0 and none is below, and
    against it the other way round. ``"every"``: confirmed where every line is for the claim,
    contradicted where one is against it. ``"most"``: confirmed where more than half of all cells
    are above 0, contradicted where more than half are below. ``"some"``: confirmed where one cell
    is above 0, contradicted where all are below.
    """
    tested = list(tested)
    if not tested:
        raise ValueError("A verdict needs at least one cell.")
    return RULES[rule](tested)


def _every(tested: list[Tested]) -> str:
    sides = [side_of_line(line) for line in by_line(tested).values()]
    if min(sides) < 0:
        return CONTRADICTED
    return CONFIRMED if min(sides) > 0 else UNDECIDED


def _most(tested: list[Tested]) -> str:
    sides = [each.side for each in tested]
    if sides.count(1) > len(sides) / 2:
        return CONFIRMED
    return CONTRADICTED if sides.count(-1) > len(sides) / 2 else UNDECIDED


def _some(tested: list[Tested]) -> str:
    sides = [each.side for each in tested]
    if max(sides) > 0:
        return CONFIRMED
    return CONTRADICTED if max(sides) < 0 else UNDECIDED


RULES: dict[str, Callable[[list[Tested]], str]] = {"every": _every, "most": _most, "some": _some}


def by_line(tested: Iterable[Tested]) -> dict[tuple[str, str, str], list[Tested]]:
    """Cells of each line, by code length."""
    lines: dict[tuple[str, str, str], list[Tested]] = {}
    for each in tested:
        lines.setdefault(each.cell.line, []).append(each)
    return {line: sorted(of, key=lambda each: each.cell.n_bits) for line, of in lines.items()}


def side_of_line(tested: Sequence[Tested]) -> int:
    """Which side the cells of one line are on: 1, -1, or 0."""
    sides = [each.side for each in tested]
    for side in (1, -1):
        if sides.count(side) >= SHARE * len(sides) and -side not in sides:
            return side
    return 0
