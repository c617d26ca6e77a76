"""Nearest rows by the numbers of their features.

Of two rows, the one with the larger nearness is nearer to a query: its product with the query, less
half of its squared length where the distance is Euclidean. The squared length of the query, which
is the same for all rows, is left out. So every metric is a product of matrices.

What learning, samples and pages call nearest is found here. Where an evaluation must not depend on
the rounding of a product, :class:`~sklearn_hashrank.NeighborAffinity` decides what is close by sums
of single pairs.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
from scipy import sparse

from .._utils.binary_units import binary_units

METRICS = ("cosine", "euclidean", "inner_product")


def products(queries: Any, rows: Any) -> np.ndarray:
    product = queries @ rows.T
    return product.toarray() if sparse.issparse(product) else np.asarray(product)


def half_squares(rows: Any) -> np.ndarray:
    squares = rows.multiply(rows) if sparse.issparse(rows) else rows * rows
    return np.asarray(squares.sum(axis=1)).ravel() / 2


def of_unit_length(rows: np.ndarray) -> np.ndarray:
    """Dense rows divided by their lengths; those of zeros as they are."""
    rows = rows / binary_units(rows)[:, None]  # so that squares exist
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))[:, None]
    return np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)


def nearest_rows(
    queries: Any,
    blocks: Iterable[tuple[Any, np.ndarray | float]],
    k: int,
    own: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of the `k` nearest rows of each query, the nearest first, and their nearness.

    Of equally near rows the first ones count. Memory is that of one block and of its pairs with all
    queries: pass slices of many queries, in threads where that pays.

    Parameters
    ----------
    queries : {ndarray, sparse matrix} of shape (n_queries, n_features)
    blocks : iterable of pairs (rows, halves)
        The rows, block after block, and for each what is taken from its products: `half_squares`
        for Euclidean distances, 0 otherwise.
    k : int
        Fewer are returned where there are not so many rows.
    own : ndarray of shape (n_queries,), default=None
        The number of each query among the rows, which is left out; `k` is at most the others.

    Returns
    -------
    numbers : ndarray of shape (n_queries, k), int64
    nearness : ndarray of shape (n_queries, k)
    """
    shape, start = (queries.shape[0], 0), 0
    numbers, nearness = np.empty(shape, np.int64), np.empty(shape)
    for rows, halves in blocks:
        near = products(queries, rows) - halves
        if not np.isfinite(near).all():
            raise ValueError("rows hold values too large to be compared with the queries.")
        if own is not None:
            here = np.flatnonzero((own >= start) & (own < start + near.shape[1]))
            near[here, own[here] - start] = -np.inf
        found = _largest(near, k)
        nearness = np.hstack([nearness, np.take_along_axis(near, found, axis=1)])
        numbers = np.hstack([numbers, start + found])
        best = _largest(nearness, k)
        nearness = np.take_along_axis(nearness, best, axis=1)
        numbers = np.take_along_axis(numbers, best, axis=1)
        start += near.shape[1]
    order = np.argsort(-nearness, axis=1, kind="stable")
    return np.take_along_axis(numbers, order, axis=1), np.take_along_axis(nearness, order, axis=1)


def _largest(values: np.ndarray, k: int) -> np.ndarray:
    n_rows, n = values.shape
    if n <= k:
        return np.broadcast_to(np.arange(n), values.shape).copy()
    last = np.partition(values, n - k, axis=1)[:, n - k, None]
    is_large = values >= last
    for row in np.flatnonzero(np.count_nonzero(is_large, axis=1) > k):  # several at the k-th place
        tied = np.flatnonzero(values[row] == last[row])
        n_larger = np.count_nonzero(is_large[row]) - len(tied)
        is_large[row, tied[k - n_larger :]] = False
    return np.nonzero(is_large)[1].reshape(n_rows, k)
