"""Sums over the pairs of a minibatch: a zone of distances for each relevance level."""

from ._zones import DSH, CityBlock, Dispersed, Hierarchical, PairwiseObjective, SquaredEuclidean

__all__ = [
    "DSH",
    "CityBlock",
    "Dispersed",
    "Hierarchical",
    "PairwiseObjective",
    "SquaredEuclidean",
]
