"""Histograms of shards: what adds up was judged alike, and the same rule adds up to the whole."""

from collections import Counter

import numpy as np
from sklearn.base import clone

from sklearn_hashrank import (
    EuclideanAffinity,
    HierarchicalAffinity,
    LabelAffinity,
    NeighborAffinity,
    SharedLabelAffinity,
    retrieval_histogram,
)

_RULES = (
    LabelAffinity(),
    SharedLabelAffinity(),
    HierarchicalAffinity(),
    EuclideanAffinity((50, 20), (1, 2)),
    EuclideanAffinity((50, 20), (1, 3)),
    EuclideanAffinity((90, 20), (1, 2)),
    NeighborAffinity(2),
    NeighborAffinity(2, metric="euclidean"),
)


class ShardError(AssertionError):
    """Histograms that were judged differently and added up, or alike and did not."""


def fuzz_shards(n_cases: int, seed: int, first: int = 0) -> Counter:
    """Add histograms of two shards, each with a rule of its own.

    Returns
    -------
    counts : Counter
        Of sums that were refused and of sums that were made.
    """
    counts: Counter = Counter()
    for case in range(first, first + n_cases):
        try:
            counts[_add(np.random.default_rng((seed, case)))] += 1
        except Exception as error:
            raise ShardError(f"case {case}, seed {seed}: {type(error).__name__} {error}") from error
    return counts


def _add(rng) -> str:
    y = rng.integers(0, 2, (int(rng.integers(8, 30)), int(rng.integers(2, 5)))).astype(int)
    y[:, 0] = 1  # no row of zeros, and label sets of more than one label
    codes = rng.integers(0, 2, (len(y), 6), dtype=np.uint8)
    n_queries, middle = 3, len(y) // 2
    shards = [slice(0, middle), slice(middle, len(y))]
    rules = [clone(_RULES[rng.integers(len(_RULES))]) for _ in shards]
    if rng.random() < 0.3:
        rules[1] = clone(rules[0])
    rows = [y if rng.random() < 0.5 else y[shard] for shard in shards]
    for rule, fitted_on in zip(rules, rows):
        if isinstance(rule, LabelAffinity):
            continue
        rule.fit(fitted_on)

    def count(rule, shard):
        values = y[:, 1] if isinstance(rule, LabelAffinity) else y
        return retrieval_histogram(
            codes[:n_queries], codes[shard], values[:n_queries], values[shard], affinity=rule
        )

    parts = [count(rule, shard) for rule, shard in zip(rules, shards)]
    try:
        total = sum(parts)
    except ValueError:
        if rules[0] is rules[1] or (rows[0] is rows[1] is y and repr(rules[0]) == repr(rules[1])):
            raise
        return "refused"
    whole = count(rules[0], slice(None))
    if not np.array_equal(total.counts, whole.counts):
        raise ShardError(f"{rules} were judged differently and added up.")
    return "added"
