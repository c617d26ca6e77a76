"""Counting one block of a database, in threads over blocks of queries."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._utils.threads import over_rows
from ..affinity import BaseAffinity, check_level_indices
from ..codes import CodeCounter, CodeReader, KeptCodes

# Measured costs in nanoseconds, to decide whether counting equal items once pays.
_PAIR_COST, _WEIGHTED_PAIR_COST, _NUMBERING_COST = 0.3, 1.0, 8.0
_SAMPLE = 1 << 14
_LEVELS_AT_A_TIME = 1 << 20


class Queries:
    """Queries made ready: equal ones are counted once, those of equal y share their runs.

    Parameters
    ----------
    words : ndarray of shape (n_queries, n_words), uint64
        Their codes.
    rows : ndarray with n_queries rows
        Their `y`, in the form that the affinity gives it.
    affinity : BaseAffinity
        Fitted.
    n_bits : int
        Length of a code.
    """

    def __init__(self, words: np.ndarray, rows: np.ndarray, affinity: BaseAffinity, n_bits: Any):
        from .._kernels.hamming import find_equal_rows

        self.all_words, self.all_rows = words, rows
        self.affinity, self.n_bits = affinity, int(n_bits)
        self.group_rows, groups = affinity.group(rows)
        if groups is None:
            groups = np.arange(len(words), dtype=np.int32)
        firsts, _, self.query_of = find_equal_rows(words, groups, len(words))
        self.words, self.groups = words[firsts], groups[firsts].astype(np.int64)
        n_levels = affinity.n_reachable_levels(rows)
        self.levels: np.ndarray = affinity.levels_[:n_levels]

    def counts(self, count: "Count", exclude_self: bool) -> np.ndarray:
        """Counts of all queries, from those of the distinct ones."""
        counts = count.counts
        if len(self.words) < len(self.all_words) or exclude_self:
            counts = counts[self.query_of]
        if exclude_self:
            if count.n_items != len(self.all_words):
                refuse_self(f"{len(self.all_words)} queries, {count.n_items} database rows")
            counts[np.arange(len(counts)), np.concatenate(count.self_levels), 0] -= 1
        return counts

    def kept_codes(self, count: "Count", exclude_self: bool, n_jobs: int | None) -> KeptCodes:
        """Codes of the queries and of the items that were counted."""
        n_self = np.full(len(self.all_words), int(exclude_self), dtype=np.int64)
        words, repeats = count.codes.finish()  # type: ignore[union-attr]
        return KeptCodes(self.all_words.copy(), n_self, words, repeats, self.n_bits, n_jobs)


@dataclass
class Count:
    """What was counted in some blocks of a database; counts of further blocks are added.

    Parameters
    ----------
    counts : ndarray of shape (n_distinct_queries, n_levels, n_bits + 1), int64
    reader : CodeReader
        Which values the codes were made of.
    codes : CodeCounter or None
        The distinct codes.
    n_items : int
    self_levels : list of ndarray
        Index of the level of every query with itself, where it is left out.
    """

    counts: np.ndarray
    reader: CodeReader
    codes: CodeCounter | None
    n_items: int
    self_levels: list

    def __iadd__(self, other: "Count") -> "Count":
        self.reader.join(other.reader)
        self.counts += other.counts
        if self.codes is not None and other.codes is not None:
            self.codes.join(other.codes)
        self.n_items += other.n_items
        self.self_levels += other.self_levels
        return self

    def __add__(self, other: "Count") -> "Count":
        codes = None if self.codes is None else self.codes.copy()
        reader, levels = self.reader.copy(), list(self.self_levels)
        total = Count(self.counts.copy(), reader, codes, self.n_items, levels)
        total += other
        if codes is not None:
            codes.finish()
        return total


class BlockCounter:
    """Counts the items of a block of codes: a function of the block, which workers can be sent.

    Parameters
    ----------
    queries : Queries
    reader : CodeReader
        Which has read the queries.
    keep_codes : bool
        Whether to keep the distinct codes.
    exclude_self : bool
        Whether the queries are the database, and no row retrieves itself.
    n_jobs : int or None
        Threads over queries.
    """

    def __init__(
        self,
        queries: Queries,
        reader: CodeReader,
        keep_codes: bool,
        exclude_self: bool,
        n_jobs: int | None,
    ):
        self.queries, self.reader, self.n_jobs = queries, reader, n_jobs
        self.keep_codes, self.exclude_self = keep_codes, exclude_self

    def __call__(self, codes: np.ndarray, y: Any, start: int | None) -> Count:
        """Count a block whose first row is row `start`, in pieces of bounded size."""
        queries = self.queries
        shape = len(queries.words), len(queries.levels), queries.n_bits + 1
        kept = CodeCounter() if self.keep_codes else None
        count = Count(np.zeros(shape, dtype=np.int64), self.reader.copy(), kept, len(codes), [])
        step = queries.affinity.block_rows
        for first in range(0, len(codes), step):
            part = slice(first, first + step)
            words = count.reader.words(codes[part], "database codes", self.n_jobs)
            rows = queries.affinity.validate(y[part], "database y")
            if self.exclude_self:
                count.self_levels.append(self._self_levels(words, rows, int(start or 0) + first))
            self._count(words, rows, count)
        return count

    def _self_levels(self, words, rows, start):
        part = slice(start, start + len(words))
        of_queries = self.queries.all_words[part]
        if len(of_queries) != len(words):
            refuse_self(f"{len(self.queries.all_words)} queries and more database rows")
        different = np.flatnonzero((of_queries != words).any(axis=1))
        if different.size:
            refuse_self(f"different codes in row {start + different[0]}")
        affinity = self.queries.affinity
        indices = affinity.paired_level_indices(self.queries.all_rows[part], rows)
        return check_level_indices(affinity, indices, (len(words),), len(self.queries.levels))

    def _count(self, words, rows, count):
        group_rows, groups = self.queries.affinity.group(rows)
        n_groups = group_rows.shape[0]
        items, weights, offsets = self._ordered(words, groups, n_groups, count.codes)

        def count_part(part):
            self._count_part(part, items, weights, group_rows, offsets, count.counts)

        cost = _PAIR_COST * items.size
        most = max(1, _LEVELS_AT_A_TIME // self.queries.affinity.n_runs(n_groups))
        over_rows(count_part, len(self.queries.words), self.n_jobs, cost=cost, most=most)

    def _ordered(self, words, groups, n_groups, codes):
        """Items word-major and ordered by group, each with its weight, and where groups start."""
        from .._kernels.hamming import group_rows

        weights = np.empty(0, dtype=np.int64)
        distinct = None if groups is None else self._distinct_items(words, groups)
        if codes is not None:
            codes.add(*((words,) if distinct is None else (words[distinct[0]], distinct[1])))
        if groups is None:
            return np.ascontiguousarray(words.T), weights, np.arange(len(words) + 1)
        if distinct is not None:
            firsts, repeats = distinct
            order = np.argsort(groups[firsts], kind="stable")
            firsts, weights = firsts[order], repeats[order]
            words, groups = words[firsts], groups[firsts]
        sizes = np.bincount(groups, minlength=n_groups)
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        grouped = np.empty(words.shape[::-1], dtype=np.uint64)
        group_rows(words, groups, offsets[:-1], grouped)
        return grouped, weights, offsets

    def _distinct_items(self, words, groups):
        """Distinct items of a block, or None where counting them one by one costs less."""
        from .._kernels.hamming import find_equal_rows

        n, n_queries = len(words), len(self.queries.words)
        saved = n * (n_queries * _PAIR_COST - _NUMBERING_COST)
        limit = min(n, int(saved / (n_queries * _WEIGHTED_PAIR_COST)))
        if limit <= 0:
            return None
        if n > 4 * _SAMPLE:
            step = n // _SAMPLE
            sample, groups_of_sample = words[::step].copy(), groups[::step].copy()
            n_distinct = len(find_equal_rows(sample, groups_of_sample, len(sample))[0])
            n_repeated = len(sample) - n_distinct
            if n_repeated * limit < len(sample) ** 2 / 2:  # as draws from `limit` items have
                return None
        firsts, repeats, _ = find_equal_rows(words, groups, limit)
        return (firsts, repeats) if len(firsts) else None

    def _count_part(self, part, items, weights, group_rows, offsets, counts):
        from .._kernels.hamming import count_runs

        queries = self.queries
        groups, of_query = np.unique(queries.groups[part], return_inverse=True)
        stops, levels = queries.affinity.runs(queries.group_rows[groups], group_rows)
        shape = (len(levels) if len(levels) == 1 else len(groups), stops.shape[1])
        levels = check_level_indices(queries.affinity, levels, shape, len(queries.levels))
        if (offsets[stops[:, -1]] != items.shape[1]).any():
            raise ValueError(
                f"runs of {type(queries.affinity).__name__} must end with the last group, "
                f"{len(offsets) - 1}. Got {stops[:, -1].max()} instead."
            )
        count_runs(
            queries.words[part], items, weights, of_query, offsets[stops], levels, counts[part]
        )


def refuse_self(found: str) -> None:
    """Say that the queries are not the database."""
    raise ValueError(
        f"exclude_self=True needs the queries to be the database, in the same order. Got {found}."
    )
