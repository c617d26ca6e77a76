"""Columns of Parquet files, folders and patterns of them, block by block, wherever they are."""

import contextlib
import os
import posixpath
import re
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple
from urllib.parse import unquote

import numpy as np

from .._features.out_of_memory import StoredRows
from .._files.reading import reading
from . import _file_systems
from ._errors import UsageError, need_extra
from ._shard_plan import Shard, read_plan

SUFFIX = ".parquet"
_NUMBERS_AT_A_TIME, _FEW_COLUMNS = 1 << 22, 1 << 6  # at most 65,536 rows
_BUFFER = 1 << 24  # of all columns that are read in pieces
_FEWEST_BYTES, _MOST_BYTES = 1 << 14, 1 << 20  # of each
_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
INTEGER = re.compile(r"0|-?[1-9][0-9]*")
"""How an integer is written, so that two that differ are not equal numbers."""
_CANNOT_BE_READ = ": cannot be read as parquet: {}."


class _Contents(NamedTuple):
    """What a file says of its columns, and how many rows each of its groups has."""

    schema: Any
    groups: list[int]


@dataclass
class ParquetSource:
    """Files of one table, in order, and the column that is meant.

    All files have the columns that are read. They may be in another order, and beside others.
    """

    files: list[str]
    column: str | None = None
    shards: list[Shard] | None = None  # what `hashrank encode` wrote

    @cached_property
    def contents(self) -> list[_Contents]:
        """What is in each file. Equal schemas of neighbours are one, as of many files they are."""
        found: list[_Contents] = []
        for path in self.files:
            with opened(path) as file:
                schema, about = file.schema_arrow, file.metadata
                groups = [about.row_group(i).num_rows for i in range(about.num_row_groups)]
            if found and schema.equals(found[-1].schema, check_metadata=True):
                schema = found[-1].schema
            found.append(_Contents(schema, groups))
        return found

    @cached_property
    def schemas(self) -> list[Any]:
        """Those of the files that differ."""
        return [*{id(each.schema): each.schema for each in self.contents}.values()]

    def names(self) -> list[str]:
        """Names of the files below the folder that holds all of them."""
        if len(self.files) == 1:
            return [self.files[0].replace(os.sep, "/").rpartition("/")[2]]
        root = posixpath.commonpath([posixpath.dirname(_slashed(path)) for path in self.files])
        return [posixpath.relpath(_slashed(path), root) for path in self.files]


def _slashed(path: str) -> str:
    return path if _file_systems.is_url(path) else os.path.abspath(path).replace(os.sep, "/")


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
    if place.lower().endswith(SUFFIX) and _file_systems.is_file(place):
        return ParquetSource([place], column)
    is_folder = not _file_systems.has_pattern(place) and _file_systems.is_folder(place)
    if is_folder and (shards := read_plan(place)) is not None:
        return ParquetSource([shard.path for shard in shards], column, shards)
    if not is_folder and not (_file_systems.has_pattern(place) and place.lower().endswith(SUFFIX)):
        return None
    files = _file_systems.find_files(place, SUFFIX)
    if not files and "," in place and not is_folder:
        return None  # but perhaps several patterns
    if not files:
        what = "in this folder" if is_folder else "that this pattern names"
        raise UsageError(f"{place}: there are no {SUFFIX} files {what}.")
    return ParquetSource(files, column)


class Columns:
    """Columns of one or more Parquet files, in pieces from any row on. No other is read.

    A folder called ``name=value`` on the way to the files is a column, where they have none of this
    name.

    Parameters
    ----------
    source : ParquetSource
        The files, which are read one after the other.
    names : sequence of str
        The columns, which must be in all files.

    Attributes
    ----------
    files : list of str
        Those of `source`.
    types : dict of str to list of DataType
        Type of each column in each file.
    notes : list of dict
        What each file says of itself.
    sizes : list of int
        Rows of each file.
    n_rows : int
        Rows of all of them.
    """

    def __init__(self, source: ParquetSource, names: Sequence[str]):
        self.files, self.names = source.files, list(names)
        self._folders = folder_values(source.files)
        self.types: dict[str, list[Any]] = {name: [] for name in names}
        self.notes, self.sizes = [], []
        self._groups: list[tuple[int, int]] = []
        n_rows: list[int] = []
        for place, (path, (schema, groups)) in enumerate(zip(source.files, source.contents)):
            known = Counter(schema.names)
            for name in names:
                if known[name] > 1:
                    raise UsageError(f"{path}: two columns are named {name!r}.")
                if not known[name] and name not in self._folders:
                    raise _no_column(name, path, source)
                column = schema.field(name) if known[name] else self._folders[name]
                self.types[name].append(column.type)
            self.notes.append(schema.metadata or {})
            self.sizes.append(sum(groups))
            self._groups += [(place, number) for number in range(len(groups))]
            n_rows += groups
        self._starts = np.cumsum([0, *n_rows])
        self.n_rows = int(self._starts[-1])

    def pieces(self, start: int = 0) -> Iterator[tuple[int, list[Any]]]:
        """Give the number of a first row, and the columns from there on, from a row group on."""
        first = max(0, int(np.searchsorted(self._starts, start, "right")) - 1)
        at = int(self._starts[first])
        n_most = max(1, _NUMBERS_AT_A_TIME // max(len(self.names), _FEW_COLUMNS))
        for place, number in self._groups[first:]:
            path = self.files[place]
            with opened(path, len(self.names)) as file:
                known = set(file.schema_arrow.names)
                stored = [name for name in self.names if name in known]
                batches = file.iter_batches(
                    n_most, row_groups=[number], columns=stored, use_threads=False
                )
                while (batch := _next_of(batches, path)) is not None:
                    yield at, [self._column_of(batch, name, place) for name in self.names]
                    at += batch.num_rows

    def _column_of(self, batch, name, place):
        """A column by its name, as the file may give more than are asked for, or of a folder."""
        import pyarrow as pa

        number = batch.schema.get_field_index(name)
        if number >= 0:
            return batch.column(number)
        return pa.repeat(self._folders[name][place], batch.num_rows)


class Column(Columns):
    """A column of Parquet files; `kinds` are its types in each.

    Parameters
    ----------
    source : ParquetSource
        The files, which are read one after the other.
    name : str
        The column.
    """

    def __init__(self, source: ParquetSource, name: str):
        super().__init__(source, [name])
        self.name, self.kinds = name, self.types[name]

    def batches(self, start: int = 0) -> Iterator[tuple[int, Any]]:
        """Give pieces of the column with the number of their first row, from a row group on."""
        for at, (column,) in self.pieces(start):
            yield at, column

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


class StoredColumns(StoredRows):
    """Rows of columns. Blocks that follow one another are read once.

    Parameters
    ----------
    path : str
        What messages call them.
    columns : Columns
        The columns.
    """

    def __init__(self, path: str, columns: Columns):
        self.path, self.columns = path, columns
        self._ahead: Iterator[tuple[int, Any]] | None = None
        self._at, self._rest = 0, np.empty((0, 0))

    def read(self, start: int, stop: int) -> np.ndarray:
        """See :meth:`StoredRows.read`."""
        result = np.empty((stop - start, *self.shape[1:]), self.dtype)
        if not result.size:
            return result
        if self._ahead is None or start < self._at:
            self._next(self.columns.pieces(start))
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
        self._ahead = None  # where an error is raised, the next block is read from its file again
        at, columns = next(ahead)
        self._at, self._rest, self._ahead = at, self.rows(columns, at), ahead

    @abstractmethod
    def rows(self, columns: list[Any], first: int) -> np.ndarray:
        """Rows of a piece of the columns, the first of which has a number."""


class StoredColumn(StoredColumns):
    """Rows of a single column, none of which is missing.

    Parameters
    ----------
    path : str
        What messages call them.
    column : Column
        The column.
    """

    columns: Column

    def rows(self, columns: list[Any], first: int) -> np.ndarray:
        """See :meth:`StoredColumns.rows`."""
        [batch] = columns
        if batch.null_count:
            row = first + int(np.argmax(batch.is_null().to_numpy(zero_copy_only=False)))
            raise UsageError(f"{self.path}: row {row} of column {self.columns.name!r} is missing.")
        return self.values(batch, first)

    @abstractmethod
    def values(self, batch: Any, first: int) -> np.ndarray:
        """Rows of a batch without missing ones, whose first row has a number."""


def column_named(
    path: str, source: ParquetSource, is_kind: Callable[[Any], bool], what: str, left_out: Any = ()
) -> Column | None:
    """The column of a kind that is meant, the only one where the path names none.

    None where there is none, and the path names none: they may be tables of other things.
    """
    names = [name for name in column_names(source, is_kind) if name not in left_out]
    if not names and source.column is None:
        return None
    if source.column is not None and source.column not in names:
        known = ", ".join(names) or "none"
        raise UsageError(f"{path}: no column of {what} has this name. There is {known}.")
    if source.column is None and len(names) > 1:
        raise UsageError(
            f"{path} has several columns of {what}: name one, as in {path}:{names[0]}."
        )
    return Column(source, source.column or names[0])


def column_names(
    source: ParquetSource, is_kind: Callable[[Any], bool] = lambda kind: True
) -> list[str]:
    """Names of the columns that are of a kind in any of the files."""
    found = (field for schema in source.schemas for field in schema)
    return [*dict.fromkeys(field.name for field in found if is_kind(field.type))]


def columns_but_index(source: ParquetSource) -> list[str]:
    """Names of the columns of any file, without those that pandas writes an index to."""
    index = {
        name
        for schema in source.schemas
        for name in (schema.pandas_metadata or {}).get("index_columns", [])
        if isinstance(name, str)
    }
    return [name for name in column_names(source) if name not in index]


def columns_beside(source: ParquetSource) -> list[str]:
    """Names of what may be labels, ids or texts, but no features: an index, and folders."""
    features = columns_but_index(source)
    index = [name for name in column_names(source) if name not in features]
    return [*index, *folder_values(source.files)]


def folder_values(files: Sequence[str]) -> dict[str, Any]:
    """Values of folders called ``name=value``, as Spark, Hive and pyarrow write them.

    For each name an array of one value for each file: integers where all are, else text.
    """
    found = [
        dict(folder.split("=", 1) for folder in _slashed(path).split("/")[:-1] if "=" in folder[1:])
        for path in files
    ]
    names = [name for name in found[0] if all(name in each for each in found)]
    return {unquote(name): _values([each[name] for each in found]) for name in names}


def _values(texts):
    import pyarrow as pa

    known: list[Any] = [None if text == _NO_VALUE else unquote(text) for text in texts]
    if all(text is None or INTEGER.fullmatch(text) for text in known):
        with contextlib.suppress(OverflowError):
            return pa.array([text and int(text) for text in known], pa.int64())
    return pa.array(known, pa.string())


def opened(path: str, n_columns: int = 1) -> Any:
    """Open a Parquet file, on any file system, to read so many of its columns in pieces."""
    try:
        import pyarrow.parquet as pq
    except ImportError as error:
        raise need_extra("pyarrow", f"reading {path}") from error
    with reading(path, _CANNOT_BE_READ, passing=UsageError):
        place = _file_systems.open_to_read(path) if _file_systems.is_url(path) else path
        buffer = min(_MOST_BYTES, max(_FEWEST_BYTES, _BUFFER // max(1, n_columns)))
        return pq.ParquetFile(
            place, page_checksum_verification=True, buffer_size=buffer, pre_buffer=False
        )


def _next_of(batches, path):
    """The next batch of a file, None behind the last. No other code runs while errors are named."""
    with reading(path, _CANNOT_BE_READ, passing=UsageError):
        return next(batches, None)


def _no_column(name: str, path: str, source: ParquetSource) -> UsageError:
    """Say where a column is that a file lacks."""
    line = f"{path}: there is no column {name!r} in this file"
    for other, about in zip(source.files, source.contents):
        if name in about.schema.names:
            return UsageError(
                f"{line}, but in {other}. All files of a table must have the columns that are read."
            )
    return UsageError(f"{line}.")


def _shown(value):
    return value.decode() if isinstance(value, bytes) else value
