"""Listwise supervision: which items are more relevant to a query than which others.

Row i of the database wins against row j for query m when it is more relevant; S_mij is +1, -1 or 0.
All that RSH needs of S is ``p_m = sum_ij S_mij (x_i - x_j)``, and S enters it only through how many
rows i wins and loses against. Those are counts of levels, so that no triplet is ever formed.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from .affinity import BaseAffinity
from .solvers.principal import CenteredRows

_LEVELS_AT_A_TIME = 1 << 26
_WEIGHTS_AT_A_TIME = 1 << 22


class Supervision(NamedTuple):
    """Factors of ``B = sum_m p_m q_m.T``, one row for all queries of equal `y`.

    Attributes
    ----------
    wins : ndarray of shape (n_kinds, n_features)
        p_m.
    queries : ndarray of shape (n_kinds, n_features)
        Sums of the centred queries.
    n_wins : float
        Number of triplets with S_mij = 1.
    """

    wins: np.ndarray
    queries: np.ndarray
    n_wins: float


def triplet_weights(levels: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Weight of every item in p_m: twice the rows it wins against, less those it loses against.

    Parameters
    ----------
    levels : ndarray of shape (n_queries, n_items)
        Index of the level of every item.
    counts : ndarray of shape (n_queries, n_levels)
        Rows of the whole database at every level.

    Returns
    -------
    weights : ndarray of shape (n_queries, n_items)

    Examples
    --------
    >>> from sklearn_hashrank._triplets import triplet_weights
    >>> import numpy as np
    >>> triplet_weights(np.array([[0, 2, 1, 0]]), np.array([[2, 1, 1]]))
    array([[-4.,  6.,  2., -4.]])
    """
    up_to = np.cumsum(counts, axis=1, dtype=float)
    n_lower, n_higher = up_to - counts, up_to[:, -1:] - up_to
    bins = levels + np.arange(len(counts))[:, None] * counts.shape[1]
    return (2 * (n_lower - n_higher)).ravel().take(bins, mode="clip")


def supervise(
    affinity: BaseAffinity,
    query_y: Any,
    database_y: Any,
    queries: CenteredRows,
    database: CenteredRows,
) -> Supervision:
    """Sum the triplets of all queries.

    Rows of equal `y` have equal weights and are added up first, where the affinity can tell.

    Parameters
    ----------
    affinity : BaseAffinity
        Fitted.
    query_y, database_y : rows that the affinity has validated
    queries, database : CenteredRows

    Returns
    -------
    supervision : Supervision
    """
    kinds, kind_of = affinity.group(query_y)
    groups, group_of = affinity.group(database_y)
    multiplicity, query_sums = _sum_groups(queries, kind_of, kinds.shape[0])
    sizes, items = _sum_groups(database, group_of, groups.shape[0])
    wins, n_wins = np.empty((len(multiplicity), items.shape[1])), 0.0
    n_levels = affinity.n_reachable_levels(query_y)
    step = max(1, _LEVELS_AT_A_TIME // len(sizes))
    for start in range(0, len(wins), step):
        part = slice(start, start + step)
        levels, counts = _find_levels(affinity, kinds[part], groups, sizes, n_levels)
        wins[part] = _add_wins(levels, counts, items)
        n_lower = np.cumsum(counts, axis=1) - counts
        n_wins += multiplicity[part] @ (counts * n_lower).sum(axis=1)
    return Supervision(wins, _center(query_sums, multiplicity, queries.mean), float(n_wins))


def _sum_groups(rows, group_of, n_groups):
    """Size of every group and the sum of its rows, centred if dense."""
    if group_of is None:
        return np.ones(n_groups), rows
    if sparse.issparse(rows.X):
        sums = _members(group_of, n_groups) @ rows.X.astype(float)
    else:
        sums = np.zeros((n_groups, rows.shape[1]))
        for part, block in rows.blocks():
            found, local = np.unique(group_of[part], return_inverse=True)
            sums[found] += _members(local, len(found)) @ block
    return np.bincount(group_of, minlength=n_groups), CenteredRows(sums, np.zeros(rows.shape[1]))


def _members(group_of, n_groups):
    """Indicator matrix of groups by rows."""
    n = len(group_of)
    return sparse.csr_array((np.ones(n), (group_of, np.arange(n))), shape=(n_groups, n))


def _center(sums, sizes, mean):
    """Dense centred sums."""
    block = sums.block(slice(None))
    return block.toarray() - np.outer(sizes, mean) if sparse.issparse(block) else block


def _find_levels(affinity, queries, groups, sizes, n_levels):
    """Levels of all pairs, and how many rows each query finds at every level."""
    n_queries, n_groups = queries.shape[0], len(sizes)
    levels = np.empty((n_queries, n_groups), dtype=np.uint16)
    counts = np.zeros((n_queries, n_levels))
    first_bin = np.arange(n_queries)[:, None] * n_levels
    grouped = np.any(sizes != 1)
    for part in _parts(n_queries, n_groups, affinity.block_rows):
        levels[:, part] = found = affinity.level_indices(queries, groups[part])
        bins = (found + first_bin).ravel()
        weights = np.broadcast_to(sizes[part], found.shape).ravel() if grouped else None
        counts += np.bincount(bins, weights, counts.size).reshape(counts.shape)
    return levels, counts


def _add_wins(levels, counts, items):
    """p_m of some queries. Weights add up to zero, so that sparse rows need not be centred."""
    total = np.zeros((len(levels), items.shape[1]))
    for part in _parts(len(levels), levels.shape[1], levels.shape[1]):
        total += triplet_weights(levels[:, part], counts) @ items.block(part)
    return total


def _parts(n_queries, n_items, most):
    step = max(1, min(most, _WEIGHTS_AT_A_TIME // n_queries))
    return [slice(start, start + step) for start in range(0, n_items, step)]
