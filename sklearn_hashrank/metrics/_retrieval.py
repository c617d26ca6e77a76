"""The one way from an estimator, rows and a database to a retrieval histogram.

``score``, the scorers, the displays and ``cross_validate_retrieval`` all come here. ``compare``
comes for ``encode`` alone: its runs have an affinity and a database already::

    retrieve(estimator, X, y, database=..., affinity=...)
        unwrap                       the hasher inside of searches and pipelines
        encode                       packed codes, and the rows as the hasher sees them
        relevance                    the affinity, and what it compares
        training_database or encode  the database: the queries, the training rows, or other rows
        retrieval_histogram          counts

Metric functions take codes and go straight to the last step. A hasher is known here by what it can
do, see the protocol in :mod:`sklearn_hashrank.base`; any other estimator whose ``transform``, or
else ``predict``, gives codes is evaluated as well.
"""

import pickle
import reprlib
import warnings
import weakref
from typing import Any, NamedTuple

import joblib
import numpy as np

from .._utils.parameters import is_int
from .._utils.types import MatrixLike, Target
from ..affinity._auto import affinity_for, is_auto
from ..codes._formats import CodeReader, as_code_matrix, check_n_bits, packed_width
from ._counting import retrieval_histogram
from ._histogram import RetrievalHistogram


class Encoded(NamedTuple):
    """Packed codes of rows, (n, ceil(n_bits / 8)), and the rows as the hasher sees them."""

    codes: np.ndarray
    n_bits: int
    rows: Any


class EncodedDatabase:
    """A database `(X, y)` that an estimator encodes once, and again only when it has changed.

    Codes are kept under a digest of all of the estimator that they depend on, so that a refit and
    a change in place are noticed. `X` is not in the digest, which would take longer than encoding,
    and must not change. Estimators are held by weak reference. Codes are not pickled.
    """

    def __init__(self, X: MatrixLike, y: Target | None):
        self.X, self.y = X, y
        self._encoded: Any = weakref.WeakKeyDictionary()

    def encode(self, estimator: Any) -> Encoded:
        state = _digest(estimator)
        if state is None:
            return encode(estimator, self.X)
        if self._encoded.get(estimator, (None,))[0] != state:
            self._encoded[estimator] = state, encode(estimator, self.X)
        return self._encoded[estimator][1]

    def __getstate__(self):
        return {"X": self.X, "y": self.y}

    def __setstate__(self, state):
        self.__dict__.update(state, _encoded=weakref.WeakKeyDictionary())


def retrieve(
    estimator: Any,
    X: MatrixLike,
    y: Target | None = None,
    *,
    database: Any = "self",
    affinity: Any = "auto",
    keep_codes: bool = False,
    n_jobs: int | None = None,
) -> RetrievalHistogram:
    """Encode queries and a database with a fitted estimator, and count what is retrieved.

    The database is all other rows of `X` ("self"), the rows that the hasher was fitted on ("fit"),
    or other rows, ``(X, y)``. The affinity "auto" asks the hasher what it was fitted to; without an
    answer, the form of `y` decides, and without `y` distances between the rows as the hasher sees
    them. An unfitted affinity is fitted on the rows of the database.
    """
    check_database(database)
    queries = encode(estimator, X)
    hasher = unwrap(estimator)[1]
    affinity, query_y = relevance_of(hasher, queries.rows, y, affinity)
    exclude_self = False
    if isinstance(database, str) and database == "self":
        codes, database_y, exclude_self = queries.codes, query_y, True
    elif isinstance(database, str):
        codes, database_y = _training_database(hasher)
        _check_both_have_y(y, True)
    else:
        if not isinstance(database, EncodedDatabase):
            database = EncodedDatabase(*database)
        _check_both_have_y(y, database.y is not None)
        codes, _, rows = database.encode(estimator)
        database_y = rows if database.y is None else database.y
    return retrieval_histogram(
        queries.codes,
        codes,
        query_y,
        database_y,
        affinity=affinity,
        n_bits=queries.n_bits,
        exclude_self=exclude_self,
        keep_codes=keep_codes,
        n_jobs=n_jobs,
    )


def unwrap(estimator: Any) -> tuple[list, Any]:
    """Return what comes before the hasher inside of searches and pipelines, and the hasher."""
    before = []
    while True:
        if hasattr(estimator, "best_estimator_"):
            estimator = estimator.best_estimator_
        elif hasattr(estimator, "named_steps"):
            last = estimator[-1]
            passes_through = last is None or (isinstance(last, str) and last == "passthrough")
            if len(estimator.steps) > 1 and passes_through:
                estimator = estimator[:-1]
                continue
            if len(estimator.steps) > 1:
                before.append(estimator[:-1])
            estimator = estimator[-1]
        else:
            return before, estimator


def encode(estimator: Any, X: MatrixLike) -> Encoded:
    """Encode rows with a fitted estimator, alone or within pipelines and searches."""
    before, hasher = unwrap(estimator)
    methods = ("packed_codes", "transform", "predict")
    method = next((name for name in methods if hasattr(hasher, name)), None)
    if method is None or isinstance(hasher, type):
        raise TypeError(
            "retrieval needs a fitted hasher, or another estimator whose transform or predict "
            f"gives codes. Got {hasher!r}."
        )
    for transformer in before:
        X = transformer.transform(X)
    if method == "packed_codes":
        return Encoded(hasher.packed_codes(X), hasher.n_bits_, X)
    codes, n_bits = _read_codes(hasher, getattr(hasher, method)(X))
    return Encoded(codes, n_bits, X)


def check_database(database: Any) -> None:
    """Raise a clear error unless `database` can be retrieved from."""
    is_pair = isinstance(database, (tuple, list)) and len(database) == 2
    is_named = isinstance(database, str) and database in ("self", "fit")
    if not (is_pair or is_named or isinstance(database, EncodedDatabase)):
        raise ValueError(
            "database must be 'self', 'fit' or a tuple (X, y). "
            f"Got {reprlib.repr(database)} instead."
        )


def y_and_codes(database: Any) -> tuple[Any, Any]:
    """Return the two parts of a database that is given by its codes."""
    if not isinstance(database, (tuple, list)) or len(database) != 2:
        raise ValueError(
            "database must be None or a tuple (y_database, database_codes). "
            f"Got {reprlib.repr(database)}."
        )
    y, codes = database
    return y, codes


def warn_if_all_is_relevant(histogram: RetrievalHistogram, stacklevel: int = 2) -> None:
    """Warn when every item is relevant to every query, so that any code is perfect."""
    if histogram.counts.any() and not histogram.counts[:, histogram.levels == 0].any():
        warnings.warn(
            "Every pair of rows is relevant, so that any code has a perfect score. Score rows "
            "of several classes; with cross-validation, shuffle rows that are sorted by class.",
            UserWarning,
            stacklevel=stacklevel,
        )


def _read_codes(hasher: Any, codes: Any) -> tuple[np.ndarray, int]:
    """Read the codes of an estimator without the protocol: packed, with their length.

    Bits and signs tell their length themselves. Packed bytes are read as such where the fitted
    `n_bits_`, or else the parameter `n_bits`, says that codes of so many bits have this width.
    """
    name = f"codes of {type(hasher).__name__}"
    matrix = as_code_matrix(codes, name)
    n_bits = check_n_bits(getattr(hasher, "n_bits_", None))
    if n_bits is None:
        wanted = getattr(hasher, "n_bits", None)
        if is_int(wanted, 1) and packed_width(int(wanted)) == matrix.shape[1]:
            n_bits = int(wanted)
    reader = CodeReader(n_bits)
    try:
        packed = reader.packed(matrix, name)
    except ValueError as error:
        if n_bits is not None:
            raise
        raise ValueError(
            f"{error} An estimator gives it as its attribute n_bits_, the length of its codes."
        ) from None
    return packed, matrix.shape[1] if n_bits is None else n_bits


def relevance_of(hasher: Any, rows: Any, y: Any, affinity: Any) -> tuple[Any, Any]:
    """Return the affinity, and what it compares of rows, which are as the hasher sees them."""
    if not is_auto(affinity):
        return affinity, rows if y is None else y
    if hasattr(hasher, "relevance"):
        return hasher.relevance(rows, y)
    if hasattr(hasher, "affinity_"):
        return hasher.affinity_, rows if y is None else y
    return affinity_for("auto", y), rows if y is None else y


def _training_database(hasher: Any) -> tuple[np.ndarray, Any]:
    if not hasattr(hasher, "training_database"):
        raise ValueError(
            "database='fit' needs a hasher that keeps its training rows and gives them by "
            f"training_database(). {type(hasher).__name__} does not. Pass database=(X, y)."
        )
    return hasher.training_database()


def _check_both_have_y(y: Any, has_database_y: bool) -> None:
    """Labels can only be compared with labels, and rows with rows."""
    if (y is not None) != has_database_y:
        queries, database = ("with", "without") if y is not None else ("without", "with")
        raise ValueError(
            f"the queries come {queries} y and the database {database}. Give both a y, as in "
            "database=(X, y), or neither, as in database=(X, None)."
        )


def _digest(estimator: Any) -> str | None:
    """Digest of all that codes depend on; None where it cannot be told, or not be remembered."""
    before, hasher = unwrap(estimator)
    try:
        hash(weakref.ref(estimator))
        light = hasher._for_encoding() if hasattr(hasher, "_for_encoding") else hasher
        return joblib.hash([before, type(hasher), vars(light)])
    except (pickle.PicklingError, TypeError, AttributeError):
        return None
