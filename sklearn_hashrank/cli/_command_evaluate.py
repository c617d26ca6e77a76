"""``hashrank evaluate``: tie-aware scores of codes, by labels or by near rows, and of runs."""

import json
import math
from argparse import Namespace
from collections.abc import Iterable
from typing import Any

import numpy as np

from .._features.nearest_rows import METRICS
from .._files.hashers.saving import load_hasher
from ..affinity._auto import fit_affinity
from ..affinity._neighbors import NeighborAffinity
from ..codes._formats import pack_codes, pack_signs
from ..comparison._columns import Column, columns_of, evaluate_histogram
from ..comparison._rescoring import Rescoring, measure_rescoring
from ..metrics._counting import retrieval_histogram
from ..metrics._histogram import RetrievalHistogram
from ..metrics._retrieval import Encoded
from ..neighbors._hamming_neighbors import HammingNeighbors
from ._affinities import add_affinity
from ._arguments import (
    add_code_length,
    add_id_column,
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
from ._data import affinity_of, as_compared, row_labels
from ._errors import UsageError
from ._evaluate_run import (
    add_run,
    evaluate_run,
    print_tests,
    tests_against,
    write_per_query,
)
from ._file_systems import Input
from ._files import read_rows
from ._judged_pairs import affinity_of_pairs
from ._messages import note
from ._outputs import output
from ._parquet_tables import ParquetCodes, mapped
from ._read_codes import check_models, code_blocks, read_codes
from ._row_names import check_same_ids, ids

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

Without queries, every item of the database retrieves all the others.
"""


_CODES = "codes: .npy, .npz, .mat, .pt or .csv; FILE:NAME for an array of another name than codes"


def add_command(commands: Any) -> None:
    parser = add_parser(
        commands, "evaluate", "tie-aware scores of codes with labels, or of a run", _run, _EPILOG
    )
    for part in ("database", "queries"):
        parser.add_argument(f"--{part}", type=Input, metavar="FILE", help=_CODES)
    parser.add_argument(
        "--database-labels", type=Input, metavar="FILE", help="one row for each code"
    )
    parser.add_argument("--query-labels", type=Input, metavar="FILE", help="the same of queries")
    add_label_column(parser)
    add_id_column(parser)
    add_measures(parser)
    add_affinity(parser)
    add_neighbors(parser, ", in place of labels; needs the features")
    add_rescoring(
        parser, "; needs --queries, --model, and the features --query-data and --database-data"
    )
    add_model(parser, "; made the codes")
    parser.add_argument("--query-data", type=Input, metavar="FILE", help="features of the queries")
    parser.add_argument(
        "--database-data",
        type=Input,
        metavar="FILE",
        help="features of the database; .npy is not read whole",
    )
    add_code_length(parser)
    add_run(parser)
    parser.add_argument(
        "--per-query",
        type=output(".csv"),
        metavar="FILE",
        help="write the values of each query, the worst first, .csv",
    )
    add_jobs(parser)
    parser.add_argument("--json", action="store_true", help="print JSON, every number in full")


def _run(options: Namespace, arguments: list[str]) -> int:
    if options.run_file is not None or options.database is None:
        return _evaluate_run(options)
    _check_codes(options)
    measures = check_measures(options.measures)
    is_self = options.queries is None
    paths = [options.database, *([] if is_self else [options.queries])]
    hasher = None if options.model is None else load_hasher(options.model)
    needs_all = is_self or options.neighbors or options.rescore
    (database, *others), n_bits = read_codes(
        paths, options.bits, options.threshold, in_blocks=not needs_all
    )
    check_models(paths, options.model, hasher)
    for rows, of_codes in (
        (options.database_data, options.database),
        (options.database_labels, options.database),
        (options.query_data, options.queries),
        (options.query_labels, options.queries),
    ):
        if rows is not None and of_codes is not None:
            check_same_ids(rows, of_codes, options.id_column)
    queries = database if is_self else others[0]
    affinity: Any = options.affinity
    metric = options.metric or METRICS[0]
    if options.neighbors:
        affinity = NeighborAffinity(options.neighbors, metric=metric)
        y = query_y = _read_features(options, options.database_data, database)
        if not is_self:
            query_y = _read_features(options, options.query_data, queries)
    elif options.qrels is not None:
        affinity, query_y, y = _judged(options, queries, database)
    else:
        y = query_y = row_labels(options.database_labels, options.label_column, len(database))
        if not is_self:
            query_y = row_labels(options.query_labels, options.label_column, len(queries))
        y, query_y = as_compared(affinity, options.label_column, y, query_y)
        affinity = affinity_of(affinity, y)
    of_database: tuple[Any, Any] = (database, y)
    if isinstance(database, ParquetCodes):
        affinity = fit_affinity(affinity, y)
        of_database = code_blocks(database, y), None
    histogram = retrieval_histogram(
        queries,
        of_database[0],
        query_y,
        of_database[1],
        affinity=affinity,
        n_bits=n_bits,
        exclude_self=is_self,
        keep_codes=True,
        n_jobs=options.n_jobs,
    )
    scores, curves = evaluate_histogram(histogram, measures)
    columns = columns_of(measures)
    if options.rescore:
        rescoring = Rescoring(options.rescore, metric=metric)
        codes = queries, database, n_bits
        of_rows = _rescored(options, hasher, rescoring, codes, (query_y, y), affinity, histogram)
        scores, columns = scores | of_rows, (*columns, *rescoring.columns())
    _print(options, scores, columns)
    if options.per_query is not None:
        write_per_query(options.per_query, range(len(queries)), curves["of_queries"])
    note(fit_affinity(affinity, y).describe(y, "features" if options.neighbors else "y"))
    return 0


def _judged(options: Namespace, queries: Any, database: Any) -> tuple[Any, Any, Any]:
    """Relevance by pairs of ids, and the numbers of queries and of items in it."""
    n_items = len(database)
    if options.queries is None:
        affinity = affinity_of_pairs(options.qrels, ids(options.database), n_items)
        return affinity, np.arange(n_items), np.arange(n_items)
    n_queries = len(queries)
    names = ids(options.queries), n_queries, ids(options.database), n_items
    affinity = affinity_of_pairs(options.qrels, *names)
    return affinity, np.arange(n_queries), np.arange(n_queries, n_queries + n_items)


def _evaluate_run(options: Namespace) -> int:
    if options.run_file is None or options.qrels is None:
        raise UsageError("evaluate needs --database, or --run and --qrels.")
    scores, measures, histogram = evaluate_run(options)
    columns = columns_of(measures)
    tests = {} if options.baseline is None else tests_against(options, histogram, measures)
    if options.json:
        for name, test in tests.items():
            low, high = test.confidence_interval
            scores |= {f"{name}_ahead": test.statistic, f"{name}_p": test.pvalue}
            scores |= {f"{name}_ahead_low": low, f"{name}_ahead_high": high}
    _print(options, scores, columns)
    if tests and not options.json:
        print_tests(options.baseline, tests, {column.name: column.title for column in columns})
    if options.per_query is not None:
        values = {name: histogram.measure(measure) for name, measure in measures.items()}
        write_per_query(options.per_query, histogram.query_ids or [], values)
    return 0


def _check_codes(options: Namespace) -> None:
    exclude(options, "neighbors", "affinity", "database_labels", "query_labels", "label_column")
    exclude(options, "qrels", "affinity", "database_labels", "query_labels", "label_column")
    need(options, "metric", "neighbors", "rescore")
    need(options, "neighbors", "database_data")
    if options.neighbors:
        need(options, "queries", "query_data")
    for name in ("query_data", "query_labels"):
        need(options, name, "queries")
    for name in ("query_data", "database_data"):
        need(options, name, "rescore", "neighbors")
    need(options, "model", "rescore")
    for name in ("queries", "model", "query_data", "database_data"):
        need(options, "rescore", name)
    for name in ("baseline", "query_set", "unjudged"):
        need(options, name, "run_file")
    need(options, "queries", "query_labels", "qrels", "query_data")
    if not (options.database_labels or options.qrels or options.neighbors):
        raise UsageError("evaluate needs --database-labels, --qrels or --neighbors.")


def _read_features(options: Namespace, path: str, codes: Any, columns: Any = None) -> Any:
    rows = mapped(read_rows(path, columns=columns, id_column=options.id_column).X)
    if rows.shape[0] != len(codes):
        raise UsageError(f"{path}: {rows.shape[0]:,} rows for {len(codes):,} codes.")
    return rows


def _rescored(
    options: Namespace,
    hasher: Any,
    rescoring: Rescoring,
    codes: tuple[np.ndarray, np.ndarray, int],
    y: tuple[Any, Any],
    affinity: Any,
    histogram: RetrievalHistogram,
) -> dict[str, float]:
    queries, database, n_bits = codes
    names = hasher.__dict__.pop("feature_names_in_", None)  # the columns are chosen by name here
    rows = [
        _read_features(options, options.query_data, queries, names),
        _read_features(options, options.database_data, database, names),
    ]
    projections = hasher.decision_function(rows[0])
    query_codes = pack_codes(queries, n_bits)
    if not np.array_equal(pack_signs(projections), query_codes):
        raise UsageError(f"{options.queries} are not the codes of {options.query_data}.")
    of_database = Encoded(pack_codes(database, n_bits), n_bits, rows[1])
    neighbors = HammingNeighbors(n_bits=n_bits, n_jobs=1).fit(of_database.codes)
    return measure_rescoring(
        rescoring,
        lambda n_neighbors: neighbors.kneighbors(query_codes, n_neighbors)[1],
        rows[0],
        rows[1],
        np.arange(len(database)),
        y,
        fit_affinity(affinity, y[1]),
        histogram,
        of_database,
        projections,
    )


def _print(options: Namespace, scores: dict[str, float], columns: Iterable[Column]) -> None:
    if options.json:
        known = {name: None if math.isnan(score) else score for name, score in scores.items()}
        print(json.dumps(known, indent=1))
        return
    shown = {}
    for column in columns:
        names = [column.name + suffix for suffix in ("", "_pessimistic", "_optimistic")]
        values = [f"{scores[name]:8.4f}" for name in names if name in scores]
        if values:
            shown[column.title] = values
    width = max(8, *map(len, shown))
    print(f"{'':{width}} {'mean':>8} {'worst':>8} {'best':>8}  order of ties")
    for title, values in shown.items():
        print(" ".join([title.ljust(width), *values]))
