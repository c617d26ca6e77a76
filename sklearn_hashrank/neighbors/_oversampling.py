"""How many candidates by codes hold the nearest rows: a search for a sample of queries."""

from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.utils import check_array

from .._features.nearest_rows import METRICS, half_squares, nearest_rows, of_unit_length
from .._features.tensors import as_host_array
from .._utils.binary_units import binary_units
from ..codes._distances import hamming_distances
from ._checks import check_int

_ROWS_AT_A_TIME, _PAIRS_AT_A_TIME = 1 << 14, 1 << 22


class Oversampling(NamedTuple):
    """What :func:`choose_oversampling` returns."""

    oversampling: int
    recall: float
    n_candidates: np.ndarray


def choose_oversampling(
    queries: Any,
    rows: Any,
    query_codes: Any,
    codes: Any,
    n_neighbors: int = 10,
    *,
    recall: float = 0.95,
    metric: str = "cosine",
    n_bits: int | None = None,
) -> Oversampling:
    """Choose how many candidates :func:`rescore` needs for a wanted recall.

    The nearest rows of some queries are found by their floats, and looked for in the order of the
    codes. Give the whole database, as fewer rows need fewer candidates; some hundred queries are
    enough. `rows` may be a memmap, which is read in blocks.

    Parameters
    ----------
    queries : array-like of shape (n_queries, n_features)
        Rows of features, a sample of those that will be asked for.
    rows : array-like of shape (n_samples, n_features)
        Rows of features of the database.
    query_codes : array-like of shape (n_queries, n_columns)
        Codes of the queries, as bits, signs or packed bytes.
    codes : array-like of shape (n_samples, n_columns)
        Codes of the database.
    n_neighbors : int, default=10
        How many neighbors are wanted.
    recall : float, default=0.95
        Share of the nearest rows that candidates should hold, above 0 and at most 1.
    metric : {"cosine", "euclidean", "inner_product"}, default="cosine"
        What near means, as for :func:`rescore`.
    n_bits : int, default=None
        Length of packed codes.

    Returns
    -------
    found : named tuple
        `oversampling`, an int: candidates by codes, as a multiple of `n_neighbors`. `recall`: share
        of the nearest rows that are among so many candidates. `n_candidates`, an array of shape
        (n_queries, n_neighbors): for each query and each of its nearest rows, how many candidates
        it takes until the row is among them.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_hashrank import ITQHasher
    >>> from sklearn_hashrank.neighbors import choose_oversampling
    >>> X = np.random.default_rng(0).normal(size=(2000, 32)) ** 3
    >>> hasher = ITQHasher(32, random_state=0).fit(X)
    >>> codes = hasher.transform(X)
    >>> few = choose_oversampling(X[:50], X, codes[:50], codes, recall=0.5)
    >>> most = choose_oversampling(X[:50], X, codes[:50], codes, recall=0.95)
    >>> few.oversampling < most.oversampling
    True
    """
    if metric not in METRICS:
        raise ValueError(f"metric must be one of {METRICS}. Got {metric!r} instead.")
    if isinstance(recall, bool) or not isinstance(recall, Real) or not 0 < recall <= 1:
        raise ValueError(f"recall must be a number above 0 and at most 1. Got {recall!r} instead.")
    check_int(n_neighbors, "n_neighbors", 1)
    queries, rows = as_host_array(queries, "queries"), as_host_array(rows, "rows")
    codes, query_codes = as_host_array(codes, "codes"), as_host_array(query_codes, "query_codes")
    queries = check_array(queries, dtype=np.float64, input_name="queries")
    rows = rows.to_numpy() if hasattr(rows, "to_numpy") else rows
    rows, query_codes, codes = (
        _as_rows(given, name)
        for given, name in ((rows, "rows"), (query_codes, "query_codes"), (codes, "codes"))
    )
    n_rows = len(rows)
    if n_neighbors > n_rows:
        raise ValueError(f"n_neighbors must be at most the {n_rows} rows. Got {n_neighbors}.")
    for name, given, wanted in (
        ("query_codes", query_codes, len(queries)),
        ("codes", codes, n_rows),
    ):
        if len(given) != wanted:
            raise ValueError(f"{name} must have {wanted} rows, as the features. Got {len(given)}.")
    nearest = _nearest(queries, rows, n_neighbors, metric)
    places = np.empty(nearest.shape, dtype=np.int64)
    step = max(1, _PAIRS_AT_A_TIME // n_rows)
    for start in range(0, len(queries), step):
        part = slice(start, start + step)
        distances = hamming_distances(query_codes[part], codes, n_bits=n_bits)
        for query, of_query in enumerate(distances, start):
            rank = np.empty(n_rows, dtype=np.int64)
            rank[np.argsort(of_query, kind="stable")] = np.arange(1, n_rows + 1)
            places[query] = rank[nearest[query]]
    last = np.sort(places, axis=None)[int(np.ceil(recall * places.size)) - 1]
    oversampling = -(-int(last) // n_neighbors)
    share = float(np.mean(places <= oversampling * n_neighbors))
    return Oversampling(oversampling, share, places)


def _as_rows(given: Any, name: str) -> Any:
    """What can be cut into blocks of rows more than once, and is not sparse."""
    if isinstance(given, (list, tuple)):
        given = np.asarray(given)
    if sparse.issparse(given) or len(getattr(given, "shape", ())) != 2:
        shape = f" of shape {given.shape}" if hasattr(given, "shape") else ""
        raise TypeError(
            f"{name} must be a dense array or a memmap of two dimensions. Got "
            f"{type(given).__name__}{shape}."
        )
    return given


def _nearest(queries, rows, k, metric):
    """Numbers of the nearest rows of each query, ascending; rows are read in blocks."""
    unit = binary_units(queries.reshape(1, -1))[0]
    origin = queries.mean(axis=0) / unit if metric == "euclidean" else 0  # no digits are lost to it

    def in_units(part):
        return of_unit_length(part) if metric == "cosine" else part / unit - origin

    def blocks():
        for start in range(0, len(rows), _ROWS_AT_A_TIME):
            part = rows[start : start + _ROWS_AT_A_TIME]
            part = check_array(part, dtype=np.float64, input_name="rows")
            if part.shape[1] != queries.shape[1]:
                raise ValueError(
                    f"rows must have {queries.shape[1]} columns, as the queries have. "
                    f"Got {part.shape[1]}."
                )
            part = in_units(part)
            yield part, half_squares(part) if metric == "euclidean" else 0

    with np.errstate(over="ignore", invalid="ignore"):
        return np.sort(nearest_rows(in_units(queries), blocks(), k)[0], axis=1)
