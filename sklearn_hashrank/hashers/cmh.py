"""Concomitant min hash, which says which of a few random projections is the largest."""

from typing import Any

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils import check_random_state

from .._features.space import FeatureSpace
from .._utils.threads import one_blas_thread
from .._utils.types import MatrixLike, Target
from ._winners import WinnerHasher

__all__ = ["CMHHasher"]


class CMHHasher(WinnerHasher):
    """Concomitant min hash: which of a few random projections is the largest.

    It is winner-take-all hashing of random projections. The more similar the directions of two
    rows, seen from the mean of the training rows, the likelier it is that their hashes agree. With
    two candidates it is :class:`LSHHasher`.

    Parameters
    ----------
    n_bits : int, default=32
        Length of a code. Each hash has ``log2(n_candidates)`` bits. If `n_bits` is no multiple of
        it, the last hash gives only its first bits.
    n_candidates : int, default=4
        Projections that a hash compares: a power of two.
    output : {"bits", "signs", "packed"}, default="bits"
        Format of :meth:`transform`: 0/1 uint8, -1/+1 int8, or packed uint8 bytes.
    random_state : int, RandomState instance or None, default=None
        Samples the directions of the projections.

    Attributes
    ----------
    components_ : ndarray of shape (n_candidates * n_hashes, n_features)
        Directions of the projections, standard normal: the first of all hashes, then the second
        of all, and so on.
    intercept_ : ndarray of shape (n_candidates * n_hashes,)
        Offsets that let every projection of the mean be zero.
    n_candidates_ : int
        Number of projections that a hash compares.
    n_bits_ : int
        Length of the codes, whatever `n_bits` was set to after `fit`.
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

    Notes
    -----
    The paper takes the smallest projection, which is the largest one of the opposite directions.
    A hash is written as its index in binary, as that of :class:`WTAHasher`.

    References
    ----------
    K. Eshghi, S. Rajaram, "Locality sensitive hash functions based on concomitant rank order
    statistics", KDD 2008.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn_hashrank import CMHHasher
    >>> X, y = load_digits(return_X_y=True)
    >>> hasher = CMHHasher(n_bits=16, random_state=0).fit(X, y)
    >>> hasher.components_.shape
    (32, 64)
    >>> round(hasher.score(X, y), 2)
    0.39
    """

    _learns_from_many = "sums"

    def __init__(self, n_bits=32, *, n_candidates=4, output="bits", random_state=None):
        self.n_bits = n_bits
        self.n_candidates = n_candidates
        self.output = output
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    @one_blas_thread()
    def fit(self, X: MatrixLike, y: Target | None = None) -> "CMHHasher":
        """Sample the projections.

        Parameters
        ----------
        X : {array-like, sparse matrix, dask array} of shape (n_samples, n_features)
            Training rows; only their mean is used.
        y : array-like with n_samples rows, default=None
            Not used for learning; kept for :meth:`score`.

        Returns
        -------
        self : CMHHasher
        """
        X, y = self._validate_training_data(X, y)
        random_state = check_random_state(self.random_state)
        n_directions = self.n_candidates * self._begin()
        normals = random_state.standard_normal((n_directions, X.shape[1]))
        moments = self._moments(X)
        # Features that do not vary would add nothing but rounding.
        space = FeatureSpace(moments.mean, moments.varies.astype(float))
        self.components_, self.intercept_ = space.fold(normals.T, 0.0, X.dtype)
        self._keep_database(X, y)
        return self

    def _candidates(self, X: Any) -> np.ndarray:
        return X @ self.components_.T + self.intercept_

    def _dtype_of(self, X: Any) -> np.dtype:
        return np.result_type(X.dtype, self.components_.dtype)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "components_")
