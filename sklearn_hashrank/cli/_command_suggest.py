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
    add_data_options,
    add_jobs,
    add_parser,
    check_measures,
    not_negative,
    positive,
    words,
)
from ._data import affinity_of, load_data
from ._progress import show_progress

_EPILOG = """\
examples:
  hashrank suggest --data digits
  hashrank suggest --data items.csv --label-column class --bits 64
  hashrank suggest --data embeddings.npy --rows 10000
  hashrank suggest --data images.npz --new-classes --methods rsh,lwh,talr-ap:dropout=0.3

Training rows, database and queries are sampled from the rows. No query is trained on.
"""


def add_command(commands: Any) -> None:
    parser = add_parser(
        commands,
        "suggest",
        "try the methods that suit the data, and say which to take",
        _run,
        _EPILOG,
    )
    add_data_options(parser)
    add_affinity(parser)
    parser.add_argument(
        "--bits", type=positive, default=32, metavar="N", help="code length (default: 32)"
    )
    parser.add_argument(
        "--new-classes",
        action="store_true",
        help="queries will be of classes that are not trained on",
    )
    parser.add_argument(
        "--methods",
        type=words,
        metavar="NAME,...",
        help="what is tried (default: about five methods, by the kind of labels)",
    )
    parser.add_argument(
        "--measure",
        metavar="NAME",
        help="what decides, as for compare --measures (default: ap; of graded relevance ndcg; "
        "without labels recall@10)",
    )
    parser.add_argument(
        "--rows",
        type=positive,
        default=3000,
        metavar="N",
        help="most training rows (default: 3000)",
    )
    parser.add_argument(
        "--splits",
        type=positive,
        default=3,
        metavar="N",
        help="how many times rows are sampled (default: 3)",
    )
    parser.add_argument(
        "--seed", type=not_negative, default=0, metavar="N", help="of the first split (default: 0)"
    )
    add_jobs(parser, "runs at a time")
    parser.add_argument("--quiet", action="store_true", help="no progress")


def _run(options: Namespace, arguments: list[str]) -> int:
    for name in options.methods or ():
        method_of_comparison(name)  # before data are read
    if options.measure is not None:
        check_measures([options.measure])
    rows = load_data(options)
    with show_progress(options.quiet) as progress:
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
            random_state=options.seed,
            n_jobs=options.n_jobs,
            progress=progress,
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
    parts = ["hashrank", "fit", "--data", options.data]
    if options.labels:
        parts += ["--labels", options.labels]
    for flag, names in (
        ("--label-column", options.label_column),
        ("--id-column", [options.id_column] if options.id_column else []),
        ("--exclude-column", options.exclude_column),
    ):
        for name in names:
            parts += [flag, name]
    if options.affinity != "auto" and "affinity" in hasher.get_params():
        parts += ["--affinity", name_affinity(options.affinity)]
    parts += ["--method", method, "--bits", str(options.bits), "--output", "model.npz"]
    return shlex.join(parts)
