"""Relevance of nearest rows: batches of rows with their neighbors, and the levels within them.

A random batch of 256 of 15,000 rows holds .2 of the 10 nearest rows of each. So batches are made of
groups, each a row with some of its neighbors. All neighbors are found once, before learning. This
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
_ROWS_OF_BATCHES = 512  # 64 groups, so that most of a batch is far from a row and some is near
_RATE = 0.003  # of a linear model: the start is good already, longer steps lose it on pixels


class NeighborRelevance:
    """Level indices of the pairs of a batch, by distances to the nearest rows.

    `affinity` is fitted on `y`. If there are more than 20,000 rows, some are sampled to learn from.
    Linear models scale all features by one factor, which keeps distances.
    """

    one_scale = True

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
        """Return the level of every pair of rows of a batch, as an index into `levels`."""
        places = self._place[batch]
        nearness = products(self._rows[places], self._rows[places]) - self._half[places]
        levels = np.zeros(nearness.shape, dtype=np.uint8)
        for limits in self._limits:
            levels += nearness >= limits[places, None]
        return levels

    def batch_size(self, objective: Any, random_state: np.random.RandomState) -> int:
        return _ROWS_OF_BATCHES

    def takes_groups(self, size: int) -> bool:
        """Return False: batches are made of neighbors."""
        return False

    def learning_rate(self, solver: str, in_groups: bool) -> float:
        return 1.0 if solver == "sgd" else _RATE

    def weight_decay(self, n_features: int, n_rows: int | None) -> float:
        return 0.0

    def batches(
        self, rows: np.ndarray, size: int, in_groups: bool, random_state: np.random.RandomState
    ) -> "NeighborBatches":
        is_wanted = np.zeros(len(self.members), dtype=bool)
        is_wanted[self._place[rows]] = True
        return NeighborBatches(rows, size, self, is_wanted, random_state)

    def sample_neighbors(
        self, rows: np.ndarray, n: int, is_wanted: np.ndarray, random_state: np.random.RandomState
    ) -> np.ndarray:
        """Return these rows with up to `n` wanted ones of the nearest of each, ascending."""
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
    """Batches of about `size` rows: rows in random order, each with some of its neighbors.

    An iteration gives half as many batches as rows fill, because rows come again as neighbors, and
    at least 5. It begins groups at some of the rows, other ones with each iteration.
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
