"""What a learner has to know of rows: means, variances, covariance, principal directions.

`CenteredRows` makes one kind of matrix of dense and sparse rows, and all else is computed from it.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.random import RandomState
from scipy import linalg, sparse
from scipy.sparse.linalg import LinearOperator

from ..persistence import storable

_BLOCK_ROWS = 4096
_BLOCK_NUMBERS = 1 << 22
_SMALLEST_VARIANCE = 1e-290  # below it, float64 has no digits left for sums of squares
_SMALLEST_OF_FLOAT32 = (4 * 1.4e-45) ** 2  # below it, values are a few subnormal numbers
_ROUNDING = {"float32": 1e-6, "float64": 1e-10}
# Relative to the largest. Principal components of rows that span fewer directions than there are
# features have deviations of about 1e-15, which are rounding; no unit of a feature is as small.
_SMALLEST_DEVIATION = 1e-13
_EXACT_FEATURES = 1024
_OVERSAMPLES = 10
_SMALL = 128  # up to so many features, all eigenvectors are found faster than some


@storable
class CenteredRows(LinearOperator):
    """The matrix ``(X - mean) * scale`` in float64, of which sparse rows are never made dense.

    Dense rows are converted and centred block by block, unless they are already.

    Parameters
    ----------
    X : {ndarray, CSR matrix} of shape (n_samples, n_features)
        Rows as they are.
    mean : ndarray of shape (n_features,)
        Subtracted from every row.
    scale : ndarray of shape (n_features,), default=None
        None leaves the features as they are.
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
        """Some rows in float64: centred if dense, not yet centred if sparse."""
        if sparse.issparse(self.X):
            return self.X[rows].astype(float)
        if self._is_ready:
            return self.X[rows]
        block = self.X[rows] - self.mean  # of float64, as the mean is
        if self.scale is not None:
            block *= self.scale
        return block

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

    def _rmatvec(self, u):
        return self._rmatmat(u.reshape(-1, 1)).ravel()

    def take(self, rows: np.ndarray) -> "CenteredRows":
        """Some of the rows, with the same mean and scale."""
        return CenteredRows(self.X[rows], self.mean, self.scale)

    def made_ready(self) -> "CenteredRows":
        """Dense rows converted and centred at once, for repeated use; sparse ones as they are."""
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
        """All rows, centred and dense."""
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


@storable
class Moments(NamedTuple):
    """Mean and variance of every feature; moments of other rows are added by ``+``.

    Attributes
    ----------
    n_rows : int
    mean : ndarray of shape (n_features,), float64
    variance : ndarray of shape (n_features,), float64
        Mean square of the deviations.
    dtype : str
        That of the rows; of blocks of both precisions the wider one.
    rounding : float
        A deviation that is at most this share of the mean is rounding error.
    """

    n_rows: int
    mean: np.ndarray
    variance: np.ndarray
    dtype: str
    rounding: float

    @classmethod
    def of(cls, X: Any) -> "Moments":
        """Moments of dense or sparse rows, (n_samples, n_features)."""
        mean = column_means(X)
        return cls.around(mean, CenteredRows(X, mean), X.dtype)

    @classmethod
    def around(cls, mean: np.ndarray, rows: CenteredRows, dtype: Any) -> "Moments":
        """Moments of rows that are centred at a mean already, for instance that of more rows.

        Parameters
        ----------
        mean : ndarray of shape (n_features,)
            What the rows are centred at.
        rows : CenteredRows of shape (n_samples, n_features)
            Rows to take the variances of.
        dtype : dtype
            Of the rows before they were centred.

        Returns
        -------
        moments : Moments
        """
        name = np.dtype(dtype).name
        return cls(rows.shape[0], mean, rows.variances(), name, _ROUNDING[name])

    def __add__(self, other: Any) -> "Moments":
        """Moments of the rows of both."""
        n = self.n_rows + other.n_rows
        share = other.n_rows / n
        between = share * (1 - share) * (other.mean - self.mean) ** 2
        return Moments(
            n,
            combine_means(self.mean, other.mean, share),
            self.variance + share * (other.variance - self.variance) + between,
            np.result_type(self.dtype, other.dtype).name,
            max(self.rounding, other.rounding),
        )

    @property
    def varies(self) -> np.ndarray:
        """Which features vary by more than rounding, (n_features,) bool."""
        deviations = np.sqrt(self.variance)
        varies = deviations > self.rounding * np.abs(self.mean)
        return varies & (deviations > _SMALLEST_DEVIATION * deviations.max(initial=0))


def combine_means(mean: np.ndarray, other: np.ndarray, share: float) -> np.ndarray:
    """Mean of two sets of rows, of which the other one holds a share of all."""
    return mean + share * (other - mean)


def column_means(X: Any) -> np.ndarray:
    """Means of the columns of a dense or sparse matrix, in float64."""
    with np.errstate(over="ignore"):
        if sparse.issparse(X):  # its own mean adds up in the dtype of X
            X = _without_duplicates(X).astype(np.float64, copy=False)
            return np.asarray(X.mean(axis=0)).ravel()
        return X.mean(axis=0, dtype=np.float64)


def dense_if_small(X: Any) -> Any:
    """Sparse rows as an array where they fit into a block, so that they count as dense ones do."""
    small = sparse.issparse(X) and X.shape[0] * X.shape[1] <= _BLOCK_NUMBERS
    return X.toarray() if small else X


def leading_directions(
    rows: CenteredRows,
    n_directions: int,
    random_state: RandomState,
    *,
    n_iter: int = 7,
    exact_features: int = _EXACT_FEATURES,
) -> tuple[np.ndarray, np.ndarray]:
    """Directions of the largest variance.

    Up to `exact_features` features they are exact, from the covariance matrix, or from the rows
    where those are much fewer; beyond, they come from randomised subspace iteration, which never
    forms the covariance matrix.

    Parameters
    ----------
    rows : CenteredRows of shape (n_samples, n_features)
    n_directions : int
        At most n_features.
    random_state : RandomState instance
        Draws the start of the iteration.
    n_iter : int, default=7
        Turns of the iteration.
    exact_features : int, default=1024
        Most features to form the covariance matrix of: its eigenvectors take cubic time.

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
    n_rows, n_features = rows.shape
    if n_features <= exact_features and n_directions <= n_rows < n_features / 2:
        rows.variances()  # refuses what squares cannot be taken of
        _, lengths, directions = linalg.svd(rows.to_dense(), full_matrices=False)
        return lengths[:n_directions] ** 2 / n_rows, fix_signs(directions[:n_directions].T)
    if n_features <= exact_features:
        few = n_directions < n_features <= _SMALL
        driver = "evd" if few else "evr"
        variances, directions = leading_eigenpairs(rows.covariance(), n_directions, driver)
        return np.maximum(variances, 0), directions
    rows.variances()
    width = min(n_directions + _OVERSAMPLES, n_features)
    basis = random_state.standard_normal((n_features, width))
    for _ in range(n_iter):
        basis = np.linalg.qr(rows.T @ (rows @ basis))[0]
    projections = rows @ basis
    variances, inner = leading_eigenpairs(projections.T @ projections / len(projections), width)
    directions = fix_signs(basis @ inner[:, :n_directions])
    return np.maximum(variances[:n_directions], 0), directions


def leading_eigenpairs(M: np.ndarray, n: int, driver: str = "evr") -> tuple[np.ndarray, np.ndarray]:
    """The `n` largest eigenvalues of a symmetric matrix, descending, and their eigenvectors.

    `driver` is that of :func:`scipy.linalg.eigh`; ``"evr"`` finds no others than those `n`.
    """
    size = len(M)
    if driver == "evr":
        values, vectors = linalg.eigh(M, subset_by_index=[size - n, size - 1])
    else:
        values, vectors = linalg.eigh(M, driver=driver)
        values, vectors = values[size - n :], vectors[:, size - n :]
    return values[::-1], fix_signs(vectors[:, ::-1])


def fix_signs(directions: np.ndarray) -> np.ndarray:
    """Columns turned so that the largest entry of each is positive."""
    largest = directions[np.abs(directions).argmax(axis=0), np.arange(directions.shape[1])]
    return directions * np.where(largest < 0, -1.0, 1.0)


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
