"""Torch data sets as rows that are read when they are needed."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch.utils.data import Dataset, IterableDataset

from ..affinity._coercion import as_array

_BLOCK_NUMBERS = 1 << 22  # of items that are in memory at a time: 17 MB of float32


class DatasetRows:
    """The rows of a data set, flat, indexed by numbers or slices as an array is.

    An item of the data set is a row, or a tuple of a row and its y.
    """

    def __init__(self, dataset: Dataset):
        if isinstance(dataset, IterableDataset) or not hasattr(dataset, "__len__"):
            raise ValueError(
                "a data set must have a length, and items by number. "
                f"Got {type(dataset).__name__}; collect its rows in an array."
            )
        self._dataset: Any = dataset
        n_rows = len(self._dataset)
        if not n_rows:
            raise ValueError("Found array with 0 sample(s): the data set is empty.")
        first = self._dataset[0]
        self._in_tuples = isinstance(first, tuple)
        self.has_y = self._in_tuples and len(first) > 1
        self.row_shape = _as_row(first[0] if self._in_tuples else first).shape
        self.shape = (n_rows, int(np.prod(self.row_shape)))

    def __getitem__(self, rows: Any) -> np.ndarray:
        numbers = np.arange(self.shape[0])[rows]
        block = [self._row(int(number)) for number in numbers]
        return np.stack(block) if block else np.empty((0, self.shape[1]), np.float32)

    def blocks(self) -> Iterator[np.ndarray]:
        size = max(1, _BLOCK_NUMBERS // self.shape[1])
        for start in range(0, self.shape[0], size):
            yield self[start : start + size]

    def to_array(self) -> np.ndarray:
        return self[:]

    def y(self) -> np.ndarray | None:
        """What the items bring beside their rows, for all of them."""
        if not self.has_y:
            return None
        found = [self._dataset[number][1] for number in range(self.shape[0])]
        return as_array(found)

    def _row(self, number: int) -> np.ndarray:
        item = self._dataset[number]
        row = _as_row(item[0] if self._in_tuples else item)
        if row.shape != self.row_shape:
            raise ValueError(
                f"all rows of a data set must have one shape. The first has {self.row_shape}, item "
                f"{number} has {row.shape}."
            )
        if not np.isfinite(row).all():
            raise ValueError(f"Input X contains NaN or infinity, in item {number} of the data set.")
        return row.ravel()


def _as_row(row: Any) -> np.ndarray:
    try:
        array = as_array(row) if torch.is_tensor(row) else np.asarray(row)
    except ValueError as error:
        raise ValueError(
            "items of a data set must be rows of numbers, or tuples of a row and its y. "
            f"Got an item of type {type(row).__name__}: {error}"
        ) from error
    if array.dtype.kind not in "biuf":
        raise ValueError(f"rows of a data set must be numbers. Got dtype {array.dtype}.")
    return np.atleast_1d(array)
