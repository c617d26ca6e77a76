"""Every tie-aware measure of a ranking as a function of counts, and their registry.

Items at one distance are tied. A measure is the exact expectation over all orders of tied items,
each order equally likely, and needs no more than how many items of each relevance level lie in
each tie [1]_ [2]_. What lies within a Hamming radius is whole ties, and no order matters. Adding a
measure is one function of `Ties` and one line of `MEASURES`.

References
----------
.. [1] F. McSherry and M. Najork, "Computing information retrieval performance measures
   efficiently in the presence of tied scores", ECIR 2008.
.. [2] K. He, F. Cakir, S. A. Bargal and S. Sclaroff, "Hashing as tie-aware learning to rank",
   CVPR 2018.
"""

from ._curves import default_ranks, precision_and_recall, validate_ranks
from ._gains import ideal_dcg, level_gains
from ._registry import (
    MEASURES,
    NEEDS_CODES,
    TIE_ORDERS,
    Measure,
    describe,
    evaluate,
    find_measure,
    mean_over_queries,
    mean_score,
    score_name,
    validate_counts,
    validate_options,
)
from ._sums import DISCOUNTS
from ._ties import Ties, ratio
from ._usage import CodeUsage, usage_of

__all__ = [
    "DISCOUNTS",
    "MEASURES",
    "NEEDS_CODES",
    "TIE_ORDERS",
    "CodeUsage",
    "Measure",
    "Ties",
    "default_ranks",
    "describe",
    "evaluate",
    "find_measure",
    "ideal_dcg",
    "level_gains",
    "mean_over_queries",
    "mean_score",
    "precision_and_recall",
    "ratio",
    "score_name",
    "usage_of",
    "validate_counts",
    "validate_options",
    "validate_ranks",
]
