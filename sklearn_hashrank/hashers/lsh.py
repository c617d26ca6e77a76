"""Locality-sensitive hashing with random hyperplanes."""

from sklearn.base import _fit_context
from sklearn.utils import check_random_state

from .._features.space import FeatureSpace
from .._utils.threads import one_blas_thread
from .._utils.types import MatrixLike, Target
from ..base import LinearHasher

__all__ = ["LSHHasher"]


class LSHHasher(LinearHasher):
    """Locality-sensitive hashing with random hyperplanes through the mean of the data.

    The fraction of differing bits of two rows estimates the angle between them, seen from the
    mean of the training rows. Nothing else is learned. Treat it as the lower bound: a learned
    hasher that scores less is misconfigured.

    Features that vary by no more than rounding have weight 0: however large they are, they say
    nothing about angles seen from the mean.

    Parameters
    ----------
    n_bits : int, default=32
        Length of a code. It may exceed the number of features.
    output : {"bits", "signs", "packed"}, default="bits"
        Format of :meth:`transform`: 0/1 uint8, -1/+1 int8, or packed uint8 bytes.
    random_state : int, RandomState instance or None, default=None
        Samples the normal vectors of the hyperplanes.

    Attributes
    ----------
    components_ : ndarray of shape (n_bits, n_features)
        Normal vectors of the hyperplanes, standard normal; 0 for features that do not vary.
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
    M. Charikar, "Similarity estimation techniques from rounding algorithms", STOC 2002.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn_hashrank import LSHHasher
    >>> X, y = load_digits(return_X_y=True)
    >>> hasher = LSHHasher(n_bits=16, random_state=0).fit(X, y)
    >>> hasher.transform(X[:1])
    array([[0, 0, 0, 0, 0, 0, 1, 0, 0, 1, 1, 1, 0, 1, 1, 0]], dtype=uint8)
    >>> round(hasher.score(X, y), 2)
    0.31
    """

    _parameter_constraints: dict = {
        **LinearHasher._parameter_constraints,
        "random_state": ["random_state"],
    }

    _learns_from_many = "sums"

    def __init__(self, n_bits=32, *, output="bits", random_state=None):
        self.n_bits = n_bits
        self.output = output
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    @one_blas_thread()
    def fit(self, X: MatrixLike, y: Target | None = None) -> "LSHHasher":
        """Sample the hyperplanes.

        Parameters
        ----------
        X : {array-like, sparse matrix, dask array} of shape (n_samples, n_features)
            Training rows. Only their mean is used, and which of the features vary.
        y : array-like with n_samples rows, default=None
            Not used for learning; kept for :meth:`score`.

        Returns
        -------
        self : LSHHasher
        """
        X, y = self._validate_training_data(X, y)
        random_state = check_random_state(self.random_state)
        normals = random_state.standard_normal((self.n_bits, X.shape[1]))
        moments = self._moments(X)
        normals[:, ~moments.varies] = 0.0
        space = FeatureSpace(moments.mean)
        self.components_, self.intercept_ = space.fold(normals.T, 0.0, X.dtype)
        self._keep_database(X, y)
        return self
