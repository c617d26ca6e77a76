"""Counting: blocks of a database, threads over blocks of queries."""

from collections.abc import Iterator
from numbers import Integral
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

from ..affinity import fit_affinity
from ..codes import CodeCounter, CodeReader, KeptCodes
from ..rows import is_dask_array
from ._blocks import check_block, check_rows, fit_affinity_of_blocks, gather
from ._histogram import RetrievalHistogram

# Measured costs in nanoseconds, to decide whether counting equal items once pays.
_PAIR_COST, _WEIGHTED_PAIR_COST, _NUMBERING_COST = 0.3, 1.0, 8.0
_SAMPLE = 1 << 14
_LEVELS_AT_A_TIME = 1 << 20
_PAIRS_WORTH_A_THREAD = 1 << 22


def retrieval_histogram(
    query_codes: Any,
    database_codes: Any,
    query_y: Any,
    database_y: Any = None,
    *,
    affinity: Any = "auto",
    n_bits: int | None = None,
    exclude_self: bool = False,
    keep_codes: bool = False,
    n_jobs: int | None = None,
) -> RetrievalHistogram:
    """Count, for each query, the database items of each level at each distance.

    Parameters
    ----------
    query_codes : array-like of shape (n_queries, n_columns)
        Codes as bits, signs or packed bytes.
    database_codes : array-like of shape (n_database, n_columns), iterator or dask array
        Codes of the database. An iterator or generator gives blocks ``(codes, y)``, of which
        one is held at a time, and copies of some more where they are small; a memmap is read
        block by block. Of a dask array, every chunk of rows is counted by a task of its own, and
        the histograms are added in a tree.
    query_y : array-like with n_queries rows
        What `affinity` compares: labels, label sets, label paths or vectors.
    database_y : array-like with n_database rows, default=None
        The same for the database; None when the blocks bring their own. A dask array for
        a dask array.
    affinity : "auto" or affinity object, default="auto"
        A fitted object is used as it is, an unfitted one is fitted on the database rows; "auto"
        chooses by their form. Of an iterator or dask array, only the first block is looked at;
        for shards that are to be added up, pass a fitted object.
    n_bits : int, default=None
        Length of a code; needed for packed codes.
    exclude_self : bool, default=False
        The queries are the database, in the same order, and no row retrieves itself.
    keep_codes : bool, default=False
        Whether to keep the distinct codes of the database, each with its number of items, for the
        measures of code usage, which need them: ``local_group_average_precision`` and
        ``code_usage``. They take ``n_bits / 8 + 8`` bytes for each distinct code (codes of whole
        64-bit words), and add up over shards.
    n_jobs : int, default=None
        Threads over blocks of queries. None means 1 unless in a :obj:`joblib.parallel_config`
        context, -1 means all processors. Of no effect on a dask array.

    Returns
    -------
    histogram : RetrievalHistogram

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_hashrank.histogram import retrieval_histogram
    >>> codes, y = np.eye(3, dtype=np.uint8), [0, 0, 1]
    >>> blocks = ((codes[i : i + 1], y[i : i + 1]) for i in range(3))
    >>> retrieval_histogram(codes[:1], blocks, y[:1]).counts
    array([[[0, 0, 1, 0],
            [1, 0, 1, 0]]])
    """
    if n_jobs is not None and (isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral)):
        raise ValueError(f"n_jobs must be an int or None. Got {n_jobs!r} instead.")
    if not isinstance(keep_codes, (bool, np.bool_)):
        raise ValueError(f"keep_codes must be True or False. Got {keep_codes!r} instead.")
    if is_dask_array(database_codes):
        from ._sharding import histogram_of_chunks

        if exclude_self or database_y is None:
            raise ValueError(
                "a dask array needs database_y and exclude_self=False. "
                f"Got database_y={database_y!r} and exclude_self={exclude_self}."
            )
        return histogram_of_chunks(
            query_codes, database_codes, query_y, database_y, affinity, n_bits, keep_codes
        )
    reader = CodeReader(n_bits)
    queries = reader.words(query_codes, "query codes")
    query_y = check_rows(query_y, len(queries), "query")
    if isinstance(database_codes, Iterator):
        if database_y is not None:
            raise ValueError("database_y must be None when the database is an iterator of blocks.")
        blocks = gather(map(check_block, database_codes))
        first: Any = next(blocks, None)
        if first is None:
            raise ValueError("the database is empty; at least one block of codes is needed.")
        affinity = fit_affinity_of_blocks(affinity, first[1])
    else:
        if database_y is None:
            raise ValueError(
                "database_y must have one row per database item. Got None; only an iterator of "
                "blocks (codes, y) brings its own."
            )
        blocks = map(check_block, [(database_codes, database_y)])
        first = next(blocks)
        affinity = fit_affinity(affinity, first[1])
    query_rows = affinity.validate(query_y, "query y")
    counter = _Counter(queries, affinity, query_rows, reader, keep_codes, n_jobs)
    while first is not None:
        counter.add(first[0], first[1], exclude_self)
        first = None  # before the next block is made
        first = next(blocks, None)
    return counter.finish(exclude_self)


class _Counter:
    """Counts block by block. Equal queries are counted once, and so are equal items if it pays."""

    def __init__(self, queries, affinity, rows, reader, keep_codes, n_jobs):
        from .._kernels.hamming import find_equal_rows

        self.affinity, self.reader, self.n_jobs = affinity, reader, n_jobs
        self.all_queries, self.all_rows = queries, rows
        self.kind_rows, kinds = affinity.group(rows)
        if kinds is None:
            kinds = np.arange(len(queries), dtype=np.int32)
        firsts, _, self.query_of = find_equal_rows(queries, kinds, len(queries))
        self.queries, self.kinds = queries[firsts], kinds[firsts].astype(np.int64)
        n_levels = affinity.n_reachable_levels(rows)
        self.levels = affinity.levels_[:n_levels]
        self.counts = np.zeros((len(firsts), n_levels, reader.n_bits + 1), dtype=np.int64)
        self.code_counter = CodeCounter() if keep_codes else None
        self.n_seen = 0
        self.self_levels = []

    def add(self, codes, y, exclude_self):
        """Count one block, in pieces of bounded size."""
        step = self.affinity.block_rows
        for start in range(0, len(codes), step):
            words = self.reader.words(codes[start : start + step], "database codes")
            rows = self.affinity.validate(y[start : start + step], "database y")
            if exclude_self:
                self._note_self(words, rows)
            self.n_seen += len(words)
            self._count(words, rows)

    def finish(self, exclude_self):
        """Return the histogram of all that was added."""
        counts = self.counts
        if len(self.queries) < len(self.all_queries) or exclude_self:
            counts = counts[self.query_of]
        if exclude_self:
            if self.n_seen != len(self.all_queries):
                self._refuse_self(f"{len(self.all_queries)} queries, {self.n_seen} database rows")
            counts[np.arange(len(counts)), np.concatenate(self.self_levels), 0] -= 1
        return RetrievalHistogram(counts, self.levels, self._kept_codes(exclude_self))

    def _kept_codes(self, exclude_self):
        if self.code_counter is None:
            return None
        n_self = np.full(len(self.all_queries), int(exclude_self), dtype=np.int64)
        words, counts = self.code_counter.finish()
        n_bits, n_jobs = self.reader.n_bits, self.n_jobs
        return KeptCodes(self.all_queries.copy(), n_self, words, counts, n_bits, n_jobs)

    def _note_self(self, words, rows):
        part = slice(self.n_seen, self.n_seen + len(words))
        queries = self.all_queries[part]
        if len(queries) != len(words):
            self._refuse_self(f"{len(self.all_queries)} queries and more database rows")
        different = np.flatnonzero((queries != words).any(axis=1))
        if different.size:
            self._refuse_self(f"different codes in row {self.n_seen + different[0]}")
        self.self_levels.append(self.affinity.paired_level_indices(self.all_rows[part], rows))

    @staticmethod
    def _refuse_self(found):
        raise ValueError(
            "exclude_self=True needs the queries to be the database, in the same order. "
            f"Got {found}."
        )

    def _count(self, words, rows):
        group_rows, groups = self.affinity.group(rows)
        words, weights, offsets = self._order(words, groups, group_rows.shape[0])
        chunks = self._query_chunks(words.shape[1], group_rows.shape[0])
        if len(chunks) == 1:
            self._count_chunk(chunks[0], words, weights, group_rows, offsets)
            return
        Parallel(n_jobs=self.n_jobs, require="sharedmem")(
            delayed(self._count_chunk)(chunk, words, weights, group_rows, offsets)
            for chunk in chunks
        )

    def _order(self, words, groups, n_groups):
        """Items word-major and ordered by group, each with its weight, and where groups start."""
        from .._kernels.hamming import group_rows

        weights = np.empty(0, dtype=np.int64)
        distinct = None if groups is None else self._distinct_items(words, groups)
        self._count_codes(words, distinct)
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

    def _count_codes(self, words, distinct):
        if self.code_counter is None:
            return
        if distinct is None:
            self.code_counter.add(words)
        else:
            firsts, repeats = distinct
            self.code_counter.add(words[firsts], repeats)

    def _distinct_items(self, words, groups):
        """Distinct items of a block, or None where counting them one by one costs less."""
        from .._kernels.hamming import find_equal_rows

        n, n_queries = len(words), len(self.queries)
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

    def _query_chunks(self, n_items, n_groups):
        n = len(self.queries)
        n_threads = effective_n_jobs(self.n_jobs)
        n_tasks = min(2 * n_threads, n * n_items // _PAIRS_WORTH_A_THREAD) if n_threads > 1 else 1
        size = min(
            -(-n // max(1, n_tasks)),
            max(1, _LEVELS_AT_A_TIME // self.affinity.n_runs(n_groups)),
        )
        return [slice(start, start + size) for start in range(0, n, size)]

    def _count_chunk(self, chunk, words, weights, group_rows, offsets):
        from .._kernels.hamming import count_runs

        kinds, of_query = np.unique(self.kinds[chunk], return_inverse=True)
        stops, levels = self.affinity.runs(self.kind_rows[kinds], group_rows)
        if levels.max() >= len(self.levels):  # the kernel would write beyond the histogram
            raise ValueError(
                f"{type(self.affinity).__name__} gave level index {levels.max()}, but has "
                f"{len(self.levels)} levels for these queries."
            )
        count_runs(
            self.queries[chunk],
            words,
            weights,
            of_query,
            offsets[stops],
            levels,
            self.counts[chunk],
        )
