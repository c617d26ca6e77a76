"""Hashing along principal directions, as they are or rotated at random."""

from typing import Any

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import StrOptions

from .._features.principal_directions import EXACT_FEATURES
from .._features.space import FeatureSpace, check_n_directions
from .._solvers.rotation import random_rotation
from .._utils.threads import one_blas_thread
from .._utils.types import MatrixLike, Target
from ..base import LinearHasher

__all__ = ["PCAHasher"]


class PCAHasher(LinearHasher):
    """One bit per principal direction: on which side of the mean a row lies.

    The first directions hold most of the variance and the last hardly any, yet each has one bit,
    so that long codes get worse. A random rotation spreads the variance over the bits ("PCA-RR");
    :class:`ITQHasher` looks for a better one.

    Parameters
    ----------
    n_bits : int, default=32
        Length of a code, at most the number of features and of training rows.
    rotation : {None, "random"}, default=None
        Rotation of the principal directions: ``"random"``, or None, where each direction is a bit.
    output : {"bits", "signs", "packed"}, default="bits"
        Format of :meth:`transform`: 0/1 uint8, -1/+1 int8, or packed uint8 bytes.
    random_state : int, RandomState instance or None, default=None
        Samples the rotation. Also used where the principal directions of large data are found by a
        randomized method.

    Attributes
    ----------
    components_ : ndarray of shape (n_bits, n_features)
        Principal directions, orthonormal, by descending variance; rotated if asked for. Where the
        rows vary in fewer directions, the others are 0, and so are their bits.
    intercept_ : ndarray of shape (n_bits,)
        Offsets that let every hyperplane pass through the mean.
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
    codes", CVPR 2011: section 2.2 for the random rotation.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn_hashrank import PCAHasher
    >>> X, y = load_digits(return_X_y=True)
    >>> hasher = PCAHasher(n_bits=16, random_state=0).fit(X, y)
    >>> round(hasher.score(X, y), 2)
    0.33
    >>> rotated = PCAHasher(n_bits=16, rotation="random", random_state=0).fit(X, y)
    >>> round(rotated.score(X, y), 2)
    0.52
    """

    _parameter_constraints: dict = {
        **LinearHasher._parameter_constraints,
        "rotation": [StrOptions({"random"}), None],
        "random_state": ["random_state"],
    }

    _learns_from_many = "sums"

    def __init__(self, n_bits=32, *, rotation=None, output="bits", random_state=None):
        self.n_bits = n_bits
        self.rotation = rotation
        self.output = output
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    @one_blas_thread()
    def fit(self, X: MatrixLike, y: Target | None = None) -> "PCAHasher":
        """Find the principal directions.

        Parameters
        ----------
        X : {array-like, sparse matrix, dask array} of shape (n_samples, n_features)
            Training rows.
        y : array-like with n_samples rows, default=None
            Not used for learning; kept for :meth:`score`.

        Returns
        -------
        self : PCAHasher
        """
        X, y = self._validate_training_data(X, y)
        random_state = check_random_state(self.random_state)
        sums = self._sums(with_covariance=True)
        space = FeatureSpace.principal(X, self.n_bits, random_state, sums)
        rotation = np.eye(self.n_bits)
        if self.rotation == "random":
            rotation = random_rotation(self.n_bits, random_state)
        self.components_, self.intercept_ = space.fold(rotation, 0.0, X.dtype)
        self._keep_database(X, y)
        return self

    def _check_training_data(self, X: Any, y: Any) -> None:
        check_n_directions(self.n_bits, X.shape)

    def _learned_from_many(self, shape: tuple[int, ...]) -> str:
        return self._learns_from_many if shape[1] <= EXACT_FEATURES else "a sample"
