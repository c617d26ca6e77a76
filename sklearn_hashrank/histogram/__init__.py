"""Retrieval histograms: all that a tie-aware measure needs to know of a retrieval run.

For each query, how many database items of each relevance level lie at each Hamming distance.
Histograms of database shards add up, so that the database may come in blocks.
"""

from ._blocks import fit_affinity_of_blocks
from ._engine import retrieval_histogram
from ._histogram import RetrievalHistogram

__all__ = ["RetrievalHistogram", "fit_affinity_of_blocks", "retrieval_histogram"]
