"""Columns of Parquet files, folders and patterns of them, block by block, wherever they are."""

import functools
import json
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import unquote

import numpy as np

from .._features.out_of_memory import StoredRows
from .._files.reading import reading
from . import _file_systems
from ._errors import UsageError, need_extra

SUFFIX = ".parquet"
# Rows of a batch have so many numbers, as a compromise of memory (32 MB of doubles) and of calls.
_NUMBERS_AT_A_TIME, _FEW_COLUMNS = 1 << 22, 1 << 6
_BUFFER = 1 << 16  # bytes of each column that are read at a time: wide tables have many columns
_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"  # as Hive calls the folder of rows without one
_CANNOT_BE_READ = ": cannot be read as parquet: {}."


@dataclass
class ParquetFiles:
    """Files of one table, in order, and the column that is meant.

    All files have the columns that are read. They may be in another order, and beside others.
    """

    path: str  # by which the user names them
    files: list[str]
    column: str | None = None
    folder: str | None = None  # that holds all of them, and nothing else

    @cached_property
    def fragments(self) -> list[Any]:
        """The files, of which `pyarrow.dataset` knows schema, row groups and ``name=value``."""
        try:
            import pyarrow.dataset as ds
            from pyarrow.fs import FSSpecHandler, LocalFileSystem, PyFileSystem
        except ImportError as error:
            raise need_extra("pyarrow", f"reading {self.files[0]}") from error
        options = ds.ParquetFragmentScanOptions(
            use_buffered_stream=True,
            buffer_size=_BUFFER,
            pre_buffer=False,
            page_checksum_verification=True,
        )
        kind, local = ds.ParquetFileFormat(default_fragment_scan_options=options), LocalFileSystem()
        fragments = []
        for path, values in zip(self.files, _values_of_folders(self.files)):
            place, files = path, local
            if _file_systems.is_url(path):
                files, place = _file_systems.file_system(path)
                files = PyFileSystem(FSSpecHandler(files))
            fragment = kind.make_fragment(place, files)
            if values:  # a file without them is opened once, when its schema is asked for
                with reading(path, _CANNOT_BE_READ, passing=UsageError):
                    names = set(fragment.physical_schema.names)
                # What a file says of itself holds, whatever its folders are called.
                told = [
                    ds.field(name).is_null() if value is None else ds.field(name) == value
                    for name, value in values.items()
                    if name not in names
                ]
                if told:
                    said = functools.reduce(operator.and_, told)
                    fragment = kind.make_fragment(place, files, partition_expression=said)
            fragments.append(fragment)
        return fragments

    @cached_property
    def schemas(self) -> list[Any]:
        """Of each file, without what its folders say."""
        found: list[Any] = []
        for path, fragment in zip(self.files, self.fragments):
            with reading(path, _CANNOT_BE_READ, passing=UsageError):
                schema = fragment.physical_schema
                fragment.ensure_complete_metadata()
            is_known = found and schema.equals(found[-1], check_metadata=True)
            found.append(found[-1] if is_known else schema)  # one, however many the files are
        return found

    @cached_property
    def folders(self) -> dict[str, Any]:
        """Types of columns that folders called ``name=value`` are in all files, by name."""
        import pyarrow as pa
        import pyarrow.dataset as ds

        values = [ds.get_partition_keys(file.partition_expression) for file in self.fragments]
        names = [name for name in values[0] if all(name in each for each in values)]
        return {name: pa.array([each[name] for each in values]).type for name in names}

    def columns(self, is_kind: Callable[[Any], bool] = lambda kind: True) -> list[str]:
        """Names of the columns that are of a kind in any of the files."""
        found = (field for schema in self.schemas for field in schema)
        return [*dict.fromkeys(field.name for field in found if is_kind(field.type))]

    def index(self) -> list[str]:
        """Names of the columns that pandas wrote an index to."""
        found: dict[str, None] = {}
        for path, schema in zip(self.files, self.schemas):
            with reading(path, _CANNOT_BE_READ):
                about = json.loads((schema.metadata or {}).get(b"pandas", b"{}"))
                found |= dict.fromkeys(n for n in about.get("index_columns", []) if type(n) is str)
        return [name for name in self.columns() if name in found]

    def column_of(
        self, is_kind: Callable[[Any], bool], what: str, left_out: Iterable[str] = ()
    ) -> str | None:
        """Name of the column of a kind that is meant, the only one where the path names none.

        None where there is none, and the path names none: they may be tables of other things.
        """
        names = [name for name in self.columns(is_kind) if name not in left_out]
        if self.column is not None and self.column not in names:
            known = ", ".join(names) or "none"
            raise UsageError(f"{self.path}: no column of {what} has this name. There is {known}.")
        if self.column is None and len(names) > 1:
            raise UsageError(
                f"{self.path} has several columns of {what}: name one, as in "
                f"{self.path}:{names[0]}."
            )
        return self.column or next(iter(names), None)

    def noted(self, key: bytes, what: str) -> str | None:
        """What the files say of themselves under a key: the same in all, or None."""
        values = [(schema.metadata or {}).get(key) for schema in self.schemas]
        texts = [None if value is None else value.decode("ascii", "replace") for value in values]
        for file, text in zip(self.files, texts):
            if text != texts[0]:
                one, other = (str(each)[:16] for each in (texts[0], text))
                raise UsageError(
                    f"{self.path}: {self.files[0]} and {file} have different {what}: {one} and "
                    f"{other}."
                )
        return texts[0]

    def type_of(self, name: str) -> Any:
        """The type that holds the values of a column in all files."""
        import pyarrow as pa

        found: dict[Any, str] = {}  # a file for each type
        for file, schema in zip(self.files, self.schemas):
            places = schema.get_all_field_indices(name)
            if len(places) > 1:
                raise UsageError(f"{file}: two columns are named {name!r}.")
            if places:
                found.setdefault(_plain(schema.field(places[0]).type), file)
            elif name in self.folders:
                found.setdefault(self.folders[name], f"the folders of {file}")
            else:
                has = (other for other, has in zip(self.files, self.schemas) if name in has.names)
                where = next((f", but in {other}" for other in has), "")
                raise UsageError(
                    f"{file}: there is no column {name!r} in this file{where}. All files of a "
                    "table must have the columns that are read."
                )
        fields = [pa.schema([(name, kind)]) for kind in found]
        try:
            return pa.unify_schemas(fields, promote_options="permissive").field(name).type
        except (pa.ArrowTypeError, pa.ArrowInvalid) as error:
            (one, first), (other, second), *_ = found.items()
            raise UsageError(
                f"{self.path}: column {name!r} has different types: {one} in {first} and {other} "
                f"in {second}."
            ) from error


def _values_of_folders(places: Sequence[str]) -> list[dict[str, Any]]:
    """What folders called ``name=value`` say of each file: integers where all values are."""
    found: list[dict[str, Any]] = []
    for place in places:
        parts = [part.partition("=") for part in place.split("/")[:-1] if "=" in part]
        texts = {unquote(name): unquote(value) for name, _, value in parts}
        found.append({name: None if text == _NO_VALUE else text for name, text in texts.items()})
    for name in {name for values in found for name in values}:
        of_name = [values for values in found if values.get(name) is not None]
        if all(re.fullmatch("0|-?[1-9][0-9]{0,17}", values[name]) for values in of_name):
            for values in of_name:
                values[name] = int(values[name])
    return found


def find_parquet(path: str) -> ParquetFiles | None:
    """Return what a path means: files, folders or patterns, with ``:COLUMN`` behind them or not.

    Several are separated by commas. None where it is neither a Parquet file nor a folder.
    """
    place, _, last = path.rpartition(":")
    for whole, column in ((path, None), (place, last)):
        if not whole or (column is not None and "/" in column):
            continue
        if (files := _files_at(whole)) is not None:
            folder = whole if _file_systems.is_folder(whole) else None
            return ParquetFiles(path, files, column, folder)
        parts = [_files_at(part) for part in whole.split(",")]
        if len(parts) > 1 and all(part is not None for part in parts):
            return ParquetFiles(path, [file for part in parts for file in part or ()], column)
    return None


def _files_at(place: str) -> list[str] | None:
    """Files of a folder or a pattern, or one; None where a place is none of them."""
    if not place:
        return None
    if place.lower().endswith(SUFFIX) and _file_systems.is_file(place):
        return [place]
    is_folder = not _file_systems.has_pattern(place) and _file_systems.is_folder(place)
    if not is_folder and not (_file_systems.has_pattern(place) and place.lower().endswith(SUFFIX)):
        return None
    files = _file_systems.find_files(place, SUFFIX)
    if not files and "," in place and not is_folder:
        return None  # but perhaps several patterns
    if not files:
        what = "in this folder" if is_folder else "that this pattern names"
        raise UsageError(f"{place}: there are no {SUFFIX} files {what}.")
    return files


class Columns:
    """Columns of one or more Parquet files, in batches from any row on. No other is read.

    A folder called ``name=value`` on the way to the files is a column, where they have none of this
    name. Columns have one type: that which holds the types of all files.
    """

    def __init__(self, files: ParquetFiles, names: Sequence[str]):
        import pyarrow as pa

        self.path, self.names = files.path, list(names)
        self.schema = pa.schema([(name, files.type_of(name)) for name in names])
        sizes = [
            (fragment, number, group.num_rows)
            for fragment in files.fragments
            for number, group in enumerate(fragment.row_groups)
        ]
        self._groups = [(fragment, number) for fragment, number, _ in sizes]
        self._starts = np.cumsum([0, *(n_rows for *_, n_rows in sizes)])
        self.n_rows = int(self._starts[-1])

    def batches(self, start: int = 0) -> Iterator[tuple[int, Any]]:
        """Give the number of a first row, and a batch from there on, from a row group on."""
        first = max(0, int(np.searchsorted(self._starts, start, "right")) - 1)
        at = int(self._starts[first])
        n_most = max(1, _NUMBERS_AT_A_TIME // max(len(self.names), _FEW_COLUMNS))
        for fragment, number in self._groups[first:]:
            batches = fragment.subset(row_group_ids=[number]).to_batches(
                schema=self.schema,
                columns=self.names,
                batch_size=n_most,
                batch_readahead=1,
                fragment_readahead=1,
                use_threads=False,
            )
            while True:
                with reading(fragment.path, _CANNOT_BE_READ, passing=UsageError):
                    batch = next(batches, None)
                if batch is None:
                    break
                yield at, batch
                at += batch.num_rows

    def read(self) -> Any:
        """Return all rows as a table in memory."""
        import pyarrow as pa

        if not self.n_rows:
            raise UsageError(f"{self.path}: there are no rows.")
        return pa.Table.from_batches([batch for _, batch in self.batches()], self.schema)


class StoredColumns(StoredRows):
    """Rows of columns. Blocks that follow one another are read once."""

    def __init__(
        self,
        columns: Columns,
        shape: tuple[int, ...],
        dtype: np.dtype,
        rows: Callable[[Any, int], np.ndarray],  # of a batch, and the number of its first row
    ):
        if not columns.n_rows:
            raise UsageError(f"{columns.path}: there are no rows.")
        self.columns, self.shape, self.dtype, self._rows = columns, shape, dtype, rows
        self._ahead: Iterator[tuple[int, Any]] | None = None
        self._at, self._rest = 0, np.empty((0, 0))

    def read(self, start: int, stop: int) -> np.ndarray:
        """See :meth:`StoredRows.read`."""
        result = np.empty((stop - start, *self.shape[1:]), self.dtype)
        if not result.size:
            return result
        if self._ahead is None or start < self._at:
            self._next(self.columns.batches(start))
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
        at, batch = next(ahead)
        self._at, self._rest, self._ahead = at, self._rows(batch, at), ahead


def _plain(kind: Any) -> Any:
    """The type of the values of a column: of categories, and of text in whatever form."""
    import pyarrow as pa

    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return pa.string() if str(kind) == "string_view" else kind
