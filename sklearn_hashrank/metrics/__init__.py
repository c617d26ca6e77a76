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

__all__ = [
    "tie_aware_average_precision_score",
    "tie_aware_dcg_score",
    "tie_aware_f1_score",
    "tie_aware_ndcg_score",
    "tie_aware_precision_score",
    "tie_aware_recall_score",
    "tie_aware_reciprocal_rank_score",
]
