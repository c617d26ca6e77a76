"""Find queries, sample similar and dissimilar pairs, and build blocks of similar rows."""

from typing import Any, NamedTuple

import numpy as np
from numpy.random import RandomState
from scipy import sparse

from .._solvers.binary_quadratic import Blocks
from ..affinity._level_checks import check_level_indices
from ..affinity._protocol import BaseAffinity
from ..objectives.ranking._ranking_loss import count_relevant

_NUMBERS_AT_A_TIME = 1 << 22  # in memory
_OFTEN = 20  # with so many candidates per partner, hardly any is sampled twice
_LARGEST_BLOCK = 2000  # rows: the time of a cut grows faster than their number


def are_relevant(affinity: BaseAffinity, queries: Any, database: Any) -> np.ndarray:
    """Say which items have a level above 0, (n_queries, n_database), from validated rows of y."""
    levels = affinity.levels_
    shape = queries.shape[0], database.shape[0]
    indices = affinity.level_indices(queries, database)
    return levels[check_level_indices(affinity, indices, shape, len(levels))] > 0


def find_queries(
    name: str, affinity: BaseAffinity, targets: Any, queries: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Find the queries that have both relevant and irrelevant items, and their relevant items.

    Queries are numbers of rows of `targets`, the validated rows of y of the database, and are no
    items of their own. `name` is that of the hasher, for messages.
    """
    step = max(1, _NUMBERS_AT_A_TIME // targets.shape[0])
    blocks = np.array_split(queries, -(-len(queries) // step))
    relevant = np.concatenate([are_relevant(affinity, targets[rows], targets) for rows in blocks])
    n_relevant, n_irrelevant = count_relevant(relevant, queries)
    useful = (n_relevant > 0) & (n_irrelevant > 0)
    if not useful.any():
        raise ValueError(
            f"{name} learns from queries that have both relevant and irrelevant "
            f"items. Got none among {len(queries)} queries over n_samples = {targets.shape[0]}: "
            f"{np.sum(n_relevant == 0)} have no relevant item, "
            f"{np.sum(n_irrelevant == 0)} no irrelevant one."
        )
    return queries[useful], relevant[useful]


class Pairs(NamedTuple):
    """A graph of pairs, and blocks of similar rows.

    `graph` (n, n) is symmetric: 1 for similar pairs, -1 for dissimilar ones. The rows of a block
    are all similar to each other; no pair of the graph in a block is dissimilar.
    """

    graph: sparse.csr_array
    blocks: Blocks

    @property
    def firsts(self) -> np.ndarray:
        return np.repeat(np.arange(self.graph.shape[0]), np.diff(self.graph.indptr))

    def matrix(self, values: np.ndarray) -> sparse.csr_array:
        return sparse.csr_array(
            (values, self.graph.indices, self.graph.indptr), shape=self.graph.shape
        )


def sample_pairs(
    name: str,
    affinity: BaseAffinity,
    targets: Any,
    n_similar: int,
    n_dissimilar: int,
    random_state: RandomState,
) -> Pairs:
    """Sample partners of every row, similar where the level is above 0.

    At most `n_similar` and `n_dissimilar` partners are sampled for a row, which may be a partner of
    others, too. `targets` are validated rows of y; `name` is that of the hasher, for messages.
    """
    n = targets.shape[0]
    groups, group_of = affinity.group(targets)
    group_of = np.arange(n) if group_of is None else group_of
    members = np.split(np.argsort(group_of, kind="stable"), np.cumsum(np.bincount(group_of))[:-1])
    first, second, kinds = [], [], []
    for group, relevant in _relevance(affinity, groups):
        is_similar = relevant[group_of]
        for kind, pool, most in (
            (1, np.flatnonzero(is_similar), n_similar),
            (-1, np.flatnonzero(~is_similar), n_dissimilar),
        ):
            if len(pool):
                rows, partners = _sample_partners(members[group], pool, most, random_state)
                first.append(rows)
                second.append(partners)
                kinds.append(np.full(len(rows), kind, dtype=np.int8))
    low, high = np.sort([np.concatenate(first), np.concatenate(second)], axis=0)
    kind = np.concatenate(kinds)[low != high]
    low, high = low[low != high], high[low != high]
    _, kept = np.unique(low * n + high, return_index=True)
    low, high, kind = low[kept], high[kept], kind[kept]
    block_of = _find_blocks(affinity, groups, group_of, members, random_state)
    wanted = (kind == 1) | (block_of[low] != block_of[high])
    low, high, kind = low[wanted], high[wanted], kind[wanted]
    if not (kind == 1).any() or not (kind == -1).any():
        missing = "dissimilar" if (kind == 1).any() else "similar"
        raise ValueError(
            f"{name} learns from pairs of rows that are relevant to each other and pairs that are "
            f"not. Got no {missing} pair in n_samples = {n}."
        )
    places = np.concatenate([low, high]), np.concatenate([high, low])
    graph = sparse.coo_array((np.concatenate([kind, kind]), places), shape=(n, n)).tocsr()
    graph.sort_indices()
    return Pairs(graph, Blocks.of(block_of))


def _relevance(affinity, groups):
    n = groups.shape[0]
    step = max(1, _NUMBERS_AT_A_TIME // n)
    for start in range(0, n, step):
        block = groups[start : start + step]
        for i, relevant in enumerate(are_relevant(affinity, block, groups)):
            yield start + i, relevant


def _sample_partners(rows, pool, most, random_state):
    if len(pool) <= most:
        return np.repeat(rows, len(pool)), np.tile(pool, len(rows))
    if len(pool) > _OFTEN * most:
        chosen = pool[random_state.randint(len(pool), size=(len(rows), most))]
        return np.repeat(rows, most), chosen.ravel()
    step = max(1, _NUMBERS_AT_A_TIME // len(pool))
    chosen = []
    for start in range(0, len(rows), step):
        keys = random_state.random_sample((len(rows[start : start + step]), len(pool)))
        chosen.append(np.argpartition(keys, most, axis=1)[:, :most])
    return np.repeat(rows, most), pool[np.concatenate(chosen).ravel()]


def _find_blocks(affinity, groups, group_of, members, random_state):
    """Number of the block of each row: greedily, groups that are all relevant to each other."""
    block_of = np.full(len(group_of), -1)
    is_free = np.ones(len(members), dtype=bool)
    n_blocks = 0
    for group in np.argsort([-len(rows) for rows in members], kind="stable"):
        if not is_free[group]:
            continue
        is_free[group] = False
        candidates = np.concatenate([[group], np.flatnonzero(is_free)])
        relevant = are_relevant(affinity, groups[[group]], groups[candidates])[0]
        if not relevant[0]:  # not even rows of its own are
            block_of[members[group]] = n_blocks + np.arange(len(members[group]))
            n_blocks += len(members[group])
            continue
        candidates = candidates[relevant][:_LARGEST_BLOCK]
        chosen = [0]
        if len(candidates) > 1:
            mutual = are_relevant(affinity, groups[candidates], groups[candidates])
            mutual &= mutual.T
            is_open = mutual[0] & mutual.diagonal()
            is_open[0] = False
            while is_open.any():
                chosen.append(int(is_open.argmax()))
                is_open &= mutual[chosen[-1]]
                is_open[chosen[-1]] = False
        is_free[candidates[chosen]] = False
        rows = np.concatenate([members[other] for other in candidates[chosen]])
        n_parts = -(-len(rows) // _LARGEST_BLOCK)
        if n_parts > 1:
            rows = random_state.permutation(rows)
        for part in np.array_split(rows, n_parts):
            block_of[part] = n_blocks
            n_blocks += 1
    return block_of
