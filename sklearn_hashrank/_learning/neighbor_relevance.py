"""Relevance of nearest rows: batches of rows with their neighbours, and the levels within them.

A random batch of 256 of 15,000 rows holds .2 of the 10 nearest rows of each. So batches are made of
groups, each a row with some of its neighbours. All neighbours are found once, before learning. This
is done in float32, because learning does not depend on the last digits of a distance; what an
evaluation calls relevant is decided by :class:`~sklearn_hashrank.NeighborAffinity` itself.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from .._features.nearest_rows import half_squares, nearest_rows, products
from .._utils.threads import over_blocks
from ..affinity._neighbors import NeighborAffinity

# Pairs of so many rows are compared: a few seconds where they have some hundred features.
MOST_ROWS = 20_000
_GROUP_SIZE, _POOL = 8, 20  # rows of a group, and how near they are
_FEWEST_BATCHES = 5  # of a pass over few rows
_ROWS_OF_BATCHES = 512
_RATE = 0.003  # of a linear model: the start is good already, longer steps lose it on pixels
# Coarser bins cannot tell the few nearest rows from those that are a little farther.
_MOST_BINS = 64


class NeighborRelevance:
    """Level indices of the pairs of a batch, by distances to the nearest rows.

    Parameters
    ----------
    affinity : NeighborAffinity
        Fitted on `y`.
    y : array-like
        The rows that it compares.
    random_state : RandomState instance
        Samples the rows that are learned from, where there are more than 20,000.
    n_jobs : int or None
        Threads over rows.

    Attributes
    ----------
    levels : ndarray of shape (n_levels,)
    members : ndarray of shape (n_members,)
        Numbers of the rows that are learned from, ascending.
    one_scale : bool
        True: linear models scale all features by one factor, which keeps distances.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_hashrank import NeighborAffinity
    >>> from sklearn_hashrank._learning.neighbor_relevance import NeighborRelevance
    >>> X = np.array([[0.0], [1.0], [9.0]])
    >>> affinity = NeighborAffinity(1, metric="euclidean").fit(X)
    >>> relevance = NeighborRelevance(affinity, X, np.random.RandomState(0))
    >>> relevance.level_indices(np.array([0, 2]))[1, 0]  # nearer to the last row is row 1
    np.uint8(0)
    """

    one_scale = True
    class_of: np.ndarray | None = None

    def __init__(
        self,
        affinity: NeighborAffinity,
        y: Any,
        random_state: np.random.RandomState,
        n_jobs: int | None = None,
    ):
        self.affinity, self.y, self.n_jobs, self.levels = affinity, y, n_jobs, affinity.levels_
        n_rows = y.shape[0]
        self.members = np.arange(n_rows)
        if n_rows > MOST_ROWS:
            self.members = np.sort(random_state.choice(n_rows, MOST_ROWS, replace=False))
        self._place = np.full(n_rows, -1)
        self._place[self.members] = np.arange(len(self.members))
        # Only these are converted: all rows may be many.
        members = y if len(self.members) == n_rows else y[self.members]
        self._rows, self._half = _rows_and_halves(affinity.metric, affinity.validate(members))
        ranks = np.minimum(np.atleast_1d(affinity.n_neighbors), len(self.members) - 1)
        self._nearest, nearness = self._find(max(_POOL, ranks.max()))
        self._limits = nearness[:, ranks - 1].T

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
        places = self._place[batch]
        nearness = products(self._rows[places], self._rows[places]) - self._half[places]
        levels = np.zeros(nearness.shape, dtype=np.uint8)
        for limits in self._limits:
            levels += nearness >= limits[places, None]
        return levels

    def batch_size(self, objective: Any, random_state: np.random.RandomState) -> int:
        """Rows of a batch: the same for every objective.

        Parameters
        ----------
        objective : CheckedObjective or ObjectiveOfRows
            Not looked at.
        random_state : RandomState instance
            Not used.

        Returns
        -------
        size : int
        """
        return _ROWS_OF_BATCHES

    def takes_groups(self, size: int) -> bool:
        """Whether batches are made of groups of a class: never, they are made of neighbours.

        Parameters
        ----------
        size : int
            Rows of a batch.

        Returns
        -------
        takes_groups : bool
        """
        return False

    def learning_rate(self, solver: str, in_groups: bool) -> float:
        """Length of a step of a linear model.

        Parameters
        ----------
        solver : {"adam", "adam-by-bit", "sgd"}
            Moves the weights.
        in_groups : bool
            Not looked at.

        Returns
        -------
        learning_rate : float
        """
        return 1.0 if solver == "sgd" else _RATE

    def weight_decay(self, n_features: int, n_rows: int | None) -> float:
        """Decay of the weights of a linear model: none.

        Parameters
        ----------
        n_features : int
            Not looked at.
        n_rows : int or None
            Not looked at.

        Returns
        -------
        weight_decay : float
        """
        return 0.0

    def n_bins(self, n_bits: int) -> int:
        """Bins of soft histograms: one for each bit, at most 64.

        Parameters
        ----------
        n_bits : int
            Length of a code.

        Returns
        -------
        n_bins : int
        """
        return min(n_bits, _MOST_BINS)

    def batches(
        self, rows: np.ndarray, size: int, in_groups: bool, random_state: np.random.RandomState
    ) -> "NeighborBatches":
        """Batches of some of the members, with their neighbours among them.

        Parameters
        ----------
        rows : ndarray of shape (n_rows,)
            Numbers of the rows.
        size : int
            Rows of a batch, about.
        in_groups : bool
            Not looked at.
        random_state : RandomState instance
            Shuffles, and samples neighbours.

        Returns
        -------
        batches : NeighborBatches
        """
        is_wanted = np.zeros(len(self.members), dtype=bool)
        is_wanted[self._place[rows]] = True
        return NeighborBatches(rows, size, self, is_wanted, random_state)

    def sample_neighbors(
        self, rows: np.ndarray, n: int, is_wanted: np.ndarray, random_state: np.random.RandomState
    ) -> np.ndarray:
        """Return these rows with up to `n` of the nearest rows of each.

        Parameters
        ----------
        rows : ndarray of shape (n_rows,)
            Numbers of the rows.
        n : int
            How many of the nearest rows are sampled for each; some may come twice.
        is_wanted : ndarray of shape (n_members,), bool
            Which members may be among them.
        random_state : RandomState instance
            Samples.

        Returns
        -------
        numbers : ndarray of shape (n_found,)
            Ascending.
        """
        places = self._place[rows]
        pool = self._nearest[:, :_POOL]
        picked = random_state.randint(pool.shape[1], size=(len(rows), n))
        found = np.unique(np.append(places, pool[places[:, None], picked]))
        return self.members[found[is_wanted[found]]]

    def _find(self, n):
        """Numbers of the `n` nearest other members of each, and how near they are."""
        m = len(self.members)
        n = min(n, m - 1)
        nearest = np.empty((m, n), dtype=np.int32)
        nearness = np.empty((m, n), dtype=np.float32)

        def find(part):
            own = np.arange(m)[part]
            rows = [(self._rows, self._half)]
            nearest[part], nearness[part] = nearest_rows(self._rows[part], rows, n, own)

        over_blocks(find, m, self.n_jobs)
        return nearest, nearness


class NeighborBatches:
    """Batches of about `size` rows: rows in random order, each with some of its neighbours.

    An iteration gives half as many batches as rows fill, because rows come again as neighbours, and
    at least 5. It begins groups at some of the rows, other ones with each iteration.

    Parameters
    ----------
    rows : ndarray of shape (n_rows,)
        Numbers of the rows.
    size : int
        Rows of a batch, about.
    relevance : NeighborRelevance
    is_wanted : ndarray of shape (n_members,), bool
        Which members may be in a batch.
    random_state : RandomState instance
    """

    def __init__(
        self,
        rows: np.ndarray,
        size: int,
        relevance: NeighborRelevance,
        is_wanted: np.ndarray,
        random_state: np.random.RandomState,
    ):
        self.rows = rows
        self._n_groups = max(2, size // _GROUP_SIZE)
        self._n_others = min(_GROUP_SIZE, max(2, size // self._n_groups)) - 1
        self._n_batches = max(_FEWEST_BATCHES, round(len(rows) / (2 * size)))
        self.size = len(rows) / self._n_batches  # what a batch is of a pass
        self._relevance, self._is_wanted, self._random_state = relevance, is_wanted, random_state

    def __iter__(self) -> Iterator[np.ndarray]:
        shuffled = self._random_state.permutation(self.rows)
        for number in range(self._n_batches):
            some = np.arange(number * self._n_groups, (number + 1) * self._n_groups)
            first = shuffled.take(some, mode="wrap")
            yield self._relevance.sample_neighbors(
                first, self._n_others, self._is_wanted, self._random_state
            )


def _rows_and_halves(metric, rows):
    """float32 rows, and what `nearest_rows` takes from their products."""
    half = np.zeros(rows.shape[0])
    if metric == "euclidean":
        if not sparse.issparse(rows):
            rows = rows - rows.mean(axis=0)
        half = half_squares(rows)
    return rows.astype(np.float32), half.astype(np.float32)
