"""Dense or sparse rows, centered and scaled, behind one matrix interface."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

from .._files.storable import storable

_BLOCK_ROWS = 4096  # many for a product of matrices, few for memory
_BLOCK_NUMBERS = 1 << 22  # of sparse rows that are made dense: 34 MB
_SMALLEST_VARIANCE = 1e-290  # below it, float64 has no digits left for sums of squares
_SMALLEST_OF_FLOAT32 = (4 * 1.4e-45) ** 2  # below it, values are a few subnormal numbers


@storable
class CenteredRows(LinearOperator):
    """The matrix ``(X - mean) * scale`` in float64, of which sparse rows are never made dense.

    Dense rows are converted and centered block by block, unless they are already. Without a `scale`
    features stay as they are.
    """

    def __init__(self, X: Any, mean: np.ndarray, scale: np.ndarray | None = None):
        if sparse.issparse(X):
            X = _without_duplicates(X)
            if scale is not None:
                X = X.astype(float)
                X.data *= scale[X.indices]
                mean, scale = mean * scale, None
        is_float32 = X.dtype == np.float32
        self._smallest_variance = _SMALLEST_OF_FLOAT32 if is_float32 else _SMALLEST_VARIANCE
        self.X, self.mean, self.scale = X, mean, scale
        self._is_ready = (
            not sparse.issparse(X) and X.dtype == float and not mean.any() and scale is None
        )
        super().__init__(np.dtype(float), X.shape)

    def block(self, rows: slice) -> Any:
        """Some rows in float64: centered if dense, not yet centered if sparse."""
        if sparse.issparse(self.X):
            return self.X[rows].astype(float)
        if self._is_ready:
            return self.X[rows]
        block = self.X[rows] - self.mean  # of float64, as the mean is
        if self.scale is not None:
            block *= self.scale
        return block

    def blocks(self) -> Iterator[tuple[slice, Any]]:
        for start in range(0, self.shape[0], _BLOCK_ROWS):
            rows = slice(start, start + _BLOCK_ROWS)
            yield rows, self.block(rows)

    def _matmat(self, V):
        if sparse.issparse(self.X):
            return self.X @ V - self.mean @ V
        result = np.empty((self.shape[0], V.shape[1]))
        for rows, block in self.blocks():
            result[rows] = block @ V
        return result

    def _rmatmat(self, U):
        if sparse.issparse(self.X):
            return self.X.T @ U - np.outer(self.mean, U.sum(axis=0))
        return sum(block.T @ U[rows] for rows, block in self.blocks())

    def _rmatvec(self, u):
        return self._rmatmat(u.reshape(-1, 1)).ravel()

    def take(self, rows: np.ndarray) -> "CenteredRows":
        return CenteredRows(self.X[rows], self.mean, self.scale)

    def made_ready(self) -> "CenteredRows":
        """Dense rows converted and centered at once, for repeated use; sparse ones as they are."""
        if sparse.issparse(self.X):
            return self
        rows = CenteredRows(self.block(slice(None)), np.zeros_like(self.mean))
        rows._smallest_variance = self._smallest_variance  # that of the numbers before
        return rows

    def scaled(self, scale: np.ndarray | None) -> "CenteredRows":
        """Rows of which each column is multiplied by a number; None stands for ones."""
        if scale is None:
            return self
        scale = scale if self.scale is None else scale * self.scale
        return CenteredRows(self.X, self.mean, scale)

    def to_dense(self) -> np.ndarray:
        block = self.block(slice(None))
        return block.toarray() - self.mean if sparse.issparse(block) else block

    def variances(self) -> np.ndarray:
        """Mean square of each column, (n_features,); refused where it cannot be represented."""
        with np.errstate(over="ignore", invalid="ignore"):
            if sparse.issparse(self.X):
                variances = self._sparse_variances()
            else:
                variances = sum((block**2).sum(axis=0) for _, block in self.blocks())
                variances = variances / self.shape[0]
        self._refuse_extremes(variances)
        return variances

    def covariance(self) -> np.ndarray:
        """Mean of the outer products of the rows; refused where it cannot be represented."""
        n = self.shape[0]
        with np.errstate(over="ignore", invalid="ignore"):
            if sparse.issparse(self.X):
                X = self.X.astype(float)
                cross = np.outer(column_means(X), self.mean)
                covariance = (X.T @ X).toarray() / n - cross - cross.T
                covariance += np.outer(self.mean, self.mean)
            else:
                covariance = sum(block.T @ block for _, block in self.blocks()) / n
        self._refuse_extremes(covariance.diagonal())
        return covariance

    def _sparse_variances(self):
        """Squares of the deviations of stored entries, and of the zeros between them."""
        n, n_features = self.shape
        indices = self.X.indices
        squares = (self.X.data - self.mean[indices]) ** 2
        n_stored = np.bincount(indices, minlength=n_features)
        total = np.bincount(indices, squares, n_features) + (n - n_stored) * self.mean**2
        return total / n

    def _refuse_extremes(self, variances):
        if not np.isfinite(variances).all():
            raise ValueError(
                "X holds values so large that their variance overflows. Scale it down."
            )
        if variances.max() < self._smallest_variance and not _all_rows_are_equal(self.X):
            raise ValueError("X holds values so small that their variance underflows. Scale it up.")


def column_means(X: Any) -> np.ndarray:
    with np.errstate(over="ignore"):
        if sparse.issparse(X):  # its own mean adds up in the dtype of X
            X = _without_duplicates(X).astype(np.float64, copy=False)
            return np.asarray(X.mean(axis=0)).ravel()
        return X.mean(axis=0, dtype=np.float64)


def dense_if_small(X: Any) -> Any:
    """Sparse rows as an array where they fit into a block, so that they count as dense ones do."""
    small = sparse.issparse(X) and X.shape[0] * X.shape[1] <= _BLOCK_NUMBERS
    return X.toarray() if small else X


def _without_duplicates(X):
    """Every entry stored once, so that entries are values."""
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def _all_rows_are_equal(X):
    ends = X.max(axis=0), X.min(axis=0)
    largest, smallest = (end.toarray() if sparse.issparse(end) else end for end in ends)
    return np.array_equal(largest, smallest)
