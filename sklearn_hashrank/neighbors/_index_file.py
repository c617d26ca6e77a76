"""Files of an index: its codes in words of 64 bits, which can be mapped, and its parameters."""

import os
from typing import Any

import numpy as np

from ..codes import packed_width
from ..persistence import RowsFile, malformed, open_container

_ROWS_AT_A_TIME = 1 << 18


def write(path: str | os.PathLike, words: np.ndarray, n_bits: int, parameters: dict) -> None:
    """Write codes to a new file that takes the place of an old one only when it is complete."""
    plain = {name: _plain(value) for name, value in parameters.items()}
    about = {"n_bits": int(n_bits), "parameters": plain}
    with RowsFile(path, "index", np.uint64, words.shape[1], about) as file:
        for start in range(0, len(words), _ROWS_AT_A_TIME):
            file.write(words[start : start + _ROWS_AT_A_TIME])


def read(
    path: str | os.PathLike, mmap_mode: str | None, verify: bool
) -> tuple[np.ndarray, int, dict]:
    """Words, n_bits and parameters of a file, after every check."""
    if mmap_mode not in ("r", None):
        raise ValueError(f"mmap_mode must be 'r' or None. Got {mmap_mode!r} instead.")
    with open_container(path, "index") as file:
        if verify:
            file.check_content()
        # Copy on write: nothing reaches the file, and kernels need no version for read-only arrays.
        words = np.asarray(file.rows(np.uint64, "c" if mmap_mode == "r" else None))
        with malformed(file.path):
            n_bits, parameters = file.about["n_bits"], dict(file.about["parameters"])
            if type(n_bits) is not int or n_bits < 1 or not len(words):
                raise ValueError
            if words.shape[1] != -(-packed_width(n_bits) // 8):
                raise ValueError
    if verify:
        _check_padding(words, n_bits, path)
    return words, n_bits, parameters


def _plain(value: Any) -> Any:
    """Integers of numpy as those of Python, which JSON can hold."""
    return int(value) if isinstance(value, np.integer) else value


def _check_padding(words: np.ndarray, n_bits: int, path: Any) -> None:
    """Refuse codes with a one behind their last bit."""
    ones = np.packbits(np.arange(64 * words.shape[1]) >= n_bits).view(np.uint64)
    beyond = ones.any() and any(
        np.any(words[start : start + _ROWS_AT_A_TIME] & ones)
        for start in range(0, len(words), _ROWS_AT_A_TIME)
    )
    if beyond:
        raise ValueError(f"{path} has codes with non-zero bits beyond n_bits={n_bits}.")
