"""``hashrank search``: find the codes of a file that are nearest to queries."""

import csv
import sys
import zipfile
from argparse import Namespace
from typing import Any

import numpy as np

from .._features.nearest_rows import METRICS
from .._files.atomic import write_file
from ..comparison._result_tables import csv_cell
from ..neighbors._hamming_neighbors import HammingNeighbors
from ..neighbors._rescore import rescore
from ._arguments import (
    add_code_length,
    add_id_column,
    add_jobs,
    add_metric,
    add_model,
    add_parser,
    exclude,
    need,
    not_negative,
    positive,
)
from ._codes import Codes, Model, check_models, encode, load_model, read_codes
from ._errors import UsageError
from ._file_systems import Input, written_file
from ._messages import note
from ._outputs import output
from ._rows import Rows, check_same_rows, mapped
from ._scores import csv_file

_EPILOG = """\
examples:
  hashrank search --database codes.npy --queries q.npy -k 10 --output found.npz
  hashrank search --database codes.npy --data new.csv --model model.npz --radius 2
  hashrank search --database codes.npy --queries q.npy -k 100 --run found.run
  hashrank search --database codes.parquet --data new.parquet --model model.npz \\
      --rescore items.parquet --output found.csv
"""

_OVERSAMPLING = 10  # candidates for each result; docs/how_to/neighbors.rst has what more find


def add_command(commands: Any) -> None:
    parser = add_parser(commands, "search", "find the nearest codes", _run, _EPILOG)
    parser.add_argument(
        "--database", type=Input, required=True, metavar="FILE", help="codes, from hashrank encode"
    )
    queries = parser.add_mutually_exclusive_group(required=True)
    queries.add_argument("--queries", type=Input, metavar="FILE", help="codes of the queries")
    queries.add_argument("--data", type=Input, metavar="FILE", help="features of the queries")
    add_model(parser)
    add_id_column(parser)
    add_code_length(parser)
    how_far = parser.add_mutually_exclusive_group()
    how_far.add_argument(
        "-k", type=positive, default=10, metavar="N", help="number of neighbors (default: 10)"
    )
    how_far.add_argument("--radius", type=not_negative, metavar="N", help="largest distance")
    parser.add_argument(
        "--prefix", type=positive, metavar="BITS", help="number of first bits that find candidates"
    )
    parser.add_argument(
        "--rescore", type=Input, metavar="FILE", help="features of the database, to order by"
    )
    parser.add_argument(
        "--oversampling",
        type=positive,
        metavar="N",
        help=f"candidates as a multiple of -k (default: {_OVERSAMPLING})",
    )
    add_metric(parser)
    add_jobs(parser)
    results = parser.add_mutually_exclusive_group()
    results.add_argument(
        "--output",
        type=output(".csv", ".npz"),
        metavar="FILE",
        help=".csv or .npz file (default: CSV to standard output)",
    )
    results.add_argument(
        "--run", type=output(), dest="run_output", metavar="FILE", help="TREC run to write"
    )
    parser.add_argument(
        "--ties",
        choices=("all", "cut"),
        help="items of a run that tie with the k-th (default: all; cut with candidates)",
    )


def _run(options: Namespace, arguments: list[str]) -> int:
    _check(options)
    model = rows = None
    if options.data is None:
        paths = [options.database, options.queries]
        database, given = read_codes(paths, options.bits, options.threshold, in_blocks=True)
        check_models([database, given])
        queries, query_ids = given.codes, given.ids
    else:
        model = load_model(options.model)
        n_bits = model.hasher.n_bits_
        if options.bits not in (None, n_bits):
            raise UsageError(f"--bits {options.bits}, but {options.model} has {n_bits}.")
        [database] = read_codes([options.database], n_bits, options.threshold, in_blocks=True)
        check_models([database], model)
        rows = model.read_features(options.data, options.id_column)
        queries, query_ids = encode(model.hasher, rows, n_jobs=options.n_jobs), rows.ids
    index = HammingNeighbors(n_bits=database.n_bits, prefix=options.prefix, n_jobs=options.n_jobs)
    index.fit(database.codes)
    if options.radius is None:
        distances, indices = _nearest(options, index, queries, database, model, rows)
    else:
        distances, indices = index.radius_neighbors(queries, options.radius, sort_results=True)
    items = _item_names(database.ids, indices)
    names = range(len(indices)) if query_ids is None else query_ids[:].tolist()
    found = list(zip(names, items, distances))
    if options.run_output is not None:
        _write_run(options.run_output, found)
    elif options.output is None:
        _write_csv(csv.writer(sys.stdout, lineterminator="\n"), found)
    else:
        _write_neighbors(options.output, distances, indices, items, found)
    return 0


def _check(options: Namespace) -> None:
    need(options, "data", "model")
    need(options, "model", "data")
    need(options, "rescore", "data")
    need(options, "metric", "rescore")
    need(options, "oversampling", "rescore", "prefix")
    need(options, "ties", "run_output")
    for name in ("rescore", "prefix", "ties"):
        exclude(options, name, "radius")
    if options.ties == "all" and not _looks_at_all(options):
        raise UsageError(
            "--ties all needs all distances, and --prefix and --rescore look at candidates only."
        )


def _looks_at_all(options: Namespace) -> bool:
    return options.prefix is None and options.rescore is None


def _nearest(
    options: Namespace,
    index: HammingNeighbors,
    queries: Any,
    database: Codes,
    model: Model | None,
    rows: Rows | None,
) -> tuple[Any, Any]:
    """Distances and indices of the k nearest, or in a run also of those that tie with the last."""
    n_codes = len(database.codes)
    if options.k > n_codes:
        note(f"{options.k} of {n_codes} codes were asked for: all of them are given")
    n_wanted = min(options.k, n_codes)
    n_candidates = min((options.oversampling or _OVERSAMPLING) * n_wanted, n_codes)
    if options.run_output is not None:  # one more shows whether the last one ties
        n_wanted = min(n_wanted + 1, n_codes if _looks_at_all(options) else n_candidates)
    if options.rescore is not None and model is not None and rows is not None:
        items = model.read_features(options.rescore, options.id_column)
        check_same_rows(items, database)
        distances, indices = rescore(
            np.asarray(rows.X),
            mapped(items.X),
            index.kneighbors(queries, n_candidates)[1],
            n_wanted,
            metric=options.metric or METRICS[0],
            n_jobs=options.n_jobs,
        )
    else:
        if options.prefix is not None:
            index.set_params(n_candidates=n_candidates)
        distances, indices = index.kneighbors(queries, n_wanted)
    if options.run_output is None:
        return distances, indices
    takes_all = _looks_at_all(options) and options.ties != "cut"
    return _cut(index, queries, distances, indices, options.k, takes_all)


def _item_names(names: Any, indices: Any) -> Any:
    """Ids of items by their numbers: a matrix, or rows of different lengths."""
    if names is None:
        return indices
    is_matrix = isinstance(indices, np.ndarray) and indices.dtype.kind == "i"
    flat = indices.ravel() if is_matrix else np.concatenate([*indices]).astype(np.int64)
    distinct, places = np.unique(flat, return_inverse=True)  # of all ids, only these are read
    found = names[distinct][places]
    if is_matrix:
        return found.reshape(indices.shape)
    return np.split(found, np.cumsum([*map(len, indices)])[:-1])


def _cut(
    index: HammingNeighbors, queries: Any, distances: Any, indices: Any, k: int, takes_all: bool
) -> tuple[list[Any], list[Any]]:
    """Leave k items of each query, or all at the distance of the last one, and say which."""
    far, found = list(distances[:, :k]), list(indices[:, :k])
    if distances.shape[1] <= k:
        return far, found
    tied = np.flatnonzero(distances[:, k] == distances[:, k - 1])
    last = distances[tied, k - 1]
    if takes_all:
        for radius in np.unique(last):
            of_radius = tied[last == radius]
            within = index.radius_neighbors(queries[of_radius], int(radius), sort_results=True)
            for query, of_query, at in zip(of_radius, *within):
                far[query], found[query] = of_query, at
    if len(tied):
        n_more = sum(map(len, found)) - k * len(found)
        how = (
            f"they hold all of them, {n_more:,} items more"
            if takes_all
            else "the order of the database decides which of them are among the first"
        )
        note(f"{len(tied):,} of {len(found):,} queries have ties at place {k}: {how}")
    return far, found


def _shown(distance: Any) -> Any:
    """A Hamming distance as an integer, and one of floats in full."""
    return int(distance) if isinstance(distance, np.integer) else float(distance)


def _word(name: Any) -> str:
    text = str(name)
    if text.split() != [text]:
        raise UsageError(f"--run: an id must be a word without spaces. Got {text!r}.")
    return text


def _write_run(path: str, found: list[Any]) -> None:
    if len({query for query, *_ in found}) < len(found):
        raise UsageError("--run: the ids of queries must all be different.")
    n_items = 0
    with written_file(path) as place, write_file(place, "w", encoding="utf-8") as file:
        for query, items, far in found:
            n_items += len(items)
            for rank, (item, distance) in enumerate(zip(items, far), 1):
                file.write(f"{_word(query)} Q0 {_word(item)} {rank} {-_shown(distance)} hashrank\n")
    print(f"{path}: {n_items:,} items of {len(found):,} queries")


def _write_neighbors(path: str, distances: Any, indices: Any, items: Any, found: Any) -> None:
    if path.lower().endswith(".csv"):
        with csv_file(path) as writer:
            _write_csv(writer, found)
    else:
        arrays = {"indices": indices, "distances": distances}
        if distances.dtype.kind == "O":  # of a radius: as many as there are
            arrays = {name: np.concatenate(rows) for name, rows in arrays.items()}
            arrays["indptr"] = np.cumsum([0, *map(len, indices)])
        elif items is not indices:
            arrays["ids"] = items.astype(str) if items.dtype.kind == "O" else items
        with written_file(path) as place, write_file(place) as file:
            _write_arrays(file, arrays)
    print(f"{path}: {sum(map(len, indices)):,} neighbors of {len(indices):,} queries")


def _write_arrays(file: Any, arrays: dict[str, np.ndarray]) -> None:
    """Write as numpy.savez does, and close every member where the disk is full."""
    with zipfile.ZipFile(file, "w") as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asarray(array), allow_pickle=False)


def _write_csv(writer: Any, found: Any) -> None:
    writer.writerow(["query", "item", "distance"])
    for query, items, far in found:
        writer.writerows(
            (csv_cell(query), csv_cell(item), _shown(distance))
            for item, distance in zip(items, far)
        )
