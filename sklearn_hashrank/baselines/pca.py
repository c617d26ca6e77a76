"""Signs of principal components."""

from typing import Any

from sklearn.base import _fit_context
from sklearn.utils import check_random_state

from ..base import LinearHasher, column_means
from ..solvers.principal import CenteredRows, principal_directions


class PCAHasher(LinearHasher):
    """Bits are the signs of the leading principal components.

    Later components carry less and less variance and still take a whole bit each, which is why
    longer codes may be worse. :class:`ITQHasher` rotates the same components first.

    Parameters
    ----------
    n_bits : int, default=32
        Length of a code, at most the number of features.
    output : {"bits", "signs", "packed"}, default="bits"
        Format of :meth:`transform`: 0/1 uint8, -1/+1 int8, or packed uint8 bytes.
    random_state : int, RandomState instance or None, default=None
        Starts the randomised decomposition, used for more than 1024 features.

    Attributes
    ----------
    components_ : ndarray of shape (n_bits, n_features)
        Principal directions, orthonormal, the largest entry of each positive.
    intercept_ : ndarray of shape (n_bits,)
        Offsets that let every hyperplane pass through the mean.
    codes_ : ndarray of shape (n_samples, ceil(n_bits / 8)), uint8
        Packed codes of the training rows.
    y_ : array-like
        `y` of the training rows, or `X` where it was None.
    affinity_ : affinity object
        Relevance by the form of `y_`, used by :meth:`score`.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, when `X` has string column names.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn_hashrank import PCAHasher
    >>> X, y = load_digits(return_X_y=True)
    >>> round(PCAHasher(n_bits=16).fit(X, y).score(X, y), 2)
    0.33
    """

    _parameter_constraints: dict = {
        **LinearHasher._parameter_constraints,
        "random_state": ["random_state"],
    }

    def __init__(self, n_bits=32, *, output="bits", random_state=None):
        self.n_bits = n_bits
        self.output = output
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> "PCAHasher":
        """Find the principal directions.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows.
        y : array-like with n_samples rows, default=None
            Not used for learning; kept for :meth:`score`.

        Returns
        -------
        self : PCAHasher
        """
        X, y = self._validate_training_data(X, y)
        self._check_orthogonal_bits(X)
        rows = CenteredRows(X, column_means(X))
        random_state = check_random_state(self.random_state)
        _, directions = principal_directions(rows, self.n_bits, random_state)
        self._set_hyperplanes(directions, rows.mean, X.dtype)
        self._keep_database(X, y)
        return self
