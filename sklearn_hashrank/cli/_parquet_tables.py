"""Tables in Parquet files: a column of numbers for each feature, labels, and texts."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ._errors import UsageError
from ._parquet_files import (
    Column,
    Columns,
    ParquetSource,
    StoredColumns,
    column_names,
    columns_beside,
    columns_but_index,
    folder_values,
)
from ._tables import Choose, Table, chosen

_FIRST_GAP = 2.0**53  # from here on, floats leave integers out


def read_parquet(path: str, source: ParquetSource, choose: Choose) -> Table:
    """Choose columns of Parquet files: features, which are read in blocks, and labels.

    Parameters
    ----------
    path : str
        What messages call the files.
    source : ParquetSource
        The files.
    choose : callable
        Takes the names of all columns but an index, and returns those of the labels and of the
        features. Labels may also be in an index, or in the names of folders.

    Returns
    -------
    table : Table
    """
    label_names, features = chosen(choose, columns_but_index(source), path, columns_beside(source))
    X = ParquetTable(path, Columns(source, features))
    return Table(X, parquet_labels(path, source, label_names), features)


def parquet_labels(path: str, source: ParquetSource, names: Sequence[str]) -> list[np.ndarray]:
    """Labels of some columns, or folders, whose types decide what they are."""
    columns = Columns(source, names)
    if not columns.n_rows:
        raise UsageError(f"{path}: there are no rows.")
    parts: list[list[np.ndarray]] = [[] for _ in names]
    for at, piece in columns.pieces() if names else ():
        for name, column, known in zip(names, piece, parts):
            known.append(_labels(decoded(column), name, path, at))
    for name, known in zip(names, parts):
        if len({part.dtype.kind == "U" for part in known}) > 1:
            raise UsageError(
                f"{path}: column {name!r} holds numbers in one file and text in another, which "
                "are never equal."
            )
    try:
        return [concatenate(known) for known in parts]
    except ValueError as error:
        raise UsageError(f"{path}: {error}") from error


def parquet_texts(path: str, source: ParquetSource, name: str) -> list[str]:
    """One column, or folder, as text; missing values are empty."""
    folders = folder_values(source.files)
    chosen(lambda names: ([name], []), column_names(source), path, folders)
    batches = Column(source, name).batches()
    values = (value for _, batch in batches for value in decoded(batch).to_pylist())
    return ["" if value is None else str(value) for value in values]


def concatenate(parts: Sequence[np.ndarray]) -> np.ndarray:
    """Join arrays, unless integers would become floats that cannot tell them apart."""
    joined = np.concatenate(parts)
    has_integers = any(part.dtype.kind in "iu" for part in parts)
    if joined.dtype.kind == "f" and has_integers and np.abs(joined).max(initial=0) >= _FIRST_GAP:
        raise ValueError(
            "integers beyond 2**53 cannot be joined with numbers of another type. Got dtypes "
            f"{', '.join(str(part.dtype) for part in parts)}."
        )
    return joined


class ParquetTable(StoredColumns):
    """Features of which each is a column.

    Parameters
    ----------
    path : str
        What messages call them.
    columns : Columns
        Numbers.
    """

    def __init__(self, path: str, columns: Columns):
        super().__init__(path, columns)
        if not columns.n_rows:
            raise UsageError(f"{path}: there are no rows.")
        kinds = [
            _number(kind, name, file)
            for name in columns.names
            for file, kind in zip(columns.files, columns.types[name])
        ]
        self.dtype = np.result_type(*kinds) if kinds else np.dtype(np.float64)
        self.shape = (columns.n_rows, len(columns.names))

    def rows(self, columns: Sequence[Any], first: int) -> np.ndarray:
        """Rows of a piece of the columns, all of them finite numbers."""
        n_rows = len(columns[0]) if columns else 0
        rows = np.empty((n_rows, len(columns)), self.dtype)
        for place, (name, column) in enumerate(zip(self.columns.names, columns)):
            values = decoded(column)
            if values.null_count:
                row = int(np.argmax(values.is_null().to_numpy(zero_copy_only=False)))
                raise self._not_finite(first + row, name, np.nan)
            rows[:, place] = values.to_numpy(zero_copy_only=False)
        if self.dtype.kind == "f" and not (is_finite := np.isfinite(rows)).all():
            row, place = np.argwhere(~is_finite)[0]
            raise self._not_finite(first + row, self.columns.names[place], rows[row, place])
        return rows

    def _not_finite(self, row: int, name: str, value: float) -> UsageError:
        return UsageError(
            f"{self.path}: row {row}, column {name!r} is {value}; features must be finite."
        )


def decoded(column: Any) -> Any:
    """A column without a dictionary, which is how categories are kept, and its text as strings."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    return column.cast(pa.string()) if str(column.type) == "string_view" else column


def _number(kind: Any, name: str, path: str) -> np.dtype:
    import pyarrow as pa

    types = pa.types
    kind = kind.value_type if types.is_dictionary(kind) else kind
    if not (types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)):
        raise UsageError(
            f"{path}: column {name!r} does not hold numbers but {kind}. Name it with "
            "--label-column or --exclude-column."
        )
    return np.dtype(kind.to_pandas_dtype())


def _labels(column: Any, name: str, path: str, first: int) -> np.ndarray:
    """Labels of a piece of a column, the first of which has a number."""
    import pyarrow as pa

    types, values = pa.types, column.to_numpy(zero_copy_only=False)
    is_missing = np.asarray(column.is_null().to_numpy(zero_copy_only=False))
    if not column.null_count and types.is_floating(column.type):
        is_missing = np.isnan(values)
    if is_missing.any():
        row = first + int(np.argmax(is_missing))
        raise UsageError(f"{path}: the label of row {row} is missing (column {name!r}).")
    if types.is_string(column.type) or types.is_large_string(column.type):
        if any("\0" in text for text in set(values)):
            raise UsageError(f"{path}: column {name!r} holds a NUL character, which no label may.")
        return np.array(values.tolist())
    if any(
        is_kind(column.type) for is_kind in (types.is_integer, types.is_boolean, types.is_floating)
    ):
        return np.asarray(values)
    raise UsageError(
        f"{path}: column {name!r} holds {column.type}; labels must be integers or text."
    )
