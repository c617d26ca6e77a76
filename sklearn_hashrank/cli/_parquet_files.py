"""Columns of Parquet files, folders and patterns of them, block by block, wherever they are."""

import os
import posixpath
from abc import abstractmethod
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from ..persistence import reading
from ..rows import StoredRows
from . import _places
from ._errors import UsageError, need_extra
from ._shard_plan import Shard, read_plan

SUFFIX = ".parquet"
_ROWS_AT_A_TIME = 1 << 16
_BUFFER = 1 << 20  # of a column that is read in pieces
_CANNOT_BE_READ = ": cannot be read as parquet: {}."


class ParquetSource(NamedTuple):
    """Files with the same columns, in order, and the column that is meant."""

    files: list[str]
    column: str | None
    shards: list[Shard] | None = None  # what `hashrank encode` wrote

    def names(self) -> list[str]:
        """Names of the files below the folder that holds all of them."""
        if len(self.files) == 1:
            return [self.files[0].replace(os.sep, "/").rpartition("/")[2]]
        root = posixpath.commonpath([posixpath.dirname(_slashed(path)) for path in self.files])
        return [posixpath.relpath(_slashed(path), root) for path in self.files]


def _slashed(path: str) -> str:
    return path if _places.is_url(path) else os.path.abspath(path).replace(os.sep, "/")


def parquet_source(path: str) -> ParquetSource | None:
    """Return what a path means: files, folders or patterns, with ``:COLUMN`` behind them or not.

    Several are separated by commas. None where it is neither a Parquet file nor a folder.
    """
    column: str | None
    place, colon, last = path.rpartition(":")
    for whole, column in ((path, None), (place, last)):
        if column is not None and (not colon or "/" in column):
            continue
        if (source := _source_at(whole, column)) is not None:
            return source
        parts = [_source_at(part, None) for part in whole.split(",")]
        if len(parts) > 1 and all(part is not None for part in parts):
            return ParquetSource([file for part in parts if part for file in part.files], column)
    return None


def _source_at(place: str, column: str | None) -> ParquetSource | None:
    if not place:
        return None
    if place.lower().endswith(SUFFIX) and _places.is_file(place):
        return ParquetSource([place], column)
    is_folder = not _places.has_pattern(place) and _places.is_folder(place)
    if is_folder and (shards := read_plan(place)) is not None:
        return ParquetSource([shard.path for shard in shards], column, shards)
    if not is_folder and not (_places.has_pattern(place) and place.lower().endswith(SUFFIX)):
        return None
    files = _places.find_files(place, SUFFIX)
    if not files:
        what = "in this folder" if is_folder else "that this pattern names"
        raise UsageError(f"{place}: there are no {SUFFIX} files {what}.")
    return ParquetSource(files, column)


class Column:
    """A column of one or more Parquet files, in record batches from any row on."""

    def __init__(self, files: list[str], name: str):
        self.files, self.name = files, name
        self.types, self.notes, self.sizes = [], [], []
        self._groups: list[tuple[str, int]] = []
        n_rows: list[int] = []
        for path in files:
            with opened(path) as file:
                schema, about = file.schema_arrow, file.metadata
                if name not in schema.names:
                    raise UsageError(f"{path}: there is no column {name!r} in this file.")
                self.types.append(schema.field(name).type)
                self.notes.append(schema.metadata or {})
                groups = [about.row_group(i).num_rows for i in range(about.num_row_groups)]
            self.sizes.append(sum(groups))
            self._groups += [(path, number) for number in range(len(groups))]
            n_rows += groups
        self._starts = np.cumsum([0, *n_rows])
        self.n_rows = int(self._starts[-1])

    def batches(self, start: int = 0) -> Iterator[tuple[int, Any]]:
        """Give batches of the column with the number of their first row, from a row group on."""
        first = max(0, int(np.searchsorted(self._starts, start, "right")) - 1)
        at = int(self._starts[first])
        for path, number in self._groups[first:]:
            with reading(path, _CANNOT_BE_READ, passing=UsageError), opened(path) as file:
                for batch in file.iter_batches(
                    _ROWS_AT_A_TIME, row_groups=[number], columns=[self.name], use_threads=False
                ):
                    column = batch.column(0)
                    yield at, column
                    at += len(column)

    def same_in_all(self, values: list[Any], what: str) -> Any:
        """Return what all files have, or name two that differ."""
        first, *others = values
        for path, value in zip(self.files[1:], others):
            if value != first:
                raise UsageError(
                    f"{self.files[0]} and {path} have different {what}: {_shown(first)} and "
                    f"{_shown(value)}."
                )
        return first


class StoredColumn(StoredRows):
    """Rows of a column. Blocks that follow one another are read once.

    Parameters
    ----------
    path : str
        What messages call them.
    column : Column
        The column.
    """

    def __init__(self, path: str, column: Column):
        self.path, self.column = path, column
        self._ahead: Iterator[tuple[int, Any]] | None = None
        self._at, self._rest = 0, np.empty((0, 0))

    def read(self, start: int, stop: int) -> np.ndarray:
        """See :meth:`StoredRows.read`."""
        result = np.empty((stop - start, *self.shape[1:]), self.dtype)
        if start == stop:
            return result
        if self._ahead is None or start < self._at:
            self._ahead = self.column.batches(start)
            self._next(self._ahead)
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
        if batch.null_count:
            row = int(np.argmax(batch.is_null().to_numpy(zero_copy_only=False)))
            raise UsageError(
                f"{self.path}: row {self._at + row} of column {self.column.name!r} is missing."
            )
        self._rest = self.values(batch, self._at)

    @abstractmethod
    def values(self, batch: Any, first: int) -> np.ndarray:
        """Rows of a batch without missing ones, whose first row has a number."""


def column_named(
    path: str, source: ParquetSource, is_kind: Callable[[Any], bool], what: str, left_out: Any = ()
) -> Column | None:
    """The column of a kind that is meant, the only one where the path names none.

    None where there is none in a file that may be a table of other things.
    """
    names = [name for name in column_names(source, is_kind) if name not in left_out]
    if not names and source.column is None and len(source.files) == 1:
        return None
    if source.column is not None and source.column not in names:
        known = ", ".join(names) or "none"
        raise UsageError(f"{path}: no column of {what} has this name. There is {known}.")
    if not names:
        raise UsageError(f"{path}: there is no column of {what} in these files.")
    if source.column is None and len(names) > 1:
        raise UsageError(
            f"{path} has several columns of {what}: name one, as in {path}:{names[0]}."
        )
    return Column(source.files, source.column or names[0])


def column_names(
    source: ParquetSource, is_kind: Callable[[Any], bool] = lambda kind: True
) -> list[str]:
    """Names of the columns of a kind in the first file."""
    with opened(source.files[0]) as file:
        return [field.name for field in file.schema_arrow if is_kind(field.type)]


def opened(path: str) -> Any:
    """Open a Parquet file, on any file system, to read it in pieces."""
    try:
        import pyarrow.parquet as pq
    except ImportError as error:
        raise need_extra("pyarrow", f"reading {path}") from error
    with reading(path, _CANNOT_BE_READ, passing=UsageError):
        place = _places.open_to_read(path) if _places.is_url(path) else path
        return pq.ParquetFile(
            place, page_checksum_verification=True, buffer_size=_BUFFER, pre_buffer=False
        )


def _shown(value):
    return value.decode() if isinstance(value, bytes) else value
