"""Tie-aware measures of Hamming rankings, with the arguments of scikit-learn's metrics."""

from ._ranking import (
    tie_aware_average_precision_score,
    tie_aware_dcg_score,
    tie_aware_f1_score,
    tie_aware_ndcg_score,
    tie_aware_precision_score,
    tie_aware_recall_score,
    tie_aware_reciprocal_rank_score,
)
from ._scorer import get_retrieval_scorer, get_retrieval_scorer_names, make_retrieval_scorer

__all__ = [
    "get_retrieval_scorer",
    "get_retrieval_scorer_names",
    "make_retrieval_scorer",
    "tie_aware_average_precision_score",
    "tie_aware_dcg_score",
    "tie_aware_f1_score",
    "tie_aware_ndcg_score",
    "tie_aware_precision_score",
    "tie_aware_recall_score",
    "tie_aware_reciprocal_rank_score",
]
