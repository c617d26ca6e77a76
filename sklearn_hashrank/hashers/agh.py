"""Anchor graph hashing, from eigenvectors of a graph over anchors."""

from numbers import Integral
from typing import Any

import numpy as np
from scipy import linalg
from sklearn.base import _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, Options, StrOptions

from .._features.anchor_weights import AnchorWeights
from .._features.anchors import Anchors
from .._utils.threads import one_blas_thread
from .._utils.types import MatrixLike, Target
from ..base import BaseHasher

__all__ = ["AGHHasher"]

# With few rows of each anchor, the graph falls into parts that are much alike, and eigenvectors of
# equal eigenvalues are arbitrary.
_ENOUGH_ANCHORS, _ANCHORS_OF_AN_EIGENVECTOR, _ROWS_OF_AN_ANCHOR = 300, 4, 4
# Eigenvalues from here on belong to eigenvectors that are constant on parts of the graph; the paper
# leaves out the first, its code all up to this bound.
_CONSTANT, _NOTHING = 1 - 1e-3, 1e-10


class AGHHasher(BaseHasher):
    """Eigenvectors of a graph that joins rows by the anchors near to them.

    Rows are near to each other when they share anchors. The smoothest functions on this graph are
    eigenvectors of a small matrix; each is cut at zero. With two layers, each side of a cut is cut
    again, and half as many eigenvectors serve as many bits. It follows clusters and manifolds that
    directions in space cannot follow, and needs no labels.

    Parameters
    ----------
    n_bits : int, default=32
        Length of a code. It may exceed the number of features.
    n_layers : {1, 2}, default=1
        How often an eigenvector is cut. 2 uses ``ceil(n_bits / 2)`` eigenvectors: the first bits
        are their signs, the others the cuts of both sides. An odd last eigenvector is cut once.
    n_anchors : int or "auto", default="auto"
        Means of clusters that rows are compared with, at most the number of rows. ``"auto"`` is
        300, but at most a quarter of the rows, and at least 4 for each eigenvector.
    n_nearest : int, default=2
        Anchors that a row is joined to.
    output : {"bits", "signs", "packed"}, default="bits"
        Format of :meth:`transform`: 0/1 uint8, -1/+1 int8, or packed uint8 bytes.
    random_state : int, RandomState instance or None, default=None
        Samples the rows that are clustered, and the start of k-means.

    Attributes
    ----------
    anchors_ : ndarray of shape (n_anchors, n_features)
        The anchors that are near to a training row.
    eigenvalues_ : ndarray of shape (n_eigenvectors,)
        Eigenvalues of the graph, descending from the first one below 0.999.
    eigenvectors_ : ndarray of shape (n_anchors, n_eigenvectors)
        Functions of the anchors. A row takes their weighted mean over its nearest anchors.
    thresholds_ : ndarray of shape (2, n_eigenvectors)
        Where the positive and the negative side of each eigenvector are cut again; only with two
        layers.
    n_bits_ : int
        Length of the codes, whatever `n_bits` was set to after `fit`.
    codes_ : ndarray of shape (n_samples, ceil(n_bits / 8)), uint8
        Packed codes of the training rows.
    y_ : array-like
        `y` of the training rows; absent where it was None.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, when `X` has string column names.
    affinity_ : affinity object
        Relevance by the form of `y_`, set when :meth:`score` first needs it.

    References
    ----------
    W. Liu, J. Wang, S. Kumar, S.-F. Chang, "Hashing with graphs", ICML 2011.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn_hashrank import AGHHasher
    >>> X, y = load_digits(return_X_y=True)
    >>> hasher = AGHHasher(n_bits=16, random_state=0).fit(X, y)
    >>> bool(hasher.score(X, y) > 0.6)
    True
    """

    _parameter_constraints: dict = {
        **BaseHasher._parameter_constraints,
        "n_layers": [Options(Integral, {1, 2})],
        "n_anchors": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "n_nearest": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    _weights: AnchorWeights
    eigenvectors_: np.ndarray

    def __init__(
        self,
        n_bits=32,
        *,
        n_layers=1,
        n_anchors="auto",
        n_nearest=2,
        output="bits",
        random_state=None,
    ):
        self.n_bits = n_bits
        self.n_layers = n_layers
        self.n_anchors = n_anchors
        self.n_nearest = n_nearest
        self.output = output
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    @one_blas_thread()
    def fit(self, X: MatrixLike, y: Target | None = None) -> "AGHHasher":
        """Find the anchors and the eigenvectors.

        Parameters
        ----------
        X : {array-like, sparse matrix, dask array} of shape (n_samples, n_features)
            Training rows.
        y : array-like with n_samples rows, default=None
            Not used for learning; kept for :meth:`score`.

        Returns
        -------
        self : AGHHasher
        """
        X, y = self._validate_training_data(X, y)
        n_vectors = self._count_vectors()
        wanted = self.n_anchors
        if wanted == "auto":
            needed = _ANCHORS_OF_AN_EIGENVECTOR * n_vectors
            wanted = max(needed, min(_ENOUGH_ANCHORS, X.shape[0] // _ROWS_OF_AN_ANCHOR))
        anchors = Anchors.kmeans(X, wanted, check_random_state(self.random_state))
        if anchors.mean_squared_distance == 0:
            raise ValueError(
                f"nothing to learn: all rows of X are equal. Got n_samples = {X.shape[0]}."
            )
        self._weights = AnchorWeights.of(X, anchors, self.n_nearest)
        Z = self._weights.transform(X).astype(np.float64)
        sizes = Z.sum(axis=0)
        values, vectors = graph_eigenvectors(Z, sizes)
        if len(values) < n_vectors:
            raise ValueError(
                f"n_bits={self.n_bits} with n_layers={self.n_layers} takes {n_vectors} "
                f"eigenvectors, but the graph of {anchors.n} anchors has {len(values)} that are "
                f"not constant on its parts. Use fewer bits, other n_anchors or n_nearest, or more "
                f"different rows. Got n_samples = {X.shape[0]}."
            )
        self.eigenvalues_ = values[:n_vectors]
        vectors = vectors[:, :n_vectors]
        self.__dict__.pop("thresholds_", None)
        if self.n_layers == 2:
            self.thresholds_ = second_thresholds(Z, sizes, vectors).astype(X.dtype)
        self.eigenvectors_ = vectors.astype(X.dtype)
        self.n_bits_ = self.n_bits
        self._keep_database(X, y)
        return self

    def _count_vectors(self):
        return -(-self.n_bits // self.n_layers)

    def _check_training_data(self, X: Any, y: Any) -> None:
        most = X.shape[0] if self.n_anchors == "auto" else min(self.n_anchors, X.shape[0])
        if self._count_vectors() >= most:
            raise ValueError(
                f"n_bits={self.n_bits} with n_layers={self.n_layers} takes "
                f"{self._count_vectors()} eigenvectors, but a graph of at most {most} anchors has "
                f"at most {most - 1} that are not constant. Use fewer bits, more anchors, or more "
                f"rows. Got n_samples = {X.shape[0]}."
            )

    @property
    def anchors_(self) -> np.ndarray:
        """The anchors, (n_anchors, n_features)."""
        return self._weights.anchors.raw

    def _project(self, X: Any) -> np.ndarray:
        first = self._weights.transform(X) @ self.eigenvectors_
        if not hasattr(self, "thresholds_"):
            return first
        positive, negative = self.thresholds_
        second = np.where(first > 0, first - positive, negative - first)
        return np.hstack([first, second[:, : self.n_bits_ - first.shape[1]]])

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "eigenvectors_")


def graph_eigenvectors(Z: Any, sizes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Find the smoothest functions of an anchor graph that are not constant on its parts.

    `Z` (n_samples, n_anchors) holds the weights of the rows, each of sum 1, and `sizes` the sums of
    its columns; anchors of size 0 have no part in any function. The eigenvalues come descending,
    all that are neither zero nor one, and ``Z @ functions`` has columns of mean square 1.
    """
    roots = np.zeros_like(sizes)
    np.divide(1, np.sqrt(sizes), out=roots, where=sizes > 0)
    matrix = (Z.T @ Z).toarray() * roots * roots[:, None]
    values, vectors = linalg.eigh(matrix)
    kept = (values > _NOTHING) & (values < _CONSTANT)
    values, vectors = values[kept][::-1], vectors[:, kept][:, ::-1]
    vectors = np.where(np.abs(vectors) > _NOTHING, vectors, 0)  # on other parts of the graph
    is_large = np.abs(vectors) > 0.7 * np.abs(vectors).max(axis=0, initial=0)
    first = vectors[is_large.argmax(axis=0), np.arange(len(values))]
    vectors *= np.sign(first)
    return values, roots[:, None] * vectors * np.sqrt(Z.shape[0] / values)


def second_thresholds(Z: Any, sizes: np.ndarray, functions: np.ndarray) -> np.ndarray:
    """Find where the positive and the negative side of every function are cut in two.

    The result is (2, n_eigenvectors), the positive sides first. A function without two sides that
    differ is cut at the mean of its values. `Z` and `sizes` are those of `graph_eigenvectors`.
    """
    Y = Z @ functions
    inverse = np.divide(1, sizes, out=np.zeros_like(sizes), where=sizes > 0)
    is_positive = Y > 0
    n, n_positive = len(Y), is_positive.sum(axis=0)
    n_negative = n - n_positive
    left = Z.T @ is_positive.astype(float)
    right = (Z.T @ np.abs(Y)) * inverse[:, None]
    s1 = (left * right).sum(axis=0)
    s2 = n_positive - (left**2 * inverse[:, None]).sum(axis=0)
    s3 = np.where(is_positive, Y, 0).sum(axis=0)
    slope = np.divide(s3 - s1, s2, out=np.zeros_like(s2), where=s2 > _NOTHING * n)
    return np.array([2 * s3 + n_negative * slope, n_positive * slope - 2 * s3]) / n
