"""Base classes of hashers: validation, encoding, score. No optimization.

Scorers, displays, cross-validation and comparisons know a hasher by these four names, the
protocol by which anyone evaluates a hasher:

``packed_codes(X)``
    Packed codes of rows, uint8 of shape (n_samples, ceil(n_bits / 8)).
``n_bits_``
    Length of the codes of the fitted hasher.
``relevance(X, y=None)``
    The affinity to judge by, and what it compares.
``training_database()``
    Packed codes and `y` of the training rows, or a ValueError that says what to pass instead.

:class:`BaseHasher` has all four. An estimator that has none of them is evaluated as well where its
``transform``, or else its ``predict``, gives codes: bits, signs, or packed bytes where an attribute
`n_bits_` says how long they are. Relevance then depends on the form of `y`, and there is no
training database.
"""

import copy
import os
import sys
import warnings
from abc import abstractmethod
from collections.abc import Iterator
from functools import partial
from numbers import Integral
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import assert_all_finite, check_array, check_random_state
from sklearn.utils._param_validation import Interval, InvalidParameterError, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from ._features.block_rows import check_batch_size, is_dask_array, source
from ._features.dask_rows import DaskRows
from ._features.moments import Moments, RowSums, sum_rows
from ._features.out_of_memory import ManyRows, many_rows, rows_in_memory
from ._features.principal_directions import EXACT_FEATURES
from ._features.sign_rounding import project
from ._features.space import FeatureSpace, Hyperplanes
from ._features.tensors import as_host_array
from ._files.atomic import check_output
from ._utils.documentation import HasPage
from ._utils.parameters import is_int
from ._utils.types import MatrixLike, Target
from .affinity._auto import (
    affinity_for,
    affinity_of_all,
    fit_affinity,
    judges_what_it_taught,
)
from .affinity._coercion import as_array
from .affinity._protocol import BaseAffinity
from .codes._formats import FORMATS, pack_signs, packed_width, truncate_codes, write_codes
from .codes._targets import collect_codes
from .metrics._evaluation import mean_value
from .metrics._retrieval import retrieve, warn_if_all_is_relevant
from .objectives._objective_names import NAMED

__all__ = [
    "BaseHasher",
    "BitByBitHasher",
    "LinearHasher",
]

# Rows that every hasher takes: what fewer than float32 holds is no gain, CSR is cut into rows.
_ROWS = {"accept_sparse": "csr", "dtype": [np.float64, np.float32]}

# Hyperplanes of so many bits and 1,000 features take half a gigabyte. Ten times as many, typed by
# mistake, would end in a MemoryError, or in a process that the system kills.
MOST_BITS = 1 << 16

# What is left behind when a fitted hasher is sent to workers.
_NOT_FOR_ENCODING = (
    *("codes_", "y_", "affinity_", "history_", "_model", "_statistics", "_whitening"),
    *("_sklearn_output_config", "_many_rows"),
)


class BaseHasher(ClassNamePrefixFeaturesOutMixin, TransformerMixin, HasPage, BaseEstimator):
    """Base class of hashers: a subclass sets `n_bits_` and `output`, fits and projects.

    Bit j of a code is 1 where column j of :meth:`decision_function` is above zero; zero is bit 0.

    :meth:`packed_codes`, `n_bits_`, :meth:`relevance` and :meth:`training_database` are the
    protocol by which anyone evaluates a hasher.

    Attributes
    ----------
    n_bits_ : int
        Length of the codes, whatever `n_bits` was set to after `fit`.
    fitted_with_y_ : bool
        Whether `fit` was given `y`.
    codes_ : ndarray of shape (n_samples, ceil(n_bits / 8)), uint8
        Packed codes of the training rows.
    y_ : array-like
        `y` of the training rows; absent where it was None. An array is not copied; it is a view
        that cannot be written to.
    affinity_ : affinity object
        The affinity that was learned from, fitted on the training rows. Set by `fit` where learning
        needs it, otherwise when an evaluation first does. Absent where neither learning needs it
        nor `y` was given.

    Examples
    --------
    A hasher that is not linear, whose one bit says whether a row lies within the unit ball:

    >>> import numpy as np
    >>> from sklearn_hashrank.base import BaseHasher
    >>> class BallHasher(BaseHasher):
    ...     n_bits_ = 1
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
        "n_bits": [Interval(Integral, 1, MOST_BITS, closed="both")],
        "output": [StrOptions(set(FORMATS))],
    }

    _learns_from_many = "a sample"
    """What `fit` mostly learns from where rows are not in memory: sums, a sample, both, nothing."""

    n_bits: int
    output: str
    n_bits_: int
    _many_rows: ManyRows
    fitted_with_y_: bool
    affinity_: BaseAffinity

    def hyperplanes(self) -> Hyperplanes:
        """Return the hyperplanes whose sides are the bits, for exports.

        Returns
        -------
        hyperplanes : Hyperplanes
            ``components_`` (n_bits, n_features) and ``intercept_`` (n_bits,).

        Raises
        ------
        TypeError
            Where the bits of this hasher are not half-spaces.
        """
        raise TypeError(f"the bits of {type(self).__name__} are not half-spaces.")

    @abstractmethod
    def _project(self, X: Any) -> np.ndarray:
        """Real projections of validated rows, (n_samples, n_bits)."""

    def decision_function(self, X: MatrixLike) -> np.ndarray:
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
        return self._project(self._check_rows(X, reset=False))

    def predict(self, X: MatrixLike) -> np.ndarray:
        """Codes of 0 and 1, whatever `output` is.

        Parameters
        ----------
        X : {array-like, sparse matrix, dask array} of shape (n_samples, n_features)
            Rows to encode.

        Returns
        -------
        codes : ndarray of shape (n_samples, n_bits), uint8
            One column of 0 and 1 for each bit.
        """
        if is_dask_array(X):
            return self._map_chunks("predict", X)
        return (self.decision_function(X) > 0).astype(np.uint8)

    def transform(self, X: MatrixLike) -> np.ndarray:
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
        return write_codes(self.packed_codes(X), self.n_bits_, self.output)

    def packed_codes(self, X: MatrixLike) -> np.ndarray:
        """Packed codes, whatever `output` is.

        Parameters
        ----------
        X : {array-like, sparse matrix, dask array} of shape (n_samples, n_features)
            Rows to encode. A dask array is computed, chunk by chunk.

        Returns
        -------
        codes : ndarray of shape (n_samples, ceil(n_bits / 8)), uint8
            Eight bits in a byte, in the order of :func:`numpy.packbits`.
        """
        if is_dask_array(X):
            return self._map_chunks("packed_codes", X).compute()
        return pack_signs(self.decision_function(X))

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
        X : {array-like, sparse matrix, dask array} of shape (n_samples, n_features), or iterator
            Rows to encode. A memmap is read block by block. An iterator or generator gives blocks
            of rows; or pairs ``(rows, y)``, which come out as pairs ``(codes, y)``. Of a dask array
            every chunk of rows is encoded by a task of its own.
        out : path or ndarray of shape (n_samples, ceil(n_bits / 8)), uint8, default=None
            Where the codes go. A path names a ``.npy`` file, which appears under this name only
            when it is complete, and then replaces one that was there; read it by
            :func:`~sklearn_hashrank.codes.load_codes`. An array, for instance a memmap, is filled;
            one that was filled in part looks like any other. None: memory.
        batch_size : int or "auto", default="auto"
            Rows that an array is cut into; ``"auto"`` lets a block take some 32 MB. Blocks of an
            iterator and chunks of a dask array are taken as they are.
        n_jobs : int or None, default=None
            Threads, each with a block of its own, which is copied if it comes from an iterator; of
            a dask array, chunks at a time. None means 1 unless in a :obj:`joblib.parallel_config`
            context, -1 means all processors.
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
        rows = source(self._as_blocks(X), batch_size=batch_size, n_numbers=self.n_bits_)
        if rows.are_pairs and out is not None:
            raise ValueError(
                "out must be None where blocks are pairs (rows, y), whose codes are handed on "
                "with their y. For a file, pass an iterator over the rows alone."
            )
        light = self._for_encoding()
        encode = partial(_encode_pair, light) if rows.are_pairs else light.packed_codes
        codes = rows.map(encode, n_jobs)
        if verbose:
            codes = _report_progress(codes, type(self).__name__, rows.n_rows, int(verbose))
        if rows.are_pairs:
            return codes
        return collect_codes(codes, out, self.n_bits_, rows.n_rows, self)

    def _as_blocks(self, X: Any) -> Any:
        """Rows that are to be encoded in blocks; a hasher may take rows of other forms."""
        return X

    def _map_chunks(self, method: str, X: Any) -> Any:
        """Dask array of what a method makes of every chunk of rows."""
        check_is_fitted(self)
        model = self._for_encoding(), method
        example = _call_method(np.zeros((1, *X.shape[1:]), X.dtype), model)
        return DaskRows(X).array_of(_call_method, model, example)

    def _for_encoding(self) -> "BaseHasher":
        """Copy that holds what encoding needs, and no training rows."""
        light = copy.copy(self)
        for name in _NOT_FOR_ENCODING:
            light.__dict__.pop(name, None)
        return light

    def score(self, X: MatrixLike, y: Target | None = None) -> float:
        """Mean tie-aware average precision of each row retrieved against all the others.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to encode and compare.
        y : array-like with n_samples rows, default=None
            What the affinity compares, see :meth:`relevance`. None: `X` itself, for hashers
            fitted without `y`.

        Returns
        -------
        score : float
            In [0, 1]; NaN, with a warning, when no row has a relevant other row.
        """
        histogram = retrieve(self, X, y, n_jobs=getattr(self, "n_jobs", None))
        warn_if_all_is_relevant(histogram, stacklevel=3)
        return mean_value(histogram.measure("average_precision"), stacklevel=3)

    def relevance(self, X: MatrixLike, y: Target | None = None) -> tuple[Any, Any]:
        """Return the affinity to judge retrieval by, and what it compares.

        A hasher that was fitted with `y`, or that learned from an affinity it was given, or from
        thresholds of distance, judges by this fitted affinity. Any other that was fitted without
        `y` has nothing to judge by, for instance because it learned from nearest rows, which are
        not kept: "auto" then chooses by the form of `y`, and without `y` thresholds of distance are
        set on the rows of the database that is searched, which for :meth:`score` are the rows it is
        given.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows as this hasher sees them.
        y : array-like with n_samples rows, default=None
            What an affinity compares. None: `X` itself, for hashers fitted without `y`.

        Returns
        -------
        affinity : "auto" or affinity object
            An unfitted one is to be fitted on the rows of the database.
        y : array-like with n_samples rows
            What this affinity compares: `y`, or `X` where it is None.
        """
        if y is None and getattr(self, "fitted_with_y_", False):
            raise ValueError(
                f"evaluation needs y, because this {type(self).__name__} was fitted with y. "
                "Got y=None."
            )
        if y is None and is_dask_array(X):
            raise ValueError(
                "without y, distances between the rows say what is relevant, which takes rows in "
                "memory. Pass some of them, such as X[:2000].compute(), or y."
            )
        if not hasattr(self, "affinity_") and hasattr(self, "y_"):
            self.affinity_ = self._fit_affinity(None, self.y_)
        compared, learned = X if y is None else y, getattr(self, "affinity_", None)
        fitted_without_y = not getattr(self, "fitted_with_y_", True)
        chosen = getattr(self, "affinity", None)
        if learned is None or (fitted_without_y and not judges_what_it_taught(chosen, learned)):
            return affinity_for("auto" if chosen is None else chosen, y), compared
        if y is not None and fitted_without_y:
            self._check_comparable(y)
        return learned, compared

    def _check_comparable(self, y: Any) -> None:
        """Refuse `y` that distances between rows, which a fit without `y` learned from, exclude."""
        try:
            self.affinity_.validate(y)
        except ValueError as error:
            raise ValueError(
                f"this {type(self).__name__} was fitted without y and judges by its fitted "
                f"{type(self.affinity_).__name__}: {error} To judge by y, score with "
                "make_retrieval_scorer(..., affinity=...), such as affinity=LabelAffinity()."
            ) from error

    def training_database(self) -> tuple[np.ndarray, Any]:
        """Packed codes and `y` of the training rows.

        Returns
        -------
        codes : ndarray of shape (n_samples, ceil(n_bits / 8)), uint8
            Packed codes of the training rows.
        y : array-like with n_samples rows
            `y` of the training rows, as it was given to `fit`.

        Raises
        ------
        ValueError
            Where the hasher does not keep them: after `partial_fit`, or fitted without `y`.
        """
        check_is_fitted(self)
        name = type(self).__name__
        if not hasattr(self, "codes_"):
            raise ValueError(
                "database='fit' needs the codes of the training rows, which this "
                f"{name} does not hold: hashers keep them as `codes_` after fit, but not in files "
                "saved without training rows, and not after partial_fit or fit of a dask array. "
                "Pass database=(X, y)."
            )
        if not hasattr(self, "y_"):
            raise ValueError(
                f"database='fit' needs y of the training rows. This {name} was fitted without y "
                "and keeps no copy of X. Pass database=(X, None), which compares the rows, or "
                "database=(X, y); or pass the rows as y to fit."
            )
        return self.codes_, self.y_

    def set_params(self, **params: Any) -> Self:
        """Set the parameters of this estimator, and those of objects that it has as parameters.

        Parameters
        ----------
        **params : dict
            Values by name. ``objective__alpha`` is `alpha` of the object that is `objective`.

        Returns
        -------
        self : hasher
        """
        for name, value in params.items():
            owner, _, nested = name.partition("__")
            named = params.get(owner, getattr(self, owner, None))
            if nested and isinstance(named, str):
                instead = f"an object that has it as {owner}"
                if owner == "objective" and named in NAMED:
                    instead = f"objective={NAMED[named].__name__}({nested}={value!r})"
                raise ValueError(
                    f"{name} cannot be set, because {owner}={named!r} is a name and has no "
                    f"parameters. Pass {instead}."
                )
        return super().set_params(**params)

    def _validate_params(self) -> None:
        for name, value in self.get_params(deep=False).items():
            if is_int(value) and int(value).bit_length() > 63:
                raise InvalidParameterError(
                    f"{name} of {type(self).__name__} must fit into 64 bits. "
                    f"Got an int of {int(value).bit_length()} bits."
                )
        super()._validate_params()

    def check_data(self, X: MatrixLike, y: Target | None = None) -> None:
        """Refuse data that :meth:`fit` would refuse for what they are, and learn nothing.

        Looks at the form of `y`, at the numbers of rows, features and classes, and at the
        parameters, such as `n_bits`, that must fit them. The message is that of :meth:`fit`. What
        shows only while a hasher learns, :meth:`fit` alone refuses.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows.
        y : array-like with n_samples rows, default=None
            What `fit` would be given.

        Raises
        ------
        ValueError
            Says what was given and what is accepted. Without it, `fit` may be called.

        Examples
        --------
        >>> from sklearn_hashrank import PCAHasher
        >>> PCAHasher(n_bits=3).check_data([[0.0, 5.0], [1.0, 3.0], [2.0, 2.0]])
        Traceback (most recent call last):
            ...
        ValueError: n_bits=3 must be at most n_features = 2, as there are no more principal ...
        """
        self._validate_params()
        copy.copy(self)._validate_training_data(X, y)

    def _check_training_data(self, X: Any, y: Any) -> Any:
        """Refuse valid rows that this hasher cannot learn from; `fit` and `check_data` ask here.

        Returns what the check had to build and `fit` needs, or None.
        """
        return None

    def _validate_training_data(
        self, X: Any, y: Any, reset: bool = True, *, is_block: bool = False
    ) -> tuple[Any, Any]:
        """Check rows of X and y; `reset` forgets what an earlier fit derived.

        Of one block of many, the first may have too few rows to learn from.
        """
        return self._checked_training_data(X, y, reset, is_block=is_block)[:2]

    def _checked_training_data(
        self, X: Any, y: Any, reset: bool = True, *, is_block: bool = False
    ) -> tuple[Any, Any, Any]:
        """Check rows of X and y, and return with them what `_check_training_data` has built."""
        if y is None and self.__sklearn_tags__().target_tags.required:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None: it "
                "learns from y what is relevant."
            )
        if reset:
            self.__dict__.pop("affinity_", None)
            self.fitted_with_y_ = y is not None
        elif self.fitted_with_y_ != (y is not None):
            given = "with" if self.fitted_with_y_ else "without"
            raise ValueError(f"blocks must come all with y or all without. The first came {given}.")
        self.__dict__.pop("_many_rows", None)
        many = None if is_block and isinstance(X, np.memmap) else self._rows_not_in_memory(X, y)
        if many is not None:
            if is_block:
                raise ValueError(
                    "partial_fit takes a block of rows in memory. Call it for each block, such as "
                    "X.blocks[i].compute() of a dask array, or call fit, which takes all rows."
                )
            n_most = self._most_rows(many.X.shape)
            if many.X.shape[0] > n_most and "sample" not in self._learned_from_many(many.X.shape):
                X, y = many.first(min(n_most, max(2, getattr(self, "n_bits", None) or 2)))
            else:
                check = partial(_check_finite, name=type(self).__name__)
                # A copy: what learning samples does not depend on whether rows are sampled.
                random_state = copy.deepcopy(getattr(self, "random_state", 0))
                seed = int(check_random_state(random_state).randint(np.iinfo(np.int32).max))
                X, y = many.sample(n_most, seed, check)
        if y is None:
            X = self._check_rows(X, reset=reset)
        else:
            X, y = self._check_rows(X, as_array(y), reset=reset)
        built = None if is_block else self._check_training_data(X, y)
        if many is not None:
            self._many_rows = many
        elif not is_block and self._learned_from_many(X.shape) != "nothing":
            _warn_if_equal(X)
        return X, y, built

    def _rows_not_in_memory(self, X: Any, y: Any) -> ManyRows | None:
        """Rows that are learned from as they are read; None where they are in memory."""
        many = many_rows(X, y, self._most_rows(getattr(X, "shape", ())))
        return many and many._replace(y=None if y is None else as_array(y))

    def _most_rows(self, shape: tuple[int, ...]) -> int:
        """How many rows are learned from at a time where they are not all in memory."""
        made = (getattr(self, name, None) for name in ("n_bits", "n_anchors"))
        return rows_in_memory(shape, *(n for n in made if is_int(n, 1)))

    def _learned_from_many(self, shape: tuple[int, ...]) -> str:
        """What `fit` learns from where rows of this shape are not in memory."""
        return self._learns_from_many

    def _most_compared(self) -> int | None:
        """Rows whose relevance to each other a fit has looked at, at most; None: all, or none."""
        return None

    def _said_to_learn_from(self, X: Any) -> str | None:
        """What a fit of rows has learned from, in words; None where it is all of them."""
        many, n_rows, n_most = self._rows_not_in_memory(X, None), X.shape[0], X.shape[0]
        if many is not None:
            n_most = min(n_rows, self._most_rows(X.shape))
        compared, said = self._most_compared(), None
        learned_from = self._learned_from_many(X.shape)
        if n_most < n_rows and learned_from == "sums":
            said = "sums over all rows"
        elif n_most < n_rows:
            said = learned_from.replace("a sample", f"a sample of {n_most:,} rows")
        if compared is not None and compared < n_most:
            said = f"{said}, and " if said else ""
            said += f"the relevance of at most {compared:,} sampled rows to each other"
        return said

    def _sums(self, with_covariance: bool = False) -> RowSums | None:
        """Sums of all training rows, where they are more than those that were taken to memory."""
        many = self.__dict__.get("_many_rows")
        if many is None or many.X.shape[0] <= self._most_rows(many.X.shape):
            return None
        with_covariance = with_covariance and many.X.shape[1] <= EXACT_FEATURES
        return sum_rows(many.source(), _checked_block, with_covariance)

    def _moments(self, X: Any) -> Moments:
        sums = self._sums()
        return Moments.of(X) if sums is None else sums.moments

    def _check_rows(self, X: Any, y: Any = None, *, reset: bool) -> Any:
        """Check rows of X, and y where there is one; a hasher may take rows of other forms."""
        X = as_host_array(X, "X")
        n_axes = getattr(X, "ndim", None)
        if isinstance(n_axes, int) and n_axes > 2:
            raise ValueError(
                f"{type(self).__name__} accepts rows of features, (n_samples, n_features). "
                f"Got X of shape {X.shape}. For images, pass GIST().fit_transform(X) or "
                "X.reshape(len(X), -1), or use sklearn_hashrank.deep.DeepHasher."
            )
        return self._validate_rows(X, y, reset, **_ROWS)

    def _validate_rows(self, X: Any, y: Any, reset: bool, **options: Any) -> Any:
        """Validate rows as scikit-learn does, and say which error an overflow is."""
        try:
            if y is None:
                return validate_data(self, X, reset=reset, **options)
            return validate_data(self, X, y, reset=reset, multi_output=True, **options)
        except OverflowError as error:
            raise ValueError("X holds integers beyond the largest float.") from error

    def _fit_affinity(self, X: Any, y: Any) -> BaseAffinity:
        """Fit the affinity on training rows; without y, "auto" means distances between rows."""
        affinity = self._affinity_of(y)
        if isinstance(affinity, BaseAffinity):
            affinity = affinity.without_database()
        return fit_affinity(affinity, X if y is None else y)

    def _training_targets(self, X: Any, y: Any) -> Any:
        """What the fitted affinity compares of the training rows, all of which it has seen."""
        rows = self.affinity_.validate(X if y is None else y)
        return self.affinity_.of_queries(rows, True, getattr(self, "n_jobs", None))[1]

    def _affinity_of(self, y: Any) -> Any:
        """Affinity to learn from, not fitted; without y "auto" means distances between the rows."""
        return affinity_of_all(getattr(self, "affinity", "auto"), y)

    def _keep_database(self, X: Any, y: Any) -> None:
        """Keep codes and `y` of the training rows as a database; without `y` no copy of X.

        Nothing is kept of dask arrays and files.
        """
        if hasattr(self, "affinity_"):
            self.affinity_ = self.affinity_.without_database()
        for name in ("codes_", "y_"):
            self.__dict__.pop(name, None)
        many = self.__dict__.pop("_many_rows", None)
        if many is None:
            self.codes_ = pack_signs(self._project(X))
        elif isinstance(many.X, np.memmap):
            self.codes_ = self.encode_blocks(many.X)
            y = None if many.y is None else as_array(many.y)
        else:
            return
        if isinstance(y, np.ndarray):
            y = y.view()
            y.flags.writeable = False
        if y is not None:
            self.y_ = y

    def _check_fitted(self) -> None:
        """Refuse fitted attributes, as read from a file, that encoding could not trust."""

    @property
    def _n_features_out(self) -> int:
        n_bits = self.n_bits_
        return packed_width(n_bits) if self.output == "packed" else n_bits

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.multi_output = True  # predict gives n_bits columns, always
        tags.target_tags.single_output = False
        tags.transformer_tags.preserves_dtype = []
        return tags


def _warn_if_equal(X):
    """Warn where all rows are equal, and so all codes."""
    is_equal = False
    if isinstance(X, np.ndarray):
        is_equal = (X[0] == X[-1]).all() and (X[0] == X).all()
    elif sparse.issparse(X):
        is_equal = not (X[:1] != X[-1:]).nnz and not (X.max(axis=0) != X.min(axis=0)).nnz
    if is_equal and X.shape[0] > 1:
        warnings.warn(
            "all rows of X are equal, so that codes tell nothing apart. "
            f"Got n_samples = {X.shape[0]}.",
            UserWarning,
            stacklevel=_level_of_caller(),
        )


def _level_of_caller():
    """Stack level of the frame that called the package, through decorators of scikit-learn."""
    inside = {__name__.partition(".")[0], "sklearn", "contextlib"}
    frame, level = sys._getframe(1), 1
    while frame.f_back and frame.f_globals["__name__"].partition(".")[0] in inside:
        frame, level = frame.f_back, level + 1
    return level


class BitByBitHasher(BaseHasher):
    """Base class of hashers in which each bit has numbers of its own, so that some can be left out.

    Attributes
    ----------
    n_bits_ : int
        Length of the codes, whatever `n_bits` was set to after `fit`.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_hashrank import ITQHasher
    >>> from sklearn_hashrank.base import BitByBitHasher
    >>> X = np.random.default_rng(0).normal(size=(50, 8))
    >>> hasher = ITQHasher(6, random_state=0).fit(X)
    >>> isinstance(hasher, BitByBitHasher), hasher.truncate(4).transform(X[:1]).shape
    (True, (1, 4))
    """

    _attributes_of_bits: tuple[str, ...]  # arrays with a row for each bit, or trees

    def truncate(self, n_bits: int) -> Self:
        """Return a hasher whose codes are the first bits of the codes of this one.

        Codes that were stored become shorter by
        :func:`~sklearn_hashrank.codes.truncate_codes`.

        Parameters
        ----------
        n_bits : int
            Length of the shorter codes.

        Returns
        -------
        hasher : BitByBitHasher
            A fitted copy of the same class, whose `prefixes`, where it has any, are those that are
            left. It encodes, scores and is stored like any other; it does not go on learning from
            minibatches.
        """
        check_is_fitted(self)
        if not is_int(n_bits, 1) or n_bits > self.n_bits_:
            raise ValueError(
                f"n_bits must be an int from 1 to the {self.n_bits_} bits of the codes. "
                f"Got {n_bits!r} instead."
            )
        shorter = copy.copy(self)
        for name in self._attributes_of_bits:
            kept = getattr(self, name)
            kept = kept[:n_bits].copy() if isinstance(kept, np.ndarray) else kept.first(n_bits)
            setattr(shorter, name, kept)
        if hasattr(self, "codes_"):
            shorter.codes_ = truncate_codes(self.codes_, n_bits)
        if "n_bits_" in vars(shorter):
            shorter.n_bits_ = int(n_bits)
        parameters = self.get_params(deep=False)
        if "n_bits" in parameters:
            shorter.set_params(n_bits=int(n_bits))
        if parameters.get("prefixes") is not None:
            left = tuple(int(number) for number in parameters["prefixes"] if number <= n_bits)
            shorter.set_params(prefixes=left or None)
        return shorter


class LinearHasher(BitByBitHasher):
    """Base class of hashers whose bits are half-spaces: ``X @ components_.T + intercept_ > 0``.

    Attributes
    ----------
    components_ : ndarray of shape (n_bits, n_features)
        Normal vectors of the hyperplanes.
    intercept_ : ndarray of shape (n_bits,)
        Offsets of the hyperplanes, added to the projections.

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
    _attributes_of_bits: tuple[str, ...] = ("components_", "intercept_")

    @property
    def n_bits_(self) -> int:  # type: ignore[override]  # follows the hyperplanes
        """Length of the codes, whatever `n_bits` was set to after `fit`."""
        return len(self.components_)

    def hyperplanes(self) -> Hyperplanes:
        """Return the hyperplanes whose sides are the bits, for exports.

        Returns
        -------
        hyperplanes : Hyperplanes
            ``components_`` (n_bits, n_features) and ``intercept_`` (n_bits,).
        """
        return Hyperplanes(self.components_, self.intercept_)

    def _set_hyperplanes(self, normals: np.ndarray, mean: np.ndarray, dtype: Any) -> None:
        """Let hyperplanes with the given normals, (n_bits, n_features), pass through the mean."""
        self.components_, self.intercept_ = FeatureSpace(mean).fold(normals.T, 0.0, dtype)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "components_")

    def _project(self, X: Any) -> np.ndarray:
        return project(X, self.components_, self.intercept_)


def _checked_block(X):
    return check_array(as_host_array(X, "X"), input_name="X", **_ROWS)


def _check_finite(X, name):
    assert_all_finite(as_host_array(X, "X"), estimator_name=name, input_name="X")


def _call_method(X, model):
    hasher, method = model
    return getattr(hasher, method)(X)


def _report_progress(
    encoded: Iterator[Any], name: str, n_rows: int | None, verbose: int
) -> Iterator[Any]:
    """Print a line every `verbose` blocks of codes or pairs, and one at the end."""
    number, done, total = 0, 0, "" if n_rows is None else f" of {n_rows:,}"

    def report():
        print(f"[{name}] block {number}: {done:,}{total} rows")

    for number, block in enumerate(encoded, 1):
        done += len(block[0] if isinstance(block, tuple) else block)
        yield block
        if number % verbose == 0:
            report()
    if number % verbose:
        report()


def _encode_pair(hasher, pair):
    X, y = pair
    return hasher.packed_codes(X), y
