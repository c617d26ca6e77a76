"""Parquet files, or folders of them, with a column of embeddings or of codes, block by block."""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..persistence import reading, write_file
from ..rows import StoredRows
from ._errors import UsageError, need_extra

_SUFFIX = ".parquet"
_ROWS_AT_A_TIME = 1 << 16
_BUFFER = 1 << 20  # of a column that is read in pieces
_N_BITS = b"hashrank_n_bits"
_CANNOT_BE_READ = ": cannot be read as parquet: {}."


class ParquetSource(NamedTuple):
    """Files with the same columns, in order, and the column that is meant."""

    files: list[str]
    column: str | None


def parquet_source(path: str) -> ParquetSource | None:
    """Return what a path means: a file, a folder, or one of those with ``:COLUMN`` behind it.

    None where it is neither a Parquet file nor a folder.
    """
    column: str | None
    for place, column in ((path, None), (path.rpartition(":")[0], path.rpartition(":")[2])):
        if place.lower().endswith(_SUFFIX) and Path(place).is_file():
            return ParquetSource([place], column)
        if place and Path(place).is_dir():
            files = sorted(map(str, Path(place).glob(f"*{_SUFFIX}")))
            if not files:
                raise UsageError(f"{place}: there are no {_SUFFIX} files in this folder.")
            return ParquetSource(files, column)
    return None


class Column:
    """A column of one or more Parquet files, in record batches from any row on."""

    def __init__(self, files: list[str], name: str):
        self.name = name
        self.types = [_type_of(path, name) for path in files]
        self._groups = [
            (path, number, n_rows)
            for path in files
            for number, n_rows in enumerate(_group_sizes(path))
        ]
        self._starts = np.cumsum([0, *(n_rows for *_, n_rows in self._groups)])
        self.n_rows = int(self._starts[-1])

    def batches(self, start: int = 0) -> Iterator[tuple[int, Any]]:
        """Give batches of the column with the number of their first row, from a row group on."""
        first = max(0, int(np.searchsorted(self._starts, start, "right")) - 1)
        at = int(self._starts[first])
        for path, number, _ in self._groups[first:]:
            with reading(path, _CANNOT_BE_READ, passing=UsageError), _open(path) as file:
                for batch in file.iter_batches(
                    _ROWS_AT_A_TIME, row_groups=[number], columns=[self.name], use_threads=False
                ):
                    column = batch.column(0)
                    yield at, column
                    at += len(column)


class ParquetRows(StoredRows):
    """Embeddings of a list column. Blocks that follow one another are read once.

    Parameters
    ----------
    path : str
        What messages call them.
    files : list of str
        Files that have the column.
    column : str
        Name of the column: lists of numbers, all of one length.
    """

    def __init__(self, path: str, files: list[str], column: str):
        self.path, self._column = path, Column(files, column)
        if not self._column.n_rows:
            raise UsageError(f"{path}: there are no rows.")
        for file, kind in zip(files, self._column.types):
            if not _is_list(kind):
                raise UsageError(f"{file}: column {column!r} does not hold lists but {kind}.")
        types = [kind.value_type for kind in self._column.types]
        _, first = next(self._column.batches())
        self.shape = (self._column.n_rows, _width(first, path, column))
        self.dtype = np.dtype(np.float32 if all(map(_is_single, types)) else np.float64)
        self._ahead: Iterator[tuple[int, Any]] | None = None
        self._at, self._rest = 0, np.empty((0, 0))

    def read(self, start: int, stop: int) -> np.ndarray:
        """See :meth:`StoredRows.read`."""
        if start == stop:
            return np.empty((0, self.shape[1]), self.dtype)
        if self._ahead is None or start < self._at:
            self._ahead = self._column.batches(start)
            self._next(self._ahead)
        result = np.empty((stop - start, self.shape[1]), self.dtype)
        place = start
        while place < stop:
            here = place - self._at
            if here >= len(self._rest):
                self._next(self._ahead)
                continue
            some = self._rest[here : here + stop - place]
            result[place - start : place - start + len(some)] = some
            place += len(some)
        return result

    def _next(self, ahead):
        self._at, batch = next(ahead)
        self._rest = self._numbers(batch)

    def _numbers(self, batch: Any) -> np.ndarray:
        """Rows of a batch as an array, finite and of the length of the first."""
        import pyarrow as pa

        name, width = self._column.name, self.shape[1]
        if batch.null_count:
            row = int(np.argmax(batch.is_null().to_numpy(zero_copy_only=False)))
            raise UsageError(f"{self.path}: row {self._at + row} of column {name!r} is missing.")
        if not pa.types.is_fixed_size_list(batch.type):
            lengths = batch.value_lengths().to_numpy(zero_copy_only=False)
            if (lengths != width).any():
                row = int(np.argmax(lengths != width))
                raise UsageError(
                    f"{self.path}: row {self._at + row} of column {name!r} has {lengths[row]} "
                    f"numbers, the first has {width}."
                )
        values = batch.flatten().to_numpy(zero_copy_only=False).reshape(len(batch), width)
        values = values.astype(self.dtype, copy=False)
        if not np.isfinite(values).all():
            row, column = np.argwhere(~np.isfinite(values))[0]
            raise UsageError(
                f"{self.path}: row {self._at + row}, number {column} of column {name!r} is "
                f"{values[row, column]}; features must be finite."
            )
        return values


def embeddings(path: str, left_out: Any = ()) -> ParquetRows | None:
    """Rows of the column of lists of a Parquet file or folder; None where it has none.

    `left_out` names columns that are no features. Of several columns, the path names one.
    """
    source = parquet_source(path)
    if source is None:
        return None
    lists = [name for name in _columns_of(source.files, _is_list) if name not in left_out]
    return (
        _rows_of(path, source, lists, "lists of numbers", ParquetRows)
        if _wanted(source, lists)
        else None
    )


def codes(path: str) -> tuple[np.ndarray, int | None] | None:
    """Packed codes of the column of binary values, and their length; None where it has none."""
    source = parquet_source(path)
    if source is None:
        return None
    names = _columns_of(source.files, _is_binary)
    if not _wanted(source, names):
        return None
    column = _rows_of(
        path, source, names, "binary values", lambda _, files, name: Column(files, name)
    )
    noted = _same_in_all(source.files, map(_noted_n_bits, source.files), "code lengths")
    width = _same_in_all(source.files, column.types, f"types of column {column.name!r}").byte_width
    result = np.empty((column.n_rows, width), np.uint8)
    for start, batch in column.batches():
        if batch.null_count:
            raise UsageError(f"{path}: a code of column {column.name!r} is missing.")
        values = np.frombuffer(batch.buffers()[1], np.uint8)
        first = batch.offset * width
        result[start : start + len(batch)] = values[first : first + len(batch) * width].reshape(
            -1, width
        )
    return result, None if noted is None else int(noted)


def ids(path: str) -> np.ndarray | None:
    """The column ``id`` of a Parquet file or folder, integers or text; None where it has none."""
    source = parquet_source(path)
    if source is None or "id" not in _columns_of(source.files, lambda kind: True):
        return None
    import pyarrow as pa

    column = Column(source.files, "id")
    parts = [batch for _, batch in column.batches()]
    if any(map(pa.types.is_integer, column.types)):
        kind = _same_in_all(source.files, column.types, "types of column 'id'")
        numbers = pa.chunked_array(parts, kind)
        if numbers.null_count:
            raise UsageError(f"{path}: an id is missing.")
        found: np.ndarray = numbers.to_numpy()
        return found
    texts = [text for part in parts for text in part.to_pylist()]
    if None in texts:
        raise UsageError(f"{path}: an id is missing.")
    return np.array(texts, dtype=str)


def check_same_ids(rows: str, codes: str) -> None:
    """Refuse rows that are in another order than the codes, where the ids of both say so.

    Codes of rows without ids have numbers, which are not compared with ids of another kind.
    """
    of_rows, of_codes = ids(rows), ids(codes)
    if of_rows is None or of_codes is None or of_rows.dtype.kind != of_codes.dtype.kind:
        return
    is_numbered = np.array_equal(of_codes, np.arange(len(of_codes)))
    if is_numbered and not np.array_equal(np.sort(of_rows), of_codes):
        return
    n_both = min(len(of_rows), len(of_codes))
    differing = np.flatnonzero(of_rows[:n_both] != of_codes[:n_both])
    if len(differing):
        row = differing[0]
        raise UsageError(
            f"{rows}: row {row} is {of_rows[row]}, and of {codes} it is {of_codes[row]}. Both must "
            "have the same rows in the same order."
        )


def write_codes(path: str, blocks: Iterator[tuple[Any, Any]], n_bits: int) -> int:
    """Write blocks ``(codes, ids)`` as a table with the columns ``id`` and ``code``."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise need_extra("pyarrow", f"writing {path}") from error
    writer, n_rows = None, 0
    with write_file(path) as file:
        for packed, names in blocks:
            width = packed.shape[1]
            buffer = pa.py_buffer(np.ascontiguousarray(packed))
            code = pa.Array.from_buffers(pa.binary(width), len(packed), [None, buffer])
            table = pa.table({"id": pa.array(names), "code": code})
            if writer is None:
                schema = table.schema.with_metadata({_N_BITS: str(n_bits).encode()})
                writer = pq.ParquetWriter(file, schema)
            writer.write_table(table.cast(writer.schema))
            n_rows += len(packed)
        if writer is not None:
            writer.close()
    return n_rows


def mapped(rows: Any) -> Any:
    """Rows that can be read in any order: those of Parquet are copied to a temporary file."""
    if not isinstance(rows, ParquetRows):
        return rows
    with tempfile.TemporaryFile() as file:
        for start in range(0, rows.shape[0], _ROWS_AT_A_TIME):
            file.write(rows.read(start, min(start + _ROWS_AT_A_TIME, rows.shape[0])).tobytes())
        file.flush()
        return np.memmap(file, rows.dtype, "r", shape=rows.shape)


def _rows_of(path, source, names, what, make):
    """Make the object for the column that is meant, the only one where the path names none."""
    if source.column is not None and source.column not in names:
        known = ", ".join(names) or "none"
        raise UsageError(f"{path}: no column of {what} has this name. There is {known}.")
    if not names:
        raise UsageError(f"{path}: there is no column of {what} in these files.")
    if source.column is None and len(names) > 1:
        raise UsageError(
            f"{path} has several columns of {what}: name one, as in {path}:{names[0]}."
        )
    return make(path, source.files, source.column or names[0])


def _wanted(source, names):
    return bool(names) or source.column is not None or len(source.files) > 1


def _columns_of(files, is_kind):
    with _open(files[0]) as file:
        return [field.name for field in file.schema_arrow if is_kind(field.type)]


def _open(path: str) -> Any:
    try:
        import pyarrow.parquet as pq
    except ImportError as error:
        raise need_extra("pyarrow", f"reading {path}") from error
    with reading(path, _CANNOT_BE_READ, passing=UsageError):
        return pq.ParquetFile(
            path, page_checksum_verification=True, buffer_size=_BUFFER, pre_buffer=False
        )


def _type_of(path, name):
    with _open(path) as file:
        if name not in file.schema_arrow.names:
            raise UsageError(f"{path}: there is no column {name!r} in this file.")
        return file.schema_arrow.field(name).type


def _noted_n_bits(path):
    with _open(path) as file:
        return (file.schema_arrow.metadata or {}).get(_N_BITS)


def _same_in_all(files, values, what):
    """Return what all files have, or name two that differ."""
    first, *others = values
    for path, value in zip(files[1:], others):
        if value != first:
            raise UsageError(
                f"{files[0]} and {path} have different {what}: {_shown(first)} and {_shown(value)}."
            )
    return first


def _shown(value):
    return value.decode() if isinstance(value, bytes) else value


def _group_sizes(path):
    with _open(path) as file:
        about = file.metadata
        return [about.row_group(number).num_rows for number in range(about.num_row_groups)]


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


def _is_binary(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_fixed_size_binary(kind))
