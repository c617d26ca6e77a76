"""Means over seeds, and which of them may be called best."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ._measuring import COLUMNS, Column
from ._method_table import in_groups
from ._runner import RunResult

_MANY = 8  # methods of a table that is read without headings


class Cell(NamedTuple):
    """A method at one code length: mean and standard deviation over seeds, mean bounds."""

    mean: float
    deviation: float  # nan of a single seed
    low: float  # nan where there are no bounds
    high: float
    best: bool


@dataclass(frozen=True)
class Table:
    """One figure of all methods (rows) at all code lengths (columns).

    Attributes
    ----------
    column : Column
        What it shows.
    methods : list of str
    n_bits : list of int
    cells : dict of (str, int) to Cell
        Missing where no run succeeded.
    groups : dict of str to list of str
        The methods by group, where many methods of several groups need headings; else empty.
    """

    column: Column
    methods: list[str]
    n_bits: list[int]
    cells: dict[tuple[str, int], Cell]
    groups: dict[str, list[str]] = field(default_factory=dict)


def summarize(
    results: Sequence[RunResult],
    columns: Iterable[Column] = COLUMNS,
    group_of: Mapping[str, str] | None = None,
) -> list[Table]:
    """One table for each of the figures that the results hold.

    A cell is `best` where its mean is ahead of every other method's at this code length by more
    than the standard error of their difference, which is paired: the same seed means the same
    split. A single seed has no standard error, so that nothing is called best.
    """
    methods = list(dict.fromkeys(result.method for result in results))
    groups = in_groups(methods, group_of or {})
    if len(methods) <= _MANY or len(groups) < 2:
        groups = {}
    lengths = sorted({result.n_bits for result in results if result.n_bits})
    tables = []
    for column in columns:
        cells = {}
        for n_bits in lengths:
            values = {method: _by_seed(results, method, n_bits, column.name) for method in methods}
            best = best_of(values, column.best)
            for method in methods:
                if values[method]:
                    low, high = (
                        _mean(_by_seed(results, method, n_bits, column.name + suffix).values())
                        for suffix in ("_pessimistic", "_optimistic")
                    )
                    cells[method, n_bits] = Cell(
                        _mean(values[method].values()),
                        _deviation(values[method].values()),
                        low,
                        high,
                        method == best,
                    )
        if cells:
            tables.append(Table(column, methods, lengths, cells, groups))
    return tables


def best_of(values: dict[str, dict[int, float]], wanted: str = "highest") -> str | None:
    """Name the method that is ahead of every other one by more than a standard error.

    Parameters
    ----------
    values : dict of str to dict of int to float
        For each method its value of each seed.
    wanted : {"highest", "lowest"}, default="highest"
        Which values are better.

    Returns
    -------
    method : str or None
        None where no method is, and where there are less than two methods or two seeds.

    Examples
    --------
    >>> from sklearn_hashrank.comparison._summary import best_of
    >>> best_of({"a": {0: 0.5, 1: 0.6}, "b": {0: 0.4, 1: 0.49}})
    'a'
    >>> best_of({"a": {0: 0.5, 1: 0.6}, "b": {0: 0.3, 1: 0.7}}) is None
    True
    """
    sign = 1 if wanted == "highest" else -1
    tried = {method: found for method, found in values.items() if found}
    if len(tried) < 2:
        return None
    leader = max(tried, key=lambda method: sign * _mean(tried[method].values()))
    for method, found in tried.items():
        if method == leader:
            continue
        seeds = sorted(set(found) & set(tried[leader]))
        ahead = [sign * (tried[leader][seed] - found[seed]) for seed in seeds]
        if len(seeds) < 2 or not _mean(ahead) > _deviation(ahead) / math.sqrt(len(ahead)):
            return None
    return leader


def _by_seed(results: Sequence[RunResult], method: str, n_bits: int, name: str) -> dict[int, float]:
    return {
        result.seed: result.scores[name]
        for result in results
        if (result.method, result.n_bits) == (method, n_bits) and name in result.scores
    }


def _mean(values: Iterable[float]) -> float:
    values = list(values)
    return float(np.mean(values)) if values else math.nan


def _deviation(values: Iterable[float]) -> float:
    values = list(values)
    return float(np.std(values, ddof=1)) if len(values) > 1 else math.nan
