"""Files of an index: its codes in words of 64 bits, which can be mapped, and its parameters."""

import os
from typing import Any

import numpy as np

from .._files.container import RowsFile, malformed, open_container
from .._files.model_names import noted_model
from ..codes._formats import packed_width
from ._row_ids import RowIds, read_ids

_ROWS_AT_A_TIME = 1 << 18


def write(
    path: str | os.PathLike,
    words: np.ndarray,
    n_bits: int,
    parameters: dict,
    ids: RowIds,
    model: str | None,
) -> None:
    """Write codes to a new file that takes the place of an old one only when it is complete."""
    plain = {name: _plain(value) for name, value in parameters.items()}
    about = {"n_bits": int(n_bits), "parameters": plain, "n_numbered": ids.n_numbered}
    about["model"] = model
    names = None if ids.names is None else _storable(ids.names)
    with RowsFile(path, "index", np.uint64, words.shape[1], about) as file:
        for start in range(0, len(words), _ROWS_AT_A_TIME):
            file.write(words[start : start + _ROWS_AT_A_TIME])
        if names is not None:
            file.append(names)


def write_decoded(
    path: str | os.PathLike, codes: np.ndarray, parameters: dict, ids: RowIds, model: str | None
) -> None:
    """Write packed codes that are decoded, whatever hasher decodes them."""
    plain = {name: _plain(value) for name, value in parameters.items()}
    about = {"parameters": plain, "n_numbered": ids.n_numbered, "model": model}
    names = None if ids.names is None else _storable(ids.names)
    with RowsFile(path, "decoded index", np.uint8, codes.shape[1], about) as file:
        file.write(codes)
        if names is not None:
            file.append(names)


def read_decoded(
    path: str | os.PathLike,
) -> tuple[np.ndarray, dict, RowIds, str | None]:
    """Codes, parameters, ids and name of the model of a file, after every check."""
    with open_container(path, "decoded index") as file:
        file.check_content()
        codes = file.rows(np.uint8, None)
        with malformed(file.path):
            parameters, model = dict(file.about["parameters"]), noted_model(file.about)
            if not len(codes):
                raise ValueError
            ids = _ids_of(file.further_arrays(), file.about["n_numbered"], len(codes))
    return codes, parameters, ids, model


def _storable(names: np.ndarray) -> np.ndarray:
    """Integers or strings that a file can hold."""
    if names.dtype == np.int64:
        return names
    for name in names:
        if type(name) is not str or name.endswith("\0"):
            raise ValueError(
                "a file of an index holds ids that are integers, or strings without a zero at "
                f"their end. Got {name!r} of type {type(name).__name__}."
            )
    return names.astype(str)


def read(
    path: str | os.PathLike, mmap_mode: str | None, verify: bool
) -> tuple[np.ndarray, int, dict, RowIds, str | None]:
    """Words, n_bits, parameters, ids and name of the model of a file, after every check."""
    if mmap_mode not in ("r", None):
        raise ValueError(f"mmap_mode must be 'r' or None. Got {mmap_mode!r} instead.")
    with open_container(path, "index") as file:
        if verify:
            file.check_content()
        # Copy on write: nothing reaches the file, and kernels need no version for read-only arrays.
        words = np.asarray(file.rows(np.uint64, "c" if mmap_mode == "r" else None))
        with malformed(file.path):
            n_bits, parameters = file.about["n_bits"], dict(file.about["parameters"])
            model = noted_model(file.about)
            if type(n_bits) is not int or n_bits < 1 or not len(words):
                raise ValueError
            if words.shape[1] != -(-packed_width(n_bits) // 8):
                raise ValueError
            ids = _ids_of(file.further_arrays(), file.about["n_numbered"], len(words))
    _check_padding(words, n_bits, path)
    return words, n_bits, parameters, ids, model


def _ids_of(arrays: list[np.ndarray], n_numbered: Any, n: int) -> RowIds:
    if n_numbered is not None and (type(n_numbered) is not int or n_numbered < n):
        raise ValueError
    if not arrays:
        if n_numbered != n:
            raise ValueError
        return RowIds(n, None, n)
    [names] = arrays
    if names.dtype.kind not in "iU":
        raise ValueError
    return RowIds(n, read_ids(names, n), n_numbered)


def _plain(value: Any) -> Any:
    """Integers of numpy as those of Python, which JSON can hold."""
    return int(value) if isinstance(value, np.integer) else value


def _check_padding(words: np.ndarray, n_bits: int, path: Any) -> None:
    """Refuse codes with a one behind their last bit: a search would count it."""
    ones = np.packbits(np.arange(64 * words.shape[1]) >= n_bits).view(np.uint64)
    beyond = ones.any() and any(
        np.any(words[start : start + _ROWS_AT_A_TIME] & ones)
        for start in range(0, len(words), _ROWS_AT_A_TIME)
    )
    if beyond:
        raise ValueError(f"{path} has codes with non-zero bits beyond n_bits={n_bits}.")
