"""Sums over the pairs of a minibatch: zones of distances for relevance levels, likelihoods."""

from ._distances import CityBlock, SquaredEuclidean
from ._margin_losses import DSH, Dispersed, Hierarchical, Nested, PairwiseObjective
from ._pair_likelihoods import DPSH, HashNet

__all__ = [
    "DPSH",
    "DSH",
    "CityBlock",
    "Dispersed",
    "HashNet",
    "Hierarchical",
    "Nested",
    "PairwiseObjective",
    "SquaredEuclidean",
]
