"""``hashrank evaluate``: tie-aware scores of codes, by labels or by near rows, and of runs."""

from argparse import Namespace
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .._features.nearest_rows import METRICS
from ..affinity._auto import fit_affinity
from ..affinity._neighbors import NeighborAffinity
from ..base import pack_signs
from ..codes._formats import pack_codes
from ..comparison._columns import MEASURED, OF_QUERIES, columns_of, evaluate_histogram
from ..comparison._rescoring import Rescoring, measure_rescoring
from ..metrics._counting import retrieval_histogram
from ..metrics._histogram import RetrievalHistogram
from ..metrics._retrieval import Encoded
from ..neighbors._hamming_neighbors import HammingNeighbors
from ._affinities import add_affinity
from ._arguments import (
    add_code_length,
    add_id_column,
    add_inputs,
    add_jobs,
    add_label_column,
    add_measures,
    add_model,
    add_neighbors,
    add_parser,
    add_rescoring,
    check_measures,
    exclude,
    need,
)
from ._codes import Codes, Model, check_models, codes_and_labels, load_model, read_codes
from ._data import affinity_of, as_compared, row_labels
from ._errors import UsageError
from ._file_systems import Input
from ._judged_pairs import PAIRS_HELP, affinity_of_pairs
from ._messages import note
from ._outputs import output
from ._parquet_table import ParquetCodes
from ._rows import check_same_rows, mapped, read_rows
from ._scores import Scores, report
from ._trec_runs import MEASURED_RUN, score_run

_EPILOG = """\
examples:
  hashrank evaluate --database codes.npy --database-labels labels.npy
  hashrank evaluate --queries q.npy --query-labels ql.csv --database codes.npy \\
      --database-labels labels.csv --label-column class --bits 32 --json
  hashrank evaluate --queries out.mat:qB --query-labels out.mat:queryL \\
      --database out.mat:rB --database-labels out.mat:retrievalL --threshold 0
  hashrank evaluate --queries q.npy --query-labels ql.npy --database codes.npy \\
      --database-labels labels.npy --rescore 10 --model model.npz \\
      --query-data rows_q.npy --database-data rows.npy
  hashrank evaluate --queries q.npy --query-data rows_q.npy --database codes.npy \\
      --database-data rows.npy --neighbors 10 --measures recall@10
  hashrank evaluate --queries q.parquet --database codes.parquet --qrels clicks.csv
  hashrank evaluate --run run.txt --qrels qrels.txt --measures ndcg@10,rr --per-query queries.csv
  hashrank evaluate --run run.txt --qrels qrels.txt --baseline baseline.txt
  hashrank evaluate --database codes.npy --database-labels labels.npy --baseline others.npy
"""


# What an evaluation of codes reads, and one of a run does not.
_OF_CODES = (
    *("database", "queries", "database_labels", "query_labels", "label_column", "neighbors"),
    *("rescore", "model", "query_data", "database_data", "bits", "threshold", "affinity", "metric"),
    "baseline_queries",
)
_NEEDS = (  # an option, and those of which it needs one
    ("metric", "neighbors", "rescore"),
    ("neighbors", "database_data"),
    ("query_data", "queries"),
    ("query_labels", "queries"),
    ("query_data", "rescore", "neighbors"),
    ("database_data", "rescore", "neighbors"),
    ("model", "rescore"),
    ("rescore", "queries"),
    ("rescore", "model"),
    ("rescore", "query_data"),
    ("rescore", "database_data"),
    ("query_set", "run_file"),
    ("unjudged", "run_file"),
    ("queries", "query_labels", "qrels", "query_data"),
    ("baseline_queries", "baseline"),
    ("baseline_queries", "queries"),
)


def add_command(commands: Any) -> None:
    purpose = "tie-aware scores of codes with labels, or of a run"
    parser = add_parser(commands, "evaluate", purpose, _run, _EPILOG)
    add_inputs(
        parser,
        database="codes: .npy, .npz, .mat, .pt, .csv or .parquet",
        queries="codes of the queries (default: every item retrieves all others)",
        database_labels="labels of the database",
        query_labels="labels of the queries",
        database_data="features of the database",
        query_data="features of the queries",
        qrels=f"{PAIRS_HELP}, in place of labels or for a run",
        baseline="another run, or other codes of the database, to test against",
        baseline_queries="other codes of the queries, for --baseline",
    )
    parser.add_argument("--run", type=Input, dest="run_file", metavar="FILE", help="TREC run")
    add_label_column(parser)
    add_id_column(parser)
    add_measures(parser)
    add_affinity(parser)
    add_neighbors(parser)
    add_rescoring(parser)
    add_model(parser)
    add_code_length(parser)
    parser.add_argument(
        "--query-set",
        choices=("judged", "both", "equal"),
        help="queries of a run that count (default: judged)",
    )
    parser.add_argument(
        "--unjudged",
        choices=("irrelevant", "remove", "error"),
        help="treatment of retrieved items without a judgment (default: irrelevant)",
    )
    parser.add_argument(
        "--per-query", type=output(".csv"), metavar="FILE", help="table of each query's values"
    )
    add_jobs(parser)
    parser.add_argument("--json", action="store_true", help="JSON output with all digits")


class _Task(NamedTuple):
    """What queries and database are compared by."""

    affinity: Any
    query_y: Any
    y: Any
    query_rows: Any = None  # of features
    rows: Any = None


def _run(options: Namespace, arguments: list[str]) -> int:
    if options.run_file is not None:
        return _evaluate_run(options)
    _check(options)
    measures = check_measures(options.measures)
    model = None if options.model is None else load_model(options.model)
    needs_all = options.queries is None or options.neighbors or options.rescore
    database, queries = _read_codes(options, options.database, options.queries, not needs_all)
    check_models([database] if queries is None else [database, queries], model)
    task = _read_task(options, database, queries, model)
    histogram = _count(options, database, queries, task)
    means, curves = evaluate_histogram(histogram, measures)
    columns: Sequence[Any] = columns_of(measures)
    if model is not None:
        rescoring = Rescoring(options.rescore, metric=options.metric or METRICS[0])
        means |= _rescored(options, model, rescoring, database, queries, task, histogram)
        columns = [*columns, *rescoring.columns()]
    baseline, asked = None, database if queries is None else queries
    names = range(len(asked.codes)) if asked.ids is None else asked.ids[:].tolist()
    if options.baseline is not None:
        others = _read_codes(options, options.baseline, options.baseline_queries, not needs_all)
        check_models([codes for codes in others if codes is not None])
        for one, other in zip((database, queries), others):
            if one is not None and other is not None:
                check_same_rows(other, one)
        _, of_others = evaluate_histogram(_count(options, *others, task), measures)
        baseline = Scores({}, of_others[OF_QUERIES], names)
    report(options, Scores(means, curves[OF_QUERIES], names), columns, baseline)
    described = "features" if options.neighbors else "y"
    note(fit_affinity(task.affinity, task.y).describe(task.y, described))
    return 0


def _evaluate_run(options: Namespace) -> int:
    if options.qrels is None:
        raise UsageError("--run needs --qrels.")
    exclude(options, "run_file", *_OF_CODES)
    is_default = list(options.measures) == list(MEASURED)
    measures = check_measures(list(MEASURED_RUN) if is_default else options.measures)
    scores = score_run(options, options.run_file, measures)
    baseline = None
    if options.baseline is not None:
        baseline = score_run(options, options.baseline, measures, quiet=True)
    report(options, scores, columns_of(measures), baseline)
    return 0


def _check(options: Namespace) -> None:
    if options.database is None:
        raise UsageError("evaluate needs --database, or --run and --qrels.")
    exclude(options, "neighbors", "affinity", "database_labels", "query_labels", "label_column")
    exclude(options, "qrels", "affinity", "database_labels", "query_labels", "label_column")
    if options.neighbors:
        need(options, "queries", "query_data")
    for name, *others in _NEEDS:
        need(options, name, *others)
    if options.baseline and options.queries and not options.baseline_queries:
        raise UsageError("--baseline needs --baseline-queries, as there are --queries.")
    if not (options.database_labels or options.qrels or options.neighbors):
        raise UsageError("evaluate needs --database-labels, --qrels or --neighbors.")


def _read_codes(
    options: Namespace, database: str, queries: str | None, in_blocks: bool
) -> tuple[Codes, Codes | None]:
    paths = [database] if queries is None else [database, queries]
    found = read_codes(paths, options.bits, options.threshold, in_blocks=in_blocks)
    return found[0], (found[1] if queries is not None else None)


def _read_task(
    options: Namespace, database: Codes, queries: Codes | None, model: Model | None
) -> _Task:
    """Read labels, pairs or rows, and check that they are those of the codes."""
    columns = None if model is None else model.columns
    query_rows = rows = None
    if options.database_data is not None:
        rows = _read_features(options, options.database_data, database, columns)
    if options.query_data is not None and queries is not None:
        query_rows = _read_features(options, options.query_data, queries, columns)
    n_items = len(database.codes)
    n_queries = n_items if queries is None else len(queries.codes)
    if options.neighbors:
        affinity = NeighborAffinity(options.neighbors, metric=options.metric or METRICS[0])
        return _Task(affinity, rows if queries is None else query_rows, rows, query_rows, rows)
    if options.qrels is not None:
        if queries is None:
            pairs = affinity_of_pairs(options.qrels, database.ids, n_items)
            return _Task(pairs, np.arange(n_items), np.arange(n_items))
        pairs = affinity_of_pairs(options.qrels, queries.ids, n_queries, database.ids, n_items)
        items = np.arange(n_queries, n_queries + n_items)
        return _Task(pairs, np.arange(n_queries), items, query_rows, rows)
    labels = row_labels(options.database_labels, options.label_column, n_items)
    check_same_rows(labels, database)
    y = query_y = labels.y
    if queries is not None:
        labels = row_labels(options.query_labels, options.label_column, n_queries)
        check_same_rows(labels, queries)
        query_y = labels.y
    y, query_y = as_compared(options.affinity, options.label_column, y, query_y)
    return _Task(affinity_of(options.affinity, y), query_y, y, query_rows, rows)


def _read_features(options: Namespace, path: str, codes: Codes, columns: Any) -> Any:
    rows = read_rows(path, columns=columns, id_column=options.id_column)
    check_same_rows(rows, codes)
    return mapped(rows.X)


def _count(
    options: Namespace, database: Codes, queries: Codes | None, task: _Task
) -> RetrievalHistogram:
    codes, y, affinity = database.codes, task.y, task.affinity
    if isinstance(codes, ParquetCodes):
        affinity = fit_affinity(affinity, y)
        codes, y = codes_and_labels(codes, y), None
    return retrieval_histogram(
        database.codes if queries is None else queries.codes,
        codes,
        task.query_y,
        y,
        affinity=affinity,
        n_bits=database.n_bits,
        exclude_self=queries is None,
        keep_codes=True,
        n_jobs=options.n_jobs,
    )


def _rescored(
    options: Namespace,
    model: Model,
    rescoring: Rescoring,
    database: Codes,
    queries: Any,
    task: _Task,
    histogram: RetrievalHistogram,
) -> dict[str, float]:
    n_bits, projections = database.n_bits, model.hasher.decision_function(task.query_rows)
    query_codes = pack_codes(queries.codes, n_bits)
    if not np.array_equal(pack_signs(projections), query_codes):
        raise UsageError(f"{options.queries} are not the codes of {options.query_data}.")
    of_database = Encoded(pack_codes(database.codes, n_bits), n_bits, task.rows)
    index = HammingNeighbors(n_bits=n_bits, n_jobs=1).fit(of_database.codes)
    return measure_rescoring(
        rescoring,
        lambda n_neighbors: index.kneighbors(query_codes, n_neighbors)[1],
        task.query_rows,
        task.rows,
        np.arange(len(database.codes)),
        (task.query_y, task.y),
        fit_affinity(task.affinity, task.y),
        histogram,
        of_database,
        projections,
    )
