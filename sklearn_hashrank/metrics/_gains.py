"""Gains of relevance levels, and the ideal DCG."""

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ._sums import DISCOUNTS, Discount
from ._ties import Array

Gain = Literal["exponential", "linear"]

_LN2 = float(np.log(2))
_LARGEST = 1e280  # leaves room for sums over any number of items


def level_gains(levels: Array, gain: Gain = "exponential", *, scaled: bool = False) -> Array:
    """Return what an item of each level gains, to all digits for levels near 0 as well.

    Scaled, exponential gains are divided by 2 to the power of the highest level: NDCG is the same,
    and nothing overflows.
    """
    if gain == "linear":
        return levels
    highest = levels.max() if scaled else 0.0
    with np.errstate(over="ignore"):
        gains = np.exp2(levels - highest) - np.exp2(-highest)
    small = (levels > 0) & (levels < 1)  # their digits are lost in the difference
    if small.any():
        gains[small] = np.expm1(levels[small] * _LN2) * np.exp2(-highest)
    if gains.max() > _LARGEST:
        raise ValueError(
            "gain='exponential' overflows for levels above 930; gain='linear' does not. "
            f"Got a level of {levels.max()}."
        )
    return gains


def ideal_dcg(
    n_items: NDArray[Any], gains: Array, k: int | None = None, discount: Discount = "log2p1"
) -> Array:
    """Return the discounted cumulative gain of the ranking that sorts items by gain.

    `n_items`, (n_queries, n_levels), are whole numbers. A query without gain has 0.
    """
    best_first = np.argsort(-gains, kind="stable")[: np.count_nonzero(gains > 0)]
    stops = np.cumsum(n_items[:, best_first], axis=1, dtype=np.float64)
    edges = np.concatenate([np.zeros((len(stops), 1)), stops], axis=1)
    return (DISCOUNTS[discount].between(cut_at(edges, k)) * gains[best_first]).sum(axis=1)


def cut_at(edges: Array, k: int | None) -> Array:
    """Return ranks, none of them beyond `k`."""
    return edges if k is None else np.minimum(edges, k)
