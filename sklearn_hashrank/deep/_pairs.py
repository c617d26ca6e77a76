"""Objectives of pairs and triplets in torch; formulas as in `sklearn_hashrank.objectives`."""

from collections.abc import Callable
from typing import Any

import torch
from torch.nn.functional import softplus

from ..objectives.pairwise._margin_losses import DSH, Dispersed, Hierarchical, Nested
from ..objectives.pairwise._pair_likelihoods import DPSH, HashNet
from ..objectives.triplet._triplet_likelihood import DTSH
from ._relevance import Relevance

_TRIPLETS_AT_A_TIME = 1 << 24


def pairs_value(objective: Any, scores: torch.Tensor, relevance: Relevance) -> torch.Tensor:
    """Return the value of an objective of pairs or triplets of the package."""
    return _VALUES[type(objective)](objective, scores, relevance)


def _other_rows(like):
    return ~torch.eye(len(like), dtype=torch.bool, device=like.device)


def _n_pairs(scores):
    return max(len(scores) * (len(scores) - 1), 1)


def _zones_value(outside, scores, regularization):
    """Return minus the mean of what pairs lie outside of their zones by, and of the pull."""
    loss = 0.5 * (outside * _other_rows(scores)).sum() / _n_pairs(scores)
    pull = (scores.abs() - 1).abs().sum() / len(scores)
    return -loss - 2 * regularization * pull


def _dsh(objective, scores, relevance):
    norms = (scores * scores).sum(dim=1)
    distance = (norms[:, None] + norms - 2 * scores @ scores.T).clamp(min=0)
    lack = torch.relu(objective.margin * scores.shape[1] - distance)
    outside = torch.where(relevance.value > 0, distance, lack)
    return _zones_value(outside, scores, objective.regularization)


def _outside(distance, n_bits, zone, shrink):
    low, high = (n_bits * end * shrink for end in zone)
    return torch.relu(low - distance) + torch.relu(distance - high)


def _city_block(objective, scores, relevance, own_zone):
    """Return the value, given what a relevant pair costs as a function of distance."""
    distance = torch.cdist(scores, scores, p=1.0)
    lack = torch.relu(objective.margin * scores.shape[1] - distance)
    outside = torch.where(relevance.value > 0, own_zone(distance), lack)
    return _zones_value(outside, scores, objective.regularization)


def _dispersed(objective, scores, relevance):
    def own_zone(distance):
        return _outside(distance, scores.shape[1], objective.zone, 1.0)

    return _city_block(objective, scores, relevance, own_zone)


def _hierarchical(objective, scores, relevance):
    halves = (relevance.rank() - 1).clamp(min=0).to(scores.dtype)

    def own_zone(distance):
        return _outside(distance, scores.shape[1], objective.zone, torch.exp2(-halves))

    return _city_block(objective, scores, relevance, own_zone)


def _nested(objective, scores, relevance):
    ranks = relevance.rank()

    def all_zones(distance):
        sums = torch.zeros_like(distance)
        for rank in range(1, int(ranks.max()) + 1):
            outside = _outside(distance, scores.shape[1], objective.zone, 0.5 ** (rank - 1))
            sums = sums + torch.where(ranks >= rank, outside, 0)
        return sums

    return _city_block(objective, scores, relevance, all_zones)


def _log_likelihood(theta, relevant, weight):
    return (weight * (relevant * theta - softplus(theta))).sum()


def _quantization_error(scores):
    return ((scores.abs() - 1) ** 2).mean()


def _dpsh(objective, scores, relevance):
    theta = 0.5 * (scores @ scores.T)
    weight = _other_rows(scores).to(scores.dtype) / _n_pairs(scores)
    value = _log_likelihood(theta, relevance.value > 0, weight)
    return value - objective.regularization * _quantization_error(scores)


def _hashnet(objective, scores, relevance):
    codes = torch.tanh(scores * objective.alpha_)
    theta = (codes @ codes.T) * (objective.scale / scores.shape[1])
    others = _other_rows(scores)
    relevant = (relevance.value > 0) & others
    n_relevant = relevant.sum()
    of_relevant = 1 / n_relevant.clamp(min=1).to(scores.dtype)
    of_irrelevant = 1 / (_n_pairs(scores) - n_relevant).clamp(min=1).to(scores.dtype)
    weight = torch.where(relevant, of_relevant, of_irrelevant) * others
    return _log_likelihood(theta, relevant, weight)


def _dtsh(objective, scores, relevance):
    theta = 0.5 * (scores @ scores.T)
    grades = relevance.rank() if objective.graded else (relevance.value > 0).long()
    value, slope = _triplets(theta.detach(), grades, objective.margin * scores.shape[1])
    value = value - ((theta - theta.detach()) * slope).sum()
    return value - objective.regularization * _quantization_error(scores)


def _triplets(theta, grades, margin):
    """Return the mean log likelihood of the queries, and the slope of minus that by theta.

    Triplets are looked at a few queries at a time, and none is kept for the way back.
    """
    n_rows = len(theta)
    others = _other_rows(theta)
    step = max(1, _TRIPLETS_AT_A_TIME // n_rows**2)
    losses, numbers, slopes = [], [], []
    for start in range(0, n_rows, step):
        rows = slice(start, start + step)
        counts = grades[rows, :, None] > grades[rows, None, :]
        counts &= others[rows, :, None] & others[rows, None, :]
        gap = margin - theta[rows, :, None] + theta[rows, None, :]
        losses.append(torch.where(counts, softplus(gap), 0).sum(dim=(1, 2)))
        numbers.append(counts.sum(dim=(1, 2)))
        slope = torch.where(counts, torch.sigmoid(gap), 0)
        slopes.append(slope.sum(dim=1) - slope.sum(dim=2))
    n_triplets = torch.cat(numbers)
    n_queries = (n_triplets > 0).sum().clamp(min=1)
    share = 1 / (n_triplets.clamp(min=1) * n_queries).to(theta.dtype)
    return -(torch.cat(losses) * share).sum(), torch.cat(slopes) * share[:, None]


_VALUES: dict[type, Callable[..., torch.Tensor]] = {
    DSH: _dsh,
    Dispersed: _dispersed,
    Hierarchical: _hierarchical,
    Nested: _nested,
    DPSH: _dpsh,
    HashNet: _hashnet,
    DTSH: _dtsh,
}
PAIRS = tuple(_VALUES)
"""The objectives of pairs and triplets with a version in torch."""
