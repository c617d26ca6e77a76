"""Hashing by the signs of the features themselves."""

from numbers import Integral
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.sparsefuncs import csc_median_axis_0

from .._features.centered_rows import column_means
from .._features.sign_rounding import ZERO_UNITS
from .._utils.threads import one_blas_thread
from .._utils.types import MatrixLike, Target
from ..base import LinearHasher

__all__ = ["SignHasher"]


class SignHasher(LinearHasher):
    """One bit per feature: whether it is above its mean, its median, or zero.

    This is what embeddings are usually compressed to, and the method to compare others with where
    rows are embeddings. With `n_bits` only the first features count, as embeddings allow it that
    were trained to be truncated (Matryoshka embeddings). Encoding subtracts and compares; there is
    no matrix product.

    With ``center=True`` or ``"median"``, codes depend on neither the scale nor the offset of the
    features. With ``center=False`` the offset matters: pixels, which are never negative, have bits
    that are nearly all 1.

    Parameters
    ----------
    n_bits : int, default=None
        Length of a code: the first `n_bits` features, at most all. None takes all features.
    center : bool or "median", default=True
        What a feature is compared with: its mean over the training rows, zero (False), or its
        median, above which at most half of the training rows lie.
    output : {"bits", "signs", "packed"}, default="bits"
        Format of :meth:`transform`: 0/1 uint8, -1/+1 int8, or packed uint8 bytes.

    Attributes
    ----------
    components_ : ndarray of shape (n_bits, n_features)
        The first rows of the identity matrix, made when they are asked for.
    intercept_ : ndarray of shape (n_bits,)
        What the features are compared with, negated.
    codes_ : ndarray of shape (n_samples, ceil(n_bits / 8)), uint8
        Packed codes of the training rows.
    y_ : array-like
        `y` of the training rows; absent where it was None.
    affinity_ : affinity object
        Relevance by the form of `y_`, set when :meth:`score` first needs it.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, when `X` has string column names.

    References
    ----------
    A. Kusupati et al., "Matryoshka representation learning", NeurIPS 2022.

    Examples
    --------
    >>> from sklearn_hashrank import SignHasher
    >>> X = [[0.0, 5.0, 1.0], [1.0, 3.0, 1.0], [5.0, 4.5, 1.0]]
    >>> SignHasher().fit_transform(X)
    array([[0, 1, 0],
           [0, 0, 0],
           [1, 1, 0]], dtype=uint8)
    >>> SignHasher(n_bits=1, center=False).fit_transform(X).ravel()
    array([0, 1, 1], dtype=uint8)
    """

    _parameter_constraints: dict = {
        **LinearHasher._parameter_constraints,
        "n_bits": [Interval(Integral, 1, None, closed="left"), None],
        "center": ["boolean", StrOptions({"median"})],
    }

    _attributes_of_bits = ("intercept_",)
    _learns_from_many = "sums"

    def __init__(self, n_bits=None, *, center=True, output="bits"):
        self.n_bits = n_bits
        self.center = center
        self.output = output

    @_fit_context(prefer_skip_nested_validation=True)
    @one_blas_thread()
    def fit(self, X: MatrixLike, y: Target | None = None) -> "SignHasher":
        """Find what the features are compared with.

        Parameters
        ----------
        X : {array-like, sparse matrix, dask array} of shape (n_samples, n_features)
            Training rows.
        y : array-like with n_samples rows, default=None
            Not used for learning; kept for :meth:`score`.

        Returns
        -------
        self : SignHasher
        """
        X, y = self._validate_training_data(X, y)
        n_features = X.shape[1]
        n_bits = n_features if self.n_bits is None else self.n_bits
        self.intercept_ = (0.0 - self._centers(X[:, :n_bits])).astype(X.dtype)
        self._keep_database(X, y)
        return self

    def _check_training_data(self, X: Any, y: Any) -> None:
        n_features = X.shape[1]
        if self.n_bits is not None and self.n_bits > n_features:
            raise ValueError(
                f"n_bits={self.n_bits} must be at most n_features = {n_features}, as every bit is "
                "the sign of a feature. Use fewer bits, or LSHHasher or TALRLinear, which take any "
                "number."
            )

    def _learned_from_many(self, shape: tuple[int, ...]) -> str:
        if self.center == "median":
            return "a sample"
        return self._learns_from_many if self.center else "nothing"

    def _centers(self, X):
        if self.center == "median":
            return _medians(X)
        if not self.center:
            return np.zeros(X.shape[1])
        sums = self._sums()
        return column_means(X) if sums is None else sums.moments.mean[: X.shape[1]]

    @property
    def n_bits_(self) -> int:  # type: ignore[override]  # follows the features
        """Length of the codes, whatever `n_bits` was set to after `fit`."""
        return len(self.intercept_)

    @property
    def components_(self) -> np.ndarray:  # type: ignore[override]  # not kept: it may be large
        """Rows of the identity matrix."""
        return np.eye(self.n_bits_, self.n_features_in_, dtype=self.intercept_.dtype)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "intercept_")

    def _project(self, X: Any) -> np.ndarray:
        features = X[:, : self.n_bits_]
        if sparse.issparse(features):
            features = features.toarray()
        projections = features + self.intercept_
        # Near zero, feature and offset are equal, which says how they are rounded.
        rounding = 2 * ZERO_UNITS * np.finfo(self.intercept_.dtype).eps * np.abs(self.intercept_)
        projections[np.abs(projections) <= rounding] = 0
        return projections


def _medians(X):
    if not sparse.issparse(X):
        return np.median(X, axis=0)
    columns = X.tocsc()
    columns.sum_duplicates()
    return csc_median_axis_0(columns)
