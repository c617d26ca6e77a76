"""Scores of a TREC run by judgments, for ``hashrank evaluate --run``."""

from argparse import Namespace
from collections.abc import Mapping

from ..metrics._configured import ConfiguredMeasure
from ..metrics._evaluation import mean_value
from ..metrics._histogram import RetrievalHistogram
from ..metrics._measure import TieOrder
from ._errors import UsageError
from ._judged_pairs import judgments
from ._messages import note
from ._scores import Scores

MEASURED_RUN = (
    *("ap", "ndcg:gain=linear", "ndcg@10:gain=linear"),
    *("precision@10", "recall@100", "rr"),
)
"""Measures of a run, unless others are asked for."""

_WORTH_A_NOTE = 0.01
_ORDERS: dict[str, TieOrder] = {
    "": "expected",
    "_pessimistic": "pessimistic",
    "_optimistic": "optimistic",
}


def score_run(
    options: Namespace, path: str, measures: Mapping[str, ConfiguredMeasure], quiet: bool = False
) -> Scores:
    """Evaluate a run, in all orders of ties."""
    for name, configured in measures.items():
        if configured.measure.radius is not None:
            raise UsageError(f"--measures {name} looks within a Hamming radius: a run has none.")
    histogram = RetrievalHistogram.from_run(
        judgments(options.qrels),
        path,
        queries=options.query_set or "judged",
        unjudged=options.unjudged or "irrelevant",
        n_jobs=options.n_jobs,
    )
    query_ids = histogram.query_ids or []
    of_queries = {name: histogram.measure(measure) for name, measure in measures.items()}
    if quiet:
        return Scores({}, of_queries, query_ids)
    means = {}
    for name, configured in measures.items():
        if "ties" in configured.given:
            means[name] = mean_value(of_queries[name])
            continue
        for suffix, ties in _ORDERS.items():
            means[name + suffix] = mean_value(histogram.measure(configured.with_ties(ties)))
        bounds = histogram.tie_report(configured)
        if bounds.optimistic - bounds.pessimistic > _WORTH_A_NOTE:
            decided = f"{name}: ties decide the value of {bounds.share:.1%} of the queries"
            note(f"{decided}; the order of trec_eval has a bias of {bounds.bias:+.4f}")
    note(f"{len(query_ids):,} queries of {options.qrels}, ranked by {path}")
    return Scores(means, of_queries, query_ids)
