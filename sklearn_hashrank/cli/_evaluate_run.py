"""Scores of a run by qrels, and values of each query in a file, for ``hashrank evaluate``."""

import csv
import math
from argparse import Namespace
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from .._files.atomic import write_file
from ..comparison._columns import MEASURED, name_measures
from ..metrics._configured import ConfiguredMeasure
from ..metrics._evaluation import mean_value
from ..metrics._histogram import RetrievalHistogram
from ..metrics._measure import TieOrder
from ..metrics._paired_tests import PairedTest, holm_correction, paired_test
from ._arguments import exclude
from ._errors import UsageError
from ._file_systems import Input, written_file
from ._judged_pairs import PAIRS_HELP, judgments
from ._messages import note

_OF_RUNS = (
    *("ap", "ndcg:gain=linear", "ndcg@10:gain=linear"),
    *("precision@10", "recall@100", "rr"),
)
_WORTH_A_NOTE = 0.01
_ORDERS: dict[str, TieOrder] = {
    "": "expected",
    "_pessimistic": "pessimistic",
    "_optimistic": "optimistic",
}
_OF_CODES = (
    *("database", "queries", "database_labels", "query_labels", "label_column", "neighbors"),
    *("rescore", "model", "query_data", "database_data", "bits", "threshold", "affinity", "metric"),
)


def add_run(parser: Any) -> None:
    parser.add_argument(
        "--run", type=Input, dest="run_file", metavar="FILE", help="TREC run; needs --qrels"
    )
    parser.add_argument(
        "--qrels",
        type=Input,
        metavar="FILE",
        help=f"of a run, and of codes in place of labels: {PAIRS_HELP}",
    )
    parser.add_argument(
        "--baseline",
        type=Input,
        metavar="FILE",
        help="another run: also test whether the two differ on the same queries",
    )
    parser.add_argument(
        "--query-set",
        choices=("judged", "both", "equal"),
        help="which queries of a run count: all that are judged, those in both files, or an "
        "error unless they are the same (default: judged)",
    )
    parser.add_argument(
        "--unjudged",
        choices=("irrelevant", "remove", "error"),
        help="what retrieved items without a judgment are (default: irrelevant)",
    )


def evaluate_run(
    options: Namespace,
) -> tuple[dict[str, float], dict[str, ConfiguredMeasure], RetrievalHistogram]:
    """Evaluate a run, in all orders of ties."""
    exclude(options, "run_file", *_OF_CODES)
    default = list(options.measures) == list(MEASURED)
    measures = name_measures(list(_OF_RUNS) if default else options.measures)
    for name, configured in measures.items():
        if configured.measure.radius is not None:
            raise UsageError(f"--measures {name} looks within a Hamming radius: a run has none.")
    histogram = _read(options, options.run_file)
    scores = {}
    for name, configured in measures.items():
        if "ties" in configured.given:
            scores[name] = mean_value(histogram.measure(configured))
            continue
        for suffix, ties in _ORDERS.items():
            scores[name + suffix] = mean_value(histogram.measure(configured.with_ties(ties)))
        report = histogram.tie_report(configured)
        if report.optimistic - report.pessimistic > _WORTH_A_NOTE:
            note(f"{name}: ties decide the value of {report.share:.1%} of the queries")
    queries = histogram.query_ids or []
    note(f"{len(queries):,} queries of {options.qrels}, ranked by {options.run_file}")
    return scores, measures, histogram


def _read(options: Namespace, path: str) -> RetrievalHistogram:
    return RetrievalHistogram.from_run(
        judgments(options.qrels),
        path,
        queries=options.query_set or "judged",
        unjudged=options.unjudged or "irrelevant",
        n_jobs=options.n_jobs,
    )


def tests_against(
    options: Namespace,
    histogram: RetrievalHistogram,
    measures: Mapping[str, ConfiguredMeasure],
) -> dict[str, PairedTest]:
    """Test each measure of a run against that of ``--baseline``, on the queries of both.

    The p-values are corrected for the number of measures.
    """
    other = _read(options, options.baseline)
    place = {query: number for number, query in enumerate(other.query_ids or [])}
    queries = [query for query in histogram.query_ids or [] if query in place]
    ours = [number for number, query in enumerate(histogram.query_ids or []) if query in place]
    theirs = [place[query] for query in queries]
    found = {
        name: paired_test(
            histogram.measure(configured)[ours], other.measure(configured)[theirs], random_state=0
        )
        for name, configured in measures.items()
    }
    corrected = holm_correction([result.pvalue for result in found.values()])
    return {
        name: replace(result, pvalue=float(p_value))
        for (name, result), p_value in zip(found.items(), corrected)
    }


def print_tests(path: str, tests: Mapping[str, PairedTest], titles: Mapping[str, str]) -> None:
    """Print what a run is ahead of another one by each measure."""
    width = max(8, *(len(titles[name]) for name in tests))
    n_queries = next(iter(tests.values())).n_queries
    print(f"\nahead of {path}, {n_queries:,} queries, randomization test with Holm's correction:")
    print(f"{'':{width}} {'mean':>8} {'95 % interval':>19} {'p':>8}")
    for name, result in tests.items():
        low, high = result.confidence_interval
        interval = f"{low:+.4f} to {high:+.4f}"
        print(
            f"{titles[name]:{width}} {result.statistic:+8.4f} {interval:>19} {result.pvalue:8.2g}"
        )


def write_per_query(
    path: str,
    query_ids: Sequence[Any],
    values: Mapping[str, Any],
) -> None:
    """Write the values of each query, the worst by the first measure first, undefined ones last."""
    worst_first = np.argsort(next(iter(values.values())), kind="stable")
    with (
        written_file(path) as place,
        write_file(place, "w", encoding="utf-8", newline="") as file,
    ):
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["query", *values])
        for query in worst_first:
            row = (of_measure[query] for of_measure in values.values())
            cells = ("" if math.isnan(value) else repr(float(value)) for value in row)
            writer.writerow([query_ids[query], *cells])
    note(f"{path}: {len(query_ids):,} queries, the worst first")
