"""Relevance of pairs: their levels by an affinity, and the batches that follow from them."""

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from .._utils.threads import over_blocks
from ..affinity._labels import HierarchicalAffinity, LabelAffinity
from ..affinity._level_checks import check_level_indices
from ..affinity._protocol import BaseAffinity
from .batches import Batches, GroupBatches, Minibatches
from .class_strength import share_with_own_nearest


class Groups(NamedTuple):
    """How many rows of a class a group has, and how many rows a batch."""

    group_size: int
    batch_size: int


# Of many classes in a batch, with few rows each, one learns most: on 150 classes 128 groups of 4
# rows were better than 64 of 8 or 16, and than as many rows at random. Where the nearest row is
# seldom of the same class, more rows of each are needed to see what they have in common.
_GROUPS_OF_STRONG_CLASSES, _GROUPS_OF_WEAK_CLASSES = Groups(4, 512), Groups(16, 1024)
_STRONG = 0.15  # share of rows with a nearest row of their class; see the page of TALRLinear
_FEWEST_BATCHES = 4  # of weak classes in a pass; 2,000 rows gain nothing by larger ones
# Ten relevant rows tell an order from chance. Smaller batches gained nothing on sets of ten
# classes; the time of a step grows with the square of larger ones.
_WANTED_RELEVANT, _SMALLEST_BATCH, _LARGEST_BATCH = 10, 256, 2048
_ROWS_OF_SHARES = 1000  # whose pairs show how many are relevant
_RAREST = 1e-9  # share of relevant pairs where none was sampled, instead of a division by zero
_LARGEST_TABLE = 8192  # groups of equal rows whose levels are kept


class PairRelevance:
    """Level indices of the pairs of a minibatch.

    `affinity` is fitted on `y`. With features, batches of many classes depend on how well these
    tell the classes apart; without, as if they told them apart well.

    Attributes
    ----------
    class_of : ndarray of shape (n_rows,) or None
        The class of each row, or its label path; None where affinity is neither, and where most
        rows have no other one of their class.
    """

    one_scale = False

    def __init__(
        self, affinity: BaseAffinity, y: Any, n_jobs: int | None = None, features: Any = None
    ):
        self.affinity, self.y, self.n_jobs, self.features = affinity, y, n_jobs, features
        self.rows = affinity.validate(y)
        self.members = np.arange(self.rows.shape[0])
        self.levels = affinity.levels_[: affinity.n_reachable_levels(self.rows)]
        self._groups, index = affinity.group(self.rows)
        self._group_of = self.members if index is None else index
        self.class_of = None
        if isinstance(affinity, LabelAffinity | HierarchicalAffinity) and index is not None:
            self.class_of = index if 2 * self._groups.shape[0] <= len(index) else None

    @cached_property
    def _table(self):
        """The level of every pair of groups of equal rows; None where they are too many."""
        n_groups = self._groups.shape[0]
        if n_groups > _LARGEST_TABLE:
            return None
        table = np.empty((n_groups, n_groups), dtype=np.min_scalar_type(len(self.levels)))
        for start in range(0, n_groups, 256):
            part = slice(start, start + 256)
            table[part] = self._compare(self._groups[part], self._groups)
        return table

    def level_indices(self, batch: np.ndarray) -> np.ndarray:
        """Return the level of every pair of rows of a batch, as an index into `levels`."""
        table = self._table
        if table is None:
            rows = self.rows[batch]
            return self._compare(rows, rows)
        index = self._group_of[batch]
        levels = np.empty((len(batch), len(batch)), table.dtype)

        def look_up(rows):
            np.take(table[index[rows]], index, axis=1, out=levels[rows], mode="clip")

        over_blocks(look_up, len(batch), self.n_jobs)
        return levels

    def batch_size(self, objective: Any, random_state: np.random.RandomState) -> int:
        """Rows in which a query finds ten relevant ones, and one that holds most of the gain."""
        sampled = random_state.permutation(len(self.members))[:_ROWS_OF_SHARES]
        indices = self.level_indices(sampled)[~np.eye(len(sampled), dtype=bool)]
        shares = np.bincount(indices, minlength=len(self.levels)) / indices.size
        wanted = _WANTED_RELEVANT / max(shares[self.levels > 0].sum(), _RAREST)
        gains = objective.level_gain(self.levels)
        if gains is not None:
            gains = gains / (gains.max() or 1)
            effective = (shares @ gains) ** 2 / max(shares @ gains**2, _RAREST)
            wanted = max(wanted, 1 / max(effective, _RAREST))
        size = int(np.clip(wanted, _SMALLEST_BATCH, _LARGEST_BATCH))
        return self._batches_of_groups.batch_size if self.takes_groups(size) else size

    def takes_groups(self, size: int) -> bool:
        return size > _SMALLEST_BATCH and self.class_of is not None

    def batches(
        self, rows: np.ndarray, size: int, in_groups: bool, random_state: np.random.RandomState
    ) -> Batches:
        if in_groups and self.class_of is not None:
            group_size = self._batches_of_groups.group_size
            return GroupBatches(rows, self.class_of[rows], size, group_size, random_state)
        return Minibatches(rows, size, random_state)

    def learning_rate(self, solver: str, in_groups: bool) -> float:
        # Rates of digits, GIST, pixels and deep features; groups teach more in a step.
        return {"adam": 0.02 if in_groups else 0.01, "adam-per-bit": 0.02, "sgd": 1.0}[solver]

    def weight_decay(self, n_features: int, n_rows: int | None) -> float:
        # More for few rows of many features, see the page on TALRLinear.
        return 0.15 * np.sqrt(min(1, n_features / n_rows)) if n_rows else 0.05

    @cached_property
    def _batches_of_groups(self):
        strong, weak = _GROUPS_OF_STRONG_CLASSES, _GROUPS_OF_WEAK_CLASSES
        is_short = len(self.members) < _FEWEST_BATCHES * weak.batch_size
        if self.features is None or self.class_of is None or is_short:
            return strong
        return strong if share_with_own_nearest(self.features, self.class_of) >= _STRONG else weak

    def _compare(self, queries, database):
        indices = self.affinity.level_indices(queries, database)
        shape = queries.shape[0], database.shape[0]
        return check_level_indices(self.affinity, indices, shape, len(self.levels))
