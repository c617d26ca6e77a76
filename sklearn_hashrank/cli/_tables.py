"""Read CSV and Parquet files: features as numbers, labels exactly as they are written."""

import csv
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..persistence import reading
from ._errors import UsageError
from ._parquet_files import opened

_ROWS_AT_A_TIME = 4096
_INTEGER = re.compile(r"0|-?[1-9][0-9]*")
_INT64 = np.iinfo(np.int64)
_MISSING = {"na", "n/a", "#na", "#n/a", "<na>", "nan", "null", "none"}  # in any case, with a sign

# From the names of all columns, those of the labels and those of the features.
Choose = Callable[[list[str]], tuple[list[str], list[str]]]


class Table(NamedTuple):
    """The columns of a table that were asked for."""

    X: np.ndarray  # (n, n_features)
    labels: list[np.ndarray]  # one array of integers, floats or text for each column
    names: list[str]  # of the features


def read_table(path: str, choose: Choose) -> Table:
    """Read columns of a ``.csv`` or ``.parquet`` file.

    Features are numbers. The labels of a CSV file are integers where the whole column is written
    in the canonical form of integers of 64 bits (0, 12, -7), and text exactly as it is written
    where a single row is not. In a Parquet file the type of the column decides.

    Parameters
    ----------
    path : str
        A file whose name ends in ``.csv`` or ``.parquet``.
    choose : callable
        Takes the names of all columns, and returns those of the labels and of the features.

    Returns
    -------
    table : Table
        The features, the labels and the names of the features.

    Raises
    ------
    MalformedFileError or UsageError
        Where the file is malformed, a feature is not a number, or a label is missing.
    """
    kind = Path(path).suffix.lower()
    read = _read_csv if kind == ".csv" else _read_parquet
    with reading(path, f": cannot be read as {kind[1:]}: {{}}.", passing=UsageError):
        return read(path, choose)


def read_column(path: str, name: str) -> list[str]:
    """Read one column of a ``.csv`` or ``.parquet`` file as text; missing values are empty."""
    kind = Path(path).suffix.lower()
    read = _csv_column if kind == ".csv" else _parquet_column
    with reading(path, f": cannot be read as {kind[1:]}: {{}}.", passing=UsageError):
        return read(path, name)


def table_columns(path: str) -> list[str]:
    """Names of the columns of a ``.csv`` file."""
    with (
        reading(path, ": cannot be read as csv: {}.", passing=UsageError),
        open(path, encoding="utf-8-sig", newline="") as file,
    ):
        return next(csv.reader(file, strict=True), [])


def _csv_column(path: str, name: str) -> list[str]:
    with open(path, encoding="utf-8-sig", newline="") as file:
        rows = csv.reader(file, strict=True)
        names = next(rows, None) or []
        _chosen(lambda all_names: ([name], []), names, path)
        place = names.index(name)
        return [fields[place] for fields in _whole_rows(rows, len(names), path)]


def _parquet_column(path: str, name: str) -> list[str]:
    with opened(path) as file:
        _chosen(lambda all_names: ([name], []), list(file.schema_arrow.names), path)
        values = _decoded(file.read(columns=[name]).column(name)).to_pylist()
    return ["" if value is None else str(value) for value in values]


def _read_csv(path: str, choose: Choose) -> Table:
    with open(path, encoding="utf-8-sig", newline="") as file:
        rows = csv.reader(file, strict=True)
        names = next(rows, None)
        if not names:
            raise UsageError(f"{path}: there is no header: the first line must name the columns.")
        label_names, features = _chosen(choose, names, path)
        place = {name: number for number, name in enumerate(names)}
        places = [place[name] for name in features]
        label_columns: list[list[str]] = [[] for _ in label_names]
        blocks = []
        n_rows = 0
        whole = _whole_rows(rows, len(names), path)
        while block := list(islice(whole, _ROWS_AT_A_TIME)):
            for name, values in zip(label_names, label_columns):
                values.extend(map(itemgetter(place[name]), block))
            numbers = _numbers(block, places)
            if numbers is None:
                raise _no_number(block, n_rows, dict(zip(features, places)), path)
            blocks.append(numbers)
            n_rows += len(block)
    if not n_rows:
        raise UsageError(f"{path}: there are no rows.")
    labels = [typed_column(column, name, path) for name, column in zip(label_names, label_columns)]
    return Table(np.concatenate(blocks), labels, features)


def _whole_rows(rows: Any, n_fields: int, path: str) -> Iterator[list[str]]:
    """Check that rows have as many fields as the header, and that only trailing lines are blank."""
    blank = None
    for row, fields in enumerate(rows):
        if fields and blank is not None:
            raise UsageError(f"{path}: row {blank} is empty.")
        if len(fields) == n_fields:
            yield fields
        elif fields:
            raise UsageError(
                f"{path}: row {row} (line {rows.line_num}) has {len(fields)} fields. The header "
                f"has {n_fields}."
            )
        elif blank is None:
            blank = row


def _numbers(block: list[list[str]], places: list[int]) -> np.ndarray | None:
    """Floats of some fields of each row; None if one is not a number."""
    pick: Any = itemgetter(*places) if len(places) > 1 else lambda row: [row[i] for i in places]
    fields = list(chain.from_iterable(map(pick, block)))
    if not _are_plain("".join(fields)):
        return None
    try:
        values = np.fromiter(map(float, fields), np.float64, len(fields))
    except ValueError:
        return None
    return values.reshape(len(block), len(places))


def _are_plain(text: str) -> bool:
    """Whether a text has no underscores or digits of other scripts, which `float` accepts."""
    return text.isascii() and "_" not in text


def is_number(text: str) -> bool:
    """Whether a text is a plain number."""
    try:
        float(text)
    except ValueError:
        return False
    return _are_plain(text)


def _no_number(block: list[list[str]], start: int, places: dict[str, int], path: str) -> UsageError:
    """Name the first field that is not a number."""
    for row, fields in enumerate(block, start):
        for name, place in places.items():
            text = fields[place]
            if not text.strip():
                return UsageError(
                    f"{path}: row {row}, column {name!r} is nan; features must be finite."
                )
            if not is_number(text):
                return UsageError(
                    f"{path}: column {name!r} does not hold numbers. Row {row} is {_short(text)}. "
                    "Name it with --label-column or leave it out."
                )
    raise AssertionError("every field is a number")


def typed_column(values: list[str], name: str, path: str, what: str = "label") -> np.ndarray:
    """Values as integers if all are written as integers, else as text, unchanged."""
    distinct = set(values)
    marks = {text for text in distinct if text.strip().lstrip("+-").lower() in _MISSING}
    missing = {text for text in distinct if not text.strip()}
    if all(map(is_number, distinct - marks - missing)):
        missing |= marks  # among numbers they stand for none; among words they are words
    if missing:
        row = next(row for row, text in enumerate(values) if text in missing)
        raise UsageError(f"{path}: the {what} of row {row} is missing (column {name!r}).")
    if all(_INTEGER.fullmatch(text) and len(text) <= 20 for text in distinct):
        integers = {text: int(text) for text in distinct}
        if all(_INT64.min <= number <= _INT64.max for number in integers.values()):
            return np.fromiter(map(integers.__getitem__, values), np.int64, len(values))
    if any("\0" in text for text in distinct):
        raise UsageError(f"{path}: column {name!r} holds a NUL character, which no {what} may.")
    return np.array(values)


def _read_parquet(path: str, choose: Choose) -> Table:
    with opened(path) as file:
        schema = file.schema_arrow
        about = schema.pandas_metadata or {}
        index = [name for name in about.get("index_columns", []) if isinstance(name, str)]
        names = [name for name in schema.names if name not in index]
        label_names, features = _chosen(choose, names, path)
        table = file.read(columns=list(dict.fromkeys([*label_names, *features])))
    if not table.num_rows:
        raise UsageError(f"{path}: there are no rows.")
    table.validate(full=True)
    labels = [_arrow_labels(table.column(name), name, path) for name in label_names]
    columns = [_arrow_numbers(table.column(name), name, path) for name in features]
    X = np.stack(columns, axis=1) if columns else np.empty((table.num_rows, 0))
    return Table(np.ascontiguousarray(X), labels, features)


def _arrow_labels(column: Any, name: str, path: str) -> np.ndarray:
    import pyarrow as pa

    column = _decoded(column)
    if column.null_count:
        row = int(np.argmax(column.is_null().to_numpy()))
        raise UsageError(f"{path}: the label of row {row} is missing (column {name!r}).")
    types = pa.types
    if types.is_string(column.type) or types.is_large_string(column.type):
        values = column.to_pylist()
        if any("\0" in text for text in set(values)):
            raise UsageError(f"{path}: column {name!r} holds a NUL character, which no label may.")
        return np.array(values)
    if types.is_integer(column.type) or types.is_boolean(column.type):
        return column.to_numpy()
    if types.is_floating(column.type):
        values = column.to_numpy()
        if np.isnan(values).any():
            row = int(np.argmax(np.isnan(values)))
            raise UsageError(f"{path}: the label of row {row} is missing (column {name!r}).")
        return values
    raise UsageError(
        f"{path}: column {name!r} holds {column.type}; labels must be integers or text."
    )


def _arrow_numbers(column: Any, name: str, path: str) -> np.ndarray:
    import pyarrow as pa

    column = _decoded(column)
    types = pa.types
    is_number = types.is_integer(column.type) or types.is_floating(column.type)
    if not (is_number or types.is_boolean(column.type)):
        raise UsageError(
            f"{path}: column {name!r} does not hold numbers but {column.type}. Name it with "
            "--label-column or leave it out."
        )
    if column.null_count:
        row = int(np.argmax(column.is_null().to_numpy()))
        raise UsageError(f"{path}: row {row}, column {name!r} is nan; features must be finite.")
    values: np.ndarray = column.to_numpy()
    return values


def _decoded(column: Any) -> Any:
    """A column without a dictionary, which is how categories are kept."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        return column.cast(column.type.value_type)
    return column


def _chosen(choose: Choose, names: list[str], path: str) -> tuple[list[str], list[str]]:
    """Names of the labels and of the features, each of one column of the table."""
    known: set[str] = set()
    for name in names:
        if name in known:
            raise UsageError(f"{path}: two columns are named {_short(name)}.")
        known.add(name)
    label_names, features = choose(names)
    for name in [*label_names, *features]:
        if name not in known:
            raise UsageError(f"{path} has no column {name!r}. It has {listed(names)}.")
        if not name.strip():
            raise UsageError(f"{path}: column {names.index(name)} has no name.")
    for name in label_names:
        if label_names.count(name) > 1:
            raise UsageError(f"--label-column {name} is given twice; each column counts once.")
    return label_names, features


def listed(names: Iterable[Any]) -> str:
    """List the first names, and how many more there are, for an error."""
    names = list(map(str, names))
    return ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")


def _short(text: str) -> str:
    return repr(text) if len(text) <= 40 else f"{text[:40]!r}..."
