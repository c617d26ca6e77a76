"""``hashrank encode``: write the codes of a file of features."""

from argparse import Namespace
from typing import Any

from ..hasher_files import load_hasher
from ._arguments import add_jobs, add_model, add_output, add_parser
from ._outputs import check_output_file
from ._read_codes import encode_file, encode_to_table

_EPILOG = """\
examples:
  hashrank encode --model model.npz --data items.npy --output codes.npy
  hashrank encode --model model.npz --data items.parquet --output codes.parquet

Codes are packed as numpy.packbits does, ceil(bits / 8) bytes each. A .npy file of features, and a
column of lists in .parquet files, are read block by block and may be larger than memory. A table of
codes has the ids of the column id, or else numbers of rows.
"""


def add_command(commands: Any) -> None:
    """Add ``encode`` to the commands."""
    parser = add_parser(commands, "encode", "write the codes of features", _run, _EPILOG)
    add_model(parser, required=True)
    parser.add_argument(
        "--data",
        required=True,
        metavar="FILE",
        help=".npy, .npz, .csv or .parquet file, or a folder of .parquet files",
    )
    add_jobs(parser)
    add_output(parser, "packed codes, .npy, or a table of ids and codes, .parquet", required=True)


def _run(options: Namespace, arguments: list[str]) -> int:
    check_output_file(options.output, [".npy", ".parquet"], [options.model, options.data])
    hasher = load_hasher(options.model)
    if options.output.lower().endswith(".parquet"):
        n_codes = encode_to_table(hasher, options.data, options.output, options.n_jobs)
    else:
        n_codes = len(encode_file(hasher, options.data, options.output, options.n_jobs))
    print(f"{options.output}: {n_codes:,} codes of {hasher.n_bits_} bits")
    return 0
