"""Sums over the pairs of a minibatch: a zone of distances for each relevance level."""

from ._distances import CityBlock, SquaredEuclidean
from ._zones import DSH, Dispersed, Hierarchical, Nested, PairwiseObjective

__all__ = [
    "DSH",
    "CityBlock",
    "Dispersed",
    "Hierarchical",
    "Nested",
    "PairwiseObjective",
    "SquaredEuclidean",
]
