"""Metrics, scorers and displays of Hamming rankings, lookups and code usage.

How calls flow
--------------
A metric function (``_ranking_metrics.py``, ``_hit_metrics.py``, ``_lookup_metrics.py``,
``_curve_metrics.py``) is a
signature, a docstring and one call. It is given codes::

    tie_aware_ndcg_score(y_true, codes, database=..., k=10)
      -> RetrievalRun.measure("ndcg", k=10)    _metric_arguments.py: checks the options, then
        -> retrieval_histogram(...)            histogram/: counts
        -> RetrievalHistogram.measure(...)     measures/: one value for each query
        -> mean_over_queries(...)              measures/: leaves out undefined queries and warns

Scorers (``_scorer.py``), the ``from_estimator`` of displays, ``BaseHasher.score``,
``cross_validate_retrieval`` and ``compare`` are given an estimator and rows. They take one way to a
histogram, which opens ``retrieval.py``::

    scorer(estimator, X, y)
      -> retrieve(estimator, X, y, database=..., affinity=...)
        -> unwrap, encode, relevance, database
        -> retrieval_histogram(...)
      -> RetrievalHistogram.measure(...) of each metric

``displays/`` draws: ``from_estimator`` and ``from_codes`` make histograms and call
``from_histograms``, and only ``plot`` imports matplotlib. ``settings.py`` sets parameters of
whatever is inside of pipelines and searches. ``_index.py`` compares the distances of two indexes,
and needs no histogram. ``_paired_tests.py`` compares the values of two systems, or of many, for the
same queries.
"""

from ..measures import CodeUsage, code_usage
from ._curve_metrics import precision_recall_curve, recall_at_k_curve
from ._hit_metrics import (
    average_precision_at_r_score,
    bpref_score,
    hit_rate_score,
    r_precision_score,
    rank_biased_precision_score,
)
from ._index import index_recall_score
from ._lookup_metrics import (
    average_cumulative_gain_score,
    local_group_average_precision_score,
    lookup_precision_score,
    lookup_recall_score,
)
from ._paired_tests import PairedTest, holm_correction, paired_test, randomized_tukey_hsd
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
    RetrievalGridDisplay,
    RetrievedItems,
    TieRangeDisplay,
    TrainingCurveDisplay,
)

__all__ = [
    "BitsCurveDisplay",
    "CodeUsage",
    "CodeUsageDisplay",
    "PairedTest",
    "PrecisionRecallDisplay",
    "RecallAtKDisplay",
    "RetrievalGridDisplay",
    "RetrievalScorer",
    "RetrievedItems",
    "TieRangeDisplay",
    "TrainingCurveDisplay",
    "average_cumulative_gain_score",
    "average_precision_at_r_score",
    "bpref_score",
    "code_usage",
    "get_retrieval_scorer",
    "get_retrieval_scorer_names",
    "hit_rate_score",
    "holm_correction",
    "index_recall_score",
    "local_group_average_precision_score",
    "lookup_precision_score",
    "lookup_recall_score",
    "make_retrieval_scorer",
    "paired_test",
    "precision_recall_curve",
    "r_precision_score",
    "randomized_tukey_hsd",
    "rank_biased_precision_score",
    "recall_at_k_curve",
    "tie_aware_average_precision_score",
    "tie_aware_dcg_score",
    "tie_aware_f1_score",
    "tie_aware_ndcg_score",
    "tie_aware_precision_score",
    "tie_aware_recall_score",
    "tie_aware_reciprocal_rank_score",
]
