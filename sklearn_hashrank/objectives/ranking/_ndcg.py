"""Relaxations of tie-aware NDCG with gain 2^level - 1 and discount 1 / log2(rank + 1)."""

import numpy as np
from scipy.special import expi

from ._base import Objective, Ties, TieValues, cumulative_discount, ideal_dcg
from ._floor import floored, quotient

LN2 = float(np.log(2))

Limit = tuple[np.ndarray, np.ndarray | float]


class _NDCG(Objective):
    measure = "ndcg"

    def level_gain(self, levels):
        """Return 2^level - 1 in units of 2^(highest level): NDCG is the same, nothing overflows."""
        highest = levels.max()
        return np.exp2(levels - highest) - np.exp2(-highest)

    def ideal(self, levels, n_items):
        """Return the DCG of the ranking sorted by level."""
        return ideal_dcg(self.level_gain(levels), n_items)


class SimplifiedNDCG(_NDCG):
    """Each tie is discounted by its middle rank.

    DCG = sum_d g_d / log2(C_{d-1} + (c_d + 1)/2 + 1), g_d the gain in bin d.
    """

    relaxation = "simplified"

    def tie(self, ties: Ties) -> TieValues:
        """Return the contributions of the ties."""
        rank = ties.items_before + ties.items / 2 + ties.items.dtype.type(1.5)
        discount = 1 / np.log2(rank)
        value = ties.gain * discount
        by_rank = value * discount / (-LN2 * rank)
        return TieValues(value, discount, None, by_rank / 2, by_rank)


class _IntegralNDCG(_NDCG):
    """The mean discount of a tie is an integral of 1 / log2 t, divided by c_d."""

    def limits(self, after: np.ndarray, before: np.ndarray) -> tuple[Limit, Limit]:
        """Return the limits t of the integral, upper and lower, each with its derivative."""
        raise NotImplementedError

    def tie(self, ties: Ties) -> TieValues:
        """Return the contributions of the ties."""
        divisor, divisor_slope = floored(ties.items)
        limits = self.limits(ties.items_before + ties.items, ties.items_before)
        (upper, upper_slope), (lower, lower_slope) = limits
        log_upper, log_lower = np.log(upper), np.log(lower)
        mean = LN2 * (expi(log_upper) - expi(log_lower)) / divisor  # Li(x) = Ei(ln x)
        value = ties.gain * mean
        share = LN2 * ties.gain / divisor
        by_upper = share * upper_slope / log_upper
        by_lower = share * lower_slope / log_lower
        by_items = by_upper - value / divisor * divisor_slope
        return TieValues(value, mean, None, by_items, by_upper - by_lower)


class ArxivNDCG(_IntegralNDCG):
    """Equation (8) of the arXiv version: the integral from C_{d-1} + 2 to C_d + 1.

    C_d, and c_d in the denominator, are not less than `FLOOR`.
    """

    relaxation = "arxiv"

    def limits(self, after, before):
        """Return the limits of equation (8)."""
        upper, upper_slope = floored(after)
        return (upper + 1, upper_slope), (before + 2, 1)


class CvprNDCG(_IntegralNDCG):
    """Equation (12) of the CVPR version: the integral from C_{d-1} + 1 to C_d + 1.

    C_d, C_{d-1}, and c_d in the denominator, are not less than `FLOOR`.
    """

    relaxation = "cvpr"

    def limits(self, after, before):
        """Return the limits of equation (12)."""
        upper, upper_slope = floored(after)
        lower, lower_slope = floored(before)
        return (upper + 1, upper_slope), (lower + 1, lower_slope)


class ExactNDCG(_NDCG):
    """The tie-aware NDCG itself, the cumulative discount interpolated linearly between ranks.

    Equal to tie-aware NDCG wherever the histogram is integer.
    """

    relaxation = "exact"
    dtype = np.float64

    def tie(self, ties: Ties) -> TieValues:
        """Return the contributions of the ties."""
        after = ties.items_before + ties.items
        table = cumulative_discount(int(after.max(initial=0.0)) + 1)
        stop, discount_stop = _interpolate(table, after)
        start, discount_start = _interpolate(table, ties.items_before)
        same_rank = discount_stop == discount_start
        mean = np.where(same_rank, discount_start, quotient(stop - start, ties.items))
        per_item = quotient(ties.gain, ties.items)
        by_items = per_item * (discount_stop - mean)
        by_before = per_item * (discount_stop - discount_start)
        return TieValues(ties.gain * mean, mean, None, by_items, by_before)


def _interpolate(table: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the table at real x, and the slope there (to the right on an integer)."""
    rank = x.astype(np.intp)
    slope = table[rank + 1] - table[rank]
    return table[rank] + (x - rank) * slope, slope
