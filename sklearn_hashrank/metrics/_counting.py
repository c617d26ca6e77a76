"""Count a retrieval histogram from codes and `y`.

`retrieval_histogram` makes the queries ready once. `BlockCounter` then counts one block of the
database after the other, in threads over blocks of queries.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from .. import _kernels
from .._features.block_rows import in_memory, is_dask_array, source
from .._utils.threads import check_n_jobs, over_rows
from .._utils.types import Target
from ..affinity._auto import fit_affinity, fit_affinity_of_blocks
from ..affinity._coercion import as_array
from ..affinity._level_checks import check_level_indices
from ..affinity._protocol import BaseAffinity
from ..codes._counts import CodeCounter, KeptCodes
from ..codes._formats import CodeReader, as_code_matrix
from ._histogram import RetrievalHistogram

# Measured costs in nanoseconds, to decide whether counting equal items once pays.
_PAIR_COST, _WEIGHTED_PAIR_COST, _NUMBERING_COST = 0.2, 0.6, 8.0
_SAMPLE = 1 << 14  # items that tell whether many are equal, for a small part of the cost
_LEVELS_AT_A_TIME = 1 << 20  # runs of queries held at a time, some 16 MB


def retrieval_histogram(
    query_codes: ArrayLike,
    database_codes: ArrayLike | Iterator[tuple[ArrayLike, Target]],
    query_y: Target,
    database_y: Target | None = None,
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
        for shards that are to be added up, pass a fitted object. A NeighborAffinity must be fitted
        on the whole database then.
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
    >>> from sklearn_hashrank import retrieval_histogram
    >>> codes, y = np.eye(3, dtype=np.uint8), [0, 0, 1]
    >>> blocks = ((codes[i : i + 1], y[i : i + 1]) for i in range(3))
    >>> retrieval_histogram(codes[:1], blocks, y[:1]).counts
    array([[[0, 0, 1, 0],
            [1, 0, 1, 0]]])
    """
    check_n_jobs(n_jobs)
    if not isinstance(keep_codes, (bool, np.bool_)):
        raise ValueError(f"keep_codes must be True or False. Got {keep_codes!r} instead.")
    in_chunks = is_dask_array(database_codes)
    _check_database(database_codes, database_y, in_chunks, exclude_self)
    reader = CodeReader(n_bits)
    query_codes, query_y = in_memory(query_codes), in_memory(query_y)
    query_codes = as_code_matrix(query_codes, "query codes")
    words = reader.words_of(query_codes, "query codes")
    query_y = check_rows(query_y, len(words), "query")
    if in_chunks:
        database_y = as_array(database_y, "database y")
    elif database_y is not None:
        database_y = in_memory(database_y)
    database = source(database_codes, database_y, check=check_block)
    del database_codes
    fit = fit_affinity if database.in_one_block else fit_affinity_of_blocks
    affinity = fit(affinity, database.first_y())
    rows = affinity.validate(query_y, "query y")
    affinity, rows = affinity.of_queries(rows, bool(exclude_self), n_jobs)
    n_pairs = len(words) * database.first_y().shape[0] if database.in_one_block else None
    queries = Queries(words, rows, affinity, reader.n_bits, n_pairs)
    n_threads = 1 if in_chunks else n_jobs
    count = database.sum(BlockCounter(queries, reader, keep_codes, exclude_self, n_threads))
    kept = queries.kept_codes(count, exclude_self, n_jobs) if keep_codes else None
    counts = queries.counts(count, exclude_self)
    return RetrievalHistogram(counts, queries.levels, kept, affinity.digest(rows))


def _check_database(codes, y, in_chunks, exclude_self):
    """Check that exactly one of `y` and the blocks gives the relevance."""
    if in_chunks:
        if exclude_self or y is None:
            raise ValueError(
                "a dask array needs database_y and exclude_self=False. "
                f"Got database_y={y!r} and exclude_self={exclude_self}."
            )
    elif isinstance(codes, Iterator):
        if y is not None:
            raise ValueError("database_y must be None when the database is an iterator of blocks.")
    elif y is None:
        raise ValueError(
            "database_y must have one row per database item. Got None; only an iterator of "
            "blocks (codes, y) brings its own."
        )


def check_block(block: Any) -> tuple[np.ndarray, Any]:
    """Check a block: codes and `y`, with as many rows each."""
    if not isinstance(block, (tuple, list)) or len(block) != 2:
        raise ValueError(f"a block must be a pair (codes, y). Got {type(block).__name__}.")
    codes = as_code_matrix(block[0], "database codes")
    return codes, check_rows(block[1], len(codes), "database")


def check_rows(y: Any, n_rows: int, name: str) -> Any:
    """Return `y` with one row for each of `n_rows` codes."""
    if y is None:
        raise ValueError(f"{name} y must have one row per {name} code. Got None.")
    y = y.tocsr() if sparse.issparse(y) and y.ndim == 2 else as_array(y, f"{name} y")
    if not y.shape or y.shape[0] != n_rows:
        raise ValueError(
            f"{name} y must have one row per {name} code, {n_rows}. Got shape {y.shape}."
        )
    return y


class Queries:
    """Queries made ready: equal ones are counted once, those of equal y share their runs.

    `rows` are their `y`, in the form that the affinity gives it. Few pairs, of an array, are
    compared one by one, by numpy alone.
    """

    def __init__(
        self,
        words: np.ndarray,
        rows: np.ndarray,
        affinity: BaseAffinity,
        n_bits: Any,
        n_pairs: int | None,
    ):
        self.all_words, self.all_rows = words, rows
        self.affinity, self.n_bits = affinity, int(n_bits)
        n_levels = affinity.n_reachable_levels(rows)
        self.levels: np.ndarray = affinity.levels_[:n_levels]
        self.are_few = n_pairs is not None and not _kernels.pays("hamming", n_pairs)
        if self.are_few:
            self.words, self.query_of = words, np.arange(len(words))
            return
        self.group_rows, groups = affinity.group(rows)
        if groups is None:
            groups = np.arange(len(words), dtype=np.int32)
        firsts, _, self.query_of = _kernels.hamming.find_equal_rows(words, groups, len(words))
        self.words, self.groups = words[firsts], groups[firsts].astype(np.int64)

    def counts(self, count: "Count", exclude_self: bool) -> np.ndarray:
        """Give each query the counts of its distinct code and `y`, less its pair with itself."""
        counts = count.counts
        if len(self.words) < len(self.all_words) or exclude_self:
            counts = counts[self.query_of]
        if exclude_self:
            if count.n_items != len(self.all_words):
                refuse_self(f"{len(self.all_words)} queries, {count.n_items} database rows")
            counts[np.arange(len(counts)), np.concatenate(count.self_levels), 0] -= 1
        return counts

    def kept_codes(self, count: "Count", exclude_self: bool, n_jobs: int | None) -> KeptCodes:
        """Keep codes of queries and items, from which measures of code usage follow."""
        n_self = np.full(len(self.all_words), int(exclude_self), dtype=np.int64)
        words, repeats = count.codes.finish()  # type: ignore[union-attr]
        return KeptCodes(self.all_words.copy(), n_self, words, repeats, self.n_bits, n_jobs)


@dataclass
class Count:
    """What was counted in some blocks of a database; counts of further blocks are added."""

    counts: np.ndarray  # (n_distinct_queries, n_levels, n_bits + 1), int64
    reader: CodeReader  # knows which values the codes were made of
    codes: CodeCounter | None  # the distinct codes
    n_items: int
    self_levels: list  # index of the level of every query with itself, where it is left out

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
    """Counts the items of a block of codes: a function of the block, which workers can be sent."""

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
            words = count.reader.words_of(codes[part], "database codes", self.n_jobs)
            rows = queries.affinity.validate(y[part], "database y")
            if self.exclude_self:
                count.self_levels.append(self._self_levels(words, rows, int(start or 0) + first))
            if queries.are_few:
                self._count_pairs(words, rows, count)
            else:
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

    def _count_pairs(self, words, rows, count):
        queries = self.queries
        if count.codes is not None:
            count.codes.add(words)
        levels = queries.affinity.level_indices(queries.all_rows, rows)
        shape, n_levels = (len(queries.words), len(words)), len(queries.levels)
        levels = check_level_indices(queries.affinity, levels, shape, n_levels)
        cells = np.arange(shape[0])[:, None] * n_levels + levels
        cells *= queries.n_bits + 1
        for of_queries, of_items in zip(queries.words.T, words.T):
            cells += np.bitwise_count(of_queries[:, None] ^ of_items)
        counted = np.bincount(cells.ravel(), minlength=count.counts.size)
        count.counts += counted.reshape(count.counts.shape)

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
        """Order items by group for the kernel: words, weights, and where groups start."""
        weights = None
        distinct = None if groups is None else self._distinct_items(words, groups)
        if codes is not None:
            codes.add(*((words,) if distinct is None else (words[distinct[0]], distinct[1])))
        if groups is None:
            grouped = _kernels.hamming.room_for_words(words.shape[1], len(words))
            grouped[:, : len(words)] = words.T
            return grouped, weights, np.arange(len(words) + 1)
        if distinct is not None:
            firsts, repeats = distinct
            order = np.argsort(groups[firsts], kind="stable")
            firsts, weights = firsts[order], repeats[order]
            words, groups = words[firsts], groups[firsts]
        sizes = np.bincount(groups, minlength=n_groups)
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        grouped = _kernels.hamming.room_for_words(words.shape[1], len(words))
        _kernels.hamming.group_rows(words, groups, offsets[:-1].copy(), grouped)
        return grouped, weights, offsets

    def _distinct_items(self, words, groups):
        """Find the distinct items of a block, or None where counting all of them costs less."""
        n, n_queries = len(words), len(self.queries.words)
        saved = n * (n_queries * _PAIR_COST - _NUMBERING_COST)
        limit = min(n, int(saved / (n_queries * _WEIGHTED_PAIR_COST)))
        if limit <= 0:
            return None
        if n > 4 * _SAMPLE:
            step = n // _SAMPLE
            sample, groups_of_sample = words[::step].copy(), groups[::step].copy()
            n_distinct = len(
                _kernels.hamming.find_equal_rows(sample, groups_of_sample, len(sample))[0]
            )
            n_repeated = len(sample) - n_distinct
            if n_repeated * limit < len(sample) ** 2 / 2:  # as samples of `limit` items have
                return None
        firsts, repeats, _ = _kernels.hamming.find_equal_rows(words, groups, limit)
        return (firsts, repeats) if len(firsts) else None

    def _count_part(self, part, items, weights, group_rows, offsets, counts):
        queries = self.queries
        groups, of_query = np.unique(queries.groups[part], return_inverse=True)
        stops, levels = queries.affinity.runs(queries.group_rows[groups], group_rows)
        shape = (len(levels) if len(levels) == 1 else len(groups), stops.shape[1])
        levels = check_level_indices(queries.affinity, levels, shape, len(queries.levels))
        if (offsets[stops[:, -1]] != offsets[-1]).any():
            raise ValueError(
                f"runs of {type(queries.affinity).__name__} must end with the last group, "
                f"{len(offsets) - 1}. Got {stops[:, -1].max()} instead."
            )
        scratch = _kernels.hamming.room_to_count(
            len(of_query), offsets[-1], len(queries.levels), queries.n_bits + 1, weights is not None
        )
        _kernels.hamming.count_runs(
            queries.words[part],
            items,
            weights,
            of_query,
            offsets[stops],
            levels,
            counts[part].reshape(len(of_query), -1),
            *scratch,
        )


def refuse_self(found: str) -> None:
    """Say that the queries are not the database."""
    raise ValueError(
        f"exclude_self=True needs the queries to be the database, in the same order. Got {found}."
    )
