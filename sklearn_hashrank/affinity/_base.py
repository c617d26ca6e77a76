"""What an affinity needs."""

from abc import abstractmethod
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

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
    levels = affinity.levels_
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
