"""What an affinity needs."""

from abc import abstractmethod
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError


class BaseAffinity(BaseEstimator):
    """What an affinity needs: ``fit``, ``validate`` and ``level_indices``.

    Attributes
    ----------
    levels_ : ndarray of shape (n_levels,)
        Ascending values of relevance; the first is 0, irrelevant.
    """

    block_rows = 1 << 20
    """Rows of the database that are compared at a time."""

    @abstractmethod
    def fit(self, y: Any) -> "BaseAffinity":
        """Learn the levels from rows of `y`."""

    @abstractmethod
    def validate(self, y: Any, name: str = "y") -> np.ndarray:
        """Return rows of `y` in the affinity's own form, or say what is wrong with them."""

    @abstractmethod
    def level_indices(self, queries: np.ndarray, database: np.ndarray) -> np.ndarray:
        """Index into ``levels_`` of every pair of two blocks of validated rows, uint16."""

    def paired_level_indices(self, queries: np.ndarray, database: np.ndarray) -> np.ndarray:
        """Index into ``levels_`` of row i of the queries with row i of the database."""
        return np.array(
            [self.level_indices(q[None], d[None])[0, 0] for q, d in zip(queries, database)],
            dtype=np.uint16,
        )

    def n_reachable_levels(self, queries: np.ndarray) -> int:
        """How many of ``levels_``, from the lowest, these queries can meet."""
        return len(self.levels_)

    def group(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        """Distinct rows and the index of each row among them; None: every row is its own."""
        return rows, None

    def runs(self, queries: np.ndarray, groups: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Where the level changes along the groups.

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
        """How many runs a query has, to bound memory."""
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
        return self.levels_[self.level_indices(queries, database)]

    def _check_fitted(self) -> None:
        if not self.__sklearn_is_fitted__():
            raise NotFittedError(
                f"This {type(self).__name__} is not fitted yet. Call fit(y) with rows of the "
                "database or of the training set."
            )

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "levels_")
