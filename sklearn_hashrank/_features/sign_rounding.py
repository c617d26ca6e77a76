"""Scores whose signs depend on the row alone, not on the rows that are multiplied with it.

Products of matrices add up in another order at the end of a block than inside of it, in small
blocks than in large ones, and on other processors. So every score has a bound of its rounding.
Scores within it of zero are computed again, row by row, in an order that is always the same; and
those that are zero within the rounding of the stored numbers are zero.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.extmath import safe_sparse_dot

from .. import _kernels

# A projection is zero if it is smaller, in units of the last place of the root of the sum of its
# squared terms. The rounding of stored hyperplanes adds up to about a tenth of it.
_ZERO = 4
_SLACK = 1.01  # bounds are computed with rounding, too
_MOST_STEPS = 1024  # libraries add up fewer terms one after the other
_FEWEST_STEPS = 16
_BLOCK_NUMBERS = 1 << 20  # stays in the caches from one step to the next
_ROW_NUMBERS = 1 << 22  # of rows that are made dense at a time


def settle(
    scores: np.ndarray,
    of_rows: np.ndarray,
    slopes: np.ndarray,
    offsets: np.ndarray,
    alone: Callable[[np.ndarray, np.ndarray], np.ndarray],
) -> None:
    """Replace scores that are so close to zero that rounding may have chosen their signs.

    Parameters
    ----------
    scores : ndarray of shape (n_rows, n_bits)
        Changed in place.
    of_rows, slopes, offsets : ndarrays of shape (n_rows,), (n_bits,) and (n_bits,)
        The rounding of scores is at most ``of_rows[:, None] * slopes + offsets``.
    alone : callable
        ``alone(rows, bits)`` computes a score for each pair of a row and a bit, from the row alone.
        The numbers of the rows ascend.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        of_rows, slopes, offsets = (
            np.asarray(each).astype(scores.dtype) for each in (of_rows, slopes, offsets)
        )
        counts = np.empty(len(scores), dtype=np.intp)
        _kernels.projections.count_uncertain(scores, of_rows, slopes, offsets, counts)
        some = np.flatnonzero(counts)
        if some.size:
            bounds = of_rows[some, None] * slopes + offsets
            which, bits = np.nonzero(~(np.abs(scores[some]) > bounds))
            rows = some[which]
            scores[rows, bits] = alone(rows, bits)


def zero_tolerance(dtype: Any) -> float:
    """How small a sum is zero, relative to its terms, where stored numbers have a dtype."""
    return float(_ZERO * np.finfo(dtype).eps)


def rounding_of_sums(n_terms: int, dtype: Any) -> float:
    """Bound of the rounding of a sum of products, relative to the lengths of its factors.

    It holds for the sum in `dtype` and for another in float64, in any order, together.
    """
    return _rounding_of_steps(min(n_terms, np.sqrt(_MOST_STEPS * n_terms)), dtype)


def likely_rounding_of_sums(n_terms: int, dtype: Any) -> float:
    """Bound as of :func:`rounding_of_sums` where the rounding of the terms is independent.

    It exceeds two deviations of the sum of what all steps round off, if partial sums are as large
    as the sum of all magnitudes; they are rarely a third of that.
    """
    return _rounding_of_steps(min(n_terms, _FEWEST_STEPS + 2 * np.sqrt(n_terms)), dtype)


def _rounding_of_steps(n_steps, dtype):
    units = (np.finfo(dtype).eps + np.finfo(np.float64).eps) / 2
    return float(_SLACK * (n_steps + 4) * units)


class LinearScores:
    """Projections of rows on the normals of hyperplanes, and how much of them is rounding.

    Parameters
    ----------
    components : ndarray of shape (n_bits, n_features)
        Normal vectors.
    intercept : ndarray of shape (n_bits,)
        Offsets.
    bound : callable, default=rounding_of_sums
        Bound of the rounding of sums.
    """

    def __init__(
        self,
        components: np.ndarray,
        intercept: np.ndarray,
        bound: Callable[[int, Any], float] = rounding_of_sums,
    ):
        self.components, self.intercept, self.bound = components, intercept, bound
        self.lengths = lengths(components)
        self.zero = zero_tolerance(components.dtype)

    def dtype_of(self, X: Any) -> np.dtype:
        """Dtype of projections: float32 where rows and hyperplanes are."""
        return np.result_type(X.dtype, self.components.dtype)

    def multiply(self, X: Any, out: np.ndarray | None = None) -> np.ndarray:
        """Projections of rows as products of matrices round them."""
        with np.errstate(over="ignore", invalid="ignore"):
            if out is None or sparse.issparse(X):
                projections = safe_sparse_dot(X, self.components.T, dense_output=True)
            else:
                projections = np.matmul(X, self.components.T, out=out)
            projections += self.intercept
        return projections

    def relative(self, X: Any) -> float:
        """Bound of rounding, and of what is zero, relative to the lengths of rows and normals."""
        n_terms = np.diff(X.indptr).max(initial=0) if sparse.issparse(X) else X.shape[1]
        return _SLACK * self.zero + self.bound(n_terms, self.dtype_of(X))

    def rounding(self, X: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Bounds of rounding, and of what is zero, as :func:`settle` takes them."""
        relative = self.relative(X)
        with np.errstate(over="ignore"):
            slopes = relative * self.lengths
            offsets = relative * np.abs(self.intercept.astype(np.float64))
        return (
            lengths(X),
            slopes,
            offsets + X.shape[1] * np.finfo(self.dtype_of(X)).smallest_subnormal,
        )

    def project_alone(self, X: Any, rows: np.ndarray, bits: np.ndarray) -> np.ndarray:
        """Projections of pairs of a row and a bit; they depend on nothing but the pair.

        The numbers of the rows ascend. Projections that are zero within rounding are zero.
        """
        wide = wide_rows(self.components), wide_rows(self.intercept)
        found = np.empty(len(rows))
        for pairs, dense, which in rows_of_pairs(X, rows):
            found[pairs] = _kernels.projections.project_alone(
                wide_rows(dense), which, bits[pairs], *wide, self.zero
            )
        return found


def project(X: Any, components: np.ndarray, intercept: np.ndarray) -> np.ndarray:
    """Real projections of rows, whose signs depend neither on other rows nor on the processor.

    A projection that is zero within rounding is zero.

    Parameters
    ----------
    X : {ndarray, CSR matrix} of shape (n_samples, n_features)
        Rows.
    components : ndarray of shape (n_bits, n_features)
        Normal vectors of hyperplanes.
    intercept : ndarray of shape (n_bits,)
        Their offsets.

    Returns
    -------
    projections : ndarray of shape (n_samples, n_bits)
        In float32 where rows and hyperplanes are.
    """
    scores = LinearScores(components, intercept)
    if sparse.issparse(X):
        return _project_block(scores, X, None)
    projections = np.empty((X.shape[0], len(components)), scores.dtype_of(X))
    size = max(1, _BLOCK_NUMBERS // X.shape[1])
    for start in range(0, X.shape[0], size):
        rows = slice(start, start + size)
        _project_block(scores, X[rows], projections[rows])
    return projections


def _project_block(scores, X, out):
    projections = scores.multiply(X, out)
    of_rows, slopes, offsets = scores.rounding(X)
    settle(projections, of_rows, slopes, offsets, partial(scores.project_alone, X))
    return projections


def rows_of_pairs(X, rows):
    """Dense rows of ascending numbers, in parts of bounded size.

    Gives a slice of `rows`, the distinct rows that it names, and which of them each number means.
    """
    distinct, of_distinct = np.unique(rows, return_inverse=True)
    size = max(1, _ROW_NUMBERS // max(1, X.shape[1]))
    for start in range(0, len(distinct), size):
        pairs = slice(*np.searchsorted(of_distinct, [start, start + size]))
        part = X[distinct[start : start + size]]
        yield pairs, part.toarray() if sparse.issparse(part) else part, of_distinct[pairs] - start


def wide_rows(X):
    """Rows as a contiguous array of float64."""
    return np.ascontiguousarray(X, np.float64)


def lengths(X):
    """Euclidean lengths of dense or sparse rows, also where their squares overflow."""
    with np.errstate(over="ignore"):
        if sparse.issparse(X):
            entries = np.square(X.data, dtype=np.float64), X.indices, X.indptr
            squares = sparse.csr_array(entries, X.shape) @ np.ones(X.shape[1])
        else:
            squares = np.einsum("ij,ij->i", X, X).astype(np.float64)
    precision = np.finfo(X.dtype)
    is_exact = (squares > precision.tiny / precision.eps**2) & (squares < precision.max)
    result = np.sqrt(squares)
    if is_exact.all():
        return result
    others = np.flatnonzero(~is_exact)
    for pairs, dense, _ in rows_of_pairs(X, others):
        dense = wide_rows(dense)
        largest = np.abs(dense).max(axis=1, initial=0)
        dense = dense / np.where(largest > 0, largest, 1)[:, None]
        result[others[pairs]] = largest * np.sqrt(np.einsum("ij,ij->i", dense, dense))
    return result
