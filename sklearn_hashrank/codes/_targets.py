"""Write blocks of packed codes into memory, a given array or a file."""

import os
from collections.abc import Iterator
from typing import Any

import numpy as np

from .._files.codes import code_file
from ._formats import packed_width


class CodeArray:
    """Rows of a given array, filled one after the other."""

    def __init__(self, array: np.ndarray, width: int, n_rows: int | None):
        wanted = f"({n_rows if n_rows is not None else 'n_rows'}, {width})"
        shape_fits = array.ndim == 2 and array.shape[1] == width
        if not shape_fits or array.dtype != np.uint8 or n_rows not in (None, len(array)):
            raise ValueError(
                f"out must be a path, or a uint8 array of shape {wanted}. "
                f"Got {array.dtype} of shape {array.shape}."
            )
        if not array.flags.writeable:
            raise ValueError("out is read-only; open a memmap with mode 'r+' or 'w+'.")
        self.array, self.n_rows = array, 0

    def __enter__(self) -> "CodeArray":
        return self

    def write(self, codes: np.ndarray) -> None:
        """Fill the next rows."""
        end = self.n_rows + len(codes)
        if end > len(self.array):
            raise ValueError(
                f"out has {len(self.array)} rows, but the iterator gave at least {end}."
            )
        self.array[self.n_rows : end] = codes
        self.n_rows = end

    def __exit__(self, error: Any, *_: Any) -> None:
        if error is not None:
            return
        if self.n_rows < len(self.array):
            raise ValueError(
                f"out has {len(self.array)} rows, but the iterator gave {self.n_rows}."
            )
        if isinstance(self.array, np.memmap):
            self.array.flush()


def collect_codes(codes: Iterator[np.ndarray], out: Any, n_bits: int, n_rows: int | None) -> Any:
    """Write blocks of packed codes where `out` says; see :meth:`BaseHasher.encode_blocks`."""
    if out is None:
        return np.concatenate(list(codes))
    is_path = isinstance(out, (str, os.PathLike))
    if not is_path and not isinstance(out, np.ndarray):
        raise ValueError(f"out must be None, a path or an array. Got {type(out).__name__} instead.")
    target: Any = (
        code_file(out, n_bits) if is_path else CodeArray(out, packed_width(n_bits), n_rows)
    )
    with target:
        for block in codes:
            target.write(block)
    return np.load(out, mmap_mode="r") if is_path else out
