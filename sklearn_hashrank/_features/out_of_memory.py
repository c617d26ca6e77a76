"""Rows that are not in memory: what they are, and a sample of them by their numbers."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from .block_rows import RowSource, in_memory, is_dask_array, source

MOST_NUMBERS = 1 << 25
"""Numbers of the rows that are learned from at a time: 134 MB of float32."""


class StoredRows(ABC):
    """Rows of files, which are read where they are asked for. They can be read again."""

    shape: tuple[int, ...]
    dtype: np.dtype

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @abstractmethod
    def read(self, start: int, stop: int) -> np.ndarray:
        """Read the rows from `start` up to `stop`."""

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: Any) -> np.ndarray:
        """Some rows: a slice without a step, or ascending numbers."""
        if isinstance(rows, tuple):
            rows = rows[0]
        if isinstance(rows, slice):
            start, stop, step = rows.indices(self.shape[0])
            assert step == 1
            return self.read(start, max(start, stop))
        numbers = np.asarray(rows)
        result = np.empty((len(numbers), *self.shape[1:]), self.dtype)
        step = max(1, MOST_NUMBERS // 8 // max(1, math.prod(self.shape[1:])))
        for start in range(0, self.shape[0], step):
            first, last = np.searchsorted(numbers, [start, start + step])
            if first < last:
                block = self.read(start, min(start + step, self.shape[0]))
                result[first:last] = block[numbers[first:last] - start]
        return result

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.asarray(self.read(0, self.shape[0]), dtype)


class ManyRows(NamedTuple):
    X: Any
    y: Any

    def source(self) -> RowSource:
        """The rows as a source, which can be made as often as they are read."""
        return source(self.X, batch_size="auto")

    def first(self, n: int) -> tuple[Any, Any]:
        """The first rows, in memory, to look at what rows are like."""
        return in_memory(self.X[:n]), None if self.y is None else in_memory(self.y[:n])

    def sample(self, n_most: int, seed: int, check: Callable[[Any], None]) -> tuple[Any, Any]:
        """Rows in memory: all where there are no more than `n_most`, else so many of them.

        Which ones are sampled follows from their numbers and the seed alone. Where rows are left
        out, all are read, and `check` sees every block, because nobody looks at those rows again.
        """
        n_rows = self.X.shape[0]
        if n_rows <= n_most:
            return self.first(n_rows)
        chosen = np.random.default_rng(seed).choice(n_rows, n_most, replace=False, shuffle=False)
        numbers = np.sort(chosen)
        X = _joined(self.source().sum(_Picked(numbers, check)))
        return X, None if self.y is None else _take(self.y, numbers)


class _Picked:
    """The rows of a block whose numbers are among some, in a list, so that blocks can be added."""

    def __init__(self, numbers: np.ndarray, check: Callable[[Any], None]):
        self._numbers, self._check = numbers, check

    def __call__(self, rows: Any, y: Any, first_row: int | None) -> list[Any]:
        assert first_row is not None, "chunks of unknown sizes have been refused"
        self._check(rows)
        start, stop = np.searchsorted(self._numbers, [first_row, first_row + rows.shape[0]])
        return [_safe_indexing(rows, self._numbers[start:stop] - first_row)]


def _joined(parts: list[Any]) -> Any:
    """All parts as one; each is let go of when it has been copied, so that they are held once."""
    if sparse.issparse(parts[0]):
        return sparse.vstack(parts, format="csr")
    shape = sum(map(len, parts)), *parts[0].shape[1:]
    result = np.empty(shape, np.result_type(*parts))
    stop = len(result)
    while parts:
        part = parts.pop()
        result[stop - len(part) : stop] = part
        stop -= len(part)
    return result


def many_rows(X: Any, y: Any, n_most: int) -> ManyRows | None:
    """Return rows that are learned from as they are read; None where they are in memory.

    Dask arrays and `StoredRows` are not in memory. Memmaps are not where they have more than
    `n_most` rows.
    """
    if _is_lazy_table(X):
        raise TypeError(
            "a table of dask is no array of rows: pass X.to_dask_array(lengths=True). "
            f"Got a {type(X).__module__}.{type(X).__name__}."
        )
    is_large_memmap = isinstance(X, np.memmap) and X.ndim > 1 and X.shape[0] > n_most
    if not (is_dask_array(X) or isinstance(X, StoredRows) or is_large_memmap):
        return None
    for array in (X, y):
        if is_dask_array(array) and np.isnan(array.shape[0]):
            raise ValueError(
                "the chunks of the dask array have unknown sizes; call compute_chunk_sizes() on it."
            )
    if y is not None and _num_samples(y) != X.shape[0]:
        rows = "the dask array" if is_dask_array(X) else "X"
        raise ValueError(
            f"y must have one row per row of {rows}, {X.shape[0]}. Got {_num_samples(y)}."
        )
    return ManyRows(X, y)


def rows_in_memory(shape: tuple[int, ...], *numbers_of_a_row: int) -> int:
    """How many rows of this shape may be in memory, of which other numbers may be made."""
    return max(2, MOST_NUMBERS // max(1, math.prod(shape[1:]), *numbers_of_a_row))


def _is_lazy_table(X: Any) -> bool:
    module = type(X).__module__.split(".")[0]
    return module in ("dask", "dask_expr") and not is_dask_array(X) and hasattr(X, "to_dask_array")


def _take(array: Any, numbers: np.ndarray) -> Any:
    if is_dask_array(array):
        return in_memory(array if len(numbers) == array.shape[0] else array[numbers])
    if isinstance(array, StoredRows):
        return array[numbers]
    return _safe_indexing(array, numbers)
