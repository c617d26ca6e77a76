"""Choose the rows that a page shows, and those of them that are queries."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from .._utils.parameters import is_int

MOST_ITEMS = 100_000
MOST_BYTES = 8_000_000
"""Of what items are shown by. 10,000 pictures of 28 x 28 fit, and the page stays below 12 MB."""


@dataclass(frozen=True)
class Choice:
    """Numbers of rows: items are the database, then queries that are not in it."""

    rows: np.ndarray  # of the items, in the order of the page
    n_database: int
    queries: np.ndarray  # places of the queries among the items
    n_rows: int  # of the database before it was sampled
    has_sampled_queries: bool = False  # of the items, which are more

    @property
    def is_sampled(self) -> bool:
        """Whether the database was larger."""
        return self.n_database < self.n_rows


def choose(n_rows: int, queries: Any, database: Any, n_items: int, random_state: Any) -> Choice:
    """Sample the database down to `n_items`, and take or sample the queries.

    Parameters
    ----------
    n_rows : int
        Rows of X.
    queries : int or array-like of int
        How many, sampled from the database; or their numbers.
    database : array-like of int or None
        Numbers of rows. None: all.
    n_items : int
        At most so many rows of the database.
    random_state : int, RandomState or None
        Samples.
    """
    rng = check_random_state(random_state)
    given = np.arange(n_rows) if database is None else _row_numbers(database, "database", n_rows)
    if len(given) < 2:
        raise ValueError(f"the database must have at least 2 rows. Got {len(given)}.")
    is_number = is_int(queries, 1)
    if not is_number:
        if isinstance(queries, (bool, int, float, str)):
            raise ValueError(f"queries must be an int >= 1 or row numbers. Got {queries!r}.")
        chosen = np.sort(_row_numbers(queries, "queries", n_rows))
    kept = given
    if len(given) > n_items:
        kept = np.sort(rng.choice(given, n_items, replace=False))
    if is_number:
        chosen = np.sort(rng.choice(kept, min(int(queries), len(kept)), replace=False))
    rows = np.concatenate([kept, np.setdiff1d(chosen, kept)]).astype(np.intp)
    place = np.empty(n_rows, np.intp)
    place[rows] = np.arange(len(rows))
    has_sampled = is_number and len(chosen) < len(kept)
    return Choice(rows, len(kept), place[chosen], len(given), has_sampled)


def _row_numbers(given: Any, name: str, n_rows: int) -> np.ndarray:
    rows = np.asarray(given)
    if rows.ndim != 1 or not rows.size or rows.dtype.kind not in "iu":
        raise ValueError(
            f"{name} must be row numbers, at least one. Got an array of shape {rows.shape} and "
            f"dtype {rows.dtype}."
        )
    if rows.min() < 0 or rows.max() >= n_rows:
        raise ValueError(
            f"{name} must be numbers of the {n_rows} rows of X, from 0 on. "
            f"Got numbers from {rows.min()} to {rows.max()}."
        )
    if len(np.unique(rows)) < len(rows):
        raise ValueError(f"{name} must not hold a row twice.")
    return rows
