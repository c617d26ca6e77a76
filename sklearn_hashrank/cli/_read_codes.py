"""Read codes and encode features from files, for ``encode``, ``evaluate`` and ``search``."""

from typing import Any

import numpy as np

from .. import codes
from ..base import BaseHasher
from ..codes import codes_of_array
from ..persistence import noted_n_bits
from ._data import check_rows
from ._errors import UsageError
from ._files import read_rows
from ._parquet_files import codes as parquet_codes
from ._parquet_files import ids, write_codes

_ROWS_OF_A_BLOCK = 1 << 16


def encode_file(hasher: BaseHasher, path: str, out: str | None, n_jobs: int | None) -> np.ndarray:
    """Encode a file of features block by block, into the file `out` where there is one."""
    X = _features(hasher, path)
    try:
        return hasher.encode_blocks(X, out=out, n_jobs=n_jobs)
    except ValueError as error:
        raise UsageError(f"{path}: {str(error).splitlines()[0]}") from error


def encode_to_table(hasher: BaseHasher, path: str, out: str, n_jobs: int | None) -> int:
    """Encode a file of features into a Parquet file of ids and codes; returns their number."""
    X, names = _features(hasher, path), ids(path)
    n_rows = X.shape[0]
    names = np.arange(n_rows) if names is None else names

    def blocks():
        for start in range(0, n_rows, _ROWS_OF_A_BLOCK):
            part = slice(start, min(start + _ROWS_OF_A_BLOCK, n_rows))
            yield X[part], names[part]

    try:
        encoded = hasher.encode_blocks(blocks(), n_jobs=n_jobs)
        return write_codes(out, encoded, hasher.n_bits_)
    except ValueError as error:
        raise UsageError(f"{path}: {str(error).splitlines()[0]}") from error


def _features(hasher: BaseHasher, path: str) -> Any:
    names = hasher.__dict__.pop("feature_names_in_", None)  # the columns are chosen by name here
    X = read_rows(path, columns=names).X
    check_rows(X, path)
    return X


def read_codes(
    paths: list[str], n_bits: int | None, threshold: float | None = None
) -> tuple[list[np.ndarray], int]:
    """Read codes of several files, and their length, where it is not in doubt."""
    if n_bits is None:
        noted = (noted_n_bits(path) for path in paths if _is_npy(path))
        n_bits = next((length for length in noted if length is not None), None)
    found = [_read(path, n_bits, threshold) for path in paths]
    lengths = list(dict.fromkeys(each.n_bits for each in found))
    if len(lengths) > 1:
        raise UsageError(
            f"codes that are compared must be of one length. Got {lengths[0]} bits in {paths[0]} "
            f"and {lengths[1]} in {paths[1]}."
        )
    return [each.codes for each in found], lengths[0]


def _read(path: str, n_bits: int | None, threshold: float | None) -> Any:
    if (found := parquet_codes(path)) is not None:
        return codes_of_array(found[0], path, n_bits=n_bits or found[1])
    if path.lower().endswith((".csv", ".parquet")):
        return codes_of_array(read_rows(path).X, path, n_bits=n_bits, threshold=threshold)
    return codes.read_codes(path, n_bits=n_bits, threshold=threshold)


def _is_npy(path: str) -> bool:
    return path.lower().endswith(".npy")
