"""Arrays in files of any kind that other programs write, by name."""

import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .arrays import read_array, read_arrays
from .matlab import read_matrices
from .reading import MalformedFileError
from .tensors import read_tensors

_READERS: dict[str, Callable[[Any], dict[str, np.ndarray]]] = {
    ".npy": lambda path: {"": read_array(path)},
    ".npz": read_arrays,
    ".mat": read_matrices,
    ".pt": read_tensors,
    ".pth": read_tensors,
}
ARRAY_FILES = tuple(_READERS)
"""Endings of the files that :func:`read_named_arrays` reads."""


def read_named_arrays(path: Any) -> dict[str, np.ndarray]:
    """Read every array of a file by the ending of its name; "" is the name of a single array."""
    kind = os.path.splitext(os.fspath(path))[1].lower()
    if kind not in _READERS:
        raise MalformedFileError(
            f"{os.fspath(path)}: cannot read files of this kind. Use {', '.join(_READERS)}."
        )
    return _READERS[kind](path)


def split_array_name(path: str) -> tuple[str, str | None]:
    """Split ``"codes.mat:B"`` into the name of a file and that of an array in it, or None."""
    file, colon, name = path.rpartition(":")
    is_named = bool(colon) and os.path.splitext(file)[1].lower() in ARRAY_FILES
    return (file, name) if is_named and not os.path.exists(path) else (path, None)


def choose_array(
    arrays: dict[str, np.ndarray], path: Any, name: str | None, usual: Sequence[str]
) -> np.ndarray:
    """Return the array that is asked for: by its name, by a usual one, or the only one."""
    wanted = [*usual, ""] if name is None else [name]
    found = next((arrays[each] for each in wanted if each in arrays), None)
    if found is None and name is None and len(arrays) == 1:
        [found] = arrays.values()
    if found is not None:
        return found
    listed = ", ".join(
        f"{each} {tuple(array.shape)}".strip() for each, array in list(arrays.items())[:8]
    )
    asked = f"no array {name!r}" if name is not None else f"no array {' or '.join(usual)}"
    raise MalformedFileError(
        f"{os.fspath(path)} has {asked}. It has {listed or 'none'}. Name one as in "
        f"{os.path.basename(os.fspath(path))}:NAME."
    )
