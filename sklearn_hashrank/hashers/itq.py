"""Iterative quantization: principal directions with a learned rotation."""

from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval

from .._features.principal_directions import EXACT_FEATURES
from .._features.space import FeatureSpace, check_n_directions
from .._solvers.rotation import itq_rotation
from .._utils.threads import one_blas_thread
from .._utils.types import MatrixLike, Target
from ..base import LinearHasher

__all__ = ["ITQHasher"]


class ITQHasher(LinearHasher):
    """Principal directions, rotated so that the signs of the projections are near to them.

    The best of the simple unsupervised hashers: compare others with it.

    Parameters
    ----------
    n_bits : int, default=32
        Length of a code, at most the number of features and of training rows.
    max_iter : int, default=50
        Largest number of alternations between codes and rotation.
    output : {"bits", "signs", "packed"}, default="bits"
        Format of :meth:`transform`: 0/1 uint8, -1/+1 int8, or packed uint8 bytes.
    random_state : int, RandomState instance or None, default=None
        Samples the first rotation. Also used where the principal directions of large data are found
        by a randomized method.

    Attributes
    ----------
    components_ : ndarray of shape (n_bits, n_features)
        Principal directions after the rotation, orthonormal.
    intercept_ : ndarray of shape (n_bits,)
        Offsets that let every hyperplane pass through the mean.
    n_iter_ : int
        Number of alternations between codes and rotation.
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
    Y. Gong, S. Lazebnik, "Iterative quantization: a Procrustean approach to learning binary
    codes", CVPR 2011.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn_hashrank import ITQHasher
    >>> X, y = load_digits(return_X_y=True)
    >>> hasher = ITQHasher(n_bits=16, random_state=0).fit(X, y)
    >>> round(hasher.score(X, y), 2)
    0.63
    """

    _parameter_constraints: dict = {
        **LinearHasher._parameter_constraints,
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    _learns_from_many = "sums and a sample"

    def __init__(self, n_bits=32, *, max_iter=50, output="bits", random_state=None):
        self.n_bits = n_bits
        self.max_iter = max_iter
        self.output = output
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    @one_blas_thread()
    def fit(self, X: MatrixLike, y: Target | None = None) -> "ITQHasher":
        """Find the principal directions and rotate them.

        Parameters
        ----------
        X : {array-like, sparse matrix, dask array} of shape (n_samples, n_features)
            Training rows.
        y : array-like with n_samples rows, default=None
            Not used for learning; kept for :meth:`score`.

        Returns
        -------
        self : ITQHasher
        """
        X, y = self._validate_training_data(X, y)
        random_state = check_random_state(self.random_state)
        sums = self._sums(with_covariance=True)
        space = FeatureSpace.principal(X, self.n_bits, random_state, sums)
        projections = _within(X.dtype, space.transform(X))
        rotation, self.n_iter_ = itq_rotation(projections, self.max_iter, random_state)
        self.components_, self.intercept_ = space.fold(rotation, 0.0, X.dtype)
        self._keep_database(X, y)
        return self

    def _check_training_data(self, X: Any, y: Any) -> None:
        check_n_directions(self.n_bits, X.shape)

    def _learned_from_many(self, shape: tuple[int, ...]) -> str:
        return self._learns_from_many if shape[1] <= EXACT_FEATURES else "a sample"


def _within(dtype: Any, projections: np.ndarray) -> np.ndarray:
    """Projections in a dtype, divided by a power of two where their sums would overflow there."""
    largest = np.abs(projections).max(initial=0)
    if largest > np.sqrt(np.finfo(dtype).max):
        projections = projections / 2.0 ** np.ceil(np.log2(largest))
    return projections.astype(dtype, copy=False)
