"""Ranking objectives in torch: soft histograms in O(M^2), and what their ties contribute.

Formulas, floors and conventions on kinks are those of `sklearn_hashrank.objectives`; here gradients
come from autograd. Relevance enters as the gain of each pair, so that no histogram has an axis of
levels.
"""

import math
from typing import Any, NamedTuple

import torch

from ..objectives.ranking._average_precision import ArxivAP, CvprAP, ExactAP, SimplifiedAP
from ..objectives.ranking._floor import FLOOR
from ..objectives.ranking._mutual_information import MutualInformation
from ..objectives.ranking._ndcg import ArxivNDCG, CvprNDCG, ExactNDCG, SimplifiedNDCG
from ._relevance import Relevance

_FEWEST = 1e-6  # smallest number of items that mutual information takes a logarithm of
_FEW = 1e-5  # items of a tie, below which the limit of a mean over its ranks is taken
_N_TERMS = 64  # of a series in ln(M + 1); more than float64 shows for 1,000,000 rows


class _Ties(NamedTuple):
    gain: torch.Tensor
    gain_before: torch.Tensor
    total: torch.Tensor
    before: torch.Tensor


def ranking_value(objective: Any, scores: torch.Tensor, relevance: Relevance) -> torch.Tensor:
    """Return the value of a ranking objective of the package."""
    pair_gain, ideal = _gain_and_ideal(objective, relevance.value)
    codes = torch.tanh(scores * objective.alpha_)
    counts = _soft_counts(codes, pair_gain, objective.bins_of(scores.shape[1]), objective.delta)
    if objective.dtype is not None:
        counts = counts.to(_double(scores))
    gain, total = counts
    before = _nearer(counts)
    contributions = _TIES[type(objective)](_Ties(gain, before[0], total, before[1]))
    scale = torch.where(ideal > 0, 1 / torch.where(ideal > 0, ideal, 1), 0).to(counts.dtype)
    return (contributions.sum(dim=1) * scale).mean().to(scores.dtype)


def _double(like):
    return torch.float32 if like.device.type == "mps" else torch.float64  # Apple's has no other


def _others(like):
    """Return 1 for each pair of different rows, 0 for a row and itself."""
    return 1 - torch.eye(len(like), dtype=like.dtype, device=like.device)


def _gain_and_ideal(objective, value):
    """Return the gain of each pair, 0 on the diagonal, and what the sum over ties is divided by."""
    others = _others(value)
    relevant = (value > 0) * others
    if isinstance(objective, (SimplifiedNDCG, ArxivNDCG, CvprNDCG, ExactNDCG)):
        highest = (value * others).amax()
        gain = torch.exp2(value - highest) - torch.exp2(-highest)
        # The digits of levels near 0 are lost in the difference.
        small = torch.expm1(value.clamp(max=1) * math.log(2)) * torch.exp2(-highest)
        gain = torch.where(value < 1, small, gain) * others
        best_first = gain.to(_double(value)).sort(dim=1, descending=True).values
        return gain, (best_first * _discounts(len(value), best_first)).sum(dim=1)
    n_relevant = relevant.to(_double(value)).sum(dim=1)
    if isinstance(objective, MutualInformation):
        n_items = len(value) - 1
        is_defined = (n_relevant > 0) & (n_relevant < n_items)
        return relevant, is_defined * torch.full_like(n_relevant, n_items)
    return relevant, n_relevant


def _discounts(n_ranks, like):
    ranks = torch.arange(1, n_ranks + 1, dtype=like.dtype, device=like.device)
    return 1 / torch.log2(ranks + 1)


def _soft_counts(codes, pair_gain, n_bins, delta):
    """Return gain and number of items in each bin, (2, M, n_bins + 1)."""
    n_rows, n_bits = codes.shape
    n_bins = n_bits if n_bins is None else n_bins
    position = n_bins / 2 - (codes @ codes.T) * (n_bins / (2 * n_bits))
    near = position.detach().clamp(0, n_bins).long().clamp(0, n_bins - 1)
    offset = position - near
    offset = offset + (offset.clamp(0, 1) - offset).detach()  # rounding; the slope stays
    reach = math.ceil(delta)
    weights = torch.stack([pair_gain, _others(codes)])
    counts = codes.new_zeros(2, n_rows, n_bins + 2 * reach - 1)
    for shift in range(1 - reach, reach, 2):
        for side in range(2):
            mass = torch.relu(1 - (offset - shift - side).abs() / delta) / max(1.0, delta)
            bins = (near + (shift + side + reach - 1)).expand_as(weights)
            counts = counts.scatter_add(2, bins, mass * weights)
    return counts[:, :, reach - 1 : reach + n_bins]


def _nearer(counts):
    """Return what is in all nearer bins."""
    n = counts.shape[-1]
    return counts @ torch.ones(n, n, dtype=counts.dtype, device=counts.device).triu(1)


def _simplified_ap(ties):
    ranks = 2 * ties.before + ties.total + 1
    return ties.gain * (2 * ties.gain_before + ties.gain + 1) / ranks


def _relevance_of_the_others(ties, floor):
    others = ties.total - 1
    divisor = torch.where(others > 0, others.clamp(min=floor), 1)
    return torch.where(others > 0, ((ties.gain - 1) / divisor).clamp(0, 1), 0)


def _integral_ap(ties, logarithm):
    rho = _relevance_of_the_others(ties, FLOOR)
    first = ties.gain_before + 1 - rho * (ties.before + 1)
    return ties.gain * (rho + first * logarithm / ties.total.clamp(min=FLOOR))


def _arxiv_ap(ties):
    after = (ties.before + ties.total).clamp(min=FLOOR)
    return _integral_ap(ties, torch.log(after / (ties.before + 1)))


def _cvpr_ap(ties):
    after = (ties.before + ties.total).clamp(min=FLOOR)
    return _integral_ap(ties, torch.log(after / ties.before.clamp(min=FLOOR)))


def _exact_ap(ties):
    rho = _relevance_of_the_others(ties, 0.0)
    start, stop = ties.before + 1, ties.before + ties.total + 1
    is_tie = ties.total > _FEW
    mean = (torch.digamma(stop) - torch.digamma(start)) / torch.where(is_tie, ties.total, 1)
    limit = (torch.polygamma(1, start) + torch.polygamma(1, stop)) / 2
    inverse_rank = torch.where(is_tie, mean, limit)
    return ties.gain * (rho + (ties.gain_before + 1 - rho * (ties.before + 1)) * inverse_rank)


def _simplified_ndcg(ties):
    return ties.gain / torch.log2(ties.before + ties.total / 2 + 1.5)


def _integral_ndcg(ties, upper, lower):
    mean = math.log(2) * (_li(upper) - _li(lower)) / ties.total.clamp(min=FLOOR)
    return ties.gain * mean


def _arxiv_ndcg(ties):
    return _integral_ndcg(ties, (ties.before + ties.total).clamp(min=FLOOR) + 1, ties.before + 2)


def _cvpr_ndcg(ties):
    upper = (ties.before + ties.total).clamp(min=FLOOR) + 1
    return _integral_ndcg(ties, upper, ties.before.clamp(min=FLOOR) + 1)


def _li(x):
    """Return the logarithmic integral of x > 1, but for a constant; its slope is 1 / ln x."""
    log = torch.log(x.detach().to(_double(x)))
    series = torch.zeros_like(log)
    for k in range(_N_TERMS, 0, -1):  # sum of log^k / (k k!), all terms positive
        series = log / k * (1 / k + series)
    value = (torch.log(log) + series).to(x.dtype)
    return value + (x - x.detach()) / log.to(x.dtype)


def _exact_ndcg(ties):
    n_ranks = 2 * len(ties.total) + 2  # bins wider than 1 hold a little more than the items
    sums = torch.cumsum(_discounts(n_ranks, ties.total), dim=0)
    table = torch.cat([sums.new_zeros(1), sums])
    start, slope_of_start = _interpolate(table, ties.before)
    stop, slope_of_stop = _interpolate(table, ties.before + ties.total)
    is_between_ranks = slope_of_start == slope_of_stop
    mean = (stop - start) / torch.where(is_between_ranks, 1, ties.total)
    return ties.gain * torch.where(is_between_ranks, slope_of_start, mean)


def _interpolate(table, x):
    """Return the table at real x, and the slope there (to the right on an integer)."""
    rank = x.detach().long().clamp(0, len(table) - 2)
    slope = table[rank + 1] - table[rank]
    return table[rank] + (x - rank) * slope, slope


def _mutual_information(ties):
    irrelevant = ties.total - ties.gain
    of_relevant = _information(ties.gain.detach(), ties.total.detach())
    of_irrelevant = _information(irrelevant.detach().clamp(min=0), ties.total.detach())
    return ties.gain * of_relevant + irrelevant * of_irrelevant  # slopes of the logarithms cancel


def _information(some, total):
    share = some.clamp(min=_FEWEST) / total.clamp(min=_FEWEST)
    all_some, overall = some.sum(dim=1, keepdim=True), total.sum(dim=1, keepdim=True)
    return torch.log2(share * overall.clamp(min=_FEWEST) / all_some.clamp(min=_FEWEST))


_TIES = {
    SimplifiedAP: _simplified_ap,
    ArxivAP: _arxiv_ap,
    CvprAP: _cvpr_ap,
    ExactAP: _exact_ap,
    SimplifiedNDCG: _simplified_ndcg,
    ArxivNDCG: _arxiv_ndcg,
    CvprNDCG: _cvpr_ndcg,
    ExactNDCG: _exact_ndcg,
    MutualInformation: _mutual_information,
}
RANKING = tuple(_TIES)
"""The ranking objectives with a version in torch."""
