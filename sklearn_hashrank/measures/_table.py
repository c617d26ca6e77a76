"""The measures of the package: the one table of their names.

The first name is that of the method of ``RetrievalHistogram``, the second, short one that of
scorers, columns of ``compare`` and the command line, the last the function of
``sklearn_hashrank.metrics``.
"""

from typing import get_args

from ._gains import Gain
from ._lookup import (
    average_cumulative_gain,
    local_group_average_precision,
    lookup_precision,
    lookup_recall,
)
from ._measure import Measure
from ._ranking import (
    Normalize,
    average_precision,
    average_precision_bound,
    dcg,
    f1,
    ndcg,
    precision,
    recall,
    reciprocal_rank,
)
from ._registry import declare_measures
from ._sums import Discount

_GAINS = {"gain": get_args(Gain), "discount": get_args(Discount)}

MEASURES = declare_measures(
    [
        Measure(
            "average_precision",
            average_precision,
            short_name="ap",
            label="AP",
            options={"normalize": get_args(Normalize)},
            bound=average_precision_bound,
            function_name="tie_aware_average_precision_score",
        ),
        Measure(
            "ndcg",
            ndcg,
            label="NDCG",
            options=_GAINS,
            function_name="tie_aware_ndcg_score",
        ),
        Measure(
            "dcg",
            dcg,
            label="DCG",
            options=_GAINS,
            is_share=False,
            function_name="tie_aware_dcg_score",
        ),
        Measure("precision", precision, function_name="tie_aware_precision_score"),
        Measure("recall", recall, function_name="tie_aware_recall_score"),
        Measure("f1", f1, label="F1", function_name="tie_aware_f1_score"),
        Measure(
            "reciprocal_rank",
            reciprocal_rank,
            short_name="rr",
            function_name="tie_aware_reciprocal_rank_score",
        ),
        Measure(
            "lookup_precision",
            lookup_precision,
            short_name="ph2",
            label="precision within radius",
            radius=2,
            function_name="lookup_precision_score",
        ),
        Measure(
            "lookup_recall",
            lookup_recall,
            label="recall within radius",
            radius=2,
            function_name="lookup_recall_score",
        ),
        Measure(
            "average_cumulative_gain",
            average_cumulative_gain,
            short_name="acg",
            label="ACG",
            is_share=False,
            radius=3,
            function_name="average_cumulative_gain_score",
        ),
        Measure(
            "local_group_average_precision",
            local_group_average_precision,
            short_name="mlgap",
            label="LGAP",
            radius=2,
            needs_codes=True,
            function_name="local_group_average_precision_score",
        ),
    ]
)
"""The measures of the package by name; those of users are not among them."""
