"""Spectral hashing: sinusoids along the principal directions."""

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils import check_random_state

from .._features.moments import Moments
from .._features.space import FeatureSpace
from .._utils.threads import one_blas_thread
from .._utils.types import MatrixLike, Target
from ._sinusoids import SinusoidHasher

__all__ = ["SpectralHasher"]


class SpectralHasher(SinusoidHasher):
    """Sinusoids along the principal directions, those of the longest waves first.

    The rows are taken to be uniform in a box along their principal directions. A bit is the sign of
    an eigenfunction of the Laplacian of that box, ``cos(m pi (p - low) / (high - low))`` with p the
    projection on one direction, and m = 1, 2, ... Wide directions get several bits. It is fast and
    deterministic; rows that are far from uniform suit it less than :class:`ITQHasher`.

    Parameters
    ----------
    n_bits : int, default=32
        Length of a code. It may exceed the number of features.
    output : {"bits", "signs", "packed"}, default="bits"
        Format of :meth:`transform`: 0/1 uint8, -1/+1 int8, or packed uint8 bytes.
    random_state : int, RandomState instance or None, default=None
        Used where the principal directions of large data are found by a randomized method.

    Attributes
    ----------
    components_ : ndarray of shape (n_bits, n_features)
        Frequencies of the bits: principal directions times ``m pi / (high - low)``.
    intercept_ : ndarray of shape (n_bits,)
        Phases of the cosines, added to the projections.
    unit_ : float
        A bit is 1 where ``cos(unit_ * (X @ components_.T + intercept_)) > 0``. 1, except for
        features of extreme scales.
    thresholds_ : ndarray of shape (n_bits,)
        Numbers added to the cosines, all zero.
    directions_ : ndarray of shape (n_bits,)
        Index of the principal direction of each bit.
    modes_ : ndarray of shape (n_bits,)
        Number of half waves of each bit in the box: m.
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
    Y. Weiss, A. Torralba, R. Fergus, "Spectral hashing", NIPS 2008.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn_hashrank import SpectralHasher
    >>> X, y = load_digits(return_X_y=True)
    >>> hasher = SpectralHasher(n_bits=16, random_state=0).fit(X, y)
    >>> hasher.directions_[:8], hasher.modes_[:8]
    (array([ 3,  0,  2,  1,  4,  6,  7, 10]), array([1, 1, 1, 1, 1, 1, 1, 1]))
    >>> round(hasher.score(X, y), 2)
    0.38
    """

    _parameter_constraints: dict = {
        **SinusoidHasher._parameter_constraints,
        "random_state": ["random_state"],
    }

    def __init__(self, n_bits=32, *, output="bits", random_state=None):
        self.n_bits = n_bits
        self.output = output
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    @one_blas_thread()
    def fit(self, X: MatrixLike, y: Target | None = None) -> "SpectralHasher":
        """Fit the box and choose its modes.

        Parameters
        ----------
        X : {array-like, sparse matrix, dask array} of shape (n_samples, n_features)
            Training rows.
        y : array-like with n_samples rows, default=None
            Not used for learning; kept for :meth:`score`.

        Returns
        -------
        self : SpectralHasher
        """
        X, y = self._validate_training_data(X, y)
        random_state = check_random_state(self.random_state)
        space = FeatureSpace.principal(X, min(self.n_bits, *X.shape), random_state)
        projections = space.transform(X)
        low = projections.min(axis=0)
        widths = projections.max(axis=0) - low
        if not Moments.of(X).varies.any():
            widths[:] = 0  # no more than rounding
        self.directions_, self.modes_, frequencies = longest_waves(widths, self.n_bits)
        normals = space.lift(np.eye(len(widths)))[:, self.directions_].T * frequencies[:, None]
        phases = -frequencies * low[self.directions_] - normals @ space.mean
        self._set_sinusoids(normals, phases, np.zeros(self.n_bits), X.dtype)
        self._keep_database(X, y)
        return self


def longest_waves(widths: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Find the `n` eigenfunctions of a box with the smallest eigenvalues, along one direction each.

    Returns for each the index of the direction, the number of half waves along it, and its
    frequency, half waves by width, times pi. All frequencies are zero where the box is a point.
    """
    widest = widths.max()
    if widest == 0:
        return np.zeros(n, dtype=int), np.arange(1, n + 1), np.zeros(n)
    n_modes = np.ceil((n + 1) * widths / widest).astype(int) - 1
    directions = np.repeat(np.arange(len(widths)), np.maximum(n_modes, 0))
    modes = np.concatenate([np.arange(1, m + 1) for m in n_modes])
    frequencies = modes * (np.pi / widths[directions])
    first = np.argsort(frequencies**2, kind="stable")[:n]
    return directions[first], modes[first], frequencies[first]
