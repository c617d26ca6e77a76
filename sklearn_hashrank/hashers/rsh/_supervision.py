"""Count which items are more relevant to a query than which others, for RSH.

Row i of the database wins against row j for query m when it is more relevant; S_mij is +1, -1 or 0.
All that RSH needs of S is ``p_m = sum_ij S_mij (x_i - x_j)``, and S enters it only through how many
rows i wins and loses against. Those are counts of levels, so that no triplet is ever formed.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ..._features.centered_rows import CenteredRows
from ..._files.storable import storable
from ...affinity._level_checks import check_level_indices
from ...affinity._protocol import BaseAffinity

# In memory: levels take two bytes each, weights eight and several copies.
_LEVELS_AT_A_TIME, _WEIGHTS_AT_A_TIME = 1 << 26, 1 << 22
_QUERIES_AT_A_TIME = 256  # compared with each other for the diagonal


class Supervision(NamedTuple):
    """Factors of ``B = sum_m p_m q_m.T``, one row for all queries of equal `y`.

    `wins` holds the p_m, `queries` the sums of the centered queries, and `n_wins` counts the
    triplets with S_mij = 1. `self_weight` sums the weights that queries have in their own p_m.
    """

    wins: np.ndarray
    queries: np.ndarray
    n_wins: float
    self_weight: float


def triplet_weights(levels: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Weight of every item in p_m: twice the rows it wins against, less those it loses against.

    `levels` (n_queries, n_items) holds the index of the level of every item, `counts` (n_queries,
    n_levels) the rows of the whole database at every level.

    Examples
    --------
    >>> from sklearn_hashrank.hashers.rsh._supervision import triplet_weights
    >>> import numpy as np
    >>> triplet_weights(np.array([[0, 2, 1, 0]]), np.array([[2, 1, 1]]))
    array([[-4.,  6.,  2., -4.]])
    """
    up_to = np.cumsum(counts, axis=1, dtype=float)
    n_lower, n_higher = up_to - counts, up_to[:, -1:] - up_to
    bins = levels + np.arange(len(counts))[:, None] * counts.shape[1]
    return (2 * (n_lower - n_higher)).ravel().take(bins, mode="clip")


@storable
class Groups(NamedTuple):
    """Sums of rows of equal `y`; every row is a group where the affinity cannot tell.

    `targets` holds the `y` of every group, and `sizes` the number of its rows. `sums` are sums of
    rows less the `mean` if dense, and as they are if sparse.
    """

    targets: Any
    sizes: np.ndarray
    sums: CenteredRows
    mean: np.ndarray

    def recentered(self, mean: np.ndarray) -> "Groups":
        sums = self.sums
        if not sparse.issparse(sums.X):
            sums = _as_they_are(sums.X + np.outer(self.sizes, self.mean - mean))
        return self._replace(sums=sums, mean=mean)

    def merged(self, other: "Groups", affinity: BaseAffinity) -> "Groups":
        """Groups of two sets of rows, of which both have sums less the same mean."""
        of_groups, group_of = affinity.group(stack_rows(self.targets, other.targets))
        members = _members(group_of, of_groups.shape[0])
        return Groups(
            of_groups,
            members @ np.concatenate([self.sizes, other.sizes]),
            _as_they_are(members @ stack_rows(self.sums.X, other.sums.X)),
            self.mean,
        )


def group_rows(affinity: BaseAffinity, targets: Any, rows: CenteredRows) -> Groups:
    """Add up rows of equal `y`, which the affinity has validated."""
    of_groups, group_of = affinity.group(targets)
    if group_of is None:
        return Groups(of_groups, np.ones(rows.shape[0]), rows, rows.mean)
    n_groups = of_groups.shape[0]
    if sparse.issparse(rows.X):
        sums = _members(group_of, n_groups) @ rows.X.astype(float)
    else:
        sums = np.zeros((n_groups, rows.shape[1]))
        for part, block in rows.blocks():
            found, local = np.unique(group_of[part], return_inverse=True)
            sums[found] += _members(local, len(found)) @ block
    sizes = np.bincount(group_of, minlength=n_groups).astype(float)
    return Groups(of_groups, sizes, _as_they_are(sums), rows.mean)


def stack_rows(first: Any, second: Any) -> Any:
    if sparse.issparse(first) != sparse.issparse(second):
        raise ValueError("blocks must be all dense or all sparse. Got both.")
    if sparse.issparse(first):
        return sparse.vstack([first, second], format="csr")
    if _type_of_values(first) != _type_of_values(second):
        raise ValueError(
            "the labels of all blocks must be of one kind, numbers, str or bytes. "
            f"Got dtypes {first.dtype} and {second.dtype}."
        )
    return np.concatenate([first, second])


def supervise(
    affinity: BaseAffinity, queries: Groups, database: Groups, share: float
) -> Supervision:
    """Sum the triplets of all queries.

    Rows of equal `y` have equal weights, and have been added up where the affinity can tell.
    `share` is that of the queries that are among the items.
    """
    wins = np.empty((len(queries.sizes), database.sums.shape[1]))
    n_wins = self_weight = 0.0
    n_levels = affinity.n_reachable_levels(queries.targets)
    step = max(1, _LEVELS_AT_A_TIME // len(database.sizes))
    for start in range(0, len(wins), step):
        part = slice(start, start + step)
        levels, counts = _find_levels(
            affinity, queries.targets[part], database.targets, database.sizes, n_levels
        )
        wins[part] = _add_wins(levels, counts, database.sums)
        n_lower = np.cumsum(counts, axis=1) - counts
        n_wins += queries.sizes[part] @ (counts * n_lower).sum(axis=1)
        own = _levels_of_themselves(affinity, queries.targets[part], n_levels)
        self_weight += share * (queries.sizes[part] @ triplet_weights(own, counts)[:, 0])
    return Supervision(wins, _center(queries), float(n_wins), float(self_weight))


def _type_of_values(rows):
    return {"O": "U", "U": "U", "S": "S"}.get(rows.dtype.kind, "number")


def _as_they_are(sums):
    return CenteredRows(sums, np.zeros(sums.shape[1]))


def _members(group_of, n_groups):
    n = len(group_of)
    return sparse.csr_array((np.ones(n), (group_of, np.arange(n))), shape=(n_groups, n))


def _center(groups):
    block = groups.sums.block(slice(None))
    if sparse.issparse(block):
        return block.toarray() - np.outer(groups.sizes, groups.mean)
    return block


def _find_levels(affinity, queries, groups, sizes, n_levels):
    n_queries, n_groups = queries.shape[0], len(sizes)
    levels = np.empty((n_queries, n_groups), dtype=np.uint16)
    counts = np.zeros((n_queries, n_levels))
    first_bin = np.arange(n_queries)[:, None] * n_levels
    grouped = np.any(sizes != 1)
    for part in _parts(n_queries, n_groups, affinity.block_rows):
        found = affinity.level_indices(queries, groups[part])
        found = check_level_indices(affinity, found, levels[:, part].shape, n_levels)
        levels[:, part] = found
        bins = (found + first_bin).ravel()
        weights = np.broadcast_to(sizes[part], found.shape).ravel() if grouped else None
        counts += np.bincount(bins, weights, counts.size).reshape(counts.shape)
    return levels, counts


def _levels_of_themselves(affinity, queries, n_levels):
    """Level of each query as an item of its own ranking, (n_queries, 1)."""
    own = np.empty((queries.shape[0], 1), dtype=np.uint16)
    for start in range(0, len(own), _QUERIES_AT_A_TIME):
        some = slice(start, start + _QUERIES_AT_A_TIME)
        found = affinity.level_indices(queries[some], queries[some])
        found = check_level_indices(affinity, found, (len(own[some]),) * 2, n_levels)
        own[some, 0] = found.diagonal()
    return own


def _add_wins(levels, counts, items):
    """p_m of some queries. Weights add up to zero, so that sparse rows need not be centered."""
    total = np.zeros((len(levels), items.shape[1]))
    for part in _parts(len(levels), levels.shape[1], levels.shape[1]):
        total += triplet_weights(levels[:, part], counts) @ items.block(part)
    return total


def _parts(n_queries, n_items, most):
    step = max(1, min(most, _WEIGHTS_AT_A_TIME // n_queries))
    return [slice(start, start + step) for start in range(0, n_items, step)]
