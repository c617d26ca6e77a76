"""Order candidates by distances between the rows that their codes were made of."""

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_array

from .._features.nearest_rows import METRICS
from .._features.tensors import as_host_array
from .._utils.binary_units import binary_units
from .._utils.threads import over_rows
from ._checks import check_int
from ._row_ids import RowIds, read_ids
from ._searches import MISSING

_NUMBER_COST = 1.0  # nanoseconds of reading a number of a row and multiplying it, about
_NUMBERS_AT_A_TIME = 1 << 20


def rescore(
    queries: Any,
    rows: Any,
    candidates: Any,
    n_neighbors: int | None = None,
    *,
    ids: Any = None,
    metric: str = "cosine",
    n_jobs: int | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Put candidates in order of the distance between rows of features.

    Search codes for a few times more neighbors than you need, and rescore what was found. Only the
    rows of the candidates are read, so that `rows` can be a memmap on a disk.

    Parameters
    ----------
    queries : array-like of shape (n_queries, n_features)
        Rows of features that the query codes were made of.
    rows : ndarray, memmap or data frame of shape (n_samples, n_features)
        Rows of features that the codes of the database were made of.
    candidates : array-like of shape (n_queries, n_candidates), int
        Row indices, as :meth:`HammingNeighbors.kneighbors` or another index without ids returns
        them; or, with `ids`, ids. A missing result, -1, or None among ids that are objects, stays
        missing. A row that is named twice for a query counts once.
    n_neighbors : int, default=None
        How many of the candidates to return; None: all.
    ids : array-like of shape (n_samples,), default=None
        The id of each row, if the candidates are ids. Integer ids look like row indices: rescoring
        them without `ids` reads the wrong rows.
    metric : {"cosine", "euclidean", "inner_product"}, default="cosine"
        What near means. A row of zeros has the cosine 0 with every row.
    n_jobs : int or None, default=None
        Threads over queries. None means 1 unless in a :obj:`joblib.parallel_config` context, -1
        means all processors.

    Returns
    -------
    distances : ndarray of shape (n_queries, n_neighbors), float64
        One minus the cosine, the Euclidean distance, or the inner product times -1; inf where a
        candidate is missing.
    indices : ndarray of shape (n_queries, n_neighbors), int64 or object
        In order of (distance, row index). With `ids`, ids.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_hashrank import HammingNeighbors, LSHHasher
    >>> from sklearn_hashrank.neighbors import rescore
    >>> X = np.random.default_rng(0).normal(size=(500, 16))
    >>> hasher = LSHHasher(32, random_state=0).fit(X)
    >>> index = HammingNeighbors(50).fit(hasher.transform(X))
    >>> candidates = index.kneighbors(hasher.transform(X[:3]), return_distance=False)
    >>> distances, indices = rescore(X[:3], X, candidates, 2)
    >>> indices[:, 0]
    array([0, 1, 2])
    """
    if metric not in METRICS:
        raise ValueError(f"metric must be one of {METRICS}. Got {metric!r} instead.")
    queries, rows = as_host_array(queries, "queries"), as_host_array(rows, "rows")
    queries = check_array(queries, dtype=np.float64, order="C", input_name="queries")
    rows = rows.to_numpy() if hasattr(rows, "to_numpy") else rows
    has_columns = getattr(rows, "ndim", 0) == 2 and rows.shape[1] == queries.shape[1]
    if sparse.issparse(rows) or not has_columns:
        raise ValueError(
            f"rows must be a dense array of {queries.shape[1]} columns, as the queries have. "
            f"Got {type(rows).__name__} of shape {getattr(rows, 'shape', None)}."
        )
    names = None
    if ids is not None:
        names = RowIds(rows.shape[0], read_ids(ids, rows.shape[0]), None)
        candidates = names.places_among(as_host_array(candidates, "candidates"))
    candidates = read_candidates(candidates, len(queries), rows.shape[0])
    n_candidates = candidates.shape[1]
    k = n_candidates if n_neighbors is None else n_neighbors
    check_int(k, "n_neighbors", 1)
    if k > n_candidates:
        raise ValueError(f"n_neighbors must be at most the {n_candidates} candidates. Got {k}.")
    distances = np.full(candidates.shape, np.inf)

    def score(part):
        for i in range(*part.indices(len(queries))):
            known = candidates[i][candidates[i] < rows.shape[0]]
            with np.errstate(over="ignore", invalid="ignore"):
                found = _distances(queries[i], rows[known], metric)
            if not np.isfinite(found).all():
                raise ValueError(
                    f"row {known[~np.isfinite(found)][0]} contains NaN, infinity or a value too "
                    f"large for {metric} distances."
                )
            distances[i, : len(known)] = found

    n_numbers = n_candidates * queries.shape[1]
    most = max(1, _NUMBERS_AT_A_TIME // n_numbers)
    over_rows(score, len(queries), n_jobs, cost=_NUMBER_COST * n_numbers, most=most)
    order = np.argsort(distances, axis=1, kind="stable")[:, :k]
    distances = np.take_along_axis(distances, order, axis=1)
    indices = np.take_along_axis(candidates, order, axis=1)
    indices[indices == rows.shape[0]] = MISSING
    return distances, indices if names is None else names.of(indices)


def read_candidates(given: Any, n_queries: int, n_rows: int, n_least: int = 1) -> np.ndarray:
    """Row indices of each query in order, each once; for missing ones, -1, `n_rows`."""
    given = as_host_array(given, "candidates")
    given = check_array(given, dtype=None, ensure_min_features=0, input_name="candidates")
    if given.dtype.kind not in "iu" or len(given) != n_queries or given.shape[1] < n_least:
        raise ValueError(
            f"candidates must be at least {n_least} integers for each of the {n_queries} queries. "
            f"Got {given.dtype} of shape {given.shape}."
        )
    if given.min() < -1 or given.max() >= n_rows:
        raise ValueError(
            f"candidates must be row indices below {n_rows}, or -1. "
            f"Got numbers from {given.min()} to {given.max()}."
        )
    numbers = given.astype(np.int64, order="C")
    numbers[numbers < 0] = n_rows
    numbers.sort(axis=1)
    repeated = numbers[:, 1:] == numbers[:, :-1]
    if repeated.any():
        numbers[:, 1:][repeated] = n_rows
        numbers.sort(axis=1)
    return numbers


def _distances(query: np.ndarray, rows: np.ndarray, metric: str) -> np.ndarray:
    """Distances of a query to some rows, each computed from its own row alone."""
    rows = np.asarray(rows, dtype=np.float64, order="C")
    if metric == "euclidean":
        difference = rows - query
        return np.sqrt(np.einsum("ij,ij->i", difference, difference))
    if metric == "cosine":  # in units of powers of two, which are exact, so that squares exist
        rows, query = rows / binary_units(rows)[:, None], query / binary_units(query[None])
    products = np.einsum("ij,j->i", rows, query)
    if metric == "inner_product":
        return -products
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows)) * np.sqrt(query @ query)
    cosines = np.divide(products, lengths, out=np.zeros_like(products), where=lengths != 0)
    return 1 - cosines
