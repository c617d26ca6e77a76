"""Rows of files: features, labels and ids, from arrays and tables wherever they are."""

import math
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from .._features.out_of_memory import StoredRows
from .._files.arrays import read_array, read_arrays
from .._files.codes import load_codes, note_of_codes
from .._files.named_arrays import ARRAY_FILES, choose_array, read_named_arrays, split_array_name
from .._files.reading import reading
from ._csv_table import CsvTable
from ._errors import UsageError
from ._file_systems import is_file
from ._messages import note
from ._parquet_files import SUFFIX, find_parquet
from ._parquet_table import ParquetTable
from ._table import Table, listed

TABLE_FILES = (".csv", SUFFIX)
_FEATURES, _LABELS = ("X", "features", "data"), ("y", "Y", "labels", "label", "L")  # usual names
_FIRST_GAP = 2.0**53  # from here on, floats leave integers out
_FEW_NUMBERS = 1 << 22  # rows are kept in memory up to here: 32 MB of doubles
_ROWS_AT_A_TIME = 1 << 16


class Rows(NamedTuple):
    """What a file holds of some items; what it does not hold is None."""

    source: str  # by which the user names the file
    X: Any = None
    y: Any = None
    ids: Any = None
    names: list[str] | None = None  # of the features
    label_names: Sequence[str] | None = None  # of classes 0, 1, ...

    @property
    def n_rows(self) -> int:
        return int((np.atleast_1d(self.y) if self.X is None else self.X).shape[0])


def open_table(path: str) -> Table | None:
    """The table that a path names; None for arrays."""
    if (files := find_parquet(path)) is not None:
        return ParquetTable(files)
    file, _ = split_array_name(path)
    kind = Path(file).suffix.lower()
    if kind not in (*ARRAY_FILES, *TABLE_FILES):
        known = ", ".join((*ARRAY_FILES, *TABLE_FILES))
        raise UsageError(f"{path}: cannot read files of this kind. Use one of {known}.")
    if not is_file(file):
        raise UsageError(f"{file}: no such file.")
    return CsvTable(path) if kind == ".csv" else None


def read_rows(
    path: str,
    label_columns: Sequence[str] = (),
    columns: Any = None,
    left_out: Sequence[str] = (),
    *,
    id_column: str | None = None,
) -> Rows:
    """Read features, and the labels and ids that lie in the same file.

    Features of ``.npy`` files are mapped, and those of ``.parquet`` files read in blocks. Of a
    table they are the column of lists of numbers, or `columns`, or all columns but those of labels,
    `left_out` and ids.
    """
    table = open_table(path)
    if table is None:
        return _rows_of_arrays(path, label_columns)
    table.check([*label_columns, *left_out])
    others = {*label_columns, *left_out}
    ids = table.id_column(id_column)
    if ids in left_out:
        ids = None
    features: Any = columns
    if columns is None:
        features = table.vectors(others)
    if features is None:
        if ids in table.names and ids not in others:
            note(f"{path}: column {ids!r} holds ids, which are no feature")
        features = [name for name in table.names if name not in others and name != ids]
    wanted = table.label_columns(label_columns) if label_columns else []
    X, labels, of_rows = table.read(features, wanted, ids)
    names = None if isinstance(features, str) else list(features)
    return Rows(path, X, _joined(labels) if labels else None, of_rows, names)


def read_labels(
    path: str, label_columns: Sequence[str] = (), *, id_column: str | None = None
) -> Rows:
    """Read labels: an array, several that are named, or columns of a table, or its only column."""
    if (table := open_table(path)) is not None:
        ids = table.id_column(id_column)
        _, labels, of_rows = table.read([], table.label_columns(label_columns), ids)
        return Rows(path, y=_joined(labels), ids=of_rows)
    if path.lower().endswith(".npy"):
        return Rows(path, y=np.asarray(_load_npy(path)))
    arrays = read_named_arrays(split_array_name(path)[0])
    return Rows(path, y=_chosen_labels(arrays, path, label_columns))


def read_texts(path: str, column: str) -> list[str]:
    """Read texts: a column of a table, or an array of a .npz file."""
    if (table := open_table(path)) is not None:
        return table.texts(column)
    if not path.lower().endswith(".npz"):
        raise UsageError(f"{path} has no column {column!r}: texts are in tables or .npz files.")
    arrays = read_arrays(path)
    if column not in arrays:
        raise UsageError(f"{path} has no array {column!r}. It has {listed(arrays)}.")
    return list(map(str, arrays[column].tolist()))


def check_same_rows(rows: Any, others: Any) -> None:
    """Refuse two files of different numbers of rows, or in different orders if ids say so.

    Rows without ids have numbers, which are not compared with ids of another kind.
    """
    if rows.n_rows != others.n_rows:
        raise UsageError(
            f"{rows.source} has {rows.n_rows:,} rows, and {others.source} has {others.n_rows:,}."
        )
    ids, other = rows.ids, others.ids
    if ids is None or other is None or ids.dtype.kind != other.dtype.kind:
        return
    row = _first_difference(ids, other)
    if row is None:
        return
    numbers = np.arange(len(other))
    is_numbered = other.dtype.kind in "iu" and _first_difference(other, numbers) is None
    if is_numbered and not np.array_equal(np.sort(ids[:]), numbers):
        return  # codes of rows without ids have their numbers
    here = slice(row, row + 1)
    raise UsageError(
        f"{rows.source}: row {row} is {ids[here][0]}, and of {others.source} it is "
        f"{other[here][0]}. Both must have the same rows in the same order."
    )


def _first_difference(ids: Any, others: Any) -> int | None:
    """The first row whose ids differ, up to where one of both ends, read in blocks."""
    n_both = min(len(ids), len(others))
    for start in range(0, n_both, _ROWS_AT_A_TIME):
        stop = min(start + _ROWS_AT_A_TIME, n_both)
        differing = np.flatnonzero(ids[start:stop] != others[start:stop])
        if len(differing):
            return start + int(differing[0])
    return None


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


def concatenate(parts: Sequence[np.ndarray]) -> np.ndarray:
    """Join arrays, unless numbers would become text, or floats that cannot tell integers apart."""
    dtypes = ", ".join(str(part.dtype) for part in parts)
    if len({part.dtype.kind in "US" for part in parts}) > 1:
        raise ValueError(f"numbers cannot be joined with text. Got dtypes {dtypes}.")
    joined = np.concatenate(parts)
    has_integers = any(part.dtype.kind in "iu" for part in parts)
    if joined.dtype.kind == "f" and has_integers and np.abs(joined).max(initial=0) >= _FIRST_GAP:
        raise ValueError(
            "integers beyond 2**53 cannot be joined with numbers of another type. Got dtypes "
            f"{dtypes}."
        )
    return joined


def _load_npy(path: str) -> np.ndarray:
    return read_array(path) if note_of_codes(path) is None else load_codes(path)


def _rows_of_arrays(path: str, label_columns: Sequence[str]) -> Rows:
    if path.lower().endswith(".npy"):
        if label_columns:
            raise UsageError(f"{path} has no columns with names: give the labels with --labels.")
        return Rows(path, _load_npy(path))
    file, name = split_array_name(path)
    arrays = read_named_arrays(file)
    if {"indices", "indptr", "format", "shape", "data"} <= set(arrays):
        return Rows(path, _sparse_rows(arrays, file))
    if name is None and {"X_train", "X_test"} <= set(arrays):
        X = _both(arrays, "X", file)
        if not label_columns and {"y_train", "y_test"} <= set(arrays):
            return Rows(path, X, _both(arrays, "y", file))
    else:
        matrices = [each for each in arrays if arrays[each].ndim > 1 and each not in _LABELS]
        if name is None and len(matrices) == 1:  # no other can be meant
            name = matrices[0]
        X = choose_array(arrays, file, name, _FEATURES)
    has_labels = label_columns or any(each in arrays for each in _LABELS)
    return Rows(path, X, _chosen_labels(arrays, file, label_columns) if has_labels else None)


def _chosen_labels(
    arrays: dict[str, np.ndarray], path: str, label_columns: Sequence[str]
) -> np.ndarray:
    """Return the labels of a file of arrays: a usual one, or those that are named, side by side."""
    file, name = split_array_name(path)
    names: list[str | None] = [name] if name is not None else [*label_columns] or [None]
    chosen = [choose_array(arrays, file, each, _LABELS) for each in names]
    is_matlab = file.lower().endswith(".mat")  # where vectors are matrices
    columns = [
        array.ravel() if is_matlab and array.ndim == 2 and 1 in array.shape else array
        for array in chosen
    ]
    if len(columns) > 1 and len({column.shape for column in columns}) + columns[0].ndim > 2:
        shapes = listed(column.shape for column in columns)
        raise UsageError(f"{file}: arrays of a label path must be columns. Got shapes {shapes}.")
    return _joined(columns)


def _both(arrays: dict[str, np.ndarray], name: str, path: str) -> np.ndarray:
    """Join training and test rows."""
    try:
        return concatenate([arrays[f"{name}_train"], arrays[f"{name}_test"]])
    except ValueError as error:
        raise UsageError(f"{path}: {name}_train and {name}_test: {error}") from error


def _sparse_rows(arrays: dict[str, np.ndarray], path: str) -> Any:
    """Build the CSR matrix of a file that scipy saved, after a check of every index."""
    with reading(path, ": not a sparse matrix ({})."):
        kind = bytes(arrays["format"].reshape(()).astype("S")).decode()
        build = {"csr": sparse.csr_matrix, "csc": sparse.csc_matrix, "bsr": sparse.bsr_matrix}[kind]
        parts = tuple(arrays[name] for name in ("data", "indices", "indptr"))
        if any(part.dtype.kind not in "iu" for part in parts[1:]):
            raise ValueError("its indices are no integers")
        matrix = build(parts, shape=tuple(map(int, arrays["shape"])))
        matrix.check_format(full_check=True)
        return matrix.tocsr()


def _joined(columns: list[np.ndarray]) -> np.ndarray:
    """Labels of one column, or a matrix of several, in which no label changes its type."""
    if len(columns) == 1:
        return columns[0]
    if len({column.dtype.kind for column in columns}) > 1:
        columns = [column.astype(object) for column in columns]
    return np.stack(columns, axis=1)
