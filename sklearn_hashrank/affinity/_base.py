"""What every affinity has: a base class, and the validation of rows of `y`."""

from abc import abstractmethod
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from ..rows import is_dask_array

_SLICE_BYTES = 1 << 24
_MOST_LEVELS = 1 << 16  # their indices are uint16


def check_level_indices(affinity: Any, indices: Any, shape: tuple, n_levels: int) -> np.ndarray:
    """Return level indices that an affinity gave, or say what is wrong with them.

    Kernels write to the places that indices name, and anyone can write an affinity.

    Parameters
    ----------
    affinity : BaseAffinity
        Whose they are.
    indices : array-like
        What it gave.
    shape : tuple of int
        Their shape.
    n_levels : int
        How many levels these rows can meet.

    Returns
    -------
    indices : ndarray of the given shape, uint16
    """
    indices, name = np.asarray(indices), type(affinity).__name__
    if indices.shape != shape or indices.dtype.kind not in "bui":
        raise ValueError(
            f"{name} must give level indices of shape {shape} and dtype uint16. "
            f"Got shape {indices.shape} and dtype {indices.dtype} instead."
        )
    extremes = [indices.max(initial=0)] + [indices.min(initial=0)] * (indices.dtype.kind == "i")
    for extreme in extremes:
        if not 0 <= extreme < n_levels:
            raise ValueError(
                f"{name} gave level index {extreme}, but has {n_levels} levels for these rows."
            )
    return indices.astype(np.uint16, copy=False)


def check_levels(affinity: Any) -> None:
    """Raise a clear error unless the levels of a fitted affinity ascend from 0.

    Parameters
    ----------
    affinity : BaseAffinity
        Fitted.
    """
    levels: Any = getattr(affinity, "levels_", None)
    is_array = isinstance(levels, np.ndarray) and levels.ndim == 1 and levels.dtype.kind in "uif"
    if (
        not is_array
        or not 0 < levels.size <= _MOST_LEVELS
        or levels[0] != 0
        or not (levels[1:] > levels[:-1]).all()
        or np.isinf(levels[-1])
    ):
        raise ValueError(
            f"levels_ of {type(affinity).__name__} must be an array of finite numbers that ascend "
            f"from 0, irrelevant, at most {_MOST_LEVELS:,} of them. Got {levels!r} instead."
        )


class BaseAffinity(BaseEstimator):
    """What an affinity needs: ``fit``, ``validate`` and ``level_indices``.

    Attributes
    ----------
    levels_ : ndarray of shape (n_levels,)
        Ascending values of relevance; the first is 0, irrelevant.

    Examples
    --------
    Numbers are relevant to each other when they differ by less than 2:

    >>> import numpy as np
    >>> from sklearn_hashrank.affinity import BaseAffinity
    >>> class NearAffinity(BaseAffinity):
    ...     def fit(self, y):
    ...         self.levels_ = np.array([0.0, 1.0])
    ...         return self
    ...
    ...     def validate(self, y, name="y"):
    ...         return np.asarray(y, dtype=float)
    ...
    ...     def level_indices(self, queries, database):
    ...         return (abs(queries[:, None] - database) < 2).astype(np.uint16)
    >>> NearAffinity().fit([1, 2]).pairwise([1, 5], [0, 2, 4])
    array([[1., 1., 0.],
           [0., 0., 1.]])
    """

    block_rows = 1 << 20
    """Rows of the database that are compared at a time."""

    @abstractmethod
    def fit(self, y: Any) -> "BaseAffinity":
        """Learn the levels from rows of `y`.

        Parameters
        ----------
        y : array-like with one row per item
            Rows of the database or of the training set.

        Returns
        -------
        self : BaseAffinity
        """

    @abstractmethod
    def validate(self, y: Any, name: str = "y") -> np.ndarray:
        """Return rows of `y` in the affinity's own form, or say what is wrong with them.

        Parameters
        ----------
        y : array-like with one row per item
            What the affinity compares.
        name : str, default="y"
            What messages call it.

        Returns
        -------
        rows : ndarray or sparse array with one row per item
        """

    @abstractmethod
    def level_indices(self, queries: np.ndarray, database: np.ndarray) -> np.ndarray:
        """Index into ``levels_`` of every pair of two blocks of rows.

        Parameters
        ----------
        queries, database : ndarray
            Validated rows.

        Returns
        -------
        indices : ndarray of shape (n_queries, n_database), uint16
        """

    def paired_level_indices(self, queries: np.ndarray, database: np.ndarray) -> np.ndarray:
        """Index into ``levels_`` of row i of the queries with row i of the database.

        Parameters
        ----------
        queries, database : ndarray
            As many validated rows each.

        Returns
        -------
        indices : ndarray of shape (n,), uint16
        """
        indices = np.empty(queries.shape[0], dtype=np.uint16)
        for i, (q, d) in enumerate(zip(queries, database)):
            pair = self.level_indices(q[None], d[None])
            indices[i] = check_level_indices(self, pair, (1, 1), len(self.levels_))[0, 0]
        return indices

    def n_reachable_levels(self, queries: np.ndarray) -> int:
        """How many of ``levels_``, from the lowest, these queries can meet.

        Parameters
        ----------
        queries : ndarray
            Validated rows.

        Returns
        -------
        n_levels : int
        """
        return len(self.levels_)

    def of_queries(
        self, queries: Any, are_database: bool = False, n_jobs: int | None = None
    ) -> tuple["BaseAffinity", Any]:
        """Make queries ready, where relevance depends on more than the two rows of a pair.

        Parameters
        ----------
        queries : ndarray
            Validated rows.
        are_database : bool, default=False
            Whether they are the rows that the affinity was fitted on, in the same order, and none
            is its own neighbour.
        n_jobs : int or None, default=None
            Threads over the queries.

        Returns
        -------
        affinity : BaseAffinity
            What compares these queries with blocks of the database.
        queries : object
            What it compares; it has a `shape`, and can be indexed as rows can.
        """
        return self, queries

    def digest(self, queries: Any) -> str | None:
        """Name what decides the relevance to queries apart from the two rows of a pair.

        Histograms add up only where it is the same.

        Parameters
        ----------
        queries : object
            What :meth:`of_queries` returned.

        Returns
        -------
        digest : str or None
            None: nothing else decides.
        """
        return None

    def without_database(self) -> "BaseAffinity":
        """What a hasher keeps: this object, or an unfitted one where it belongs to a database.

        Returns
        -------
        affinity : BaseAffinity
        """
        return self

    def group(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        """Put equal rows together.

        Parameters
        ----------
        rows : ndarray
            Validated rows.

        Returns
        -------
        groups : ndarray
            The distinct rows, in an order in which levels change seldom.
        index : ndarray of shape (n_rows,), int32, or None
            The group of each row. None: every row is its own.
        """
        return rows, None

    def runs(self, queries: np.ndarray, groups: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Where the level changes along the groups.

        Parameters
        ----------
        queries : ndarray
            Validated rows.
        groups : ndarray
            What :meth:`group` made of the database.

        Returns
        -------
        stops : ndarray of shape (n_queries or 1, n_runs), int64
            The group each run ends before; a single row serves all queries.
        levels : ndarray of shape (n_queries or 1, n_runs), uint16
            Index of the level in each run.
        """
        stops = np.arange(1, groups.shape[0] + 1, dtype=np.int64)[None]
        return stops, self.level_indices(queries, groups)

    def n_runs(self, n_groups: int) -> int:
        """How many runs a query has, to bound memory.

        Parameters
        ----------
        n_groups : int
            Groups of a block of the database.

        Returns
        -------
        n_runs : int
        """
        return n_groups

    def pairwise(self, query_y: Any, database_y: Any) -> np.ndarray:
        """Relevance of every query-database pair.

        Parameters
        ----------
        query_y, database_y : array-like with one row per item
            What the affinity compares.

        Returns
        -------
        relevance : ndarray of shape (n_queries, n_database)
            Values of ``levels_``.
        """
        self._check_fitted()
        queries = self.validate(query_y, "query y")
        database = self.validate(database_y, "database y")
        indices, shape = (
            self.level_indices(queries, database),
            (queries.shape[0], database.shape[0]),
        )
        return self.levels_[check_level_indices(self, indices, shape, len(self.levels_))]

    def _check_fitted(self) -> None:
        if not self.__sklearn_is_fitted__():
            raise NotFittedError(
                f"This {type(self).__name__} is not fitted yet. Call fit(y) with rows of the "
                "database or of the training set."
            )

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "levels_")


def as_array(y, name="y"):
    """Return rows of `y` as an array in which no value has become another.

    numpy makes text of a list of numbers and text, missing values included, so that ``1`` and
    ``"1"`` become one class. This is the one place where lists, tuples and tables become arrays.

    Parameters
    ----------
    y : {array-like, sparse matrix, dask array} with n_samples rows
        Labels, label sets, label paths or target vectors.
    name : str, default="y"
        What the message of an error calls them.

    Returns
    -------
    y : {ndarray, sparse matrix, dask array} with n_samples rows
        Arrays of numbers, sparse matrices and dask arrays as they are.

    Raises
    ------
    ValueError
        Where a text, an object or a masked value is missing, or where numbers and text are mixed.

    Examples
    --------
    >>> from sklearn_hashrank.affinity import as_array
    >>> as_array(["a", "b"])
    array(['a', 'b'], dtype='<U1')
    >>> as_array([1, "1"])
    Traceback (most recent call last):
    ValueError: y must hold only numbers or only strings. Got objects of type int, str...
    """
    if sparse.issparse(y) or is_dask_array(y):
        return y
    if isinstance(y, np.ma.MaskedArray) and np.ma.is_masked(y):
        raise ValueError(f"{name} is masked in places; every row needs a value.")
    array = np.asarray(y)
    if array.dtype.kind in "OT":  # objects, and numpy's text of any length
        return _narrow(array.astype(object), name)
    if array.dtype.kind in "US" and not isinstance(y, np.ndarray):
        _narrow(np.asarray(y, dtype=object), name)  # what it was before numpy made text of it
    return array


def as_rows(y, name):
    """Rows of y as an array of numbers or strings without missing values."""
    y = as_array(y.toarray() if sparse.issparse(y) else y, name)
    if y.ndim == 0:
        raise ValueError(f"{name} must have one row per item. Got {y!r} instead.")
    if y.dtype.kind not in "buifUSO":
        raise ValueError(f"{name} must hold numbers or strings. Got dtype {y.dtype}.")
    if y.dtype.kind == "f" and not all(np.isfinite(part).all() for part in slices(y)):
        raise ValueError(
            f"{name} contains NaN, infinity or missing values; every row needs a value."
        )
    return y


def slices(y):
    """Consecutive rows of y, few enough for temporary arrays of their size."""
    row_bytes = max(1, y.dtype.itemsize * int(np.prod(y.shape[1:])))
    step = max(1, _SLICE_BYTES // row_bytes)
    return (y[start : start + step] for start in range(0, y.shape[0], step))


def check_width(y, width, name, what):
    """Refuse rows of another width than the affinity was fitted with."""
    if y.shape[1] != width:
        raise ValueError(f"{name} has {y.shape[1]} {what}; this affinity was fitted with {width}.")


def _narrow(y, name):
    """An object array as one of integers, floats or strings, if it holds nothing else."""
    if any(_is_missing(value) for value in y.flat):
        raise ValueError(
            f"{name} contains NaN, infinity or missing values; every row needs a value."
        )
    kinds = set(map(type, y.flat))
    for accepted, dtype in ((Integral, np.int64), (Real, np.float64)):
        if all(issubclass(kind, (accepted, np.bool_)) for kind in kinds):
            try:
                return y.astype(dtype)
            except OverflowError as error:
                raise ValueError(f"{name} holds integers beyond 64 bits.") from error
    if not any(all(issubclass(kind, text) for kind in kinds) for text in (str, bytes)):
        given = ", ".join(sorted(kind.__name__ for kind in kinds))
        raise ValueError(
            f"{name} must hold only numbers or only strings. Got objects of type {given}. For sets "
            "of labels, pass a multilabel indicator (sklearn.preprocessing.MultiLabelBinarizer)."
        )
    if any(value.endswith(b"\0" if isinstance(value, bytes) else "\0") for value in y.flat):
        raise ValueError(f"{name} holds text that ends in a NUL character, which numpy drops.")
    return y if all(issubclass(kind, str) for kind in kinds) else y.astype(bytes)


def _is_missing(value):
    try:
        equals_itself = value == value  # not so for NaN, and neither true nor false for pandas.NA
    except (TypeError, ValueError):
        return False
    is_bool = isinstance(equals_itself, (bool, np.bool_))
    is_marked = value is None or type(value).__name__ in ("NAType", "NaTType")
    return is_marked or (is_bool and not equals_itself)
