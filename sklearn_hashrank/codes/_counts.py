"""Count how many items of a database have each code, over shards and blocks.

A histogram does not tell which items at one distance share a code, and the same code may be in
several shards. So the largest number of items on one code is neither the sum nor the maximum of
those of the shards. It takes the distinct codes themselves, each with its number of items.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .. import _kernels
from .._utils.threads import over_rows

_ROWS_WORTH_A_MERGE = 1 << 20  # fewer waiting rows fit into memory easily
_COST_OF_SORTING = 32  # pairs that are counted while numpy sorts a row, about
_PAIR_COST = 0.3  # nanoseconds of a pair, measured; decides how many threads are worth it

Words = NDArray[np.uint64]
Counts = NDArray[np.int64]


class CodeCounter:
    """Counts distinct codes block by block.

    Blocks wait until together they are as many rows as all before them, so that each code is
    looked at a few times, however small the blocks.
    """

    def __init__(self) -> None:
        self._parts: list[tuple[Words, Counts]] = []
        self._n_merged = self._n_waiting = 0

    def __bool__(self) -> bool:
        return bool(self._parts)

    def add(self, words: Words, counts: Counts | None = None) -> None:
        """Count rows of words, each once or as often as `counts` says."""
        words, counts = _merge(words, counts)
        self._parts.append((words, counts))
        self._n_waiting += len(words)
        if self._n_waiting > max(self._n_merged, _ROWS_WORTH_A_MERGE):
            self.finish()

    def join(self, other: "CodeCounter") -> None:
        """Count what another has counted, too."""
        self._parts += other._parts
        self._n_waiting += sum(len(words) for words, _ in other._parts)
        if self._n_waiting > max(self._n_merged, _ROWS_WORTH_A_MERGE):
            self.finish()

    def copy(self) -> "CodeCounter":
        """Return a counter that goes on from here."""
        other = CodeCounter()
        other.join(self)
        return other

    def finish(self) -> tuple[Words, Counts]:
        """Return the distinct codes, (n_distinct, n_words), and how many items have each."""
        if len(self._parts) > 1:
            words, counts = (np.concatenate(arrays) for arrays in zip(*self._parts))
            self._parts = [_merge(words, counts)]
        self._n_merged, self._n_waiting = len(self._parts[0][0]), 0
        return self._parts[0]


def _merge(words: Words, counts: Counts | None) -> tuple[Words, Counts]:
    if counts is None and words.shape[1] == 1:  # sorting single words is vectorized
        distinct, repeats = np.unique(words, return_counts=True)
        return distinct[:, None], repeats
    if _kernels.pays("hamming", _COST_OF_SORTING * len(words)):
        groups = np.zeros(len(words), dtype=np.int32)
        firsts, repeats, index = _kernels.hamming.find_equal_rows(words, groups, len(words))
    else:
        found = np.unique(words, axis=0, return_index=True, return_inverse=True, return_counts=True)
        _, firsts, index, repeats = found
    if counts is not None:
        repeats = np.zeros(len(firsts), dtype=np.int64)
        np.add.at(repeats, index, counts)
    return words[firsts], repeats


@dataclass(frozen=True, eq=False)
class KeptCodes:
    """The codes of a retrieval run, beside its histogram."""

    queries: Words
    n_self: Counts  # items with a query's own code that are the query, which it does not retrieve
    words: Words  # the distinct codes of the database
    counts: Counts  # how many items have each
    n_bits: int
    n_jobs: int | None = None

    def __add__(self, other: "KeptCodes") -> "KeptCodes":
        """Merge the codes of two shards of a database."""
        if not np.array_equal(self.queries, other.queries):
            raise ValueError(
                "only histograms of the same queries can be merged. Got other query codes."
            )
        words, counts = _merge(
            np.concatenate([self.words, other.words]), np.concatenate([self.counts, other.counts])
        )
        n_self = self.n_self + other.n_self
        return KeptCodes(self.queries, n_self, words, counts, self.n_bits, self.n_jobs)

    def peaks(self, radius: int) -> Counts:
        """Largest number of items that share one code at distance 0, 1, ... `radius`."""
        n, n_distances = len(self.queries), min(int(radius), self.n_bits) + 1
        if not _kernels.pays("hamming", n * len(self.words)):
            peaks = np.zeros((n, self.n_bits + 1), dtype=np.int64)
            for query, of_query in zip(self.queries, peaks):
                distances = np.bitwise_count(query ^ self.words).sum(axis=1, dtype=np.int64)
                np.maximum.at(of_query, distances, self.counts)
            peaks = peaks[:, :n_distances]
        else:
            groups = np.zeros(n, dtype=np.int32)
            firsts, _, query_of = _kernels.hamming.find_equal_rows(self.queries, groups, n)
            queries = self.queries[firsts]
            words = _kernels.hamming.room_for_words(self.words.shape[1], len(self.words))
            words[:, : len(self.words)] = self.words.T
            of_queries = np.zeros((len(queries), n_distances), dtype=np.int64)

            def raise_peaks(rows):
                part = of_queries[rows]
                _kernels.hamming.largest_weights(queries[rows], words, self.counts, part)

            over_rows(raise_peaks, len(queries), self.n_jobs, cost=_PAIR_COST * words.size)
            peaks = of_queries[query_of]
        peaks[:, 0] -= self.n_self
        return peaks
