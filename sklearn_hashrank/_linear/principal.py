"""Principal directions of centred rows, dense or sparse."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.random import RandomState
from scipy import linalg, sparse
from scipy.sparse.linalg import LinearOperator

from ..persistence import storable

_EXACT_FEATURES = 1024
_BLOCK_ROWS = 4096
_OVERSAMPLES = 10


@storable
class CenteredRows(LinearOperator):
    """The matrix ``X - mean`` in float64, of which sparse rows are never made dense.

    Dense rows are converted and centred block by block, unless they are already.

    Parameters
    ----------
    X : {ndarray, sparse matrix} of shape (n_samples, n_features)
    mean : ndarray of shape (n_features,)
    """

    def __init__(self, X: Any, mean: np.ndarray):
        self.X, self.mean = X, mean
        self._is_ready = not sparse.issparse(X) and X.dtype == float and not mean.any()
        super().__init__(np.dtype(float), X.shape)

    def block(self, rows: slice) -> Any:
        """Some rows in float64: centred if dense, as they are if sparse."""
        if sparse.issparse(self.X):
            return self.X[rows].astype(float)
        return self.X[rows] if self._is_ready else self.X[rows].astype(float) - self.mean

    def blocks(self) -> Iterator[tuple[slice, Any]]:
        """All rows in blocks of bounded size."""
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

    def take(self, rows: np.ndarray) -> "CenteredRows":
        """Some of the rows, less the same mean."""
        return CenteredRows(self.X[rows], self.mean)

    def made_ready(self) -> "CenteredRows":
        """Dense rows converted and centred at once, for repeated use; sparse ones as they are."""
        if sparse.issparse(self.X):
            return self
        return CenteredRows(self.block(slice(None)), np.zeros_like(self.mean))

    def variances(self) -> np.ndarray:
        """Mean square of each column."""
        if not sparse.issparse(self.X):
            return sum((block**2).sum(axis=0) for _, block in self.blocks()) / self.shape[0]
        X = self.X.astype(float)
        squares = np.asarray(X.multiply(X).mean(axis=0)).ravel()
        means = np.asarray(X.mean(axis=0)).ravel()
        return np.maximum(squares - 2 * means * self.mean + self.mean**2, 0)

    def covariance(self) -> np.ndarray:
        """Mean of the outer products of the rows."""
        n = self.shape[0]
        if not sparse.issparse(self.X):
            return sum(block.T @ block for _, block in self.blocks()) / n
        X = self.X.astype(float)
        cross = np.outer(np.asarray(X.mean(axis=0)).ravel(), self.mean)
        return (X.T @ X).toarray() / n - cross - cross.T + np.outer(self.mean, self.mean)


def leading_directions(
    rows: CenteredRows, n_directions: int, random_state: RandomState, *, n_iter: int = 7
) -> tuple[np.ndarray, np.ndarray]:
    """Directions of the largest variance.

    Up to 1024 features from the covariance matrix; beyond, by randomised subspace iteration,
    which never forms it.

    Parameters
    ----------
    rows : CenteredRows of shape (n_samples, n_features)
    n_directions : int
        At most n_features.
    random_state : RandomState instance
        Draws the start of the iteration.
    n_iter : int, default=7
        Turns of the iteration.

    Returns
    -------
    variances : ndarray of shape (n_directions,)
        Descending.
    directions : ndarray of shape (n_features, n_directions)
        Orthonormal columns; the largest entry of each is positive.

    References
    ----------
    N. Halko, P.-G. Martinsson, J. A. Tropp, "Finding structure with randomness", SIAM Review 2011.
    """
    n_features = rows.shape[1]
    if n_features <= _EXACT_FEATURES:
        variances, directions = leading_eigenpairs(rows.covariance(), n_directions)
        return np.maximum(variances, 0), directions
    width = min(n_directions + _OVERSAMPLES, n_features)
    basis = random_state.standard_normal((n_features, width))
    for _ in range(n_iter):
        basis = np.linalg.qr(rows.T @ (rows @ basis))[0]
    projections = rows @ basis
    variances, inner = leading_eigenpairs(projections.T @ projections / len(projections), width)
    directions = fix_signs(basis @ inner[:, :n_directions])
    return np.maximum(variances[:n_directions], 0), directions


def leading_eigenpairs(M: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """The `n` largest eigenvalues of a symmetric matrix, descending, and their eigenvectors."""
    size = len(M)
    values, vectors = linalg.eigh(M, subset_by_index=[size - n, size - 1])
    return values[::-1], fix_signs(vectors[:, ::-1])


def fix_signs(directions: np.ndarray) -> np.ndarray:
    """Columns turned so that the largest entry of each is positive."""
    largest = directions[np.abs(directions).argmax(axis=0), np.arange(directions.shape[1])]
    return directions * np.where(largest < 0, -1.0, 1.0)
