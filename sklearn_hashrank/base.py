"""What every hasher has: validation, code output, score. No optimisation."""

from abc import abstractmethod
from numbers import Integral
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_is_fitted, validate_data

from ._measures import mean_score
from .affinity import BaseAffinity, EuclideanAffinity, auto_affinity, fit_affinity
from .codes import FORMATS, packed_width, write_codes
from .histogram import retrieval_histogram
from .metrics._scorer import warn_if_all_is_relevant

_ROWS = {"accept_sparse": "csr", "dtype": [np.float64, np.float32]}


class BaseHasher(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Base class of hashers: a subclass sets `n_bits` and `output`, fits and projects.

    Bit j of a code is 1 where column j of :meth:`decision_function` is above zero; zero is bit 0.

    Attributes
    ----------
    codes_ : ndarray of shape (n_samples, ceil(n_bits / 8)), uint8
        Packed codes of the training rows.
    y_ : array-like
        What the training rows are compared by: `y`, or `X` where it was None.
    affinity_ : affinity object
        Fitted relevance. Set by `fit` where learning needs it, otherwise when :meth:`score` first
        does.

    Examples
    --------
    A hasher that is not linear, whose one bit says whether a row lies within the unit ball:

    >>> import numpy as np
    >>> from sklearn_hashrank.base import BaseHasher
    >>> class BallHasher(BaseHasher):
    ...     _fitted_n_bits = 1
    ...
    ...     def __init__(self, output="bits"):
    ...         self.output = output
    ...
    ...     def fit(self, X, y=None):
    ...         X, y = self._validate_training_data(X, y)
    ...         self._keep_database(X, y)
    ...         return self
    ...
    ...     def _project(self, X):
    ...         return 1 - np.sum(X**2, axis=1, keepdims=True)
    >>> BallHasher().fit([[0.0, 0.5], [1.0, 1.0]]).predict([[0.6, 0.6], [0.9, 0.9]])
    array([[1],
           [0]], dtype=uint8)
    """

    _parameter_constraints: dict = {
        "n_bits": [Interval(Integral, 1, None, closed="left")],
        "output": [StrOptions(set(FORMATS))],
    }

    n_bits: int
    output: str

    @property
    @abstractmethod
    def _fitted_n_bits(self) -> int:
        """Length of the codes, whatever `n_bits` was set to after `fit`."""

    @abstractmethod
    def _project(self, X: Any) -> np.ndarray:
        """Real projections of validated rows, (n_samples, n_bits)."""

    def decision_function(self, X: Any) -> np.ndarray:
        """Real projections whose signs are the code.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to project.

        Returns
        -------
        projections : ndarray of shape (n_samples, n_bits)
            float32 where `X` and the training data were, else float64.
        """
        check_is_fitted(self)
        return self._project(validate_data(self, X, reset=False, **_ROWS))

    def predict(self, X: Any) -> np.ndarray:
        """Codes of 0 and 1, whatever `output` is.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to encode.

        Returns
        -------
        codes : ndarray of shape (n_samples, n_bits), uint8
        """
        return (self.decision_function(X) > 0).astype(np.uint8)

    def transform(self, X: Any) -> np.ndarray:
        """Codes in the format named by `output`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to encode.

        Returns
        -------
        codes : ndarray
            ``"bits"``: (n_samples, n_bits) uint8 of 0 and 1; ``"signs"``: int8 of -1 and +1;
            ``"packed"``: (n_samples, ceil(n_bits / 8)) uint8 in :func:`numpy.packbits` order.
        """
        if self.output == "bits":
            return self.predict(X)
        packed = pack_signs(self.decision_function(X))
        return write_codes(packed, self._fitted_n_bits, self.output)

    def score(self, X: Any, y: Any = None) -> float:
        """Mean tie-aware average precision of each row retrieved against all the others.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to encode and compare.
        y : array-like with n_samples rows, default=None
            What the fitted affinity compares. None: `X` itself, for hashers fitted without `y`.
            Such a hasher may be scored by labels if it takes no affinity.

        Returns
        -------
        score : float
            In [0, 1]; NaN, with a warning, when no row has a relevant other row.
        """
        codes = pack_signs(self.decision_function(X))
        affinity, y = self._ground_truth(X, y)
        histogram = retrieval_histogram(
            codes,
            codes,
            y,
            y,
            affinity=affinity,
            n_bits=self._fitted_n_bits,
            exclude_self=True,
            n_jobs=getattr(self, "n_jobs", None),
        )
        warn_if_all_is_relevant(histogram, stacklevel=3)
        return mean_score(histogram.measure("average_precision"), stacklevel=3)

    def _ground_truth(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Return the affinity of the fit, and what it compares: `y`, or `X` without one.

        Labels may judge what was fitted without them, unless it learned from an affinity.
        """
        learned = hasattr(self, "affinity") or not self._fitted_without_y
        if y is not None and not learned and not isinstance(auto_affinity(y), EuclideanAffinity):
            return "auto", y
        if y is None:
            if not self._fitted_without_y:
                raise ValueError(
                    f"score needs y, because this {type(self).__name__} was fitted with y. "
                    "Got y=None."
                )
            y = X
        if not hasattr(self, "affinity_"):
            y_train = None if self._fitted_without_y else self.y_
            self.affinity_ = self._fit_affinity(self.y_, y_train)
        return self.affinity_, y

    def _validate_training_data(self, X: Any, y: Any, reset: bool = True) -> tuple[Any, Any]:
        """Check rows of X and y for `fit`; `reset` forgets what an earlier fit derived."""
        if reset:
            self.__dict__.pop("affinity_", None)
            self._fitted_without_y = y is None
        if y is None:
            return validate_data(self, X, reset=reset, **_ROWS), None
        return validate_data(self, X, y, reset=reset, multi_output=True, **_ROWS)

    def _fit_affinity(self, X: Any, y: Any) -> BaseAffinity:
        """Fit the affinity on training rows; without y, "auto" means distances between rows."""
        affinity = getattr(self, "affinity", "auto")
        if y is not None:
            return fit_affinity(affinity, y)
        is_auto = isinstance(affinity, str) and affinity == "auto"
        return fit_affinity(EuclideanAffinity() if is_auto else affinity, X)

    def _keep_database(self, X: Any, y: Any) -> None:
        """Keep the training rows as a database to retrieve from."""
        self.codes_ = pack_signs(self._project(X))
        self.y_ = X if y is None else y

    @property
    def _n_features_out(self) -> int:
        n_bits = self._fitted_n_bits
        return packed_width(n_bits) if self.output == "packed" else n_bits

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.multi_output = True  # predict gives n_bits columns, always
        tags.target_tags.single_output = False
        tags.transformer_tags.preserves_dtype = []
        return tags


class LinearHasher(BaseHasher):
    """Base class of hashers whose bits are half-spaces: ``X @ components_.T + intercept_ > 0``.

    Attributes
    ----------
    components_ : ndarray of shape (n_bits, n_features)
    intercept_ : ndarray of shape (n_bits,)

    Examples
    --------
    One bit for each feature, whether it is above its mean:

    >>> import numpy as np
    >>> from sklearn_hashrank.base import LinearHasher
    >>> class MeanHasher(LinearHasher):
    ...     def __init__(self, output="bits"):
    ...         self.output = output
    ...
    ...     def fit(self, X, y=None):
    ...         X, y = self._validate_training_data(X, y)
    ...         self._set_hyperplanes(np.eye(X.shape[1]), X.mean(axis=0), X.dtype)
    ...         self._keep_database(X, y)
    ...         return self
    >>> MeanHasher().fit([[0.0, 5.0], [1.0, 3.0]]).predict([[0.6, 1.0]])
    array([[1, 0]], dtype=uint8)
    """

    components_: np.ndarray
    intercept_: np.ndarray

    @property
    def _fitted_n_bits(self) -> int:
        return len(self.components_)

    def _set_hyperplanes(self, normals: np.ndarray, mean: np.ndarray, dtype: Any) -> None:
        """Let hyperplanes with the given normals, (n_bits, n_features), pass through the mean."""
        self.components_ = np.ascontiguousarray(normals, dtype=dtype)
        self.intercept_ = (-normals @ mean).astype(dtype)

    def _project(self, X: Any) -> np.ndarray:
        projections = safe_sparse_dot(X, self.components_.T, dense_output=True)
        projections += self.intercept_
        return projections


def pack_signs(projections: np.ndarray) -> np.ndarray:
    """Packed codes of real projections; zero is bit 0."""
    return np.packbits(projections > 0, axis=1)


def inverse_deviations(means: np.ndarray, deviations: np.ndarray) -> np.ndarray:
    """Scale of columns to unit variance; 0 for what rounding leaves of a constant one."""
    varies = deviations > 1e-6 * np.abs(means)
    return np.divide(1, deviations, out=np.zeros_like(deviations), where=varies)


def column_means(X: Any) -> np.ndarray:
    """Means of the columns of a dense or sparse matrix, in float64."""
    means = X.mean(axis=0, dtype=np.float64)
    return np.asarray(means).ravel() if sparse.issparse(X) else means
