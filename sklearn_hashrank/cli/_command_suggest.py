"""``hashrank suggest``: try the methods that suit a file of rows, and say which one to take."""

import shlex
import sys
from argparse import Namespace
from typing import Any

from ..comparison._method_table import method_from_name
from ..comparison._suggest import suggest
from ..comparison._suggestion import Suggestion
from ._affinities import add_affinity, name_affinity
from ._arguments import add_data_options, add_parser, not_negative, positive, words
from ._data import affinity_of, load_data

_EPILOG = """\
examples:
  hashrank suggest --data digits
  hashrank suggest --data items.csv --label-column class --bits 64
  hashrank suggest --data embeddings.npy --budget 300 --rows 10000
  hashrank suggest --data images.npz --new-classes --methods rsh,lwh,talr-ap:dropout=0.3

Training rows, database and queries are sampled from the rows. No query is trained on.
"""


def add_command(commands: Any) -> None:
    """Add ``suggest`` to the commands."""
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
        "--budget",
        type=positive,
        default=120,
        metavar="SECONDS",
        help="no fit begins that is expected to end after so many seconds (default: 120)",
    )
    parser.add_argument(
        "--seed", type=not_negative, default=0, metavar="N", help="of the first split (default: 0)"
    )
    parser.add_argument("--quiet", action="store_true", help="no progress")


def _run(options: Namespace, arguments: list[str]) -> int:
    for name in options.methods or ():
        method_from_name(name)  # before data are read
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
        time_budget=options.budget,
        random_state=options.seed,
        progress=None if options.quiet else _show,
    )
    print(found)
    print(f"command: {_command(options, found)}")
    return 0


def _show(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _command(options: Namespace, found: Suggestion) -> str:
    """What to type to learn the hasher from all rows."""
    parts = ["hashrank", "fit", "--data", options.data]
    if options.labels:
        parts += ["--labels", options.labels]
    for column in options.label_column:
        parts += ["--label-column", column]
    if options.affinity != "auto" and "affinity" in found.hasher.get_params():
        parts += ["--affinity", name_affinity(options.affinity)]
    parts += ["--method", found.method, "--bits", str(options.bits), "--output", "model.npz"]
    return shlex.join(parts)
