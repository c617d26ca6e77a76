"""Sums over the pairs of a minibatch: zones of distances for relevance levels, likelihoods."""

from ._likelihood import DPSH, HashNet
from ._zones import DSH, CityBlock, Dispersed, Hierarchical, PairwiseObjective, SquaredEuclidean

__all__ = [
    "DPSH",
    "DSH",
    "CityBlock",
    "Dispersed",
    "HashNet",
    "Hierarchical",
    "PairwiseObjective",
    "SquaredEuclidean",
]
