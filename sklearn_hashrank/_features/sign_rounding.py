"""Projections on hyperplanes whose signs depend on the row alone, not on the rows beside it.

Products of matrices add up in another order at the end of a block than inside of it, in small
blocks than in large ones, and on other processors. So every projection has a bound of its rounding.
Projections within it of zero are computed again, row by row, in an order that is always the same;
and those that are zero within the rounding of the stored hyperplanes are zero.
"""

from typing import Any

import numpy as np
from scipy import sparse

from .. import _kernels

# A projection is zero if it is smaller, in units of the last place of the root of the sum of its
# squared terms. The rounding of stored hyperplanes adds up to about a tenth of it.
ZERO_UNITS = 4
_SLACK = 1.01  # bounds are computed with rounding, too
_MOST_STEPS = 1024  # libraries add up fewer terms one after the other
_BLOCK_NUMBERS = 1 << 20  # stays in the caches from one step to the next
_ROW_NUMBERS = 1 << 22  # of sparse rows that are made dense at a time


def project(X: Any, components: np.ndarray, intercept: np.ndarray) -> np.ndarray:
    """Real projections of rows, whose signs depend neither on other rows nor on the processor.

    A projection that is zero within rounding is zero. `X` is dense or CSR, `components` are the
    normal vectors (n_bits, n_features) of hyperplanes and `intercept` their offsets. The result is
    float32 where rows and hyperplanes are.
    """
    dtype = np.result_type(X.dtype, components.dtype)
    projections = np.empty((X.shape[0], len(components)), dtype)
    lengths = _lengths(components)
    size = X.shape[0] if sparse.issparse(X) else max(1, _BLOCK_NUMBERS // X.shape[1])
    for start in range(0, X.shape[0], size):
        block = slice(start, start + size)
        _project_block(X[block], components, intercept, lengths, projections[block])
    return projections


def _project_block(X, components, intercept, lengths, projections):
    dtype = projections.dtype
    with np.errstate(over="ignore", invalid="ignore"):
        if sparse.issparse(X):
            n_terms = np.diff(X.indptr).max(initial=0)
            projections[:] = X @ components.T
        else:
            n_terms = X.shape[1]
            np.matmul(X, components.T, out=projections)
        projections += intercept
        # The rounding of a projection is at most of_rows * slopes + offsets.
        zero = float(ZERO_UNITS * np.finfo(components.dtype).eps)
        relative = _SLACK * zero + _rounding_of_sums(n_terms, dtype)
        of_rows = _lengths(X).astype(dtype)
        slopes = (relative * lengths).astype(dtype)
        least = X.shape[1] * np.finfo(dtype).smallest_subnormal
        offsets = (relative * np.abs(intercept.astype(np.float64)) + least).astype(dtype)
        counts = np.empty(len(projections), dtype=np.intp)
        _kernels.projections.count_uncertain(projections, of_rows, slopes, offsets, counts)
        some = np.flatnonzero(counts)
        bounds = of_rows[some, None] * slopes + offsets
        which, bits = np.nonzero(~(np.abs(projections[some]) > bounds))
    if some.size:
        rows = some[which]
        projections[rows, bits] = _project_alone(X, rows, bits, components, intercept, zero)


def _project_alone(X, rows, bits, components, intercept, zero):
    """Projections of pairs of a row and a bit; they depend on nothing but the pair.

    The numbers of the rows ascend. Projections that are zero within rounding are zero.
    """
    hyperplanes = _wide(components), _wide(intercept)
    found = np.empty(len(rows))
    distinct, of_distinct = np.unique(rows, return_inverse=True)
    size = max(1, _ROW_NUMBERS // X.shape[1])
    for start in range(0, len(distinct), size):
        pairs = slice(*np.searchsorted(of_distinct, [start, start + size]))
        part = X[distinct[start : start + size]]
        part = _wide(part.toarray() if sparse.issparse(part) else part)
        found[pairs] = _kernels.projections.project_alone(
            part, of_distinct[pairs] - start, bits[pairs], *hyperplanes, zero
        )
    return found


def _rounding_of_sums(n_terms, dtype):
    """Bound of the rounding of a sum of products, relative to the lengths of its factors.

    It holds for the sum in `dtype` and for another in float64, in any order, together.
    """
    n_steps = min(n_terms, np.sqrt(_MOST_STEPS * n_terms))
    units = (np.finfo(dtype).eps + np.finfo(np.float64).eps) / 2
    return float(_SLACK * (n_steps + 4) * units)


def _wide(X):
    return np.ascontiguousarray(X, np.float64)


def _lengths(X):
    """Euclidean lengths of dense or sparse rows; an upper bound where their squares overflow."""
    with np.errstate(over="ignore"):
        if sparse.issparse(X):
            entries = np.square(X.data, dtype=np.float64), X.indices, X.indptr
            squares = sparse.csr_array(entries, X.shape) @ np.ones(X.shape[1])
        else:
            squares = np.einsum("ij,ij->i", X, X).astype(np.float64)
        lengths = np.sqrt(squares)
        precision = np.finfo(X.dtype)
        is_exact = (squares > precision.tiny / precision.eps**2) & (squares < precision.max)
        others = np.flatnonzero(~is_exact)
        if others.size:
            largest = abs(X[others]).max(axis=1)
            largest = largest.toarray().ravel() if sparse.issparse(largest) else largest
            lengths[others] = largest * np.sqrt(X.shape[1], dtype=np.float64)
    return lengths
