"""Read features and labels from arrays and tables in files."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from .._files.arrays import read_array, read_arrays
from .._files.codes import load_codes, note_of_codes
from .._files.named_arrays import ARRAY_FILES, choose_array, read_named_arrays, split_array_name
from .._files.reading import reading
from ._errors import UsageError
from ._file_systems import is_file
from ._messages import note
from ._parquet_files import column_names, columns_beside, columns_but_index, parquet_source
from ._parquet_tables import (
    concatenate,
    embeddings,
    parquet_labels,
    parquet_texts,
    read_parquet,
)
from ._row_names import USUAL, id_column_of
from ._tables import chosen, listed, read_column, read_table

_TABLES = (".csv", ".parquet")
_FEATURES, _LABELS = ("X", "features", "data"), ("y", "Y", "labels", "label", "L")  # usual names


class Rows(NamedTuple):
    """Features of items, and their labels if there are any."""

    X: Any
    y: Any = None
    names: list[str] | None = None  # of the features
    label_names: Sequence[str] | None = None  # of classes 0, 1, ...


def read_rows(
    path: str,
    label_columns: Sequence[str] = (),
    columns: Any = None,
    left_out: Sequence[str] = (),
    *,
    id_column: str | None = None,
) -> Rows:
    """Read features, and the labels that lie in the same file.

    Features of ``.npy`` files are mapped, and those of ``.parquet`` files read in blocks. Of a
    table they are the column of lists of numbers, or `columns`, or all columns but those of labels,
    `left_out` and ids.
    """
    source = parquet_source(path)
    if columns is None and source is not None:
        found = embeddings(path, source, [*label_columns, *left_out])
        if found is not None:
            _check_left_out(left_out, column_names(source), path)
            return Rows(found, read_labels(path, label_columns) if label_columns else None)
    kind = ".parquet" if source is not None else _kind(path)
    if kind == ".npy":
        if label_columns:
            raise UsageError(f"{path} has no columns with names: give the labels with --labels.")
        return Rows(_load_npy(path))
    if kind not in _TABLES:
        return _read_arrays(path, label_columns)

    def choose(names: list[str]) -> tuple[list[str], list[str]]:
        if columns is not None:
            return list(label_columns), list(columns)
        beside = [] if source is None else columns_beside(source)
        _check_left_out(left_out, [*names, *beside], path)
        others = _others(names, [*label_columns, *left_out])
        known = id_column_of(names, id_column, path, beside)
        if known in others:
            others.remove(known)
            note(f"{path}: column {known!r} holds ids, which are no feature")
        return list(label_columns), others

    table = read_table(path, choose) if source is None else read_parquet(path, source, choose)
    return Rows(table.X, _joined(table.labels) if label_columns else None, table.names)


def _check_left_out(left_out: Sequence[str], names: Sequence[str], path: str) -> None:
    for name in left_out:
        if name not in names:
            raise UsageError(f"{path} has no column {name!r}. It has {listed(names)}.")


def read_labels(path: str, label_columns: Sequence[str] = ()) -> np.ndarray:
    """Read labels: an array, several that are named, or columns of a table, or its only column."""
    source = parquet_source(path)
    kind = ".parquet" if source is not None else _kind(path)
    if kind not in _TABLES:
        if kind == ".npy" and ":" not in path:
            return np.asarray(_load_npy(path))
        return _chosen_labels(read_named_arrays(split_array_name(path)[0]), path, label_columns)

    def choose(names: list[str]) -> tuple[list[str], list[str]]:
        others = _others(names, [USUAL]) or names
        if not label_columns and len(others) != 1:
            raise UsageError(
                f"{path} has {len(names)} columns: name those of the labels with --label-column."
            )
        return list(label_columns) or others, []

    if source is None:
        return _joined(read_table(path, choose).labels)
    names, _ = chosen(choose, columns_but_index(source), path, columns_beside(source))
    return _joined(parquet_labels(path, source, names))


def read_texts(path: str, column: str) -> list[str]:
    """Read texts: a column of a table, or an array of a .npz file."""
    if (source := parquet_source(path)) is not None:
        return parquet_texts(path, source, column)
    kind = _kind(path)
    if kind == ".npy":
        raise UsageError(f"{path} has no column {column!r}: .npy files hold no texts.")
    if kind != ".npz":
        return read_column(path, column)
    arrays = read_arrays(path)
    if column not in arrays:
        raise UsageError(f"{path} has no array {column!r}. It has {listed(arrays)}.")
    return list(map(str, arrays[column].tolist()))


def _kind(path: str) -> str:
    file, _ = split_array_name(path)
    kind = Path(file).suffix.lower()
    kinds = (*ARRAY_FILES, *_TABLES)
    if kind not in kinds:
        known = ", ".join(kinds[:-1])
        raise UsageError(f"{path}: cannot read files of this kind. Use {known} or {kinds[-1]}.")
    if not is_file(file):
        raise UsageError(f"{file}: no such file.")
    return kind


def _chosen_labels(
    arrays: dict[str, np.ndarray], path: str, label_columns: Sequence[str]
) -> np.ndarray:
    """Return the labels of a file of arrays: a usual one, or those that are named, side by side."""
    file, name = split_array_name(path)
    names: list[str | None] = [name] if name is not None else [*label_columns] or [None]
    chosen = [choose_array(arrays, file, each, _LABELS) for each in names]
    columns = [_column(array, file) for array in chosen]
    if len(columns) > 1 and len({column.shape for column in columns}) + columns[0].ndim > 2:
        shapes = listed(column.shape for column in columns)
        raise UsageError(f"{file}: arrays of a label path must be columns. Got shapes {shapes}.")
    return _joined(columns)


def _column(array: np.ndarray, file: str) -> np.ndarray:
    """A vector of labels as such, which MATLAB keeps as a matrix."""
    is_vector = array.ndim == 2 and 1 in array.shape and file.lower().endswith(".mat")
    return array.ravel() if is_vector else array


def _load_npy(path: str) -> np.ndarray:
    return read_array(path) if note_of_codes(path) is None else load_codes(path)


def _read_arrays(path: str, label_columns: Sequence[str]) -> Rows:
    file, name = split_array_name(path)
    arrays = read_named_arrays(file)
    if {"indices", "indptr", "format", "shape", "data"} <= set(arrays):
        return Rows(_sparse_rows(arrays, file))
    if name is None and {"X_train", "X_test"} <= set(arrays):
        X = _both(arrays, "X", file)
        if not label_columns and {"y_train", "y_test"} <= set(arrays):
            return Rows(X, _both(arrays, "y", file))
    else:
        matrices = [each for each in arrays if arrays[each].ndim > 1 and each not in _LABELS]
        if name is None and len(matrices) == 1:  # no other can be meant
            name = matrices[0]
        X = choose_array(arrays, file, name, _FEATURES)
    if label_columns or any(each in arrays for each in _LABELS):
        return Rows(X, _chosen_labels(arrays, file, label_columns))
    return Rows(X)


def _both(arrays: dict[str, np.ndarray], name: str, path: str) -> np.ndarray:
    """Join training and test rows, unless numpy would turn numbers into text."""
    parts = [arrays[f"{name}_train"], arrays[f"{name}_test"]]
    if len({part.dtype.kind if part.dtype.kind in "US" else "numbers" for part in parts}) > 1:
        raise UsageError(
            f"{path}: {name}_train and {name}_test must be of one kind, numbers or text. "
            f"Got dtypes {parts[0].dtype} and {parts[1].dtype}."
        )
    if name == "X":
        return np.concatenate(parts)
    try:
        return concatenate(parts)
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


def _others(names: Sequence[str], label_columns: Sequence[str]) -> list[str]:
    labels = set(label_columns)
    return [name for name in names if name not in labels]


def _joined(columns: list[np.ndarray]) -> np.ndarray:
    """Labels of one column, or a matrix of several, in which no label changes its type."""
    if len(columns) == 1:
        return columns[0]
    if len({column.dtype.kind for column in columns}) > 1:
        columns = [column.astype(object) for column in columns]
    return np.stack(columns, axis=1)
