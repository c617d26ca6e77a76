"""Scores of codes or of a run: printed, tested against others, and written for each query."""

import csv
import json
import math
from argparse import Namespace
from collections.abc import Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from .._files.atomic import write_file
from ..comparison._columns import Column
from ..comparison._result_tables import csv_cell
from ..metrics._paired_tests import PairedTest, holm_correction, paired_test
from ._errors import UsageError
from ._file_systems import written_file
from ._messages import note

_SMALLEST = 5e-5  # four decimals show what is less as zero


class Scores(NamedTuple):
    """Scores by name, and the values of each query by the name of the measure."""

    means: dict[str, float]
    of_queries: Mapping[str, Any]
    query_ids: Sequence[Any]


def report(
    options: Namespace, scores: Scores, columns: Iterable[Column], baseline: Scores | None
) -> None:
    """Print scores and tests, and write the values of each query, as the options say."""
    columns = list(columns)
    tests = {} if baseline is None else _tests(scores, baseline)
    if options.json:
        shown = dict(scores.means)
        for name, test in tests.items():
            low, high = test.confidence_interval
            shown |= {f"{name}_ahead": test.statistic, f"{name}_p": test.pvalue}
            shown |= {f"{name}_ahead_low": low, f"{name}_ahead_high": high}
        known = {name: None if math.isnan(score) else score for name, score in shown.items()}
        print(json.dumps(known, indent=1))
    else:
        _print_scores(scores, columns)
        if tests:
            _print_tests(options.baseline, tests)
    if options.per_query is not None:
        rows = zip(scores.query_ids, *scores.of_queries.values())
        with csv_file(options.per_query) as writer:
            writer.writerow(["query", *scores.of_queries])
            for query, *values in rows:
                cells = ("" if math.isnan(value) else repr(float(value)) for value in values)
                writer.writerow([csv_cell(query), *cells])
        note(f"{options.per_query}: {len(scores.query_ids):,} queries, in their order")


@contextmanager
def csv_file(path: str) -> Any:
    """Give a writer of a CSV file, which appears when the block is done."""
    with (
        written_file(path) as place,
        write_file(place, "w", encoding="utf-8", newline="") as file,
    ):
        yield csv.writer(file, lineterminator="\n")


def _print_scores(scores: Scores, columns: Iterable[Column]) -> None:
    shown = {}
    for column in columns:
        names = [column.name + suffix for suffix in ("", "_pessimistic", "_optimistic")]
        values = [_text(scores.means[name]) for name in names if name in scores.means]
        if values:
            shown[column.name if column.name in scores.of_queries else column.title] = values
    width = max(8, *map(len, shown))
    print(f"{'':{width}} {'mean':>8} {'worst':>8} {'best':>8}  order of ties")
    for title, values in shown.items():
        print(" ".join([title.ljust(width), *values]))


def _text(score: float) -> str:
    return f"{score:8.1e}" if 0 < abs(score) < _SMALLEST else f"{score:8.4f}"


def _tests(scores: Scores, baseline: Scores) -> dict[str, PairedTest]:
    """Test each measure on the queries of both; p-values are corrected for their number."""
    ours = theirs = list(range(len(scores.query_ids)))
    if scores.query_ids != baseline.query_ids:  # of runs, whose queries have different ids
        place = {query: number for number, query in enumerate(baseline.query_ids)}
        ours = [number for number, query in enumerate(scores.query_ids) if query in place]
        theirs = [place[scores.query_ids[number]] for number in ours]
    if not ours:
        raise UsageError("--baseline has no query of these: nothing can be compared.")
    found = {
        name: paired_test(
            np.asarray(values)[ours], np.asarray(baseline.of_queries[name])[theirs], random_state=0
        )
        for name, values in scores.of_queries.items()
    }
    corrected = holm_correction([result.pvalue for result in found.values()])
    return {
        name: replace(result, pvalue=float(p_value))
        for (name, result), p_value in zip(found.items(), corrected)
    }


def _print_tests(path: str, tests: Mapping[str, PairedTest]) -> None:
    width = max(8, *map(len, tests))
    n_queries = next(iter(tests.values())).n_queries
    print(f"\nahead of {path}, {n_queries:,} queries, randomization test with Holm's correction:")
    print(f"{'':{width}} {'mean':>8} {'95 % interval':>19} {'p':>8}")
    for name, result in tests.items():
        low, high = result.confidence_interval
        interval = f"{low:+.4f} to {high:+.4f}"
        print(f"{name:{width}} {result.statistic:+8.4f} {interval:>19} {result.pvalue:8.2g}")
