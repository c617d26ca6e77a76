"""How relevant the rows of a minibatch are to each other."""

from typing import Any

import numpy as np

from .._utils.threads import over_blocks
from ..affinity import BaseAffinity, HierarchicalAffinity, LabelAffinity

_LARGEST_TABLE = 8192


class BatchRelevance:
    """Level indices of the pairs of a minibatch.

    Parameters
    ----------
    affinity : affinity object
        Fitted.
    y : array-like
        Its rows.
    n_jobs : int or None, default=None
        Threads over the rows of a batch.

    Attributes
    ----------
    class_of : ndarray of shape (n_rows,) or None
        The class of each row, or its label path; None where affinity is neither, and where most
        rows have no other one of their class.
    """

    def __init__(self, affinity: BaseAffinity, y: Any, n_jobs: int | None = None):
        self.affinity, self.y, self.n_jobs = affinity, y, n_jobs
        self._rows = affinity.validate(y)
        self.levels = affinity.levels_[: affinity.n_reachable_levels(self._rows)]
        groups, index = affinity.group(self._rows)
        n_groups = groups.shape[0]
        self.class_of = None
        if isinstance(affinity, LabelAffinity | HierarchicalAffinity) and index is not None:
            self.class_of = index if 2 * n_groups <= len(index) else None
        self._table: np.ndarray | None = None
        if n_groups <= _LARGEST_TABLE:
            self._index = np.arange(n_groups) if index is None else index
            self._table = np.empty((n_groups, n_groups), dtype=np.min_scalar_type(len(self.levels)))
            for start in range(0, n_groups, 256):
                part = slice(start, start + 256)
                self._table[part] = affinity.level_indices(groups[part], groups)

    def level_indices(self, batch: np.ndarray) -> np.ndarray:
        """Index into `levels` of every pair of rows of a batch, (M, M) unsigned."""
        table = self._table
        if table is None:
            rows = self._rows[batch]
            return self.affinity.level_indices(rows, rows)
        index = self._index[batch]
        levels = np.empty((len(batch), len(batch)), table.dtype)

        def look_up(rows):
            np.take(table[index[rows]], index, axis=1, out=levels[rows], mode="clip")

        over_blocks(look_up, len(batch), self.n_jobs)
        return levels

    def level_shares(self, random_state: np.random.RandomState, n_rows: int = 1000) -> np.ndarray:
        """Estimate the share of each level among all pairs of different rows."""
        batch = random_state.permutation(self._rows.shape[0])[:n_rows]
        indices = self.level_indices(batch)[~np.eye(len(batch), dtype=bool)]
        return np.bincount(indices, minlength=len(self.levels)) / indices.size
