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
    """How batches of groups are made.

    Attributes
    ----------
    group_size : int
        Rows of a class in a group.
    batch_size : int
        Rows of a batch.
    """

    group_size: int
    batch_size: int


# Of many classes in a batch, with few rows each, one learns most: on 150 classes 128 groups of 4
# rows were better than 64 of 8 or 16, and than as many rows at random. Where the nearest row is
# seldom of the same class, more rows of each are needed to see what they have in common.
_GROUPS_OF_STRONG_CLASSES, _GROUPS_OF_WEAK_CLASSES = Groups(4, 512), Groups(16, 1024)
_STRONG = 0.15  # share of rows with a nearest row of their class; see the page of TALRLinear
_FEWEST_BATCHES = 4  # of weak classes in a pass; 2,000 rows gain nothing by larger ones
_WANTED_RELEVANT, _SMALLEST_BATCH, _LARGEST_BATCH = 10, 256, 2048
_RAREST = 1e-9
_LARGEST_TABLE = 8192  # groups of equal rows whose levels are kept


class PairRelevance:
    """Level indices of the pairs of a minibatch.

    Parameters
    ----------
    affinity : affinity object
        Fitted.
    y : array-like
        Its rows.
    n_jobs : int or None, default=None
        Threads over the rows of a batch.
    X : {ndarray, sparse matrix} of shape (n_rows, n_features), default=None
        Features of the rows, by which batches are made where there are many classes. None: as for
        classes that they tell apart.

    Attributes
    ----------
    members : ndarray of shape (n_rows,)
        Numbers of the rows that are learned from: all.
    levels : ndarray of shape (n_levels,)
        Ascending.
    one_scale : bool
        False: linear models scale every feature by itself.
    class_of : ndarray of shape (n_rows,) or None
        The class of each row, or its label path; None where affinity is neither, and where most
        rows have no other one of their class.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_hashrank import LabelAffinity
    >>> from sklearn_hashrank._learning.pair_relevance import PairRelevance
    >>> y = np.array([3, 5, 3])
    >>> PairRelevance(LabelAffinity().fit(y), y).level_indices(np.array([0, 2]))
    array([[1, 1],
           [1, 1]], dtype=uint8)
    """

    one_scale = False

    def __init__(self, affinity: BaseAffinity, y: Any, n_jobs: int | None = None, X: Any = None):
        self.affinity, self.y, self.n_jobs = affinity, y, n_jobs
        self._X = X
        self._rows = affinity.validate(y)
        self.members = np.arange(self._rows.shape[0])
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
                self._table[part] = self._compare(groups[part], groups)

    def level_indices(self, batch: np.ndarray) -> np.ndarray:
        """Return the level of every pair of rows of a batch.

        Parameters
        ----------
        batch : ndarray of shape (M,)
            Numbers of the rows.

        Returns
        -------
        indices : ndarray of shape (M, M), unsigned
            Index into `levels`.
        """
        table = self._table
        if table is None:
            rows = self._rows[batch]
            return self._compare(rows, rows)
        index = self._index[batch]
        levels = np.empty((len(batch), len(batch)), table.dtype)

        def look_up(rows):
            np.take(table[index[rows]], index, axis=1, out=levels[rows], mode="clip")

        over_blocks(look_up, len(batch), self.n_jobs)
        return levels

    def batch_size(self, objective: Any, random_state: np.random.RandomState) -> int:
        """Rows in which a query finds about ten relevant ones, and one that holds most of the gain.

        Parameters
        ----------
        objective : CheckedObjective or ObjectiveOfRows
            Of graded objectives, a few pairs may hold most of the gain.
        random_state : RandomState instance
            Samples pairs, to see how many are relevant.

        Returns
        -------
        size : int
        """
        shares = self.level_shares(random_state)
        wanted = _WANTED_RELEVANT / max(shares[self.levels > 0].sum(), _RAREST)
        gains = objective.level_gain(self.levels)
        if gains is not None:
            gains = gains / (gains.max() or 1)
            effective = (shares @ gains) ** 2 / max(shares @ gains**2, _RAREST)
            wanted = max(wanted, 1 / max(effective, _RAREST))
        size = int(np.clip(wanted, _SMALLEST_BATCH, _LARGEST_BATCH))
        return self._groups.batch_size if self.takes_groups(size) else size

    def takes_groups(self, size: int) -> bool:
        """Whether batches of an automatic size are made of groups: of many classes, which are rare.

        Parameters
        ----------
        size : int
            Rows of a batch.

        Returns
        -------
        takes_groups : bool
        """
        return size > _SMALLEST_BATCH and self.class_of is not None

    def batches(
        self, rows: np.ndarray, size: int, in_groups: bool, random_state: np.random.RandomState
    ) -> Batches:
        """Batches of some of the rows, at random or in groups of a class.

        Parameters
        ----------
        rows : ndarray of shape (n_rows,)
            Numbers of the rows.
        size : int
            Rows of a batch, about.
        in_groups : bool
            Whether batches are made of groups.
        random_state : RandomState instance
            Shuffles.

        Returns
        -------
        batches : Batches
        """
        if in_groups and self.class_of is not None:
            group_size = self._groups.group_size
            return GroupBatches(rows, self.class_of[rows], size, group_size, random_state)
        return Minibatches(rows, size, random_state)

    def learning_rate(self, solver: str, in_groups: bool) -> float:
        """Length of a step of a linear model: longer where batches are made of groups.

        Parameters
        ----------
        solver : {"adam", "adam-by-bit", "sgd"}
            Moves the weights.
        in_groups : bool
            Whether batches are made of groups.

        Returns
        -------
        learning_rate : float
        """
        return {"adam": 0.02 if in_groups else 0.01, "adam-by-bit": 0.02, "sgd": 1.0}[solver]

    def weight_decay(self, n_features: int, n_rows: int | None) -> float:
        """Decay of the weights of a linear model: more for few rows of many features.

        Parameters
        ----------
        n_features : int
            Number of features.
        n_rows : int or None
            Training rows; None where they are not known beforehand.

        Returns
        -------
        weight_decay : float
        """
        return 0.15 * np.sqrt(min(1, n_features / n_rows)) if n_rows else 0.05

    def n_bins(self, n_bits: int) -> str:
        """Leave the number of bins to the objective.

        Parameters
        ----------
        n_bits : int
            Length of a code.

        Returns
        -------
        n_bins : "auto"
        """
        return "auto"

    @cached_property
    def _groups(self):
        strong, weak = _GROUPS_OF_STRONG_CLASSES, _GROUPS_OF_WEAK_CLASSES
        is_short = len(self.members) < _FEWEST_BATCHES * weak.batch_size
        if self._X is None or self.class_of is None or is_short:
            return strong
        return strong if share_with_own_nearest(self._X, self.class_of) >= _STRONG else weak

    def _compare(self, queries, database):
        indices = self.affinity.level_indices(queries, database)
        shape = queries.shape[0], database.shape[0]
        return check_level_indices(self.affinity, indices, shape, len(self.levels))

    def level_shares(self, random_state: np.random.RandomState, n_rows: int = 1000) -> np.ndarray:
        """Estimate the share of each level among all pairs of different rows.

        Parameters
        ----------
        random_state : RandomState instance
            Samples the rows.
        n_rows : int, default=1000
            How many rows are looked at.

        Returns
        -------
        shares : ndarray of shape (n_levels,)
        """
        batch = random_state.permutation(self._rows.shape[0])[:n_rows]
        indices = self.level_indices(batch)[~np.eye(len(batch), dtype=bool)]
        return np.bincount(indices, minlength=len(self.levels)) / indices.size
