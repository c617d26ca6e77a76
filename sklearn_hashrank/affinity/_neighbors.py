"""Relevance of the nearest rows of a database.

Distances come from matrix products, whose rounding depends on how rows are cut into blocks. Where
that could matter, they are summed again, pair by pair (`_exact`). So the same rows are relevant
however the database is cut, and every row at exactly the distance of the k-th counts.
"""

import copy
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone

from .._features.block_rows import is_dask_array, source
from .._features.nearest_rows import METRICS, products
from .._utils.parameters import is_int
from .._utils.threads import one_blas_thread, over_rows
from ._coercion import as_vectors, check_width
from ._protocol import BaseAffinity
from ._vector_products import (
    inner_products,
    squared_distances,
    squared_lengths,
    squared_norms,
    unit_of,
)

_PAIRS_AT_A_TIME = 1 << 22
_ROWS_TO_LOOK_AT = 1000  # of which center and unit are taken; no result depends on them
_LARGEST = 2.0**480  # whose squares can still be added up, over any number of features
_COST = 0.2  # nanoseconds of a multiplication, about


class NeighborAffinity(BaseAffinity):
    """Relevant are the nearest rows of the database.

    A row is relevant when it is at most as far from the query as the k-th nearest row of the
    database that the affinity was fitted on; all rows at exactly that distance count. Where the
    queries are the database, each is left out of its own k by its position. With
    ``tie_aware_recall_score(..., k=10, affinity=NeighborAffinity(10))`` this is recall@10 of the
    true neighbors, the usual measure of vector search.

    It belongs to the database. Metrics, scorers and comparisons fit it anew on the rows that each
    evaluation searches, and hashers that learn from it keep its parameters, not its rows. A
    database that comes in blocks does not tell who is nearest: fit the affinity on all of it first,
    and pass the same fitted object for every shard. Only then do histograms add up.

    Parameters
    ----------
    n_neighbors : int or sequence of int, default=10
        How many rows are relevant, ties apart. Several numbers, ascending, make levels: with
        ``(10, 50)`` the 10 nearest have level 2, the others of the 50 nearest level 1. In smaller
        databases all rows are relevant: hashers refuse to learn from that, and scorers and
        comparisons warn.
    metric : {"cosine", "euclidean", "inner_product"}, default="cosine"
        What near means: a large cosine of the angle, a small distance, or a large inner product. A
        row of zeros has the cosine 0 with every row. What differs by no more than the rounding of
        a sum counts as equal: under cosine, a multiple of a row is as near as the row.

    Attributes
    ----------
    levels_ : ndarray of shape (n_levels,)
        0, 1, and so on: one level more than numbers of neighbors.

    Examples
    --------
    >>> from sklearn_hashrank import NeighborAffinity
    >>> database = [[0.0], [1.0], [2.0], [5.0]]
    >>> affinity = NeighborAffinity(2, metric="euclidean").fit(database)
    >>> affinity.pairwise([[1.0], [4.0]], database)
    array([[1., 1., 1., 0.],
           [0., 0., 1., 1.]])
    """

    block_rows = 1 << 13

    def __init__(self, n_neighbors=10, *, metric="cosine"):
        self.n_neighbors = n_neighbors
        self.metric = metric

    def fit(self, y):
        """Keep the rows of the database.

        Parameters
        ----------
        y : {array-like, sparse matrix, dask array} of shape (n, n_features), or iterator
            All rows of the database. Arrays, memmaps and dask arrays are kept as they are, and
            read block by block when there are queries. The blocks of an iterator are put together
            in memory.

        Returns
        -------
        self : NeighborAffinity
        """
        ranks = self._check_parameters()
        if is_dask_array(y):
            chunks = (_vectors(chunk, self.metric, "y") for chunk in source(y).blocks())
            some = next((chunk for chunk in chunks if chunk.shape[0]), np.empty((0, 1)))
        elif isinstance(y, Iterator):
            blocks = [_vectors(block, self.metric, "y") for block in y]
            if not blocks:
                raise ValueError("the iterator gave no block; at least one block is needed.")
            for block in blocks:
                check_width(block, blocks[0].shape[1], "a block of y", "features")
            if any(map(sparse.issparse, blocks)):
                y = some = sparse.vstack(list(map(sparse.csr_array, blocks)), format="csr")
            else:
                y = some = np.concatenate(blocks)
        else:
            y = some = _vectors(y, self.metric, "y")
        if not some.shape[0]:
            raise ValueError("NeighborAffinity needs at least one row. Got n_samples = 0.")
        self._look_at(some[:_ROWS_TO_LOOK_AT].astype(float))
        self._database = y
        self.levels_ = np.arange(len(ranks) + 1.0)
        return self

    def _check_parameters(self):
        given = self.n_neighbors
        ranks: list[Any] = [given] if np.ndim(given) == 0 else list(given)
        if not ranks or not all(is_int(k, 1) for k in ranks) or np.any(np.diff(ranks) <= 0):
            raise ValueError(
                "n_neighbors must be an int >= 1 or strictly increasing ints, such as (10, 50). "
                f"Got {given!r} instead."
            )
        if self.metric not in METRICS:
            raise ValueError(f"metric must be one of {METRICS}. Got {self.metric!r} instead.")
        return [int(k) for k in ranks]

    def _look_at(self, some):
        """Set a unit of length, a power of two so that it is exact, and a center."""
        self._n_features = some.shape[1]
        largest = abs(some).max() if some.shape[1] else 0
        self._unit = unit_of(largest)
        self._center = np.asarray((some / self._unit).mean(axis=0)).ravel()

    def validate(self, y, name="y"):
        """Return float64 rows, dense or CSR: of length 1 for cosines, else in a unit of length."""
        y = _vectors(y, self.metric, name)
        fitted = self.__sklearn_is_fitted__()
        if fitted:
            check_width(y, self._n_features, name, "features")
        if sparse.issparse(y):
            y = y.astype(float)
            y.sum_duplicates()
        else:
            y = np.ascontiguousarray(y, dtype=float)
        if self.metric == "cosine":
            y = _divided(y, abs(y).max(axis=1))
            return _divided(y, np.sqrt(squared_lengths(y)))
        if not fitted:
            return y
        y = y / self._unit
        largest = abs(y).max() if 0 not in y.shape else 0
        if largest > _LARGEST:
            raise ValueError(
                f"{name} holds values up to {largest * self._unit:.2g}, which are too large to be "
                f"squared beside the first rows of the database, of up to {self._unit:.2g}. Leave "
                'such rows out, or pass metric="cosine", which does not look at lengths.'
            )
        return y

    def describe(self, y, name="y"):
        """Say how many rows are near; see :meth:`BaseAffinity.describe`."""
        n_features = _vectors(y, self.metric, name).shape[1]
        k = self._check_parameters()[-1]
        nearest = f"{k:,} nearest rows are" if k > 1 else "nearest row is"
        metric = self.metric.replace("_", " ")
        return f"{name}: vectors of {n_features:,} numbers: the {nearest} relevant, by {metric}"

    def without_database(self):
        """Return an affinity of the same parameters that has seen no rows."""
        return clone(self)

    def levels_met(self, rows):
        """Levels of pairs of different rows; see :meth:`BaseAffinity.levels_met`."""
        n_rows = rows.shape[0]
        ranks = np.array(self._check_parameters())
        met = np.zeros(len(self.levels_), dtype=bool)
        # A row can have every level down to that of its farthest neighbor.
        lowest = len(ranks) - np.searchsorted(ranks, n_rows - 1)
        left = np.arange(n_rows if n_rows > 1 else 0)
        while left.size:
            row = left[0]
            others = np.delete(np.arange(n_rows), row)
            least, most = self._bounds(rows, rows, np.full(n_rows - 1, row), others)
            limits = np.sort(most)[np.minimum(ranks, n_rows - 1) - 1]
            met[(least[:, None] <= limits).sum(axis=1)] = True
            if met[lowest:].all() or (met[0] and met[1:].any()):
                break
            left = left[(rows[left] != rows[row]).any(axis=1)]  # equal rows meet equal levels
        return self.levels_[met]

    def of_queries(self, queries, are_database=False, n_jobs=None):
        """Find how far the k-th nearest row is from each query; see :class:`BaseAffinity`."""
        light = copy.copy(self)
        del light._database  # may be large, and is not needed any more
        ranks = self._check_parameters()
        find = _Nearest(light, queries, ranks[-1], are_database, n_jobs)
        rows = source(self._database_for(are_database), batch_size=self.block_rows)
        with one_blas_thread():
            found = rows.sum(find)
        if are_database and found.n_rows != queries.shape[0]:
            _refuse_others(f"{found.n_rows} rows", f"{queries.shape[0]} rows")
        limits = np.sort(found.values, axis=1)[:, [k - 1 for k in ranks]]
        return light, NeighborQueries(queries, limits)

    def _database_for(self, are_database):
        """The rows; to leave out own rows, the chunks of a dask array must have known sizes."""
        rows = self._database
        if are_database and is_dask_array(rows) and np.isnan(rows.shape[0]):
            return rows.copy().compute_chunk_sizes()  # which changes the array it is called on
        return rows

    def digest(self, queries):
        """Name the distances of the k-th nearest rows; see :class:`BaseAffinity`."""
        mantissas, exponents = np.frexp(queries.limits + 0.0)  # neither -0.0 nor a unit of length
        if self.metric != "cosine":
            has_unit = np.isfinite(mantissas) & (mantissas != 0)
            exponents = exponents + 2 * int(np.log2(self._unit)) * has_unit
        named = f"{self.metric} {self._check_parameters()}".encode()
        return self._digest_of(named, mantissas, exponents.astype(np.int64))

    def level_indices(self, queries, database):
        """Compare distances with those of the k-th nearest rows; see :class:`BaseAffinity`."""
        queries = self._as_queries(queries)
        rows = database.rows if isinstance(database, NeighborQueries) else database
        values, error = self._approximate(queries.rows, rows)
        least, most = values - 3 * error, values + error  # slack is at most twice the error
        levels = np.zeros(values.shape, dtype=np.uint16)
        unsure = np.zeros(values.shape, dtype=bool)
        for limits in queries.limits.T:
            surely = most <= limits[:, None]
            levels += surely
            unsure |= (least <= limits[:, None]) & ~surely
        i, j = np.nonzero(unsure)
        levels[i, j] = self._count_limits(queries, rows, i, j)
        return levels

    def paired_level_indices(self, queries, database):
        """Compare aligned rows."""
        queries, pairs = self._as_queries(queries), np.arange(queries.shape[0])
        rows = database.rows if isinstance(database, NeighborQueries) else database
        return self._count_limits(queries, rows, pairs, pairs)

    def _count_limits(self, queries, database, i, j):
        """Levels of the pairs (i, j); what rounding may have made of equal distances is equal."""
        least, _ = self._bounds(queries.rows, database, i, j)
        return (least[:, None] <= queries.limits[i]).sum(axis=1, dtype=np.uint16)

    def _bounds(self, queries, database, i, j):
        """The least and the most that the distances of the pairs (i, j) may be, but for rounding.

        Each is summed alone. The rounding of a cosine is that of rows of length 1, also where one
        of them is zero: rows at a right angle have the same cosine.
        """
        values = self._exact(queries, database, i, j)
        if self.metric == "euclidean":
            sizes = values
        elif self.metric == "cosine":
            sizes = 1.0
        else:
            sizes = np.sqrt(squared_lengths(queries)[i] * squared_lengths(database)[j])
        slack = self._rounding * sizes
        return values - slack, values + slack

    def _as_queries(self, queries):
        if isinstance(queries, NeighborQueries):
            return queries
        return self.of_queries(queries)[1]

    @property
    def _rounding(self):
        """Bound on the error of a distance from a product, relative to the squared norms."""
        return 4 * (self._n_features + 4) * np.finfo(float).eps

    def _approximate(self, queries, database):
        """Distances of all pairs from a product, and bounds on their errors."""
        shift = self.metric == "euclidean" and not any(map(sparse.issparse, (queries, database)))
        if shift:
            queries, database = queries - self._center, database - self._center
        if self.metric == "cosine":
            sizes = np.full((queries.shape[0], database.shape[0]), 2.0)  # some rows may be zero
        else:
            sizes = squared_norms(queries)[:, None] + squared_norms(database)
        values = products(queries, database)
        values = sizes - 2 * values if self.metric == "euclidean" else -values
        sizes *= self._rounding
        return values, sizes

    def _exact(self, queries, database, i, j):
        """Distances of the pairs (i, j), each computed alone."""
        if self.metric == "euclidean":
            return squared_distances(queries, database, i, j)
        return -inner_products(queries, database, i, j)


class NeighborQueries:
    """Rows of queries, each with the distances up to which rows are relevant to it.

    Parameters
    ----------
    rows : {ndarray, CSR matrix} of shape (n_queries, n_features)
    limits : ndarray of shape (n_queries, n_levels - 1)
        Of the highest level first.
    """

    def __init__(self, rows: Any, limits: np.ndarray):
        self.rows, self.limits = rows, limits

    @property
    def shape(self) -> tuple[int, ...]:
        """That of the rows."""
        return self.rows.shape

    def __getitem__(self, part: Any) -> "NeighborQueries":
        return NeighborQueries(self.rows[part], self.limits[part])


class _Nearest:
    """Finds the distances of the nearest rows of a block: a function that workers can be sent."""

    def __init__(self, affinity, queries, n, are_database, n_jobs):
        self.affinity, self.queries, self.n = affinity, queries, n
        self.are_database, self.n_jobs = are_database, n_jobs

    def __call__(self, block: Any, _: Any, start: int | None) -> "_Distances":
        affinity, queries = self.affinity, self.queries
        block = affinity.validate(block, "database y")
        if not block.shape[0]:
            return _Distances(np.full((queries.shape[0], self.n), np.inf), 0)
        numbers = None
        if self.are_database:
            assert start is not None, "own rows are known by their numbers"
            numbers = np.arange(start, start + block.shape[0])
            if not _are_equal(queries[start : start + block.shape[0]], block):
                _refuse_others("other rows", f"{queries.shape[0]} rows")
        nearest = np.full((queries.shape[0], self.n), np.inf)

        def find(part):
            own = None
            if numbers is not None:
                own = numbers[None] == np.arange(part.start, part.stop)[:, None]
            nearest[part] = self._find(queries[part], block, own)

        n_rows, n_features = block.shape
        cost = _COST * n_rows * (n_features + 20)
        most = max(1, _PAIRS_AT_A_TIME // n_rows)
        if queries.shape[0]:
            over_rows(find, queries.shape[0], self.n_jobs, cost=cost, most=most)
        return _Distances(nearest, n_rows)

    def _find(self, queries, block, own):
        """The smallest of the most that distances may be, by what may be among them, exact."""
        values, error = self.affinity._approximate(queries, block)
        if own is not None:
            values[own] = np.inf
        n = min(self.n, values.shape[1])
        cutoff = np.partition(values + 3 * error, n - 1, axis=1)[:, n - 1 : n]
        i, j = np.nonzero((values - error <= cutoff) & np.isfinite(values))
        _, exact = self.affinity._bounds(queries, block, i, j)
        order = np.lexsort((exact, i))
        i, exact = i[order], exact[order]
        place = np.arange(len(i)) - np.searchsorted(i, i)
        kept = place < self.n
        nearest = np.full((queries.shape[0], self.n), np.inf)
        nearest[i[kept], place[kept]] = exact[kept]
        return nearest


class _Distances:
    """The smallest distances of each query to some rows; those of further rows are added."""

    def __init__(self, values: np.ndarray, n_rows: int):
        self.values, self.n_rows = values, n_rows

    def __add__(self, other: "_Distances") -> "_Distances":
        n = self.values.shape[1]
        both = np.concatenate([self.values, other.values], axis=1)
        return _Distances(np.partition(both, n - 1, axis=1)[:, :n], self.n_rows + other.n_rows)


def _vectors(y: Any, metric: str, name: str) -> Any:
    """Rows of numbers; numbers that are not in rows have no angles, and may be class labels."""
    rows = as_vectors(y, name)
    if metric == "cosine" and np.ndim(y) == 1:
        raise ValueError(
            f"{name} has one number for each row, whose cosines are -1, 0 or 1. Pass vectors as y, "
            "for example the features; class labels have no nearest rows."
        )
    return rows


def _refuse_others(fitted: str, given: str) -> None:
    raise ValueError(
        "the queries must be the database that NeighborAffinity was fitted on, as each is left out "
        f"of its own neighbors by its position. It was fitted on {fitted}; got {given}. Pass an "
        "unfitted NeighborAffinity, which is fitted on the rows of each evaluation."
    )


def _are_equal(a, b):
    if a.shape != b.shape:
        return False
    if sparse.issparse(a) or sparse.issparse(b):
        return not (sparse.csr_array(a) != sparse.csr_array(b)).nnz
    return np.array_equal(a, b)


def _divided(rows, lengths):
    """Rows divided by their lengths; those of zeros as they are."""
    if sparse.issparse(lengths):
        lengths = lengths.toarray()
    lengths = np.asarray(lengths).ravel()
    lengths = np.where(lengths > 0, lengths, 1.0)
    if sparse.issparse(rows):
        parts = rows.data / np.repeat(lengths, np.diff(rows.indptr)), rows.indices, rows.indptr
        return sparse.csr_array(parts, shape=rows.shape)
    return rows / lengths[:, None]
