"""Embeddings: a column of lists of numbers in Parquet files, read in blocks."""

import math
import tempfile
from typing import Any

import numpy as np

from .._features.out_of_memory import StoredRows
from ._errors import UsageError
from ._parquet_files import Column, ParquetSource, StoredColumn, column_named

_ROWS_AT_A_TIME = 1 << 16
_FEW_NUMBERS = 1 << 22


class ParquetRows(StoredColumn):
    """Embeddings of a list column.

    Parameters
    ----------
    path : str
        What messages call them.
    column : Column
        Lists of numbers, all of one length.
    """

    def __init__(self, path: str, column: Column):
        super().__init__(path, column)
        if not column.n_rows:
            raise UsageError(f"{path}: there are no rows.")
        for file, kind in zip(column.files, column.kinds):
            if not _is_list(kind):
                raise UsageError(f"{file}: column {column.name!r} does not hold lists but {kind}.")
        types = [kind.value_type for kind in column.kinds]
        _, first = next(column.batches())
        self.shape = (column.n_rows, _width(first, path, column.name))
        self.dtype = np.dtype(np.float32 if all(map(_is_single, types)) else np.float64)

    def values(self, batch: Any, first: int) -> np.ndarray:
        """Rows of a batch as an array, finite and of the length of the first row of all."""
        import pyarrow as pa

        name, width = self.columns.name, self.shape[1]
        if pa.types.is_fixed_size_list(batch.type):
            lengths = np.full(len(batch), batch.type.list_size)
        else:
            lengths = batch.value_lengths().to_numpy(zero_copy_only=False)
        if (lengths != width).any():
            row = int(np.argmax(lengths != width))
            raise UsageError(
                f"{self.path}: row {first + row} of column {name!r} has {lengths[row]} "
                f"numbers, the first has {width}."
            )
        values = batch.flatten().to_numpy(zero_copy_only=False).reshape(len(batch), width)
        values = values.astype(self.dtype, copy=False)
        if not np.isfinite(values).all():
            row, column = np.argwhere(~np.isfinite(values))[0]
            raise UsageError(
                f"{self.path}: row {first + row}, number {column} of column {name!r} is "
                f"{values[row, column]}; features must be finite."
            )
        return np.asarray(values)


def embeddings(path: str, source: ParquetSource, left_out: Any = ()) -> ParquetRows | None:
    """Rows of the column of lists of Parquet files; None where no file has one.

    `left_out` names columns that are no features. Of several columns, the path names one.
    """
    column = column_named(path, source, _is_list, "lists of numbers", left_out)
    return None if column is None else ParquetRows(path, column)


def mapped(rows: Any) -> Any:
    """Rows that can be read in any order: many of Parquet are copied to a temporary file."""
    if not isinstance(rows, StoredRows):
        return rows
    if math.prod(rows.shape) <= _FEW_NUMBERS:
        return rows[:]
    with tempfile.TemporaryFile() as file:
        for start in range(0, rows.shape[0], _ROWS_AT_A_TIME):
            file.write(rows.read(start, min(start + _ROWS_AT_A_TIME, rows.shape[0])).tobytes())
        file.flush()
        return np.memmap(file, rows.dtype, "r", shape=rows.shape)


def _width(batch, path, name):
    import pyarrow as pa

    if pa.types.is_fixed_size_list(batch.type):
        width = batch.type.list_size
    else:
        width = batch.value_lengths()[0].as_py() or 0
    if not width:
        raise UsageError(f"{path}: the first row of column {name!r} has no numbers.")
    return width


def _is_list(kind: Any) -> bool:
    import pyarrow as pa

    types = pa.types
    is_list = types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)
    return is_list and (types.is_floating(kind.value_type) or types.is_integer(kind.value_type))


def _is_single(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_float32(kind) or pa.types.is_float16(kind))
