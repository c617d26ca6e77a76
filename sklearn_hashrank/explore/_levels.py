"""Relevance of items to queries, in a form that a page can hold."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..affinity._auto import fit_affinity
from ..affinity._level_checks import check_level_indices
from ..metrics._gains import level_gains
from ._html_page import encode_array

_MOST_GROUPS = 1_000  # the levels of all pairs of them take a megabyte at most
_PAIRS = 1 << 22


class ItemRelevance:
    """Levels of queries and items: by groups of equal `y`, or else row by row.

    Parameters
    ----------
    affinity : "auto" or affinity object
        Fitted on the database unless it is already.
    y : array-like
        What it compares, one row for each item; the database comes first.
    n_database : int
        Rows of the database.
    queries : ndarray of int
        Places of the queries among the items.
    n_jobs : int or None
        Threads.
    """

    def __init__(
        self, affinity: Any, y: Any, n_database: int, queries: np.ndarray, n_jobs: int | None
    ):
        fitted = fit_affinity(affinity, y[:n_database])
        rows = fitted.validate(y, "y")
        self.description = fitted.describe(y)
        self.n_database, self.queries = n_database, queries
        self._database = rows[:n_database]
        index = fitted.group(rows)[1]
        self._groups = index if index is not None and index.max() < _MOST_GROUPS else None
        if self._groups is not None:
            first = np.unique(self._groups, return_index=True)[1]
            self.levels = fitted.levels_[: fitted.n_reachable_levels(rows)]
            pairs = fitted.level_indices(rows[first], rows[first])
            self._of_groups = check_level_indices(
                fitted, pairs, (len(first),) * 2, len(self.levels)
            )
            return
        self._affinity, self._rows = _ready(fitted, rows, n_database, queries, n_jobs)
        self.levels = fitted.levels_[: fitted.n_reachable_levels(rows[queries])]

    def blocks(self) -> Iterator[tuple[slice, np.ndarray]]:
        """Places in the list of queries, and the levels of the database for these queries."""
        step = max(1, _PAIRS // self.n_database)
        for start in range(0, len(self.queries), step):
            part = slice(start, start + step)
            yield part, self._levels_of(part)

    def _levels_of(self, part: slice) -> np.ndarray:
        if self._groups is not None:
            of_queries = self._groups[self.queries[part]]
            levels: np.ndarray = self._of_groups[of_queries][:, self._groups[: self.n_database]]
            return levels
        levels = self._affinity.level_indices(self._rows[part], self._database)
        shape = len(self.queries[part]), self.n_database
        checked: np.ndarray = check_level_indices(self._affinity, levels, shape, len(self.levels))
        return checked

    def for_page(self) -> dict[str, Any]:
        """Levels, gains and the relevance of all pairs that a page can ask for."""
        gains = level_gains(self.levels, scaled=True)
        about = {
            "levels": self.levels.tolist(),
            "gains": gains.tolist(),
            "description": self.description,
        }
        dtype = np.uint8 if len(self.levels) <= 256 else np.uint16
        if self._groups is not None:
            groups = self._groups.astype(np.uint16)
            matrix = self._of_groups.astype(dtype)
            return about | {"groups": encode_array(groups), "ofGroups": encode_array(matrix)}
        rows = np.concatenate([levels.astype(dtype) for _, levels in self.blocks()])
        return about | {"rows": encode_array(rows)}


def _ready(affinity, rows, n_database, queries, n_jobs):
    """Queries ready to be compared, which takes rows of the database as such where they are all."""
    inside = queries < n_database
    if inside.all() and len(rows) == n_database:
        affinity, ready = affinity.of_queries(rows, True, n_jobs)
        return affinity, ready[queries]
    if inside.any():
        raise ValueError(
            "queries must all be rows of the database, which is all of X, or none of them, where "
            f"{affinity!r} says what is relevant. Got {inside.sum()} of {len(queries)} in it."
        )
    return affinity.of_queries(rows[queries], False, n_jobs)
