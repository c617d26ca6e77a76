"""Tie-aware NDCG of soft counts, in four relaxations."""

from collections.abc import Callable
from typing import ClassVar

import numpy as np
from scipy.special import expi
from sklearn.utils._param_validation import StrOptions

from ...metrics._gains import ideal_dcg, level_gains
from ...metrics._sums import DISCOUNTS
from ._average_precision import RELAXATIONS
from ._base import RankingObjective
from ._floor import floored
from ._ties import SoftTies, TieValues

LN2 = float(np.log(2))

Limit = tuple[np.ndarray, np.ndarray | float]


class NDCG(RankingObjective):
    r"""Tie-aware NDCG with gain 2^level - 1 and discount 1 / log2(rank + 1), of soft counts.

    With the gain g and the number c of items in a bin, and the sum C of the numbers up to a bin,
    the relaxations are [1]_:

    ``"simplified"``
        Each tie is discounted by its middle rank:
        DCG = sum_d g_d / log2(C_{d-1} + (c_d + 1)/2 + 1).
    ``"arxiv"``
        Equation (8) of the arXiv version: the mean discount of a tie is the integral of 1 / log2 t
        from C_{d-1} + 2 to C_d + 1, divided by c_d. C_d, and c_d in the denominator, are at least
        0.5.
    ``"cvpr"``
        Equation (12) of the CVPR version: the integral from C_{d-1} + 1 to C_d + 1. C_{d-1} is at
        least 0.5 as well.
    ``"exact"``
        The tie-aware NDCG itself, the cumulative discount interpolated linearly between ranks. It
        is equal to tie-aware NDCG if the histogram is integer.

    Parameters
    ----------
    relaxation : {"simplified", "arxiv", "cvpr", "exact"}, default="exact"
        How the measure is extended to soft counts.
    alpha : float, default=2.0
        Steepness of the relaxed codes ``tanh(alpha * scores)``, for scores of about unit variance.
        The arXiv version writes them as ``2 * sigmoid(a * scores) - 1``, with `a` twice this.
    alpha_end : float or None, default=None
        Steepness at the end of the training; it changes geometrically. None: it does not change.
    n_bins : int, "auto" or None, default="auto"
        Steps between the first and the last bin of the soft histogram. ``"auto"`` is the smaller
        of the number of bits and 16, or 64 when learning from nearest rows. None is one step per
        bit, as published.
    delta : float, default=1.0
        Half-width of the triangular bins, in bins.
    n_jobs : int or None, default=None
        Threads over the rows of large batches. None means 1 unless in a
        :obj:`joblib.parallel_config` context, -1 means all processors. Results do not depend on it.

    References
    ----------
    .. [1] K. He, F. Cakir, S. A. Bargal, S. Sclaroff, "Hashing as tie-aware learning to rank",
       CVPR 2018 and arXiv:1705.08562.

    Examples
    --------
    Two levels in three bins:

    >>> import numpy as np
    >>> from sklearn_hashrank.objectives import NDCG
    >>> counts = np.array([[[0.0, 1.0, 2.0], [2.0, 0.5, 0.5]]])
    >>> levels, n_items = np.array([0, 1]), counts.sum(axis=2)
    >>> for relaxation in ("simplified", "arxiv", "cvpr", "exact"):
    ...     value, gradient = NDCG(relaxation=relaxation).evaluate_counts(counts, levels, n_items)
    ...     print(f"{relaxation}: {value[0]:.3f}")
    simplified: 0.911
    arxiv: 0.455
    cvpr: 0.882
    exact: 0.967
    """

    measure = "ndcg"
    _parameter_constraints: ClassVar[dict] = {
        **RankingObjective._parameter_constraints,
        "relaxation": [StrOptions(set(RELAXATIONS))],
    }

    def __init__(
        self,
        *,
        relaxation: str = "exact",
        alpha: float = 2.0,
        alpha_end: float | None = None,
        n_bins: int | str | None = "auto",
        delta: float = 1.0,
        n_jobs: int | None = None,
    ):
        super().__init__(
            alpha=alpha, alpha_end=alpha_end, n_bins=n_bins, delta=delta, n_jobs=n_jobs
        )
        self.relaxation = relaxation

    @property
    def dtype(self) -> type | None:  # type: ignore[override]
        """Precision of the counts given to :meth:`tie`: sums of "exact" need float64."""
        return np.float64 if self.relaxation == "exact" else None

    def level_gain(self, levels: np.ndarray) -> np.ndarray:
        """Return 2^level - 1 in units of 2^(highest level): NDCG is the same, nothing overflows.

        Parameters
        ----------
        levels : ndarray of shape (n_levels,)
            The affinity levels, 0 for irrelevant.

        Returns
        -------
        gain : ndarray of shape (n_levels,)
        """
        return level_gains(levels, scaled=True)

    def ideal(self, levels: np.ndarray, n_items: np.ndarray) -> np.ndarray:
        """Return the DCG of the ranking sorted by level.

        Parameters
        ----------
        levels : ndarray of shape (n_levels,)
            The affinity levels, 0 for irrelevant.
        n_items : ndarray of shape (M, n_levels)
            Number of items of each level that each query is ranked against.

        Returns
        -------
        ideal : ndarray of shape (M,)
        """
        return ideal_dcg(n_items, self.level_gain(levels))

    def tie(self, ties: SoftTies) -> TieValues:
        """Return the contribution of every tie and its partial derivatives.

        Parameters
        ----------
        ties : SoftTies
            Gain and number of items, in and before each tie.

        Returns
        -------
        values : TieValues
        """
        if self.relaxation == "simplified":
            return _simplified(ties)
        if self.relaxation == "exact":
            return _exact(ties)
        return _integral(ties, _arxiv_limits if self.relaxation == "arxiv" else _cvpr_limits)


def _simplified(ties: SoftTies) -> TieValues:
    rank = ties.before + ties.total / 2 + ties.total.dtype.type(1.5)
    discount = 1 / np.log2(rank)
    value = ties.gain * discount
    by_rank = value * discount / (-LN2 * rank)
    return TieValues(value, discount, None, by_rank / 2, by_rank)


def _integral(ties: SoftTies, limits_of: Callable[..., tuple[Limit, Limit]]) -> TieValues:
    """The mean discount of a tie is an integral of 1 / log2 t, divided by c_d.

    `limits_of` gives the limits t of the integral, upper and lower, each with its derivative.
    """
    divisor, divisor_slope = floored(ties.total)
    limits = limits_of(ties.before + ties.total, ties.before)
    (upper, upper_slope), (lower, lower_slope) = limits
    log_upper, log_lower = np.log(upper), np.log(lower)
    mean = LN2 * (expi(log_upper) - expi(log_lower)) / divisor  # Li(x) = Ei(ln x)
    value = ties.gain * mean
    share = LN2 * ties.gain / divisor
    by_upper = share * upper_slope / log_upper
    by_lower = share * lower_slope / log_lower
    by_total = by_upper - value / divisor * divisor_slope
    return TieValues(value, mean, None, by_total, by_upper - by_lower)


def _arxiv_limits(after, before):
    """Return the limits of equation (8)."""
    upper, upper_slope = floored(after)
    return (upper + 1, upper_slope), (before + 2, 1)


def _cvpr_limits(after, before):
    """Return the limits of equation (12)."""
    upper, upper_slope = floored(after)
    lower, lower_slope = floored(before)
    return (upper + 1, upper_slope), (lower + 1, lower_slope)


def _exact(ties: SoftTies) -> TieValues:
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
