"""Write blocks of packed codes into memory, a given array or a file."""

import os
from collections.abc import Iterator
from typing import Any

import numpy as np

from .._files.codes import code_file
from .._files.model_names import model_name
from ._formats import packed_width


def collect_codes(
    codes: Iterator[np.ndarray], out: Any, n_bits: int, n_rows: int | None, hasher: Any
) -> Any:
    """Write blocks of packed codes where `out` says; see :meth:`BaseHasher.encode_blocks`."""
    if out is None:
        return np.concatenate(list(codes))
    if isinstance(out, (str, os.PathLike)):
        with code_file(out, n_bits, model_name(hasher)) as file:
            for block in codes:
                file.write(block)
        return np.load(out, mmap_mode="r")
    if not isinstance(out, np.ndarray):
        raise ValueError(f"out must be None, a path or an array. Got {type(out).__name__} instead.")
    _fill(out, codes, packed_width(n_bits), n_rows)
    return out


def _fill(array: np.ndarray, codes: Iterator[np.ndarray], width: int, n_rows: int | None) -> None:
    shape_fits = array.ndim == 2 and array.shape[1] == width
    if not shape_fits or array.dtype != np.uint8 or n_rows not in (None, len(array)):
        wanted = f"({n_rows if n_rows is not None else 'n_rows'}, {width})"
        raise ValueError(
            f"out must be a path, or a uint8 array of shape {wanted}. "
            f"Got {array.dtype} of shape {array.shape}."
        )
    if not array.flags.writeable:
        raise ValueError("out is read-only; open a memmap with mode 'r+' or 'w+'.")
    end = 0
    for block in codes:
        start, end = end, end + len(block)
        if end > len(array):
            raise ValueError(f"out has {len(array)} rows, but the iterator gave at least {end}.")
        array[start:end] = block
    if end < len(array):
        raise ValueError(f"out has {len(array)} rows, but the iterator gave {end}.")
    if isinstance(array, np.memmap):
        array.flush()
