"""The base class of affinities: what an affinity must do, and what it may do to be fast."""

import hashlib
from abc import abstractmethod
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from .._utils.documentation import HasPage
from ._level_checks import check_level_indices

_RUNS_AT_A_TIME = 1 << 20  # of queries: 10 MB of ends and levels, while levels are looked for


class BaseAffinity(HasPage, BaseEstimator):
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
    """Rows of the database that are compared at a time; fewer where every pair is a run."""

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
            is its own neighbor.
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

    def digest(self, queries: Any) -> str:
        """Name what decides the relevance to queries apart from the two rows of a pair.

        Histograms add up only if it is the same. By default these are the class, ``levels_``, and
        the parameters that are numbers or text. Override it if `fit` learns more from `y`.

        Parameters
        ----------
        queries : object
            What :meth:`of_queries` returned.

        Returns
        -------
        digest : str
            The name of the class, and a checksum.
        """
        parameters = self.get_params(deep=False)
        plain = {k: v for k, v in parameters.items() if isinstance(v, (bool, int, float, str))}
        return self._digest_of(repr(sorted(plain.items())).encode(), self.levels_)

    def _digest_of(self, *parts: Any) -> str:
        checksum = hashlib.sha256()
        for part in parts:
            checksum.update(np.ascontiguousarray(part).tobytes() if np.ndim(part) else part)
        return f"{type(self).__name__}:{checksum.hexdigest()[:32]}"

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

    def levels_met(self, rows: np.ndarray) -> np.ndarray:
        """Levels of pairs of different rows, to see whether relevance tells any apart.

        Parameters
        ----------
        rows : ndarray
            Validated rows, those that the affinity was fitted on.

        Returns
        -------
        levels : ndarray of shape (n_levels_met,)
            Ascending. All of them, unless 0 and another one are among them: then the search ends.
        """
        groups, index = self.group(rows)
        n_groups = groups.shape[0]
        sizes = np.ones(n_groups, dtype=np.int64) if index is None else np.bincount(index)
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        counts = np.zeros(len(self.levels_), dtype=np.int64)
        step = max(1, _RUNS_AT_A_TIME // max(1, self.n_runs(n_groups)))
        for start in range(0, n_groups, step):
            part = slice(start, start + step)
            stops, levels = self.runs(groups[part], groups)
            n_queries = len(sizes[part])
            shape = (len(levels) if len(levels) == 1 else n_queries, stops.shape[1])
            levels = check_level_indices(self, levels, shape, len(counts))
            lengths = np.diff(offsets[stops], axis=1, prepend=0)
            lengths, levels = np.broadcast_arrays(lengths * sizes[part, None], levels)
            np.add.at(counts, levels.ravel(), lengths.ravel())
            own = self.paired_level_indices(groups[part], groups[part])
            own = check_level_indices(self, own, (n_queries,), len(counts))
            np.subtract.at(counts, own, sizes[part])  # each row with itself
            if counts[0] and counts[1:].any():
                break
        return self.levels_[counts > 0]

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

    def describe(self, y: Any, name: str = "y") -> str:
        """Say in a line what rows of `y` were taken for, and when they are relevant.

        Parameters
        ----------
        y : array-like with one row per item
            What the affinity compares.
        name : str, default="y"
            What the line calls it.

        Returns
        -------
        text : str

        Examples
        --------
        >>> from sklearn_hashrank import SharedLabelAffinity
        >>> tags = [[1.0, 1.0, 0.0], [0.0, 1.0, 0.0]]
        >>> SharedLabelAffinity().fit(tags).describe(tags)
        'y: 3 labels, 1.5 per row: relevant where labels are shared'
        """
        return f"{name}: {self.validate(y, name).shape[0]:,} rows: compared by {self!r}"

    def _check_fitted(self) -> None:
        if not self.__sklearn_is_fitted__():
            raise NotFittedError(
                f"This {type(self).__name__} is not fitted yet. Call fit(y) with rows of the "
                "database or of the training set."
            )

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "levels_")
