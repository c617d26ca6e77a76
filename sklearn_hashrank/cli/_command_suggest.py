"""``hashrank suggest``: compare methods on a sample of the rows, and say which one to take."""

import shlex
from argparse import Namespace
from typing import Any

from ..comparison._faiss_search import FaissSearch
from ..comparison._hasher_search import HasherSearch
from ..comparison._method_names import hasher_of_comparison, method_of_comparison
from ..comparison._suggest import suggest
from ._affinities import add_affinity, name_affinity
from ._arguments import (
    add_bits,
    add_data_options,
    add_jobs,
    add_parser,
    check_measures,
    flag,
    positive,
    words,
)
from ._data import affinity_of, load_data
from ._messages import print_progress

_EPILOG = """\
examples:
  hashrank suggest --data digits
  hashrank suggest --data items.csv --label-column class --bits 64
  hashrank suggest --data embeddings.npy --rows 10000
  hashrank suggest --data images.npz --new-classes --methods rsh,lwh,talr-ap:dropout=0.3
"""


def add_command(commands: Any) -> None:
    purpose = "try the methods that suit the data, and say which to take"
    parser = add_parser(commands, "suggest", purpose, _run, _EPILOG)
    add_data_options(parser)
    add_affinity(parser)
    add_bits(parser)
    parser.add_argument(
        "--new-classes", action="store_true", help="queries of classes that are not trained on"
    )
    parser.add_argument(
        "--methods", type=words, metavar="NAME,...", help="methods to try (default: by the labels)"
    )
    parser.add_argument(
        "--measure", metavar="NAME", help="measure that decides (default: by the labels)"
    )
    parser.add_argument(
        "--rows",
        type=positive,
        default=3000,
        metavar="N",
        help="maximum number of training rows (default: 3000)",
    )
    parser.add_argument(
        "--splits", type=positive, default=3, metavar="N", help="number of samples (default: 3)"
    )
    add_jobs(parser, "runs at a time")
    parser.add_argument("--quiet", action="store_true", help="no progress")


def _run(options: Namespace, arguments: list[str]) -> int:
    for name in options.methods or ():
        method_of_comparison(name)  # before data are read
    if options.measure is not None:
        check_measures([options.measure])
    rows = load_data(options)
    found = suggest(
        rows.X,
        rows.y,
        n_bits=options.bits,
        new_classes=options.new_classes,
        methods=options.methods,
        affinity=affinity_of(options.affinity, rows.y),
        measure=options.measure,
        max_rows=options.rows,
        n_splits=options.splits,
        n_jobs=options.n_jobs,
        progress=None if options.quiet else print_progress,
    )
    method, reason = found.best()
    print(f"Take {method}: {reason}\n")
    print(found.to_markdown())
    for name in ("situation", "skipped"):
        if found.about[name]:
            print(f"{name}: {found.about[name]}")
    print(f"relevance: {found.about['data']['relevance']}")
    print(f"sample: {found.about['protocol']['sizes']}")
    hasher = found.hashers[method]
    if isinstance(hasher, FaissSearch):
        print(f"faiss: index_factory(n_features, {hasher.factory!r})")
        return 0
    if isinstance(hasher, HasherSearch):
        searched = {"asymmetric": "HammingNeighbors", "decoded": "DecodedNeighbors"}
        print(f"search: by the {hasher.distance} distance of {searched[hasher.distance]}")
        method, hasher = hasher_of_comparison(method), hasher.estimator
    print(f"command: {_command(options, method, hasher)}")
    return 0


def _command(options: Namespace, method: str, hasher: Any) -> str:
    """What to type to learn the hasher from all rows."""
    parts = ["hashrank", "fit"]
    for name in ("data", "labels", "label_column", "id_column", "exclude_column"):
        given = getattr(options, name)
        for value in given if isinstance(given, list) else [given]:
            parts += [] if value is None else [flag(name), value]
    if options.affinity != "auto" and "affinity" in hasher.get_params():
        parts += ["--affinity", name_affinity(options.affinity)]
    parts += ["--method", method, "--bits", str(options.bits), "--output", "model.npz"]
    return shlex.join(parts)
