"""Rankings of queries by scores, and the table of their ties."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _kernels
from .._utils.threads import over_rows
from ._tie_tables import RaggedTies

Integers = NDArray[np.int64]
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

    def tied(self, tolerance: float) -> "Rankings":
        """Let scores tie that are no farther apart than a tolerance, one after the other.

        The number of the tie takes the place of each score.
        """
        scores = np.empty(len(self.scores))
        relevant = np.empty(len(self.relevant))
        judged = None if self.judged is None else np.empty(len(self.judged))
        for q in range(len(self.starts) - 1):
            part = slice(self.starts[q], self.starts[q + 1])
            values, inverse = np.unique(self.scores[part], return_inverse=True)
            with np.errstate(invalid="ignore", over="ignore"):
                is_apart = ~(np.abs(np.diff(values.astype(np.float64))) <= tolerance)
            ties = np.concatenate([[0], np.cumsum(is_apart)])
            scores[part] = ties[inverse]
            of_relevant = slice(self.relevant_starts[q], self.relevant_starts[q + 1])
            relevant[of_relevant] = ties[np.searchsorted(values, self.relevant[of_relevant])]
            if judged is not None and self.judged is not None and self.judged_starts is not None:
                of_judged = slice(self.judged_starts[q], self.judged_starts[q + 1])
                judged[of_judged] = ties[np.searchsorted(values, self.judged[of_judged])]
        return replace(self, scores=scores, relevant=relevant, judged=judged)

    def table(
        self, is_descending: bool, by_id: ById | None = None, n_jobs: int | None = None
    ) -> RaggedTies:
        """Count the ties of each query, and resolve them by ids where there are any."""
        n_queries = len(self.starts) - 1
        judged, judged_starts = self.judged, self.judged_starts
        if judged is None or judged_starts is None:
            judged, judged_starts = self.relevant[:0], np.zeros(n_queries + 1, dtype=np.int64)
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
        totals = totals[kept]
        n_relevant = np.diff(self.relevant_starts)
        places += np.repeat(starts[:-1], n_relevant)
        order += np.repeat(self.relevant_starts[:-1], n_relevant)
        numbers = self.numbers[order]
        unjudged = None
        if self.judged is not None:
            unjudged = totals - n_judged[kept]
            np.subtract.at(unjudged, places, 1)
        table = RaggedTies(self.levels, starts, totals, unjudged, places, numbers, self.missed)
        if by_id is None:
            return table
        return replace(table, by_id=self._resolved(table, self.relevant[order], by_id))

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


def as_numbers(scores: NDArray[Any]) -> NDArray[Any]:
    """Return scores in a type that holds each of them exactly."""
    kind, size = scores.dtype.kind, scores.dtype.itemsize
    if kind == "f":
        return np.ascontiguousarray(scores, dtype=np.float32 if size <= 4 else np.float64)
    if size <= 4:
        return np.ascontiguousarray(scores, dtype=np.float64)
    return np.ascontiguousarray(scores, dtype=np.uint64 if kind == "u" else np.int64)
