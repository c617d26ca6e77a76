"""The measures of what lies within a Hamming radius, where tie t is distance t."""

from functools import lru_cache

import numpy as np

from ._registry import measure_of_package
from ._ties import Array, Ties, ratio


@measure_of_package("lookup_precision_score", short_name="ph2", label="precision within radius")
def lookup_precision(ties: Ties, radius: int = 2) -> Array:
    """Return the relevant share of the items within `radius`, 0 where there are none."""
    return ratio(_within(ties.relevant, radius), _within(ties.total, radius))


@measure_of_package("lookup_recall_score", label="recall within radius")
def lookup_recall(ties: Ties, radius: int = 2) -> Array:
    """Return the share of all relevant items that lies within `radius`."""
    return ratio(_within(ties.relevant, radius), ties.n_relevant)


@measure_of_package(
    "average_cumulative_gain_score", short_name="acg", label="ACG", is_share=False, is_graded=True
)
def average_cumulative_gain(ties: Ties, radius: int = 3) -> Array:
    """Return the mean level of the items within `radius`, 0 where there are none."""
    gains = np.einsum("v,qvt->q", ties.levels, ties.counts[:, :, : radius + 1])
    return ratio(gains, _within(ties.total, radius))


@measure_of_package(
    "local_group_average_precision_score", short_name="mlgap", label="LGAP", needs_codes=True
)
def local_group_average_precision(ties: Ties, radius: int = 2) -> Array:
    """Return precision within 0, 1, ... `radius`, each times the evenness of the codes there, mean.

    Evenness is the number of items in the ball over what it would hold if each of its codes had
    as many items as the fullest one. An empty ball counts 0. Beyond the length of the codes the
    ball is the whole space, and grows no more.
    """
    assert ties.peaks is not None
    n_bits = ties.total.shape[1] - 1
    last = min(radius, n_bits)
    relevant = np.cumsum(ties.relevant[:, : last + 1], axis=1)
    fullest = np.maximum.accumulate(ties.peaks[:, : last + 1], axis=1)
    # The number of items in the ball cancels: precision is relevant / items.
    terms = ratio(relevant, fullest) * _inverse_ball_sizes(n_bits, last)
    return (terms.sum(axis=1) + (radius - last) * terms[:, -1]) / (radius + 1)


def _within(values: Array, radius: int) -> Array:
    return values[:, : radius + 1].sum(axis=1)


@lru_cache(maxsize=64)
def _inverse_ball_sizes(n_bits: int, radius: int) -> Array:
    """1 / (number of codes within 0, 1, ... `radius`): exact integers, which cannot overflow."""
    inverses, size, n_codes = [], 0, 1
    for distance in range(radius + 1):
        size += n_codes
        inverses.append(1 / size)
        n_codes = n_codes * (n_bits - distance) // (distance + 1)
    return np.array(inverses)
