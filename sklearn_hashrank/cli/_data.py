"""Load the rows and labels that ``--data`` and ``--labels`` name, and check them."""

from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from .._features.out_of_memory import StoredRows
from ..affinity._auto import is_auto
from ..affinity._euclidean import EuclideanAffinity
from ..affinity._labels import HierarchicalAffinity, SharedLabelAffinity
from ._csv_table import is_number
from ._errors import UsageError
from ._messages import note
from ._parquet_files import find_parquet
from ._rows import Rows, concatenate, mapped, read_labels, read_rows
from ._table import not_finite

_ROWS_AT_A_TIME = 1 << 12


class NamedData(NamedTuple):
    """The sizes of the protocol by default of data that the command knows by name."""

    n_queries: int = 100
    n_train: int = 500
    image_shape: tuple[int, ...] | None = None  # of the pictures that rows are


NAMED = {
    "digits": NamedData(n_queries=20, n_train=100, image_shape=(8, 8)),
    "digits-gist": NamedData(n_queries=20, n_train=100),
    "fashion-mnist": NamedData(image_shape=(28, 28)),
    "mnist": NamedData(image_shape=(28, 28)),
    "cifar10": NamedData(image_shape=(32, 32, 3)),
}


def _load_named(name: str) -> Rows:
    from sklearn.datasets import load_digits

    from ..datasets import _loaders

    if name.startswith("digits"):
        load = load_digits if name == "digits" else _loaders.load_digits_gist
        return Rows(name, *load(return_X_y=True))
    fetch = {
        "fashion-mnist": _loaders.fetch_fashion_mnist,
        "mnist": _loaders.fetch_mnist,
        "cifar10": _loaders.fetch_cifar10,
    }
    found = fetch[name]()
    X = found.data.astype(np.float32)
    return Rows(name, X, found.target, label_names=list(map(str, found.target_names)))


def load_data(
    options: Namespace,
    columns: Any = None,
    left_out: Sequence[str] = (),
    *,
    in_blocks: bool = False,
) -> Rows:
    """Load the features and labels that the options name, and check them.

    `columns` names the features of a table; None: all columns but those of labels and `left_out`.
    `in_blocks` says whether rows may be such that are read in blocks only; what is learned from
    without labels is then up to the caller to say.
    """
    path = options.data
    if path in NAMED:
        if options.labels or options.label_column:
            raise UsageError(f"{path} brings its own labels: leave out --labels, --label-column.")
        return _load_named(path)
    if "." not in path and find_parquet(path) is None:
        raise UsageError(f"unknown data {path!r}: give a file, or one of {', '.join(NAMED)}.")
    label_columns = [] if options.labels else options.label_column
    left_out = [*left_out, *options.exclude_column]
    rows = read_rows(path, label_columns, columns, left_out, id_column=options.id_column)
    if options.exclude_column and rows.names is None and not isinstance(rows.X, StoredRows):
        raise UsageError(f"{path} has no columns with names, which --exclude-column leaves out.")
    rows = rows._replace(X=_in_rows(rows.X if in_blocks else mapped(rows.X), path))
    check_rows(rows.X, path)
    n_rows = rows.X.shape[0]
    y = rows.y
    if options.labels:
        y = row_labels(options.labels, options.label_column, n_rows).y
    elif y is not None:
        _check_labels(y, path, n_rows)
    if y is None and not in_blocks and not getattr(options, "neighbors", None):
        note(f"{path}: no labels; distances between the features say what is relevant")
    if y is not None:
        [y] = as_compared(getattr(options, "affinity", None), options.label_column, y)
    return rows._replace(y=y)


def _in_rows(X: Any, path: str) -> Any:
    """Images as rows of their pixels."""
    if X.ndim not in (3, 4) or 0 in X.shape:
        return X
    size = " x ".join(map(str, X.shape[1:]))
    note(f"{path}: {X.shape[0]:,} images of {size}, each as a row of its pixels")
    return X.reshape(X.shape[0], -1)


def check_rows(X: Any, path: str) -> None:
    """Check that the features are a matrix with rows."""
    if X.ndim != 2 or 0 in X.shape:
        raise UsageError(f"{path}: features must be a matrix with rows. Got shape {X.shape}.")


@contextmanager
def bad_values_named(rows: Rows) -> Iterator[None]:
    """Say which value it is, where rows that are used turn out not to be finite."""
    try:
        yield
    except ValueError as error:
        _check_finite(rows)
        raise error


def _check_finite(rows: Rows) -> None:
    X = rows.X
    if isinstance(X, StoredRows) or X.dtype.kind != "f":
        return  # blocks of tables are checked when they are read
    for start in range(0, X.shape[0], _ROWS_AT_A_TIME):
        block = X[start : start + _ROWS_AT_A_TIME]
        places = block.tocoo() if sparse.issparse(block) else None
        values = np.asarray(block) if places is None else places.data
        if (is_bad := ~np.isfinite(values)).any():
            first = np.argwhere(is_bad)[0]
            row, column = first if places is None else (places.row[first[0]], places.col[first[0]])
            name = column if rows.names is None else repr(rows.names[column])
            raise not_finite(rows.source, start + row, f"column {name}", values[tuple(first)])


def row_labels(path: str, label_columns: Sequence[str], n_rows: int | None = None) -> Rows:
    """Read labels, one row for each row of something else, and check that none is missing."""
    rows = read_labels(path, label_columns)
    _check_labels(rows.y, path, n_rows)
    return rows


def _check_labels(y: np.ndarray, path: str, n_rows: int | None) -> None:
    n_labels = len(np.atleast_1d(y))
    if n_rows not in (None, n_labels):
        has_header = path.lower().endswith(".csv") and n_labels + 1 == n_rows
        hint = " The first line of a CSV file names its columns: add it." if has_header else ""
        raise UsageError(f"{path}: {n_labels:,} labels for {n_rows:,} items.{hint}")
    if y.dtype.kind == "f" and np.isnan(y).any():
        row = np.argwhere(np.isnan(y))[0][0]
        raise UsageError(f"{path}: the label of row {row} is missing.")


def as_compared(affinity: Any, label_columns: list[str], *labels: np.ndarray) -> list[np.ndarray]:
    """Return labels in the form that an affinity compares; None is a command without affinities."""
    if isinstance(affinity, (EuclideanAffinity, SharedLabelAffinity)):
        return [_as_numbers(y, affinity) if y.dtype.kind in "OUS" else y for y in labels]
    if affinity == "auto" and any(map(_are_decimals, labels)):
        note(
            "labels are numbers with decimals, and each is a class of its own; --affinity "
            "euclidean compares them by distance"
        )
    return name_paths(label_columns, *labels)


def _as_numbers(y: np.ndarray, affinity: Any) -> np.ndarray:
    for row, *label in zip(range(len(y)), *y.reshape(len(y), -1).T.tolist()):
        if (text := next((text for text in label if not is_number(text)), None)) is not None:
            raise UsageError(
                f"{type(affinity).__name__} compares numbers, and the label of row {row} is "
                f"{text!r}. Compare names by --affinity labels."
            )
    return y.astype(np.float64)


def _are_decimals(y: np.ndarray) -> bool:
    """Whether the text of a column is numbers, and not all of them integers."""
    if y.dtype.kind != "U" or y.ndim != 1:
        return False
    distinct = list(map(str, np.unique(y)))
    return all(map(is_number, distinct)) and not all(
        float(label).is_integer() for label in distinct
    )


def name_paths(label_columns: list[str], *labels: np.ndarray) -> list[np.ndarray]:
    """Make text of label paths, which several columns with names, or with text, are.

    Text cannot be taken for label sets, and errors and pages show it. Other labels stay as they
    are.
    """
    shapes = {y.shape[1:] for y in labels}
    n_columns = next(iter(shapes))[0] if len(shapes) == 1 and shapes != {()} else 1
    has_text = any(y.dtype.kind in "OUS" for y in labels)
    if n_columns < 2 or not (has_text or len(label_columns) == n_columns):
        return list(labels)
    names = label_columns if len(label_columns) == n_columns else range(n_columns)
    columns = [
        _as_text(str(name), [y[:, place] for y in labels]) for place, name in enumerate(names)
    ]
    return np.split(np.stack(columns, axis=1), np.cumsum([len(y) for y in labels])[:-1])


def affinity_of(affinity: Any, y: Any) -> Any:
    """Return what compares labels: where nothing else was asked for, text in columns is a path."""
    is_path = y is not None and y.ndim == 2 and y.dtype.kind == "U"
    return HierarchicalAffinity() if is_path and is_auto(affinity) else affinity


def _as_text(name: str, parts: list[np.ndarray]) -> np.ndarray:
    """Text of the labels of a column, whose parts are of several files."""
    parts = [np.array(part.tolist()) if part.dtype.kind == "O" else part for part in parts]
    try:
        column = concatenate(parts)
    except ValueError as error:
        raise UsageError(f"--label-column {name}: {error}") from error
    if column.dtype.kind == "f" and (column == np.floor(column)).all():
        return np.array([str(int(label)) for label in column.tolist()])
    if column.dtype.kind == "S":
        return np.char.decode(column, "utf-8", "backslashreplace")
    return (column + 0.0 if column.dtype.kind == "f" else column).astype(str)  # no minus zero
