"""Relaxations of tie-aware NDCG with gain 2^level - 1 and discount 1 / log2(rank + 1)."""

import numpy as np
from scipy.special import expi

from ...metrics._gains import ideal_dcg, level_gains
from ...metrics._sums import DISCOUNTS
from ._base import Objective
from ._floor import floored
from ._ties import SoftTies, TieValues

LN2 = float(np.log(2))

Limit = tuple[np.ndarray, np.ndarray | float]


class _NDCG(Objective):
    name = measure = "ndcg"

    def level_gain(self, levels):
        """Return 2^level - 1 in units of 2^(highest level): NDCG is the same, nothing overflows."""
        return level_gains(levels, scaled=True)

    def ideal(self, levels, n_items):
        """Return the DCG of the ranking sorted by level."""
        return ideal_dcg(n_items, self.level_gain(levels))


class SimplifiedNDCG(_NDCG):
    """Each tie is discounted by its middle rank.

    DCG = sum_d g_d / log2(C_{d-1} + (c_d + 1)/2 + 1), g_d the gain in bin d.

    Parameters
    ----------
    alpha : float, default=2.0
        Steepness of the relaxed codes ``tanh(alpha * scores)``, for scores of about unit variance.
        The arXiv version writes them as ``2 * sigmoid(a * scores) - 1``, with `a` twice this.
    alpha_end : float or None, default=None
        Steepness at the end of the training; it changes geometrically. None: it does not change.
    n_bins : int, "auto" or None, default="auto"
        Steps between the first and the last bin of the soft histogram. ``"auto"`` is the
        smaller of the number of bits and 16, None one step per bit, as printed.
    delta : float, default=1.0
        Half-width of the triangular bins, in bins.
    n_jobs : int or None, default=None
        Threads over the rows of large batches. None means 1 unless in a
        :obj:`joblib.parallel_config` context, -1 means all processors. Results do not depend on it.

    Examples
    --------
    Two levels in three bins:

    >>> import numpy as np
    >>> from sklearn_hashrank import objectives
    >>> counts = np.array([[[0.0, 1.0, 2.0], [2.0, 0.5, 0.5]]])
    >>> levels, n_items = np.array([0, 1]), counts.sum(axis=2)
    >>> objectives.SimplifiedNDCG().evaluate_counts(counts, levels, n_items)[0].round(3)
    array([0.911])
    """

    relaxation = "simplified"

    def tie(self, ties: SoftTies) -> TieValues:
        """Return the contributions of the ties."""
        rank = ties.before + ties.total / 2 + ties.total.dtype.type(1.5)
        discount = 1 / np.log2(rank)
        value = ties.gain * discount
        by_rank = value * discount / (-LN2 * rank)
        return TieValues(value, discount, None, by_rank / 2, by_rank)


class _IntegralNDCG(_NDCG):
    """The mean discount of a tie is an integral of 1 / log2 t, divided by c_d."""

    def _limits(self, after: np.ndarray, before: np.ndarray) -> tuple[Limit, Limit]:
        """Return the limits t of the integral, upper and lower, each with its derivative."""
        raise NotImplementedError

    def tie(self, ties: SoftTies) -> TieValues:
        """Return the contributions of the ties."""
        divisor, divisor_slope = floored(ties.total)
        limits = self._limits(ties.before + ties.total, ties.before)
        (upper, upper_slope), (lower, lower_slope) = limits
        log_upper, log_lower = np.log(upper), np.log(lower)
        mean = LN2 * (expi(log_upper) - expi(log_lower)) / divisor  # Li(x) = Ei(ln x)
        value = ties.gain * mean
        share = LN2 * ties.gain / divisor
        by_upper = share * upper_slope / log_upper
        by_lower = share * lower_slope / log_lower
        by_total = by_upper - value / divisor * divisor_slope
        return TieValues(value, mean, None, by_total, by_upper - by_lower)


class ArxivNDCG(_IntegralNDCG):
    """Equation (8) of the arXiv version: the integral from C_{d-1} + 2 to C_d + 1.

    C_d, and c_d in the denominator, are not less than `FLOOR`.

    Parameters
    ----------
    alpha : float, default=2.0
        Steepness of the relaxed codes ``tanh(alpha * scores)``, for scores of about unit variance.
        The arXiv version writes them as ``2 * sigmoid(a * scores) - 1``, with `a` twice this.
    alpha_end : float or None, default=None
        Steepness at the end of the training; it changes geometrically. None: it does not change.
    n_bins : int, "auto" or None, default="auto"
        Steps between the first and the last bin of the soft histogram. ``"auto"`` is the
        smaller of the number of bits and 16, None one step per bit, as printed.
    delta : float, default=1.0
        Half-width of the triangular bins, in bins.
    n_jobs : int or None, default=None
        Threads over the rows of large batches. None means 1 unless in a
        :obj:`joblib.parallel_config` context, -1 means all processors. Results do not depend on it.

    Examples
    --------
    Two levels in three bins:

    >>> import numpy as np
    >>> from sklearn_hashrank import objectives
    >>> counts = np.array([[[0.0, 1.0, 2.0], [2.0, 0.5, 0.5]]])
    >>> levels, n_items = np.array([0, 1]), counts.sum(axis=2)
    >>> objectives.ArxivNDCG().evaluate_counts(counts, levels, n_items)[0].round(3)
    array([0.455])
    """

    relaxation = "arxiv"

    def _limits(self, after, before):
        """Return the limits of equation (8)."""
        upper, upper_slope = floored(after)
        return (upper + 1, upper_slope), (before + 2, 1)


class CvprNDCG(_IntegralNDCG):
    """Equation (12) of the CVPR version: the integral from C_{d-1} + 1 to C_d + 1.

    C_d, C_{d-1}, and c_d in the denominator, are not less than `FLOOR`.

    Parameters
    ----------
    alpha : float, default=2.0
        Steepness of the relaxed codes ``tanh(alpha * scores)``, for scores of about unit variance.
        The arXiv version writes them as ``2 * sigmoid(a * scores) - 1``, with `a` twice this.
    alpha_end : float or None, default=None
        Steepness at the end of the training; it changes geometrically. None: it does not change.
    n_bins : int, "auto" or None, default="auto"
        Steps between the first and the last bin of the soft histogram. ``"auto"`` is the
        smaller of the number of bits and 16, None one step per bit, as printed.
    delta : float, default=1.0
        Half-width of the triangular bins, in bins.
    n_jobs : int or None, default=None
        Threads over the rows of large batches. None means 1 unless in a
        :obj:`joblib.parallel_config` context, -1 means all processors. Results do not depend on it.

    Examples
    --------
    Two levels in three bins:

    >>> import numpy as np
    >>> from sklearn_hashrank import objectives
    >>> counts = np.array([[[0.0, 1.0, 2.0], [2.0, 0.5, 0.5]]])
    >>> levels, n_items = np.array([0, 1]), counts.sum(axis=2)
    >>> objectives.CvprNDCG().evaluate_counts(counts, levels, n_items)[0].round(3)
    array([0.882])
    """

    relaxation = "cvpr"

    def _limits(self, after, before):
        """Return the limits of equation (12)."""
        upper, upper_slope = floored(after)
        lower, lower_slope = floored(before)
        return (upper + 1, upper_slope), (lower + 1, lower_slope)


class ExactNDCG(_NDCG):
    """The tie-aware NDCG itself, the cumulative discount interpolated linearly between ranks.

    Equal to tie-aware NDCG wherever the histogram is integer.

    Parameters
    ----------
    alpha : float, default=2.0
        Steepness of the relaxed codes ``tanh(alpha * scores)``, for scores of about unit variance.
        The arXiv version writes them as ``2 * sigmoid(a * scores) - 1``, with `a` twice this.
    alpha_end : float or None, default=None
        Steepness at the end of the training; it changes geometrically. None: it does not change.
    n_bins : int, "auto" or None, default="auto"
        Steps between the first and the last bin of the soft histogram. ``"auto"`` is the
        smaller of the number of bits and 16, None one step per bit, as printed.
    delta : float, default=1.0
        Half-width of the triangular bins, in bins.
    n_jobs : int or None, default=None
        Threads over the rows of large batches. None means 1 unless in a
        :obj:`joblib.parallel_config` context, -1 means all processors. Results do not depend on it.

    Examples
    --------
    Two levels in three bins:

    >>> import numpy as np
    >>> from sklearn_hashrank import objectives
    >>> counts = np.array([[[0.0, 1.0, 2.0], [2.0, 0.5, 0.5]]])
    >>> levels, n_items = np.array([0, 1]), counts.sum(axis=2)
    >>> objectives.ExactNDCG().evaluate_counts(counts, levels, n_items)[0].round(3)
    array([0.967])
    """

    relaxation = "exact"
    is_best_relaxation = True
    dtype = np.float64

    def tie(self, ties: SoftTies) -> TieValues:
        """Return the contributions of the ties."""
        after = ties.before + ties.total
        table = DISCOUNTS["log2p1"].prefix(int(after.max(initial=0.0)) + 1)
        steps = np.diff(table)
        stop, discount_stop = _interpolate(table, steps, after)
        start, discount_start = _interpolate(table, steps, ties.before)
        change = discount_stop - discount_start
        divisor = np.where(ties.total > 0, ties.total, 1)  # of a tie without items and gain
        mean = np.where(change == 0, discount_start, (stop - start) / divisor)
        per_item = ties.gain / divisor
        by_total = per_item * (discount_stop - mean)
        by_before = per_item * change
        return TieValues(ties.gain * mean, mean, None, by_total, by_before)


def _interpolate(
    table: np.ndarray, steps: np.ndarray, x: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the table at real x, and the slope there (to the right on an integer)."""
    rank = x.astype(np.intp)
    slope = steps.take(rank)
    return table.take(rank) + (x - rank) * slope, slope
