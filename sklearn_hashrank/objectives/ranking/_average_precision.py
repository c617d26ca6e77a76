"""Relaxations of tie-aware average precision. Relevant means level > 0."""

import numpy as np
from scipy.special import digamma

from ._base import Objective, Ties, TieValues
from ._floor import FLOOR, floored, quotient


class _AveragePrecision(Objective):
    measure = "ap"

    def level_gain(self, levels):
        """Return 1 for relevant levels."""
        return (levels > 0).astype(np.float64)

    def ideal(self, levels, n_items):
        """Return the number of relevant items."""
        return n_items[:, levels > 0].sum(axis=1).astype(np.float64)


class SimplifiedAP(_AveragePrecision):
    """Each tie counts as if met at its middle rank; no logarithm and no pole.

    AP = 1/N_rel sum_d c+_d (C+_{d-1} + C+_d + 1) / (C_{d-1} + C_d + 1).
    """

    relaxation = "simplified"

    def tie(self, ties: Ties) -> TieValues:
        """Return the contributions of the ties."""
        gain, gain_before, items, items_before = ties
        two_ranks = 2 * items_before
        two_ranks += items
        two_ranks += 1
        per_rank = gain / two_ranks
        precision = 2 * gain_before
        precision += gain
        precision += 1
        precision /= two_ranks
        value = gain * precision
        by_items = per_rank * precision
        np.negative(by_items, out=by_items)
        return TieValues(value, precision + per_rank, 2 * per_rank, by_items, 2 * by_items)


class _IntegralAP(_AveragePrecision):
    """c+ rho + c+/c [C+_{d-1} + 1 - rho (C_{d-1} + 1)] log, rho = (c+ - 1) / (c - 1)."""

    def logarithm(self, after: np.ndarray, before: np.ndarray) -> tuple[np.ndarray, ...]:
        """Return the integral of 1/t over the tie, and its derivatives by C_d and C_{d-1}."""
        raise NotImplementedError

    def tie(self, ties: Ties) -> TieValues:
        """Return the contributions of the ties."""
        gain, gain_before, items, items_before = ties
        rho, rho_gain, rho_items = _relevance_of_the_others(gain, items, FLOOR)
        divisor, divisor_slope = floored(items)
        purity = gain / divisor
        log, log_after, log_before = self.logarithm(items_before + items, items_before)
        first = gain_before + 1 - rho * (items_before + 1)
        by_rho = gain - purity * (items_before + 1) * log
        by_log = purity * first
        return TieValues(
            gain * rho + by_log * log,
            rho + first * log / divisor + by_rho * rho_gain,
            purity * log,
            by_rho * rho_items - by_log * log / divisor * divisor_slope + by_log * log_after,
            by_log * (log_after + log_before) - purity * rho * log,
        )


class ArxivAP(_IntegralAP):
    """Equation (7) of the arXiv version: the sum of 1/t is ln(C_d) - ln(C_{d-1} + 1).

    C_d, c_d in the denominator and c_d - 1 are not less than `FLOOR`.
    """

    relaxation = "arxiv"

    def logarithm(self, after, before):
        """Return the integral from C_{d-1} + 1 to C_d."""
        upper, upper_slope = floored(after)
        return np.log(upper / (before + 1)), upper_slope / upper, -1 / (before + 1)


class CvprAP(_IntegralAP):
    """Equation (11) of the CVPR version: the sum of 1/t is ln(C_d) - ln(C_{d-1}).

    C_d, C_{d-1}, c_d in the denominator and c_d - 1 are not less than `FLOOR`.
    """

    relaxation = "cvpr"

    def logarithm(self, after, before):
        """Return the integral from C_{d-1} to C_d."""
        upper, upper_slope = floored(after)
        lower, lower_slope = floored(before)
        return np.log(upper / lower), upper_slope / upper, -lower_slope / lower


class ExactAP(_AveragePrecision):
    """The tie-aware average precision itself, its sums extended to real limits by digamma.

    Equal to tie-aware AP wherever the histogram is integer.
    """

    relaxation = "exact"
    dtype = np.float64

    def tie(self, ties: Ties) -> TieValues:
        """Return the contributions of the ties."""
        from ..._kernels.special import trigamma

        gain, gain_before, items, items_before = ties
        rho, rho_gain, rho_items = _relevance_of_the_others(gain, items, 0.0)
        purity = quotient(gain, items)
        limits = np.concatenate([items_before, items_before[:, -1:] + items[:, -1:]], axis=1) + 1
        slopes = trigamma(limits.ravel()).reshape(limits.shape)
        start, stop = slopes[:, :-1], slopes[:, 1:]
        # Mean of 1/t over the tie. A tie of almost no items: the quotient cancels, its limit holds.
        inverse_rank = np.where(
            items > 1e-5, quotient(np.diff(digamma(limits), axis=1), items), (start + stop) / 2
        )
        first = gain_before + 1 - rho * (items_before + 1)
        by_rho = gain * (1 - (items_before + 1) * inverse_rank)
        return TieValues(
            gain * (rho + first * inverse_rank),
            rho + first * inverse_rank + by_rho * rho_gain,
            gain * inverse_rank,
            by_rho * rho_items + first * purity * (stop - inverse_rank),
            first * purity * (stop - start) - gain * rho * inverse_rank,
        )


def _relevance_of_the_others(
    gain: np.ndarray, items: np.ndarray, floor: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return rho = (c+ - 1) / (c - 1), kept in [0, 1], and its derivatives by c+ and c."""
    others = items - 1
    divisor = np.maximum(others, floor)
    rho = np.divide(gain - 1, divisor, out=np.zeros_like(gain), where=others > 0)
    inside = (rho > 0) & (rho <= 1)
    slope = np.divide(1, divisor, out=np.zeros_like(gain), where=inside)
    return np.clip(rho, 0, 1), slope, -rho * slope * (others > floor)
