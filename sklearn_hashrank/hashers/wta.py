"""Winner-take-all hashing, which says which of a few features is the largest."""

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import _fit_context
from sklearn.utils import check_random_state

from .._features.space import FeatureSpace
from .._utils.threads import one_blas_thread
from .._utils.types import MatrixLike, Target
from ._winners import WinnerHasher

__all__ = ["WTAHasher"]


class WTAHasher(WinnerHasher):
    """Winner-take-all hashing: which of a few random features is the largest.

    Only the order of the features within a row matters, so that any increasing function of all of
    them leaves the codes as they are. Use it where features are of one unit, such as pixels or
    histograms, and their values are less reliable than their order. It learns nothing from rows.

    Parameters
    ----------
    n_bits : int, default=32
        Length of a code. Each hash has ``log2(n_candidates)`` bits. If `n_bits` is no multiple of
        it, the last hash gives only its first bits.
    n_candidates : int, default=4
        Features that a hash compares, K in the paper: a power of two.
    output : {"bits", "signs", "packed"}, default="bits"
        Format of :meth:`transform`: 0/1 uint8, -1/+1 int8, or packed uint8 bytes.
    random_state : int, RandomState instance or None, default=None
        Samples the features that each hash compares.

    Attributes
    ----------
    features_ : ndarray of shape (n_hashes, n_candidates)
        Features that each hash compares: sampled without replacement, where there are as many.
    n_candidates_ : int
        Number of features that a hash compares.
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
    A hash is the index of the largest candidate, the first of equal ones, in binary. The paper
    compares indices. Hamming distance of their bits counts one or more for hashes that differ.

    :meth:`decision_function` gives by how much the largest candidate whose index has the bit
    exceeds the largest of the others.

    References
    ----------
    J. Yagnik, D. Strelow, D. Ross, R. Lin, "The power of comparative reasoning", ICCV 2011.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn_hashrank import WTAHasher
    >>> X, y = load_digits(return_X_y=True)
    >>> hasher = WTAHasher(n_bits=16, random_state=0).fit(X, y)
    >>> hasher.features_[0]
    array([45, 29, 43, 61])
    >>> (hasher.transform(X) == hasher.transform(X**2)).all()
    np.True_
    >>> round(hasher.score(X, y), 2)
    0.29
    """

    _learns_from_many = "nothing"

    def __init__(self, n_bits=32, *, n_candidates=4, output="bits", random_state=None):
        self.n_bits = n_bits
        self.n_candidates = n_candidates
        self.output = output
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    @one_blas_thread()
    def fit(self, X: MatrixLike, y: Target | None = None) -> "WTAHasher":
        """Sample the features that are compared.

        Parameters
        ----------
        X : {array-like, sparse matrix, dask array} of shape (n_samples, n_features)
            Training rows; only the number of their features is used.
        y : array-like with n_samples rows, default=None
            Not used for learning; kept for :meth:`score`.

        Returns
        -------
        self : WTAHasher
        """
        X, y = self._validate_training_data(X, y)
        n_hashes = self._begin()
        FeatureSpace.centered(X)  # refuses what every hasher refuses
        random_state = check_random_state(self.random_state)
        n_features = X.shape[1]
        # Features repeat where they are fewer than the candidates.
        features = np.resize(np.arange(n_features), max(n_features, self.n_candidates))
        samples = [random_state.permutation(features) for _ in range(n_hashes)]
        self.features_ = np.array([sample[: self.n_candidates] for sample in samples])
        self._keep_database(X, y)
        return self

    def _candidates(self, X: Any) -> np.ndarray:
        candidates = X[:, self.features_.T.ravel()]
        return candidates.toarray() if sparse.issparse(candidates) else candidates

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "features_")
