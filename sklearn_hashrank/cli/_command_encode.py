"""``hashrank encode``: write the codes of a file of features."""

from argparse import Namespace
from typing import Any

from ..hasher_files import load_hasher
from ._arguments import add_jobs, add_model, add_output, add_parser
from ._outputs import check_output_file
from ._read_codes import encode_file

_EPILOG = """\
examples:
  hashrank encode --model model.npz --data items.npy --output codes.npy

Codes are packed as numpy.packbits does, ceil(bits / 8) bytes each. A .npy file of features is read
block by block and may be larger than memory.
"""


def add_command(commands: Any) -> None:
    """Add ``encode`` to the commands."""
    parser = add_parser(commands, "encode", "write the codes of features", _run, _EPILOG)
    add_model(parser, required=True)
    parser.add_argument(
        "--data", required=True, metavar="FILE", help=".npy, .npz, .csv or .parquet file"
    )
    add_jobs(parser)
    add_output(parser, "packed codes, .npy", required=True)


def _run(options: Namespace, arguments: list[str]) -> int:
    check_output_file(options.output, [".npy"], [options.model, options.data])
    hasher = load_hasher(options.model)
    codes = encode_file(hasher, options.data, options.output, options.n_jobs)
    n_bits = hasher.n_bits_
    print(f"{options.output}: {len(codes):,} codes of {n_bits} bits")
    return 0
