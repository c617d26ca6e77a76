"""Locality-sensitive hashing of shift-invariant kernels, by random sinusoids."""

from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval

from .._features.anchors import Anchors
from .._features.row_slices import block_slices
from .._utils.threads import one_blas_thread
from .._utils.types import MatrixLike, Target
from ._sinusoids import SinusoidHasher

__all__ = ["SKLSHHasher"]

# The paper's scale is the mean distance from the 50th neighbor; 100 rows tell a mean well enough.
_SAMPLED_ROWS, _NEIGHBOR = 100, 50


class SKLSHHasher(SinusoidHasher):
    """Signs of random sinusoids, which estimate a Gaussian kernel of two rows.

    A bit is 1 where ``cos(w x + b) + t > 0``, with w Gaussian and b and t uniform. The share of
    differing bits of two rows grows with their distance up to some length, and says nothing beyond
    it. So it suits searches for near rows with long codes. It learns nothing but the length.

    Parameters
    ----------
    n_bits : int, default=32
        Length of a code. It may exceed the number of features.
    gamma : float, default=1.0
        Variance of the frequencies, in units of the mean distance of training rows from their 50th
        neighbor: the kernel is ``exp(-gamma * d^2 / 2)``, where d is in these units. A smaller one
        tells farther rows apart.
    output : {"bits", "signs", "packed"}, default="bits"
        Format of :meth:`transform`: 0/1 uint8, -1/+1 int8, or packed uint8 bytes.
    random_state : int, RandomState instance or None, default=None
        Samples the rows that measure distances, and the sinusoids.

    Attributes
    ----------
    components_ : ndarray of shape (n_bits, n_features)
        Frequencies of the cosines, one vector for each bit.
    intercept_ : ndarray of shape (n_bits,)
        Phases of the cosines, added to the projections.
    unit_ : float
        A bit is 1 where ``cos(unit_ * (X @ components_.T + intercept_)) + thresholds_ > 0``. 1,
        except for features of extreme scales.
    thresholds_ : ndarray of shape (n_bits,)
        Numbers added to the cosines, uniform in [-1, 1).
    neighbor_distance_ : float
        Mean distance of at most 100 of the training rows from their 50th nearest row, themselves
        counted as the first.
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

    References
    ----------
    M. Raginsky, S. Lazebnik, "Locality-sensitive binary codes from shift-invariant kernels",
    NIPS 2009.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn_hashrank import SKLSHHasher
    >>> X, y = load_digits(return_X_y=True)
    >>> hasher = SKLSHHasher(n_bits=16, random_state=0).fit(X, y)
    >>> round(hasher.neighbor_distance_, 1)
    30.2
    >>> round(hasher.score(X, y), 2)
    0.23
    """

    _parameter_constraints: dict = {
        **SinusoidHasher._parameter_constraints,
        "gamma": [Interval(Real, 0, None, closed="neither")],
        "random_state": ["random_state"],
    }

    def __init__(self, n_bits=32, *, gamma=1.0, output="bits", random_state=None):
        self.n_bits = n_bits
        self.gamma = gamma
        self.output = output
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    @one_blas_thread()
    def fit(self, X: MatrixLike, y: Target | None = None) -> "SKLSHHasher":
        """Measure how far apart near rows are, and sample the sinusoids.

        Parameters
        ----------
        X : {array-like, sparse matrix, dask array} of shape (n_samples, n_features)
            Training rows; only their distances are used.
        y : array-like with n_samples rows, default=None
            Not used for learning; kept for :meth:`score`.

        Returns
        -------
        self : SKLSHHasher
        """
        X, y = self._validate_training_data(X, y)
        random_state = check_random_state(self.random_state)
        anchors = Anchors.random(X, _SAMPLED_ROWS, random_state)
        distance = _distance_of_neighbors(X, anchors)
        self.neighbor_distance_ = distance * anchors.unit
        normals = random_state.standard_normal((self.n_bits, X.shape[1]))
        normals *= np.sqrt(self.gamma) / (distance or 1) * anchors.space.scale
        phases = random_state.uniform(0, 2 * np.pi, self.n_bits) - normals @ anchors.space.mean
        thresholds = random_state.uniform(-1, 1, self.n_bits)
        self._set_sinusoids(normals, phases, thresholds, X.dtype)
        self._keep_database(X, y)
        return self


def _distance_of_neighbors(X: Any, anchors: Anchors) -> float:
    """Mean distance of some rows from their 50th nearest row, in units of the anchors."""
    nearest = np.empty((0, anchors.n))
    for rows in block_slices(X.shape[0], anchors.row_numbers):
        nearest = np.concatenate([nearest, anchors.squared_distances(X[rows])])
        if len(nearest) > _NEIGHBOR:
            nearest = np.partition(nearest, _NEIGHBOR - 1, axis=0)[:_NEIGHBOR]
    return float(np.sqrt(nearest.max(axis=0)).mean())
