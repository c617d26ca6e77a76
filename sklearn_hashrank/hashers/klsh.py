"""Locality-sensitive hashing in the space of a kernel."""

from numbers import Integral, Real

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval

from .._features.kernel_features import inverse_root
from .._utils.threads import one_blas_thread
from .._utils.types import MatrixLike, Target
from ._kernel import KernelHasher

__all__ = ["KLSHHasher"]

_MOST_SUMMED = 30  # as in the paper, which has 300 anchors


class KLSHHasher(KernelHasher):
    """Random hyperplanes in the space of a Gaussian kernel.

    A normal vector is nearly Gaussian in the space of the kernel, because it is the sum of a few
    random anchors, whitened by the covariance of all anchors. Nothing else is learned. It is what
    :class:`LSHHasher` is for the features themselves, and the lower bound of methods with kernels.

    Parameters
    ----------
    n_bits : int, default=32
        Length of a code. It may exceed the number of features.
    n_anchors : int, default=300
        Training rows that kernels are computed with, sampled at random.
    n_summed : int or None, default=None
        Number of anchors that are summed for a bit. None: a quarter of all, at most 30.
    gamma : float, default=0.5
        Steepness of the kernel ``exp(-gamma * d^2 / s)``. d is the distance of a row from an
        anchor, and s the mean of ``d^2`` over training rows and anchors, so that the scale of the
        features does not matter.
    output : {"bits", "signs", "packed"}, default="bits"
        Format of :meth:`transform`: 0/1 uint8, -1/+1 int8, or packed uint8 bytes.
    random_state : int, RandomState instance or None, default=None
        Samples the anchors, and those that are summed.

    Attributes
    ----------
    anchors_ : ndarray of shape (n_anchors, n_features)
        Rows that all others are compared with.
    dual_coef_ : ndarray of shape (n_bits, n_anchors)
        Normal vectors of the hyperplanes in the space of centered kernels with the anchors.
    intercept_ : ndarray of shape (n_bits,)
        Offsets of the hyperplanes, added to the projections.
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
    B. Kulis, K. Grauman, "Kernelized locality-sensitive hashing for scalable image search",
    ICCV 2009.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn_hashrank import KLSHHasher
    >>> X, y = load_digits(return_X_y=True)
    >>> hasher = KLSHHasher(n_bits=16, random_state=0).fit(X, y)
    >>> bool(hasher.score(X, y) > 0.3)
    True
    """

    _parameter_constraints: dict = {
        **KernelHasher._parameter_constraints,
        "n_anchors": [Interval(Integral, 1, None, closed="left")],
        "n_summed": [None, Interval(Integral, 1, None, closed="left")],
        "gamma": [Interval(Real, 0, None, closed="neither")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_bits=32,
        *,
        n_anchors=300,
        n_summed=None,
        gamma=0.5,
        output="bits",
        random_state=None,
    ):
        self.n_bits = n_bits
        self.n_anchors = n_anchors
        self.n_summed = n_summed
        self.gamma = gamma
        self.output = output
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    @one_blas_thread()
    def fit(self, X: MatrixLike, y: Target | None = None) -> "KLSHHasher":
        """Sample the anchors and the hyperplanes.

        Parameters
        ----------
        X : {array-like, sparse matrix, dask array} of shape (n_samples, n_features)
            Training rows.
        y : array-like with n_samples rows, default=None
            Not used for learning; kept for :meth:`score`.

        Returns
        -------
        self : KLSHHasher
        """
        X, y = self._validate_training_data(X, y)
        random_state = check_random_state(self.random_state)
        self._find_features(X, self.n_anchors, self.gamma, random_state)
        kernels = self._features.of_anchors()
        kernels -= kernels.mean(axis=1, keepdims=True)
        kernels -= kernels.mean(axis=0)
        n = len(kernels)
        n_summed = min(self.n_summed or max(1, min(n // 4, _MOST_SUMMED)), n)
        summed = np.zeros((n, self.n_bits))
        for bit in summed.T:
            bit[random_state.permutation(n)[:n_summed]] = 1
        weights = np.sqrt((n - 1) / n_summed) * (inverse_root(kernels, X.dtype) @ summed)
        self._set_weights(weights, 0.0, X.dtype)
        self._keep_database(X, y)
        return self
