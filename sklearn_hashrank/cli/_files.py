"""Features and labels from files."""

import warnings
import zipfile
from collections.abc import Sequence
from pathlib import Path
from tokenize import TokenError
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ._errors import UsageError, need_extra

_KINDS = ".npy, .npz, .csv or .parquet"


class Rows(NamedTuple):
    """Features of items, and their labels if there are any."""

    X: Any
    y: Any = None
    names: list[str] | None = None  # of the features


def read_rows(path: str, label_columns: Sequence[str] = (), columns: Any = None) -> Rows:
    """Read features, and the labels that lie in the same file.

    Parameters
    ----------
    path : str
        ``.npy``: features, not loaded but mapped. ``.npz``: arrays X and y (or Y), or X_train,
        y_train, X_test and y_test, or a sparse matrix. ``.csv``, ``.parquet``: one column for
        each feature.
    label_columns : sequence of str, default=()
        Columns, or the array of an ``.npz`` file, that hold the labels.
    columns : sequence of str, default=None
        The columns that are the features; None: all but `label_columns`.

    Returns
    -------
    rows : Rows
    """
    kind = _kind(path)
    if kind == ".npy":
        if label_columns:
            raise UsageError(f"{path} has no columns with names: give the labels with --labels.")
        return Rows(_load_npy(path))
    if kind == ".npz":
        return _read_npz(path, label_columns)
    return _split_columns(_read_frame(path), path, label_columns, columns)


def read_labels(path: str, label_columns: Sequence[str] = ()) -> np.ndarray:
    """Read labels: an array, or the columns of a table that are named, or its only column."""
    kind = _kind(path)
    if kind == ".npy":
        return np.asarray(_load_npy(path))
    if kind == ".npz":
        arrays = _load_npz(path)
        _check_one(label_columns, path)
        name = label_columns[0] if label_columns else "y"
        if name not in arrays:
            raise UsageError(f"{path} has no array {name!r}. It has {_list(arrays)}.")
        return arrays[name]
    frame = _read_frame(path)
    if not label_columns and frame.shape[1] != 1:
        raise UsageError(
            f"{path} has {frame.shape[1]} columns: name those of the labels with --label-column."
        )
    return _labels_of(frame, path, label_columns or list(frame.columns))


def check_finite(rows: Any, path: str, names: Sequence[str] | None = None) -> None:
    """Name the first value of the features that is not a finite number."""
    values = rows.data if sparse.issparse(rows) else rows
    if values.dtype.kind not in "fiub":
        raise UsageError(f"{path}: features must be numbers. Got {values.dtype}.")
    if values.dtype.kind != "f" or np.isfinite(values).all():
        return
    if sparse.issparse(rows):
        raise UsageError(f"{path}: the features hold values that are not finite numbers.")
    row, column = np.argwhere(~np.isfinite(rows))[0]
    name = repr(names[column]) if names else column
    value = rows[row, column]
    raise UsageError(f"{path}: row {row}, column {name} is {value}; features must be finite.")


def check_labels(y: np.ndarray, path: str) -> np.ndarray:
    """Name the first label that is missing."""
    if y.dtype.kind == "O":
        missing = np.array([value is None or value != value for value in y.ravel()])
    elif y.dtype.kind == "f":
        missing = np.isnan(y).ravel()
    else:
        return y
    if missing.any():
        row = int(np.argmax(missing)) // max(1, y[:1].size)
        raise UsageError(f"{path}: the label of row {row} is missing.")
    return y.astype(str) if y.dtype.kind == "O" else y


def _kind(path: str) -> str:
    kind = Path(path).suffix.lower()
    if kind not in (".npy", ".npz", ".csv", ".parquet"):
        raise UsageError(f"{path}: cannot read files of this kind. Use {_KINDS}.")
    if not Path(path).is_file():
        raise UsageError(f"{path}: no such file.")
    return kind


def _load_npy(path: str) -> np.ndarray:
    try:
        return np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError, SyntaxError, TokenError) as error:
        raise UsageError(f"{path}: not a .npy file of numbers or strings ({error}).") from error


def _load_npz(path: str) -> dict[str, np.ndarray]:
    try:
        with np.load(path, allow_pickle=False) as file:
            return {name: file[name] for name in file.files}
    except (ValueError, EOFError, zipfile.BadZipFile, AttributeError) as error:
        raise UsageError(f"{path}: not a .npz file of numbers or strings ({error}).") from error


def _read_npz(path: str, label_columns: Sequence[str]) -> Rows:
    arrays = _load_npz(path)
    if {"indices", "indptr", "format", "shape", "data"} <= set(arrays):
        return Rows(sparse.load_npz(path).tocsr())
    _check_one(label_columns, path)
    if {"X_train", "X_test"} <= set(arrays):
        parts = ("train", "test")
        X = np.concatenate([arrays[f"X_{part}"] for part in parts])
        if not label_columns and {"y_train", "y_test"} <= set(arrays):
            return Rows(X, np.concatenate([arrays[f"y_{part}"] for part in parts]))
    elif "X" in arrays:
        X = arrays["X"]
    else:
        raise UsageError(
            f"{path} must hold an array X, or X_train and X_test. It has {_list(arrays)}."
        )
    if label_columns and label_columns[0] not in arrays:
        raise UsageError(f"{path} has no array {label_columns[0]!r}. It has {_list(arrays)}.")
    names = label_columns or ("y", "Y")
    return Rows(X, next((arrays[name] for name in names if name in arrays), None))


def _check_one(label_columns: Sequence[str], path: str) -> None:
    if len(label_columns) > 1:
        raise UsageError(f"{path}: the labels must be one array. Got {_list(label_columns)}.")


def _read_frame(path: str) -> Any:
    try:
        import pandas as pd
    except ImportError as error:
        raise need_extra("pandas", f"reading {path}") from error
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of mixed types; columns are checked below
            frame = pd.read_csv(path) if path.lower().endswith(".csv") else pd.read_parquet(path)
    except ImportError as error:
        raise need_extra("pyarrow", f"reading {path}") from error
    except OSError:
        raise
    except Exception as error:  # the parsers have errors of their own
        raise UsageError(f"{path}: cannot be read as {Path(path).suffix[1:]}: {error}") from error
    if not len(frame):
        raise UsageError(f"{path}: there are no rows.")
    frame.columns = [str(column) for column in frame.columns]
    return frame


def _split_columns(frame: Any, path: str, label_columns: Sequence[str], columns: Any) -> Rows:
    y = _labels_of(frame, path, label_columns) if label_columns else None
    if columns is None:
        columns = [column for column in frame.columns if column not in set(label_columns)]
    _check_columns(frame, path, columns)
    for column in columns:
        if frame[column].dtype.kind not in "fiub":
            raise UsageError(
                f"{path}: column {column!r} does not hold numbers. Name it with --label-column "
                "or leave it out."
            )
    return Rows(np.ascontiguousarray(frame[list(columns)].to_numpy()), y, list(columns))


def _labels_of(frame: Any, path: str, label_columns: Sequence[str]) -> np.ndarray:
    _check_columns(frame, path, label_columns)
    y = frame[list(label_columns)].to_numpy()
    return y[:, 0] if y.shape[1] == 1 else y


def _check_columns(frame: Any, path: str, columns: Sequence[str]) -> None:
    for column in columns:
        if column not in frame.columns:
            raise UsageError(f"{path} has no column {column!r}. It has {_list(frame.columns)}.")


def _list(names: Any) -> str:
    names = list(map(str, names))
    return ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
