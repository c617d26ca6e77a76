"""``hashrank fit``, ``encode``, ``evaluate`` and ``search``: people with files."""

import csv
import json
import math
import sys
import time
import zipfile
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..affinity import NeighborAffinity, fit_affinity, warn_if_alike
from ..base import BaseHasher, pack_signs
from ..codes import load_codes, pack_codes, packed_width
from ..comparison import (
    Column,
    Rescoring,
    columns_of,
    measure_codes,
    measure_rescoring,
    method_from_name,
    name_measures,
)
from ..hasher_files import load_hasher, save_hasher
from ..metrics.retrieval import Encoded
from ..metrics.settings import with_settings
from ..persistence import noted_n_bits, write_file
from ._arguments import add_measures, add_neighbors, add_rescoring, jobs, not_negative, positive
from ._data import (
    add_data_options,
    add_label_options,
    check_row_labels,
    check_rows,
    load_data,
    note,
    number_paths,
)
from ._errors import UsageError
from ._files import read_labels, read_rows
from ._outputs import check_output_file

_FIT_EPILOG = """\
examples:
  hashrank fit --data train.npz --method itq --bits 32 --output model.npz
  hashrank fit --data train.csv --label-column class --method talr-ap:alpha=3 --output model.npz

The model file holds arrays and JSON: loading it runs no code. sklearn_hashrank.load_hasher reads
it in Python. Without labels, distances between the features say what is relevant.
"""
_ENCODE_EPILOG = """\
examples:
  hashrank encode --model model.npz --data items.npy --output codes.npy

Codes are packed as numpy.packbits does, ceil(bits / 8) bytes each. A .npy file of features is read
block by block and may be larger than memory.
"""
_EVALUATE_EPILOG = """\
examples:
  hashrank evaluate --database codes.npy --database-labels labels.npy
  hashrank evaluate --queries q.npy --query-labels ql.csv --database codes.npy \\
      --database-labels labels.csv --label-column class --bits 32 --json
  hashrank evaluate --queries q.npy --query-labels ql.npy --database codes.npy \\
      --database-labels labels.npy --rescore 10 --model model.npz \\
      --query-data rows_q.npy --database-data rows.npy
  hashrank evaluate --queries q.npy --query-data rows_q.npy --database codes.npy \\
      --database-data rows.npy --neighbors 10 --measures recall@10

Without queries, every item of the database retrieves all the others.
"""
_SEARCH_EPILOG = """\
examples:
  hashrank search --database codes.npy --queries q.npy -k 10 --output found.npz
  hashrank search --database codes.npy --data new.csv --model model.npz --radius 2

CSV has the columns query, item, distance. An .npz file of -k holds indices and distances, one row
for each query; of --radius it holds flat indices and distances, and indptr, where each query's
begin. Items at the same distance come in the order of the database.
"""


def add_commands(commands: Any) -> None:
    """Add ``fit``, ``encode``, ``evaluate`` and ``search`` to the commands."""
    parser = _add(commands, "fit", "learn a hasher and write it to a file", _FIT_EPILOG, _fit)
    add_data_options(parser)
    parser.add_argument(
        "--method",
        default="itq",
        metavar="NAME",
        help="a name that 'hashrank methods' lists; may be followed by :parameter=value "
        "(default: itq)",
    )
    parser.add_argument(
        "--bits", type=positive, default=32, metavar="N", help="code length (default: 32)"
    )
    parser.add_argument(
        "--seed",
        type=int,
        default=0,
        metavar="N",
        help="seed of what the method samples (default: 0)",
    )
    _add_output(parser, "model file, .npz", required=True)

    parser = _add(commands, "encode", "write the codes of features", _ENCODE_EPILOG, _encode)
    parser.add_argument("--model", required=True, metavar="FILE", help="from hashrank fit")
    parser.add_argument(
        "--data", required=True, metavar="FILE", help=".npy, .npz, .csv or .parquet file"
    )
    parser.add_argument("--n-jobs", type=jobs, metavar="N", help="threads (default: 1)")
    _add_output(parser, "packed codes, .npy", required=True)

    parser = _add(
        commands, "evaluate", "tie-aware scores of codes with labels", _EVALUATE_EPILOG, _evaluate
    )
    for part, required in (("database", True), ("queries", False)):
        parser.add_argument(f"--{part}", required=required, metavar="FILE", help="codes, .npy")
    parser.add_argument("--database-labels", metavar="FILE", help="one row for each code")
    parser.add_argument("--query-labels", metavar="FILE", help="the same of the queries")
    add_label_options(parser, only_column=True)
    add_measures(parser)
    add_neighbors(parser, ", in place of labels; needs the features")
    add_rescoring(
        parser, "; needs --queries, --model, and the features --query-data and --database-data"
    )
    parser.add_argument("--model", metavar="FILE", help="from hashrank fit; made the codes")
    parser.add_argument("--query-data", metavar="FILE", help="features of the queries")
    parser.add_argument(
        "--database-data", metavar="FILE", help="features of the database; .npy is not read whole"
    )
    _add_bits(parser)
    parser.add_argument("--n-jobs", type=jobs, metavar="N", help="threads (default: 1)")
    parser.add_argument("--json", action="store_true", help="print JSON, every number in full")

    parser = _add(commands, "search", "find the nearest codes", _SEARCH_EPILOG, _search)
    parser.add_argument("--database", required=True, metavar="FILE", help="codes, .npy")
    queries = parser.add_mutually_exclusive_group(required=True)
    queries.add_argument("--queries", metavar="FILE", help="codes, .npy")
    queries.add_argument("--data", metavar="FILE", help="features of queries; needs --model")
    parser.add_argument("--model", metavar="FILE", help="from hashrank fit")
    _add_bits(parser)
    how_far = parser.add_mutually_exclusive_group()
    how_far.add_argument(
        "-k", type=positive, default=10, metavar="N", help="how many of each query (default: 10)"
    )
    how_far.add_argument("--radius", type=not_negative, metavar="N", help="all within a distance")
    parser.add_argument("--n-jobs", type=jobs, metavar="N", help="threads (default: 1)")
    _add_output(parser, ".csv or .npz file (default: CSV to standard output)", required=False)


def _add(commands: Any, name: str, purpose: str, epilog: str, run: Any) -> ArgumentParser:
    parser: ArgumentParser = commands.add_parser(
        name, help=purpose, description=purpose.capitalize() + ".", epilog=epilog
    )
    parser.set_defaults(run=run)
    return parser


def _add_bits(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--bits",
        type=positive,
        metavar="N",
        help="code length; files that hashrank encode wrote know it",
    )


def _add_output(parser: ArgumentParser, what: str, required: bool) -> None:
    parser.add_argument("--output", required=required, metavar="FILE", help=what)


def _fit(options: Namespace, arguments: list[str]) -> int:
    check_output_file(options.output, [".npz"], [options.data, options.labels])
    method = method_from_name(options.method)
    hasher = with_settings(method, n_bits=options.bits, random_state=options.seed)
    rows = load_data(options)
    start = time.perf_counter()
    hasher.fit(rows.X, rows.y)
    seconds = time.perf_counter() - start
    if rows.names is not None:
        hasher.feature_names_in_ = np.array(rows.names, dtype=object)
    save_hasher(options.output, hasher, training_rows=False)
    n_rows, n_features = rows.X.shape
    print(
        f"{options.output}: {type(hasher).__name__}, {options.bits} bits, trained on {n_rows:,} "
        f"rows of {n_features:,} features in {seconds:.2g} s"
    )
    if rows.y is not None:
        affinity, y = hasher.relevance(rows.X, rows.y)
        print(affinity.describe(y))
    return 0


def _encode(options: Namespace, arguments: list[str]) -> int:
    check_output_file(options.output, [".npy"], [options.model, options.data])
    hasher = load_hasher(options.model)
    codes = _encode_file(hasher, options.data, options.output, options.n_jobs)
    n_bits = hasher.n_bits_
    print(f"{options.output}: {len(codes):,} codes of {n_bits} bits")
    return 0


def _encode_file(hasher: BaseHasher, path: str, out: str | None, n_jobs: int | None) -> np.ndarray:
    names = hasher.__dict__.pop("feature_names_in_", None)  # the columns are chosen by name here
    X = read_rows(path, columns=names).X
    check_rows(X, path)
    try:
        return hasher.encode_blocks(X, out=out, n_jobs=n_jobs)
    except ValueError as error:
        raise UsageError(f"{path}: {str(error).splitlines()[0]}") from error


def _evaluate(options: Namespace, arguments: list[str]) -> int:
    _check_files(options)
    measures = name_measures(options.measures)
    is_self = options.queries is None
    paths = [options.database, *([] if is_self else [options.queries])]
    (database, *others), n_bits = _read_codes(paths, options.bits)
    queries = database if is_self else others[0]
    affinity: Any = "auto"
    if options.neighbors:
        affinity = NeighborAffinity(options.neighbors, metric=options.metric)
        y = _read_features(options.database_data, database)
        query_y = y if is_self else _read_features(options.query_data, queries)
    else:
        y = _read_code_labels(options.database_labels, options.label_column, database)
        query_y = y
        if not is_self:
            query_y = _read_code_labels(options.query_labels, options.label_column, queries)
        y, query_y = number_paths(options.label_column, y, query_y)
        affinity = fit_affinity("auto", y)
        warn_if_alike(affinity, y)
        note(affinity.describe(y, "database labels"))
    scores, _ = measure_codes(
        queries,
        database,
        query_y,
        y,
        n_bits=n_bits,
        exclude_self=is_self,
        affinity=affinity,
        measures=measures,
        n_jobs=options.n_jobs,
    )
    columns = columns_of(measures)
    if options.rescore:
        rescoring = Rescoring(options.rescore, options.oversampling, options.metric)
        of_rows = _rescored(options, rescoring, queries, database, n_bits, (query_y, y), affinity)
        scores, columns = scores | of_rows, (*columns, *rescoring.columns)
    if options.json:
        known = {name: None if math.isnan(score) else score for name, score in scores.items()}
        print(json.dumps(known, indent=1))
    else:
        _print_scores(scores, columns)
    return 0


def _check_files(options: Namespace) -> None:
    """Say what is missing of the files that the options need, or too much."""
    has_labels = options.database_labels is not None
    has_queries = options.queries is not None
    if options.neighbors:
        needed = ["database_data", "query_data"] if has_queries else ["database_data"]
        if any(getattr(options, name) is None for name in needed):
            raise UsageError(
                "--neighbors needs --database-data, and --query-data where there are --queries."
            )
        if has_labels or options.query_labels is not None:
            raise UsageError("--neighbors takes the place of labels: leave them out.")
    elif not has_labels:
        raise UsageError("evaluate needs --database-labels, or --neighbors and --database-data.")
    elif has_queries != (options.query_labels is not None):
        raise UsageError("--queries and --query-labels go together.")
    given = options.queries, options.model, options.query_data, options.database_data
    if options.rescore and None in given:
        raise UsageError("--rescore needs --queries, --model, --query-data and --database-data.")


def _read_features(path: str, codes: np.ndarray, columns: Any = None) -> Any:
    """Rows of features, one for each code; a .npy file is mapped into memory."""
    rows = read_rows(path, columns=columns).X
    check_rows(rows, path)
    if rows.shape[0] != len(codes):
        raise UsageError(
            f"{path} must have {len(codes):,} rows, one for each code. Got shape {rows.shape}."
        )
    return rows


def _rescored(
    options: Namespace,
    rescoring: Rescoring,
    queries: np.ndarray,
    database: np.ndarray,
    n_bits: int,
    y: tuple[Any, Any],
    affinity: Any,
) -> dict[str, float]:
    """Scores of rankings of which the model and the features are known, too."""
    hasher = load_hasher(options.model)
    names = hasher.__dict__.pop("feature_names_in_", None)  # the columns are chosen by name here
    rows = []
    for path, codes in ((options.query_data, queries), (options.database_data, database)):
        rows.append(_read_features(path, codes, names))
        if rows[-1].shape[1] != hasher.n_features_in_:
            raise UsageError(
                f"{path} must have {hasher.n_features_in_} features. Got shape {rows[-1].shape}."
            )
    projections = hasher.decision_function(rows[0])
    of_queries = Encoded(pack_codes(queries, n_bits), n_bits, rows[0])
    if not np.array_equal(pack_signs(projections), of_queries.codes):
        raise UsageError(f"{options.queries} are not the codes of {options.query_data}.")
    of_database = Encoded(pack_codes(database, n_bits), n_bits, rows[1])
    numbers = np.arange(len(database))
    return measure_rescoring(
        rescoring, of_queries, of_database, projections, rows[1], numbers, y, affinity
    )


def _print_scores(scores: dict[str, float], columns: Iterable[Column]) -> None:
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


def _search(options: Namespace, arguments: list[str]) -> int:
    from ..neighbors import HammingNeighbors

    if options.output is not None:
        inputs = [options.database, options.queries, options.data, options.model]
        check_output_file(options.output, [".csv", ".npz"], inputs)
    if (options.data is None) != (options.model is None):
        raise UsageError("--data and --model go together: the model encodes the queries.")
    n_bits = options.bits
    if options.data is not None:
        hasher = load_hasher(options.model)
        n_bits = hasher.n_bits_
        if options.bits not in (None, n_bits):
            raise UsageError(f"--bits {options.bits}, but {options.model} has {n_bits}.")
        queries = _encode_file(hasher, options.data, None, options.n_jobs)
        [database], n_bits = _read_codes([options.database], n_bits)
    else:
        [database, queries], n_bits = _read_codes([options.database, options.queries], n_bits)
    index = HammingNeighbors(n_bits=n_bits, n_jobs=options.n_jobs).fit(database)
    if options.radius is None:
        if options.k > len(database):
            note(f"{options.k} of {len(database)} codes were asked for: all of them are given")
        distances, indices = index.kneighbors(queries, min(options.k, len(database)))
    else:
        distances, indices = index.radius_neighbors(queries, options.radius, sort_results=True)
    _write_neighbors(options.output, distances, indices, options.radius is None)
    return 0


def _write_neighbors(path: str | None, distances: Any, indices: Any, is_table: bool) -> None:
    if path is None:
        _write_csv(sys.stdout, distances, indices)
        return
    if path.lower().endswith(".csv"):
        with write_file(path, "w", encoding="utf-8", newline="") as text:
            _write_csv(text, distances, indices)
    else:
        arrays = {"indices": indices, "distances": distances}
        if not is_table:
            arrays = {name: np.concatenate(rows) for name, rows in arrays.items()}
            arrays["indptr"] = np.cumsum([0, *map(len, indices)])
        with write_file(path) as file:
            _write_arrays(file, arrays)
    print(f"{path}: {sum(map(len, indices)):,} neighbours of {len(indices):,} queries")


def _write_arrays(file: Any, arrays: dict[str, np.ndarray]) -> None:
    """As numpy.savez does, but closed in order where the disk is full."""
    with zipfile.ZipFile(file, "w") as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asarray(array), allow_pickle=False)


def _write_csv(file: Any, distances: Iterable[Any], indices: Iterable[Any]) -> None:
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["query", "item", "distance"])
    for query, rows in enumerate(zip(indices, distances)):
        writer.writerows((query, int(item), int(distance)) for item, distance in zip(*rows))


def _read_codes(paths: list[str], n_bits: int | None) -> tuple[list[np.ndarray], int]:
    """Codes of several files, and their common length, which files of `hashrank encode` know."""
    noted = [noted_n_bits(path) if path.lower().endswith(".npy") else None for path in paths]
    if n_bits is None:
        n_bits = next((length for length in noted if length is not None), None)
    if n_bits is None:
        raise UsageError(f"{paths[0]} does not say how long its codes are: give --bits.")
    codes = []
    for path, length in zip(paths, noted):
        codes.append(read_rows(path).X if length is None else load_codes(path, n_bits))
        if length is None:
            _check_codes(codes[-1], path, n_bits)
    return codes, n_bits


def _check_codes(codes: np.ndarray, path: str, n_bits: int) -> None:
    width = packed_width(n_bits)
    if codes.ndim != 2 or codes.dtype.kind not in "biu" or codes.shape[1] not in (width, n_bits):
        raise UsageError(
            f"{path}: codes of {n_bits} bits are integers in {width} packed columns or {n_bits} "
            f"columns of bits. Got {codes.dtype} of shape {codes.shape}."
        )


def _read_code_labels(path: str, columns: list[str], codes: np.ndarray) -> np.ndarray:
    labels: np.ndarray = check_row_labels(read_labels(path, columns), path, codes)
    return labels
