"""What every hasher has: validation, code output, score. No optimisation."""

import copy
import os
from abc import abstractmethod
from numbers import Integral
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_is_fitted, validate_data

from .affinity import BaseAffinity, EuclideanAffinity, as_array, auto_affinity, fit_affinity
from .codes import FORMATS, collect_codes, packed_width, write_codes
from .histogram import retrieval_histogram
from .measures import mean_score
from .metrics import warn_if_all_is_relevant
from .persistence import check_output
from .rows import (
    check_batch_size,
    is_dask_array,
    map_blocks,
    map_rows,
    read_blocks,
    report_progress,
)

__all__ = [
    "BaseHasher",
    "LinearHasher",
    "column_means",
    "inverse_deviations",
    "pack_signs",
    "refuse_overflow",
]

_ROWS = {"accept_sparse": "csr", "dtype": [np.float64, np.float32]}

# What is left behind when a fitted hasher is sent to workers.
_NOT_FOR_ENCODING = (
    *("codes_", "y_", "affinity_", "history_", "_learner", "_statistics"),
    "_sklearn_output_config",
)


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
        X : {array-like, sparse matrix, dask array} of shape (n_samples, n_features)
            Rows to project. Of a dask array, every chunk of rows is a task, and the result is
            a dask array; so do :meth:`predict` and :meth:`transform`.

        Returns
        -------
        projections : ndarray of shape (n_samples, n_bits)
            They are float32 where `X` and the training data are, otherwise float64.
        """
        check_is_fitted(self)
        if is_dask_array(X):
            return self._map_chunks("decision_function", X)
        return self._project(validate_data(self, X, reset=False, **_ROWS))

    def predict(self, X: Any) -> np.ndarray:
        """Codes of 0 and 1, whatever `output` is.

        Parameters
        ----------
        X : {array-like, sparse matrix, dask array} of shape (n_samples, n_features)
            Rows to encode.

        Returns
        -------
        codes : ndarray of shape (n_samples, n_bits), uint8
        """
        if is_dask_array(X):
            return self._map_chunks("predict", X)
        return (self.decision_function(X) > 0).astype(np.uint8)

    def transform(self, X: Any) -> np.ndarray:
        """Codes in the format named by `output`.

        Parameters
        ----------
        X : {array-like, sparse matrix, dask array} of shape (n_samples, n_features)
            Rows to encode.

        Returns
        -------
        codes : ndarray
            ``"bits"``: (n_samples, n_bits) uint8 of 0 and 1; ``"signs"``: int8 of -1 and +1;
            ``"packed"``: (n_samples, ceil(n_bits / 8)) uint8 in :func:`numpy.packbits` order.
        """
        if is_dask_array(X):
            return self._map_chunks("transform", X)
        if self.output == "bits":
            return self.predict(X)
        return write_codes(self._encode(X), self._fitted_n_bits, self.output)

    def encode_blocks(
        self,
        X: Any,
        *,
        out: Any = None,
        batch_size: int | str = "auto",
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> Any:
        """Packed codes of more rows than fit into memory, block by block.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or iterator
            Rows to encode. A memmap is read block by block. An iterator or generator gives blocks
            of rows; or pairs ``(rows, y)``, which come out as pairs ``(codes, y)``.
        out : path or ndarray of shape (n_samples, ceil(n_bits / 8)), uint8, default=None
            Where the codes go. A path names a ``.npy`` file, which appears under this name only
            when it is complete, and then replaces one that was there; read it by
            :func:`~sklearn_hashrank.codes.load_codes`. An array, for instance a memmap, is filled;
            one that was filled in part looks like any other. None: memory.
        batch_size : int or "auto", default="auto"
            Rows that an array is cut into; ``"auto"`` lets a block take some 32 MB. Blocks of an
            iterator are taken as they are.
        n_jobs : int, default=None
            Threads, each with a block of its own. None means 1 unless in a
            :obj:`joblib.parallel_config` context, -1 means all processors.
        verbose : int, default=0
            Print a line every `verbose` blocks.

        Returns
        -------
        codes : ndarray of shape (n_samples, ceil(n_bits / 8)), uint8; or iterator
            Packed codes, whatever `output` is: a read-only memmap where `out` is a path, else an
            array. Of pairs, an iterator over pairs ``(codes, y)``, made as they are asked for: what
            :func:`~sklearn_hashrank.retrieval_histogram` takes as a database.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn_hashrank import LSHHasher, retrieval_histogram
        >>> X, y = np.random.default_rng(0).normal(size=(1000, 8)), np.arange(1000) % 2
        >>> hasher = LSHHasher(n_bits=16, random_state=0).fit(X)
        >>> hasher.encode_blocks(X, batch_size=300).shape
        (1000, 2)
        >>> blocks = ((X[i : i + 300], y[i : i + 300]) for i in range(0, 1000, 300))
        >>> database = hasher.encode_blocks(blocks)
        >>> queries = hasher.encode_blocks(X[:5])
        >>> retrieval_histogram(queries, database, y[:5], n_bits=16)
        RetrievalHistogram(n_queries=5, levels=[0.0, 1.0], n_bits=16)
        """
        check_is_fitted(self)
        check_batch_size(batch_size)
        if isinstance(X, np.memmap) and isinstance(out, (str, os.PathLike)):
            check_output(out, filter(None, [X.filename]))
        blocks, n_rows, are_pairs = read_blocks(X, batch_size, self._fitted_n_bits)
        if are_pairs and out is not None:
            raise ValueError(
                "out must be None where blocks are pairs (rows, y), whose codes are handed on "
                "with their y. For a file, pass an iterator over the rows alone."
            )
        codes = map_blocks(self._encode_pair if are_pairs else self._encode, blocks, n_jobs)
        if verbose:
            codes = report_progress(codes, type(self).__name__, n_rows, int(verbose))
        if are_pairs:
            return codes
        return collect_codes(codes, out, self._fitted_n_bits, n_rows)

    def _encode(self, X: Any) -> np.ndarray:
        if is_dask_array(X):
            return self._map_chunks("_encode", X).compute()
        return pack_signs(self.decision_function(X))

    def _map_chunks(self, method: str, X: Any) -> Any:
        """Dask array of what a method makes of every chunk of rows."""
        check_is_fitted(self)
        light = copy.copy(self)
        for name in _NOT_FOR_ENCODING:
            light.__dict__.pop(name, None)
        example = _call_method(np.zeros((1, *X.shape[1:]), X.dtype), (light, method))
        return map_rows(_call_method, X, (light, method), example)

    def _encode_pair(self, block: Any) -> tuple[np.ndarray, Any]:
        X, y = block
        return self._encode(X), y

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
        codes = self._encode(X)
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
        """Check rows of X and y; `reset` forgets what an earlier fit derived."""
        if reset:
            self.__dict__.pop("affinity_", None)
            self._fitted_without_y = y is None
        elif self._fitted_without_y != (y is None):
            given = "without" if self._fitted_without_y else "with"
            raise ValueError(f"blocks must come all with y or all without. The first came {given}.")
        if y is None:
            return validate_data(self, X, reset=reset, **_ROWS), None
        y = as_array(y)
        return validate_data(self, X, y, reset=reset, multi_output=True, **_ROWS)

    def _fit_affinity(self, X: Any, y: Any) -> BaseAffinity:
        """Fit the affinity on training rows; without y, "auto" means distances between rows."""
        return fit_affinity(self._affinity_of(y), X if y is None else y)

    def _affinity_of(self, y: Any) -> Any:
        """`affinity`, which without y is Euclidean where it is "auto"."""
        affinity = getattr(self, "affinity", "auto")
        is_auto = isinstance(affinity, str) and affinity == "auto"
        return EuclideanAffinity() if y is None and is_auto else affinity

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

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "components_")

    def _project(self, X: Any) -> np.ndarray:
        projections = safe_sparse_dot(X, self.components_.T, dense_output=True)
        projections += self.intercept_
        return projections


def _call_method(X, model):
    hasher, method = model
    return getattr(hasher, method)(X)


def pack_signs(projections: np.ndarray) -> np.ndarray:
    """Packed codes of real projections; zero is bit 0."""
    return np.packbits(projections > 0, axis=1)


def inverse_deviations(means: np.ndarray, deviations: np.ndarray, dtype: Any) -> np.ndarray:
    """Scale of columns to unit variance; 0 for what rounding leaves of a constant one.

    `dtype` is that of the rows, whatever means and deviations were computed in.
    """
    refuse_overflow(deviations)
    rounding = 1e-6 if dtype == np.float32 else 1e-10
    varies = deviations > rounding * np.abs(means)
    return np.divide(1, deviations, out=np.zeros_like(deviations), where=varies)


def refuse_overflow(variances: np.ndarray) -> None:
    """Variances, or deviations, must be finite."""
    if not np.isfinite(variances).all():
        raise ValueError("X holds values so large that their variance overflows. Scale it down.")


def column_means(X: Any) -> np.ndarray:
    """Means of the columns of a dense or sparse matrix, in float64."""
    means = X.mean(axis=0, dtype=np.float64)
    return np.asarray(means).ravel() if sparse.issparse(X) else means
