"""Norms of vectors, dense or sparse, and products and distances of single pairs.

Products of all pairs are fast, and round differently in blocks of other sizes. What is computed for
single pairs depends on their two rows alone.
"""

from typing import Any

import numpy as np
from scipy import sparse

_NUMBERS_AT_A_TIME = 1 << 22  # 32 MB of gathered rows


def unit_of(largest: float) -> float:
    """Return a power of two near the largest number, by which division is exact.

    Its exponent stays where neither the power nor a quotient by it overflows.
    """
    exponent = np.round(np.log2(largest)) if largest > 0 else 0
    return float(2.0 ** np.clip(exponent, -1022, 1023))


def squared_norms(rows: Any) -> np.ndarray:
    """Squared Euclidean norm of each row."""
    if sparse.issparse(rows):
        return np.asarray(rows.multiply(rows).sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", rows, rows)


def squared_lengths(rows: Any) -> np.ndarray:
    """Squared Euclidean norm of each row, summed strictly from the first column to the last.

    So zeros change nothing, and dense rows in any memory order and sparse ones give equal numbers.
    It takes longer than :func:`squared_norms`.
    """
    if sparse.issparse(rows):
        return np.asarray(rows.multiply(rows) @ np.ones(rows.shape[1]))
    n_rows, n_columns = rows.shape
    sums = np.zeros(n_rows)
    step = max(1, _NUMBERS_AT_A_TIME // max(1, n_columns))
    for start in range(0, n_rows if n_columns else 0, step):
        part = slice(start, start + step)
        sums[part] = np.cumsum(rows[part] ** 2, axis=1)[:, -1]
    return sums


def squared_distances(a: Any, b: Any, i: np.ndarray, j: np.ndarray) -> np.ndarray:
    """Squared distances of the pairs (i, j), summed directly from the differences."""

    def of(left, right):
        difference = left - right
        return np.einsum("ij,ij->i", difference, difference)

    return _pair_by_pair(of, a, b, i, j)


def inner_products(a: Any, b: Any, i: np.ndarray, j: np.ndarray) -> np.ndarray:
    """Inner products of the pairs (i, j), each summed alone."""
    return _pair_by_pair(lambda left, right: np.einsum("ij,ij->i", left, right), a, b, i, j)


def _pair_by_pair(function, a, b, i, j):
    found = np.empty(len(i))
    step = max(1, _NUMBERS_AT_A_TIME // max(1, a.shape[1]))
    for start in range(0, len(i), step):
        part = slice(start, start + step)
        pair = a[i[part]], b[j[part]]
        found[part] = function(*(x.toarray() if sparse.issparse(x) else x for x in pair))
    return found
