"""``hashrank fit``: learn a hasher from a file of rows and write it to a file."""

import sys
import time
from argparse import Namespace
from contextlib import redirect_stdout
from typing import Any

import numpy as np

from .._files.hashers.saving import save_hasher
from ..affinity._auto import fit_affinity, is_auto
from ..comparison._method_table import method_from_name
from ..comparison._settings import with_settings
from ._affinities import add_affinity
from ._arguments import add_bits, add_data_options, add_inputs, add_parser, exclude
from ._data import affinity_of, bad_values_named, load_data
from ._errors import UsageError
from ._file_systems import written_file
from ._judged_pairs import PAIRS_HELP, affinity_of_pairs
from ._outputs import output

_PASSES_BETWEEN_LINES = 10  # each line costs a measure of some rows
_EPILOG = """\
examples:
  hashrank fit --data train.npz --method itq --bits 32 --output model.npz
  hashrank fit --data train.csv --label-column class --method talr-ap:alpha=3 --output model.npz
  hashrank fit --data items.parquet --qrels clicks.csv --method talr-ap --output model.npz
"""


def add_command(commands: Any) -> None:
    parser = add_parser(commands, "fit", "learn a hasher and write it to a file", _run, _EPILOG)
    add_data_options(parser)
    add_affinity(parser)
    add_inputs(parser, qrels=PAIRS_HELP)
    parser.add_argument(
        "--method",
        default="itq",
        metavar="NAME",
        help="name that 'hashrank methods' lists, with :parameter=value (default: itq)",
    )
    add_bits(parser)
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="seed (default: 0)")
    parser.add_argument(
        "--output", type=output(".npz"), required=True, metavar="FILE", help="model file, .npz"
    )


def _run(options: Namespace, arguments: list[str]) -> int:
    method = method_from_name(options.method)
    hasher = with_settings(method, n_bits=options.bits, random_state=options.seed)
    takes_affinity = "affinity" in hasher.get_params()
    if options.affinity != "auto" and not takes_affinity:
        raise UsageError(f"{options.method} has no parameter 'affinity': leave out --affinity.")
    exclude(options, "qrels", "labels", "label_column", "affinity")
    if options.qrels is not None and not takes_affinity:
        raise UsageError(f"{options.method} learns from no relevance: leave out --qrels.")
    rows = load_data(options, in_blocks=True)
    affinity = affinity_of(options.affinity, rows.y)
    if options.qrels is not None:
        affinity = affinity_of_pairs(options.qrels, rows.ids, rows.n_rows)
        rows = rows._replace(y=np.arange(rows.n_rows))
    if takes_affinity and not is_auto(affinity):
        hasher.set_params(affinity=affinity)
    is_quiet = hasher.get_params().get("verbose") == 0
    if is_quiet:
        hasher.set_params(verbose=_PASSES_BETWEEN_LINES)
    start = time.perf_counter()
    with redirect_stdout(sys.stderr), bad_values_named(rows):
        hasher.fit(rows.X, rows.y)
    seconds = time.perf_counter() - start
    if is_quiet:
        hasher.set_params(verbose=0)  # as in Python: progress is no part of the model
    sampled = hasher._said_to_learn_from(rows.X)
    if rows.y is not None and not takes_affinity:
        hasher.affinity_ = fit_affinity(affinity, rows.y)  # to be judged by
    if rows.names is not None:
        hasher.feature_names_in_ = np.array(rows.names, dtype=object)
    if rows.y is not None:
        compared, y = hasher.relevance(rows.X, rows.y)
        described = fit_affinity(compared, y).describe(y)
    if options.qrels is not None:  # the file says nothing of the pairs
        hasher.set_params(affinity="auto")
        del hasher.affinity_
    with written_file(options.output) as path:
        save_hasher(path, hasher, training_rows=False)
    n_rows, n_features = rows.X.shape
    print(
        f"{options.output}: {type(hasher).__name__}, {options.bits} bits, trained on {n_rows:,} "
        f"rows of {n_features:,} features in {seconds:.2g} s"
    )
    if sampled is not None:
        print(f"learned from {sampled}")
    if rows.y is not None:
        print(described)
    elif hasattr(hasher, "affinity_"):
        print(hasher.affinity_.describe(rows.X[:2], "no labels"))
    else:
        print(f"no labels: {type(hasher).__name__} learns from the features alone")
    return 0
