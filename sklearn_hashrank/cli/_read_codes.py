"""Read codes and encode features from files, for ``encode``, ``evaluate`` and ``search``."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from .. import codes
from .._files.codes import note_of_codes
from .._files.model_names import check_one_model, model_name
from ..base import BaseHasher
from ..codes._reading import codes_of_array
from ._data import check_rows
from ._errors import UsageError
from ._files import read_rows
from ._messages import note
from ._parquet_tables import parquet_codes

_CODES_OF_A_BLOCK = 1 << 20
_NUMBERS_OF_A_BLOCK, _MOST_ROWS_OF_A_BLOCK = 1 << 23, 1 << 16


def encode_file(
    hasher: BaseHasher,
    path: str,
    out: str | None,
    n_jobs: int | None,
    id_column: str | None = None,
) -> np.ndarray:
    """Encode a file of features block by block, into the file `out` where there is one."""
    return hasher.encode_blocks(features_of(hasher, path, id_column), out=out, n_jobs=n_jobs)


def features_of(hasher: BaseHasher, path: str, id_column: str | None = None) -> Any:
    """Rows of a file, of which the columns that the hasher knows are chosen by name."""
    names = hasher.__dict__.pop("feature_names_in_", None)
    X = read_rows(path, columns=names, id_column=id_column).X
    check_rows(X, path)
    return X


def blocks_of(X: Any, names: Any, first: int, last: int) -> Iterator[tuple[Any, Any]]:
    """Blocks of some rows with their ids, or else their numbers."""
    n_rows = max(1, min(_MOST_ROWS_OF_A_BLOCK, _NUMBERS_OF_A_BLOCK // X.shape[1]))
    for start in range(first, last, n_rows):
        stop = min(start + n_rows, last)
        yield X[start:stop], np.arange(start, stop) if names is None else names[start:stop]


def check_models(paths: list[str], model: str | None = None, hasher: Any = None) -> None:
    """Refuse codes of different models, and say which do not name theirs."""
    names = [(path, _model_of(path)) for path in paths]
    if hasher is not None:
        names.insert(0, (str(model), model_name(hasher)))
    check_one_model(names)
    if any(name is not None for _, name in names):
        for what, name in names:
            if name is None:
                note(f"{what} does not name the model that made its codes")


def _model_of(path: str) -> str | None:
    """Name of the model that made the codes of a file, if the file has it."""
    if (stored := parquet_codes(path)) is not None:
        return stored.model
    label = note_of_codes(path) if path.lower().endswith(".npy") else None
    return None if label is None else label.model


def read_codes(
    paths: list[str], n_bits: int | None, threshold: float | None = None, *, in_blocks: bool = False
) -> tuple[list[Any], int]:
    """Read codes of several files, and their length, where it is not in doubt.

    With `in_blocks`, those of the first path are not read but returned as what gives their blocks,
    if they are in several Parquet files.
    """
    if n_bits is None:
        noted = (note_of_codes(path) for path in paths if path.lower().endswith(".npy"))
        n_bits = next((of_file.n_bits for of_file in noted if of_file is not None), None)
    found = [
        _read(path, n_bits, threshold, in_blocks and number == 0)
        for number, path in enumerate(paths)
    ]
    lengths = list(dict.fromkeys(length for _, length in found))
    if len(lengths) > 1:
        raise UsageError(
            f"codes that are compared must be of one length. Got {lengths[0]} bits in {paths[0]} "
            f"and {lengths[1]} in {paths[1]}."
        )
    return [each for each, _ in found], lengths[0]


def _read(
    path: str, n_bits: int | None, threshold: float | None, in_blocks: bool
) -> tuple[Any, int]:
    if (stored := parquet_codes(path)) is not None:
        if in_blocks and stored.n_files > 1:
            first = codes_of_array(stored[:1], path, n_bits=n_bits or stored.n_bits)
            return stored, first.n_bits
        found = codes_of_array(stored[:], path, n_bits=n_bits or stored.n_bits)
    elif path.lower().endswith((".csv", ".parquet")):
        X = np.asarray(read_rows(path).X)
        found = codes_of_array(X, path, n_bits=n_bits, threshold=threshold)
    else:
        found = codes.read_codes(path, n_bits=n_bits, threshold=threshold)
    return found.codes, found.n_bits


def code_blocks(database: Any, y: Any) -> Iterator[tuple[Any, Any]]:
    """Blocks of codes with what goes with them."""
    for start in range(0, len(database), _CODES_OF_A_BLOCK):
        part = slice(start, min(start + _CODES_OF_A_BLOCK, len(database)))
        yield database[part], y[part]
