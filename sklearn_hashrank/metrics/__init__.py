"""Measures and displays of Hamming rankings, lookups and code usage, in scikit-learn's manner."""

from ..measures import CodeUsage, code_usage
from ._curve_metrics import precision_recall_curve, recall_at_k_curve
from ._index import index_recall_score
from ._lookup_metrics import (
    average_cumulative_gain_score,
    local_group_average_precision_score,
    lookup_precision_score,
    lookup_recall_score,
)
from ._ranking_metrics import (
    tie_aware_average_precision_score,
    tie_aware_dcg_score,
    tie_aware_f1_score,
    tie_aware_ndcg_score,
    tie_aware_precision_score,
    tie_aware_recall_score,
    tie_aware_reciprocal_rank_score,
)
from ._scorer import (
    RetrievalScorer,
    get_retrieval_scorer,
    get_retrieval_scorer_names,
    make_retrieval_scorer,
)
from .displays import (
    BitsCurveDisplay,
    CodeUsageDisplay,
    PrecisionRecallDisplay,
    RecallAtKDisplay,
    TieRangeDisplay,
)

__all__ = [
    "BitsCurveDisplay",
    "CodeUsage",
    "CodeUsageDisplay",
    "PrecisionRecallDisplay",
    "RecallAtKDisplay",
    "RetrievalScorer",
    "TieRangeDisplay",
    "average_cumulative_gain_score",
    "code_usage",
    "get_retrieval_scorer",
    "get_retrieval_scorer_names",
    "index_recall_score",
    "local_group_average_precision_score",
    "lookup_precision_score",
    "lookup_recall_score",
    "make_retrieval_scorer",
    "precision_recall_curve",
    "recall_at_k_curve",
    "tie_aware_average_precision_score",
    "tie_aware_dcg_score",
    "tie_aware_f1_score",
    "tie_aware_ndcg_score",
    "tie_aware_precision_score",
    "tie_aware_recall_score",
    "tie_aware_reciprocal_rank_score",
]
