"""``hashrank encode``: write the codes of a file of features."""

from argparse import Namespace
from typing import Any

from .._files.hashers.saving import load_hasher
from ._arguments import add_id_column, add_jobs, add_model, add_output, add_parser, positive
from ._errors import UsageError
from ._outputs import check_output_file, check_shard_folder, names_folder
from ._read_codes import encode_file, encode_to_table
from ._shards import encode_to_shards

_EPILOG = """\
examples:
  hashrank encode --model model.npz --data items.npy --output codes.npy
  hashrank encode --model model.npz --data items.parquet --output codes.parquet
  hashrank encode --model model.npz --data items/ --output codes/

Codes are packed as numpy.packbits does, ceil(bits / 8) bytes each. A .npy file of features, and a
column of lists in .parquet files, are read block by block and may be larger than memory. A table of
codes has the ids of the column id, or else numbers of rows. A folder has a table for each file of
features, or for --shard-rows of them; run the same command again to go on after a stop. Files and
folders may have addresses of other file systems, such as s3://bucket/items, which needs fsspec.
"""


def add_command(commands: Any) -> None:
    """Add ``encode`` to the commands."""
    parser = add_parser(commands, "encode", "write the codes of features", _run, _EPILOG)
    add_model(parser, required=True)
    parser.add_argument(
        "--data",
        required=True,
        metavar="FILE",
        help=".npy, .npz, .csv or .parquet file, or folders and patterns of .parquet files",
    )
    add_id_column(parser)
    parser.add_argument(
        "--shard-rows",
        type=positive,
        metavar="N",
        help="rows of each table in a folder (default: those of a file of features)",
    )
    add_jobs(parser)
    add_output(
        parser,
        "packed codes, .npy; a table of ids and codes, .parquet; or a folder of such tables",
        required=True,
    )


def _run(options: Namespace, arguments: list[str]) -> int:
    inputs = [options.model, options.data]
    is_folder = names_folder(options.output)
    if is_folder:
        check_shard_folder(options.output, inputs)
    else:
        check_output_file(options.output, [".npy", ".parquet"], inputs)
        if options.shard_rows is not None:
            raise UsageError("--shard-rows is for a folder: --output must name one.")
    hasher = load_hasher(options.model)
    rows = hasher, options.data, options.output
    if is_folder:
        n_codes = encode_to_shards(
            hasher,
            options.model,
            options.data,
            options.output,
            n_rows_of_a_shard=options.shard_rows,
            id_column=options.id_column,
            n_jobs=options.n_jobs,
        )
    elif options.output.lower().endswith(".parquet"):
        n_codes = encode_to_table(*rows, options.n_jobs, options.id_column)
    else:
        n_codes = len(encode_file(*rows, options.n_jobs, options.id_column))
    print(f"{options.output}: {n_codes:,} codes of {hasher.n_bits_} bits")
    return 0
