"""Rankings of queries by scores, and the table of their ties."""

import reprlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .. import _kernels
from .._features.tensors import as_numpy
from .._utils.threads import over_rows
from ._tie_tables import RaggedTies

Integers = NDArray[np.int64]
# Where the ties of each query begin, items and judged irrelevant items of each tie, the tie of each
# relevant item, ascending, and which relevant item that is.
Counts = tuple[Integers, Integers, Integers, Integers, Integers]
# The indices of levels of some items of a query, in the order of their ids, and which are judged.
ById = Callable[[int, Integers], tuple[Integers, NDArray[np.bool_]]]

_ITEM_COST = 10.0  # nanoseconds to compare an item with the scores of relevant ones
_EXACT = 1 << 53  # float64 holds all integers up to here
_CONVERTED_AT_A_TIME = 1 << 15  # integers, which stay in the cache with the floats they become


@dataclass
class Rankings:
    """The scores of all items and of those that were judged, one query after the other."""

    levels: NDArray[np.float64]  # ascending, from 0
    scores: NDArray[Any]  # of all items
    starts: Integers  # where the scores of each query begin, and end
    relevant: NDArray[Any]  # the scores of the relevant items
    relevant_starts: Integers
    numbers: Integers  # the index of the level of each relevant item
    judged: NDArray[Any] | None  # the scores of items judged irrelevant; None: all others are
    judged_starts: Integers | None
    missed: Integers  # query and index of the level of judged items that were not retrieved

    def table(
        self, is_descending: bool, by_id: ById | None = None, n_jobs: int | None = None
    ) -> RaggedTies:
        """Count the ties of each query, and resolve them by ids where there are any."""
        n_queries = len(self.starts) - 1
        judged, judged_starts = self.judged, self.judged_starts
        if judged is None or judged_starts is None:
            judged, judged_starts = self.relevant[:0], np.zeros(n_queries + 1, dtype=np.int64)
        count = (
            self._count_by_kernel
            if _kernels.pays("rankings", len(self.scores))
            else self._count_by_sorting
        )
        starts, totals, n_judged, places, order = count(
            judged, judged_starts, is_descending, n_jobs
        )
        numbers = self.numbers[order]
        unjudged = None
        if self.judged is not None:
            unjudged = totals - n_judged
            np.subtract.at(unjudged, places, 1)
        table = RaggedTies(self.levels, starts, totals, unjudged, places, numbers, self.missed)
        if by_id is None:
            return table
        return replace(table, by_id=self._resolved(table, self.relevant[order], by_id))

    def _count_by_kernel(
        self, judged: NDArray[Any], judged_starts: Integers, is_descending: bool, n_jobs: Any
    ) -> Counts:
        """Compare all items with the relevant ones of their query, in threads over queries."""
        n_queries = len(self.starts) - 1
        n_cells = 2 * len(self.relevant) + n_queries
        sizes = np.zeros(n_queries, dtype=np.int64)
        totals, n_judged = np.empty(n_cells, np.int64), np.empty(n_cells, np.int64)
        places, order = np.empty((2, len(self.relevant)), dtype=np.int64)

        def count(part: slice) -> None:
            of_items, starts = _cut(self.starts, part)
            of_relevant, relevant_starts = _cut(self.relevant_starts, part)
            of_judged, own_judged_starts = _cut(judged_starts, part)
            cells = slice(2 * of_relevant.start + part.start, 2 * of_relevant.stop + part.stop)
            scores, relevant, some_judged = _as_floats(
                self.scores[of_items], self.relevant[of_relevant], judged[of_judged]
            )
            most = int(np.diff(relevant_starts).max(initial=0))
            _kernels.rankings.count_between(
                scores,
                starts,
                relevant,
                relevant_starts,
                some_judged,
                own_judged_starts,
                is_descending,
                sizes[part],
                totals[cells],
                n_judged[cells],
                places[of_relevant],
                order[of_relevant],
                *_kernels.rankings.room_to_count(most, relevant.dtype),
            )

        def count_in_blocks(part: slice) -> None:
            start = part.start
            while start < part.stop:
                wanted = self.starts[start] + _CONVERTED_AT_A_TIME
                stop = int(np.searchsorted(self.starts, wanted, side="right")) - 1
                stop = min(max(stop, start + 1), part.stop)
                count(slice(start, stop))
                start = stop

        if n_queries:
            cost = _ITEM_COST * len(self.scores) / n_queries
            is_ready = self.scores.dtype.kind == "f"
            over_rows(count if is_ready else count_in_blocks, n_queries, n_jobs, cost=cost)
        begins = 2 * self.relevant_starts[:-1] + np.arange(n_queries)
        starts = np.concatenate([[0], np.cumsum(sizes)])
        kept = np.repeat(begins - starts[:-1], sizes) + np.arange(starts[-1])
        n_relevant = np.diff(self.relevant_starts)
        places += np.repeat(starts[:-1], n_relevant)
        order += np.repeat(self.relevant_starts[:-1], n_relevant)
        return starts, totals[kept], n_judged[kept], places, order

    def _count_by_sorting(
        self, judged: NDArray[Any], judged_starts: Integers, is_descending: bool, n_jobs: Any
    ) -> Counts:
        """Count the same by numpy alone, which sorts the items of all queries at once."""
        parts = (
            (self.scores, self.starts),
            (self.relevant, self.relevant_starts),
            (judged, judged_starts),
        )
        scores = np.concatenate(_as_floats(*(values for values, _ in parts)))
        n_queries = len(self.starts) - 1
        query_of = np.concatenate(
            [np.repeat(np.arange(n_queries), np.diff(starts)) for _, starts in parts]
        )
        kinds = np.repeat([0, 1, 2], [len(values) for values, _ in parts])
        by_place = np.lexsort((-scores if is_descending else scores, query_of))
        scores, query_of, kinds = scores[by_place], query_of[by_place], kinds[by_place]
        is_new_query = np.diff(query_of, prepend=-1) > 0
        is_new = is_new_query.copy()
        is_new[1:] |= scores[1:] != scores[:-1]
        score_of = np.cumsum(is_new) - 1
        # One tie for each score of a relevant item, and one for all others between two of them.
        has_relevant = np.zeros(int(is_new.sum()), dtype=bool)
        has_relevant[score_of[kinds == 1]] = True
        begins = is_new_query[is_new] | has_relevant
        begins[1:] |= has_relevant[:-1]
        tie_of = (np.cumsum(begins) - 1)[score_of]
        n_ties = int(begins.sum())
        totals, _, n_judged = (
            np.bincount(tie_of[kinds == kind], minlength=n_ties) for kind in range(3)
        )
        of_ties = query_of[is_new][begins]
        starts = np.searchsorted(of_ties, np.arange(n_queries + 1))
        is_relevant = kinds == 1
        order = by_place[is_relevant] - len(self.scores)
        return starts, totals, n_judged, tie_of[is_relevant], order

    def _resolved(self, table: RaggedTies, relevant: NDArray[Any], by_id: ById) -> RaggedTies:
        """Take the ties apart whose order matters."""
        ties, firsts, sizes = np.unique(table.places, return_index=True, return_counts=True)
        lowest = np.minimum.reduceat(table.numbers, firsts) if len(firsts) else firsts
        highest = np.maximum.reduceat(table.numbers, firsts) if len(firsts) else firsts
        mixed = np.flatnonzero((table.totals[ties] > sizes) | (lowest < highest))
        if not mixed.size:
            return table
        queries = np.searchsorted(table.starts, ties[mixed], side="right") - 1
        new_totals, new_unjudged, new_numbers = [], [], []
        for query, first in zip(queries, firsts[mixed]):
            of_query = self.scores[self.starts[query] : self.starts[query + 1]]
            numbers, are_judged = by_id(query, np.flatnonzero(of_query == relevant[first]))
            # One tie for each relevant item, and one for each stretch of others.
            begins = numbers > 0
            begins[1:] |= begins[:-1]
            begins[0] = True
            starts = np.flatnonzero(begins)
            new_totals.append(np.diff(np.append(starts, len(numbers))))
            new_unjudged.append(np.add.reduceat(~are_judged, starts, dtype=np.int64))
            new_numbers.append(numbers[starts])
        n_new = np.ones(len(table.totals), dtype=np.int64)
        n_new[ties[mixed]] = [len(totals) for totals in new_totals]
        ends = np.cumsum(n_new)
        is_new = np.repeat(n_new > 1, n_new)
        is_new[ends[ties[mixed]] - 1] = True
        totals = np.repeat(table.totals, n_new)
        totals[is_new] = np.concatenate(new_totals)
        unjudged = None
        if table.unjudged is not None:
            unjudged = np.repeat(table.unjudged, n_new)
            unjudged[is_new] = np.concatenate(new_unjudged)
        of_cell = np.zeros(len(totals), dtype=np.int64)
        of_cell[is_new] = np.concatenate(new_numbers)
        was_mixed = np.zeros(len(table.totals), dtype=bool)
        was_mixed[ties[mixed]] = True
        stay = ~was_mixed[table.places]
        resolved = np.flatnonzero(of_cell)
        places = np.concatenate([ends[table.places[stay]] - 1, resolved])
        numbers = np.concatenate([table.numbers[stay], of_cell[resolved]])
        order = np.argsort(places, kind="stable")
        starts = np.concatenate([[0], ends])[table.starts]
        return RaggedTies(
            table.levels, starts, totals, unjudged, places[order], numbers[order], table.missed
        )


def tie_numbers(scores: NDArray[Any], starts: Integers, tolerance: float) -> NDArray[np.float64]:
    """Number the ties of each query, lowest scores first.

    Scores tie that are no farther apart than a tolerance, and so do all of a chain of such scores.
    Integers are compared as they are, of whatever size.
    """
    numbers = np.empty(len(scores))
    for start, stop in pairwise(starts):
        values, inverse = np.unique(scores[start:stop], return_inverse=True)
        numbers[start:stop] = np.cumsum(_are_apart(values, tolerance))[inverse]
    return numbers


def _are_apart(values: NDArray[Any], tolerance: float) -> NDArray[np.bool_]:
    """Whether each of ascending values is farther from the one before it than a tolerance."""
    low, high = values[:-1], values[1:]
    if values.dtype.kind == "f":
        with np.errstate(over="ignore"):
            apart = high.astype(np.float64) - low.astype(np.float64) > tolerance
    elif values.dtype.kind in "iu":  # modulo 2**64, where no difference of two is larger
        limit = np.uint64(min(int(tolerance), np.iinfo(np.uint64).max))
        apart = high.astype(np.uint64) - low.astype(np.uint64) > limit
    else:
        apart = np.array([_is_apart(a, b, tolerance) for a, b in pairwise(values.tolist())], bool)
    return np.concatenate([[False], apart])[: len(values)]


def _is_apart(low: Any, high: Any, tolerance: float) -> bool:
    is_infinite = low == -np.inf or high == np.inf
    return bool(is_infinite or Fraction(high) - Fraction(low) > tolerance)


def _cut(starts: Integers, part: slice) -> tuple[slice, Integers]:
    """Where the values of some queries lie, and where each query's begin among them."""
    of_part = starts[part.start : part.stop + 1]
    return slice(int(of_part[0]), int(of_part[-1])), of_part - of_part[0]


def _as_floats(scores: NDArray[Any], *some: NDArray[Any]) -> list[NDArray[Any]]:
    """Return scores and some of them as floats in their order: kernels are compiled for few types.

    Where float64 would round integers, they are numbered.
    """
    if scores.dtype.kind == "f":
        return [scores, *some]
    if scores.min(initial=0) >= -_EXACT and scores.max(initial=0) <= _EXACT:
        return [each.astype(np.float64) for each in (scores, *some)]
    distinct = np.unique(scores)
    return [np.searchsorted(distinct, each).astype(np.float64) for each in (scores, *some)]


def exact_numbers(values: Any, name: str) -> NDArray[Any]:
    """Return real numbers that are those given: as objects where no type of numpy holds them all.

    numpy makes floats of a list of integers and floats, and so rounds integers beyond 2**53.
    """
    if sparse.issparse(values):
        raise TypeError(f"{name} must be a dense array. Got a sparse {type(values).__name__}.")
    given = as_numpy(values, name)
    if given.dtype.kind == "b":
        return given.astype(np.uint8)
    is_exact = given.dtype.kind in "fiu" and given.dtype.itemsize <= 8
    if is_exact and (given.dtype.kind != "f" or isinstance(values, np.ndarray)):
        return given
    if is_exact and not may_be_rounded(given):
        return given
    exact = given if given.dtype.kind == "O" else np.asarray(values, dtype=object)
    if not all(isinstance(value, (Real, np.bool_)) for value in exact.flat):
        raise ValueError(f"{name} must be real numbers. Got {reprlib.repr(values)}.")
    return without_objects(exact)


def may_be_rounded(floats: NDArray[Any]) -> bool:
    """Whether some are so large that they may have been other integers."""
    return bool(((np.abs(floats) >= _EXACT) & np.isfinite(floats)).any())


def without_objects(numbers: NDArray[Any]) -> NDArray[Any]:
    """Return objects as floats if that changes none of them, and as they are otherwise."""
    try:
        as_floats = numbers.astype(np.float64)
    except OverflowError:  # integers beyond 1.8e308
        return numbers
    is_same = (as_floats == numbers) | (numbers != numbers)
    return as_floats if is_same.all() else numbers


def as_numbers(scores: NDArray[Any]) -> NDArray[Any]:
    """Return scores in a type of few that holds each of them exactly; objects stay objects."""
    kind, size = scores.dtype.kind, scores.dtype.itemsize
    if kind == "O":
        return scores
    if kind == "f":
        return np.ascontiguousarray(scores, dtype=np.float32 if size <= 4 else np.float64)
    if size <= 4:
        return np.ascontiguousarray(scores, dtype=np.float64)
    return np.ascontiguousarray(scores, dtype=np.uint64 if kind == "u" else np.int64)
