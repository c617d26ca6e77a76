"""``hashrank encode``: write the codes of a file of features."""

import os
from argparse import Namespace
from typing import Any

from .._files.model_names import model_name
from ._arguments import add_id_column, add_jobs, add_model, add_parser, positive
from ._codes import encode, load_model, rows_and_ids
from ._data import bad_values_named
from ._errors import UsageError
from ._file_systems import Input, written_file, written_folder
from ._outputs import output
from ._parquet_table import write_codes

_ROWS_OF_A_FILE = 1 << 20  # of a folder: 8 to 256 MB with ids, as engines like to read them
_EPILOG = """\
examples:
  hashrank encode --model model.npz --data items.npy --output codes.npy
  hashrank encode --model model.npz --data items.parquet --output codes.parquet
  hashrank encode --model model.npz --data items/ --output codes/
"""


def add_command(commands: Any) -> None:
    parser = add_parser(commands, "encode", "write the codes of features", _run, _EPILOG)
    add_model(parser, required=True)
    parser.add_argument(
        "--data", type=Input, required=True, metavar="FILE", help="features, as for hashrank fit"
    )
    add_id_column(parser)
    parser.add_argument(
        "--shard-rows",
        type=positive,
        metavar="N",
        help=f"rows of each table in a folder (default: {_ROWS_OF_A_FILE:,})",
    )
    add_jobs(parser)
    parser.add_argument(
        "--output",
        type=output(".npy", ".parquet", may_be_folder=True),
        required=True,
        metavar="FILE|FOLDER",
        help="packed codes, .npy; a table, .parquet; or a new folder of tables",
    )


def _run(options: Namespace, arguments: list[str]) -> int:
    is_folder = options.output.names_folder()
    if options.shard_rows is not None and not is_folder:
        raise UsageError("--shard-rows is for a folder: --output must name one.")
    model = load_model(options.model)
    hasher = model.hasher
    rows = model.read_features(options.data, options.id_column)
    n_rows = rows.X.shape[0]

    def write_table(path: str, start: int, stop: int) -> None:
        blocks = rows_and_ids(rows.X, rows.ids, start, stop)
        with bad_values_named(rows):
            coded = hasher.encode_blocks(blocks, n_jobs=options.n_jobs)
            write_codes(path, coded, hasher.n_bits_, model_name(hasher), n_rows)

    if is_folder:
        step = options.shard_rows or _ROWS_OF_A_FILE
        width = max(5, len(str((n_rows - 1) // step)))  # names are in the order of the rows
        with written_folder(options.output) as folder:
            for number, start in enumerate(range(0, n_rows, step)):
                path = os.path.join(folder, f"part-{number:0{width}}.parquet")
                write_table(path, start, min(start + step, n_rows))
    else:
        with written_file(options.output) as path:
            if path.lower().endswith(".npy"):
                encode(hasher, rows, out=path, n_jobs=options.n_jobs)
            else:
                write_table(path, 0, n_rows)
    print(f"{options.output}: {n_rows:,} codes of {hasher.n_bits_} bits")
    return 0
