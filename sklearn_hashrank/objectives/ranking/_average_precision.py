"""Tie-aware average precision of soft counts, in four relaxations. Relevant means level > 0."""

from collections.abc import Callable
from typing import ClassVar

import numpy as np
from scipy.special import digamma
from sklearn.utils._param_validation import StrOptions

from ... import _kernels
from ...metrics._ties import ratio
from ._base import RankingObjective
from ._floor import FLOOR, floored
from ._ties import SoftTies, TieValues

RELAXATIONS = ("simplified", "arxiv", "cvpr", "exact")


class AveragePrecision(RankingObjective):
    r"""Tie-aware average precision, extended from whole to soft counts.

    With the numbers c and c+ of items and of relevant items in a bin, and their sums C and C+ up to
    a bin, the relaxations are [1]_:

    ``"simplified"``
        Each tie counts as if met at its middle rank, with no logarithm and no pole:
        AP = 1/N_rel sum_d c+_d (C+_{d-1} + C+_d + 1) / (C_{d-1} + C_d + 1).
    ``"arxiv"``
        Equation (7) of the arXiv version: the sum of 1/t is ln(C_d) - ln(C_{d-1} + 1). C_d, c_d in
        the denominator and c_d - 1 are at least 0.5, and the relevant share of the other items of
        the tie, (c+_d - 1) / (c_d - 1), is kept in [0, 1]. As published it is negative where
        c+_d < 1: for 4.5 irrelevant items and half a relevant one in a single bin, (7) is 0.119
        and this is 0.161.
    ``"cvpr"``
        Equation (11) of the CVPR version: the sum of 1/t is ln(C_d) - ln(C_{d-1}). C_{d-1} is at
        least 0.5 as well.
    ``"exact"``
        The tie-aware average precision itself, its sums extended to real limits by digamma. It is
        equal to tie-aware AP if the histogram is integer.

    Parameters
    ----------
    relaxation : {"simplified", "arxiv", "cvpr", "exact"}, default="simplified"
        How the measure is extended to soft counts. All do equally well.
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
    >>> from sklearn_hashrank.objectives import AveragePrecision
    >>> counts = np.array([[[0.0, 1.0, 2.0], [2.0, 0.5, 0.5]]])
    >>> levels, n_items = np.array([0, 1]), counts.sum(axis=2)
    >>> for relaxation in ("simplified", "arxiv", "cvpr", "exact"):
    ...     objective = AveragePrecision(relaxation=relaxation)
    ...     value, gradient = objective.evaluate_counts(counts, levels, n_items)
    ...     print(f"{relaxation}: {value[0]:.3f}")
    simplified: 0.911
    arxiv: 0.785
    cvpr: 0.979
    exact: 0.935
    """

    measure = "ap"
    _parameter_constraints: ClassVar[dict] = {
        **RankingObjective._parameter_constraints,
        "relaxation": [StrOptions(set(RELAXATIONS))],
    }

    def __init__(
        self,
        *,
        relaxation: str = "simplified",
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
        """Precision of the counts given to :meth:`tie`: digamma of "exact" needs float64."""
        return np.float64 if self.relaxation == "exact" else None

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
        return _integral(ties, _arxiv_logarithm if self.relaxation == "arxiv" else _cvpr_logarithm)


def _simplified(ties: SoftTies) -> TieValues:
    gain, gain_before, total, before = ties
    two_ranks = 2 * before
    two_ranks += total
    two_ranks += 1
    per_rank = gain / two_ranks
    precision = 2 * gain_before
    precision += gain
    precision += 1
    precision /= two_ranks
    value = gain * precision
    by_total = per_rank * precision
    np.negative(by_total, out=by_total)
    return TieValues(value, precision + per_rank, 2 * per_rank, by_total, 2 * by_total)


def _integral(ties: SoftTies, logarithm: Callable[..., tuple[np.ndarray, ...]]) -> TieValues:
    """c+ rho + c+/c [C+_{d-1} + 1 - rho (C_{d-1} + 1)] log, rho = (c+ - 1) / (c - 1).

    `logarithm` gives the integral of 1/t over the tie, and its derivatives by C_d and C_{d-1}.
    """
    gain, gain_before, total, before = ties
    rho, rho_gain, rho_total = _relevance_of_the_others(gain, total, FLOOR)
    divisor, divisor_slope = floored(total)
    purity = gain / divisor
    log, log_after, log_before = logarithm(before + total, before)
    first = gain_before + 1 - rho * (before + 1)
    by_rho = gain - purity * (before + 1) * log
    by_log = purity * first
    return TieValues(
        gain * rho + by_log * log,
        rho + first * log / divisor + by_rho * rho_gain,
        purity * log,
        by_rho * rho_total - by_log * log / divisor * divisor_slope + by_log * log_after,
        by_log * (log_after + log_before) - purity * rho * log,
    )


def _arxiv_logarithm(after, before):
    """Return the integral from C_{d-1} + 1 to C_d."""
    upper, upper_slope = floored(after)
    return np.log(upper / (before + 1)), upper_slope / upper, -1 / (before + 1)


def _cvpr_logarithm(after, before):
    """Return the integral from C_{d-1} to C_d."""
    upper, upper_slope = floored(after)
    lower, lower_slope = floored(before)
    return np.log(upper / lower), upper_slope / upper, -lower_slope / lower


def _exact(ties: SoftTies) -> TieValues:
    gain, gain_before, total, before = ties
    rho, rho_gain, rho_total = _relevance_of_the_others(gain, total, 0.0)
    purity = ratio(gain, total)
    limits = np.concatenate([before, before[:, -1:] + total[:, -1:]], axis=1) + 1
    slopes = _kernels.trigamma.trigamma(limits.ravel()).reshape(limits.shape)
    start, stop = slopes[:, :-1], slopes[:, 1:]
    # Mean of 1/t over the tie. A tie of almost no items: the quotient cancels, its limit holds.
    inverse_rank = np.where(
        total > 1e-5, ratio(np.diff(digamma(limits), axis=1), total), (start + stop) / 2
    )
    first = gain_before + 1 - rho * (before + 1)
    by_rho = gain * (1 - (before + 1) * inverse_rank)
    return TieValues(
        gain * (rho + first * inverse_rank),
        rho + first * inverse_rank + by_rho * rho_gain,
        gain * inverse_rank,
        by_rho * rho_total + first * purity * (stop - inverse_rank),
        first * purity * (stop - start) - gain * rho * inverse_rank,
    )


def _relevance_of_the_others(
    gain: np.ndarray, total: np.ndarray, floor: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return rho = (c+ - 1) / (c - 1), kept in [0, 1], and its derivatives by c+ and c."""
    others = total - 1
    divisor = np.maximum(others, floor)
    rho = np.divide(gain - 1, divisor, out=np.zeros_like(gain), where=others > 0)
    inside = (rho > 0) & (rho <= 1)
    slope = np.divide(1, divisor, out=np.zeros_like(gain), where=inside)
    return np.clip(rho, 0, 1), slope, -rho * slope * (others > floor)
