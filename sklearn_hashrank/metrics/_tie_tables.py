"""Tables of counts by query, level and tie, which measures see in chunks of queries."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ._ties import Array, Ties

Integers = NDArray[np.int64]

_KEPT = 1 << 22  # counts whose ties are kept from one measure to the next, some 100 MB


class TieTable(Protocol):
    """What measures are evaluated on: counts of queries, in chunks of them."""

    @property
    def n_queries(self) -> int: ...

    @property
    def n_levels(self) -> int: ...

    @property
    def counts(self) -> NDArray[Any]:
        """Items by query, level and tie, (n_queries, n_levels, n_ties)."""

    @property
    def by_id(self) -> "TieTable | None":
        """The same items with ties resolved by their ids, or None where they have none."""

    def chunks(self, most: int) -> Iterator[tuple[Any, Ties]]:
        """Yield the numbers of some queries, or a slice, and their ties.

        A chunk has about `most` counts, unless one query has more.
        """


@dataclass(frozen=True, eq=False)
class DenseTies:
    """The same ties for all queries, as Hamming distances are; the fields are those of `Ties`."""

    counts: NDArray[Any]
    levels: Array
    peaks: NDArray[Any] | None = None
    by_id = None

    @property
    def n_queries(self) -> int:
        return len(self.counts)

    @property
    def n_levels(self) -> int:
        return len(self.levels)

    def chunks(self, most: int) -> Iterator[tuple[slice, Ties]]:
        step = max(1, most // max(1, self.counts[:1].size))
        for start in range(0, self.n_queries, step):
            part = slice(start, start + step)
            peaks = None if self.peaks is None else self.peaks[part]
            yield part, Ties(self.counts[part], self.levels, peaks)


@dataclass(frozen=True, eq=False)
class RaggedTies:
    """Ties of its own for each query, as other scores make them.

    Neighboring ties without a relevant item are one: no measure depends on the order within.
    Chunks are of queries with about as many ties, so that little is filled up.
    """

    levels: Array  # ascending; 0 is the first
    starts: Integers  # where the ties of each query begin, (n_queries + 1,)
    totals: Integers  # items of each tie
    unjudged: Integers | None  # of these, how many nobody judged
    places: Integers  # the tie of each retrieved relevant item, ascending
    numbers: Integers  # the index of its level, at least 1
    missed: Integers  # query and index of the level of judged items that were not retrieved
    by_id: "RaggedTies | None" = None  # the same items with ties resolved by their ids

    @property
    def n_queries(self) -> int:
        return len(self.starts) - 1

    @property
    def n_levels(self) -> int:
        return len(self.levels)

    @property
    def counts(self) -> Integers:
        """Items by query, level and tie, filled up with empty ties."""
        widest = max(1, int(np.diff(self.starts).max(initial=1)))
        counts = np.zeros((self.n_queries, self.n_levels, widest), dtype=np.int64)
        for part, ties in self.chunks(1 << 20):
            numbers = np.searchsorted(self.levels, ties.levels)
            counts[np.ix_(part, numbers, np.arange(ties.counts.shape[2]))] = ties.counts
        return counts

    def followed_by(self, other: "RaggedTies") -> "RaggedTies":
        """Return the ties of these queries, then those of others, whose levels may differ."""
        levels = np.union1d(self.levels, other.levels)
        ours, theirs = (np.searchsorted(levels, each.levels) for each in (self, other))
        unjudged = None
        if self.unjudged is not None or other.unjudged is not None:
            parts = [
                np.zeros_like(each.totals) if each.unjudged is None else each.unjudged
                for each in (self, other)
            ]
            unjudged = np.concatenate(parts)
        by_id = None
        if self.by_id is not None and other.by_id is not None:
            by_id = self.by_id.followed_by(other.by_id)
        missed = np.stack([self.missed[:, 0], ours[self.missed[:, 1]]], axis=1)
        further = np.stack(
            [other.missed[:, 0] + self.n_queries, theirs[other.missed[:, 1]]], axis=1
        )
        return RaggedTies(
            levels,
            np.concatenate([self.starts, other.starts[1:] + self.starts[-1]]),
            np.concatenate([self.totals, other.totals]),
            unjudged,
            np.concatenate([self.places, other.places + self.starts[-1]]),
            np.concatenate([ours[self.numbers], theirs[other.numbers]]),
            np.concatenate([missed, further]),
            by_id,
        )

    def chunks(self, most: int) -> Iterator[tuple[Integers, Ties]]:
        """Yield numbers of queries and their ties, those of the shortest rankings first."""
        # One after the other, several measures are evaluated on the same ties.
        if len(self.totals) * self.n_levels <= _KEPT:
            if most not in self._kept:
                self._kept[most] = list(self._chunks(most))
            return iter(self._kept[most])
        return self._chunks(most)

    @cached_property
    def _kept(self) -> dict[int, list[tuple[Integers, Ties]]]:
        return {}

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_kept"}

    def _chunks(self, most: int) -> Iterator[tuple[Integers, Ties]]:
        widths = np.diff(self.starts)
        order = np.argsort(widths, kind="stable")
        first_items = np.searchsorted(self.places, self.starts)
        missed = self.missed[np.argsort(self.missed[:, 0], kind="stable")]
        first_missed = np.searchsorted(missed[:, 0], np.arange(self.n_queries + 1))
        start = 0
        while start < len(order):
            stop = self._stop(order, widths, start, most)
            part = order[start:stop]
            yield part, self._dense(part, widths, first_items, missed, first_missed)
            start = stop

    def _stop(self, order: Integers, widths: Integers, start: int, most: int) -> int:
        n_levels = min(
            self.n_levels, 64
        )  # with more levels, a chunk has those of its queries alone
        stop = start + max(1, int(most // (n_levels * max(1, widths[order[start]]))))
        stop = min(stop, len(order))
        while stop > start + 1 and (stop - start) * n_levels * widths[order[stop - 1]] > 2 * most:
            stop = start + (stop - start + 1) // 2
        return stop

    def _dense(
        self,
        part: Integers,
        widths: Integers,
        first_items: Integers,
        missed: Integers,
        first_missed: Integers,
    ) -> Ties:
        n, width = len(part), max(1, int(widths[part].max(initial=0)))
        columns = np.arange(width)
        is_filled = (columns < widths[part][:, None]).astype(np.float64)
        ties = self.starts[part][:, None] + columns
        total = _at(self.totals, ties) * is_filled
        n_items = first_items[part + 1] - first_items[part]
        row_of_item = np.repeat(np.arange(n), n_items)
        items = _flat(first_items[part], n_items)
        n_missed = first_missed[part + 1] - first_missed[part]
        row_of_missed = np.repeat(np.arange(n), n_missed)
        which = _flat(first_missed[part], n_missed)
        numbers, missed_numbers = self.numbers[items], missed[which, 1]
        present = np.arange(self.n_levels)
        if self.n_levels > 8:
            present = np.union1d([0], np.union1d(numbers, missed_numbers)).astype(np.int64)
            numbers = np.searchsorted(present, numbers)
            missed_numbers = np.searchsorted(present, missed_numbers)
        n_levels = len(present)
        places = self.places[items] - np.repeat(self.starts[part], n_items)
        relevant = np.bincount(row_of_item * width + places, minlength=n * width)
        of_row = row_of_item * n_levels + numbers
        counts = np.bincount(of_row * width + places, minlength=n * n_levels * width)
        counts = counts.reshape(n, n_levels, width)
        counts[:, 0] = irrelevant = total - relevant.reshape(n, width)
        of_level = np.bincount(of_row, minlength=n * n_levels).reshape(n, n_levels)
        of_level[:, 0] = irrelevant.sum(axis=1)
        cells = row_of_missed * n_levels + missed_numbers
        of_missed = np.bincount(cells, minlength=n * n_levels).reshape(n, n_levels)
        unjudged = None
        if self.unjudged is not None:
            unjudged = _at(self.unjudged, ties) * is_filled
        chunk = Ties(counts, self.levels[present], missed=of_missed, unjudged=unjudged)
        # Known from the relevant items, which are fewer than the counts that they are sums of.
        vars(chunk).update(
            total=total,
            relevant=relevant.reshape(n, width).astype(np.float64),
            of_level=(of_level + of_missed).astype(np.float64),
        )
        return chunk


def _at(values: Integers, ties: Integers) -> Integers:
    """Return the values of some ties; any value where there is no tie."""
    return (values if values.size else np.zeros(1, np.int64)).take(ties, mode="clip")


def _flat(starts: Integers, sizes: Integers) -> Integers:
    """Return the indices of the elements of some stretches."""
    ends = np.cumsum(sizes)
    indices: Integers = np.arange(ends[-1]) + np.repeat(starts - (ends - sizes), sizes)
    return indices
