"""Read codes and encode features from files, for ``encode``, ``evaluate`` and ``search``."""

import numpy as np

from ..base import BaseHasher
from ..codes import load_codes, packed_width
from ..persistence import noted_n_bits
from ._data import check_rows
from ._errors import UsageError
from ._files import read_rows


def encode_file(hasher: BaseHasher, path: str, out: str | None, n_jobs: int | None) -> np.ndarray:
    """Encode a file of features block by block, into the file `out` where there is one."""
    names = hasher.__dict__.pop("feature_names_in_", None)  # the columns are chosen by name here
    X = read_rows(path, columns=names).X
    check_rows(X, path)
    try:
        return hasher.encode_blocks(X, out=out, n_jobs=n_jobs)
    except ValueError as error:
        raise UsageError(f"{path}: {str(error).splitlines()[0]}") from error


def read_codes(paths: list[str], n_bits: int | None) -> tuple[list[np.ndarray], int]:
    """Read codes of several files, and their length, which `hashrank encode` notes in files."""
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
