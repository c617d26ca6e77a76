"""Read CSV files: features as numbers, labels exactly as they are written."""

import csv
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from .._files.reading import reading
from ._errors import UsageError

_ROWS_AT_A_TIME = 256  # measured: 4096 rows of 64 columns leave the cache, and take a third longer
_CANNOT_BE_READ = ": cannot be read as csv: {}."
_INTEGER = re.compile(r"0|-?[1-9][0-9]*")  # as written, so that two that differ are not equal
_INT64 = np.iinfo(np.int64)
_MISSING = {"na", "n/a", "#na", "#n/a", "<na>", "nan", "null", "none"}  # in any case, with a sign

# From the names of all columns, those of the labels and those of the features.
Choose = Callable[[list[str]], tuple[list[str], list[str]]]


class Table(NamedTuple):
    """The columns of a table that were asked for."""

    X: Any  # (n, n_features), in memory or in files
    labels: list[np.ndarray]  # one array of integers, floats or text for each column
    names: list[str]  # of the features


def read_table(path: str, choose: Choose) -> Table:
    """Read the columns of a ``.csv`` file whose names `choose` returns: of labels, and of features.

    Labels are integers where the whole column is written in the canonical form of integers of 64
    bits (0, 12, -7), and text exactly as it is written where a single row is not.
    """
    with (
        reading(path, _CANNOT_BE_READ, passing=UsageError),
        open(path, encoding="utf-8-sig", newline="") as file,
    ):
        rows = csv.reader(file, strict=True)
        names = next(rows, None)
        if not names:
            raise UsageError(f"{path}: there is no header: the first line must name the columns.")
        label_names, features = chosen(choose, names, path)
        label_columns: list[list[str]] = [[] for _ in label_names]
        blocks = []
        whole = _whole_rows(rows, len(names), path)
        while block := list(islice(whole, _ROWS_AT_A_TIME)):
            columns = dict(zip(names, zip(*block)))
            for name, values in zip(label_names, label_columns):
                values.extend(columns[name])
            blocks.append(np.empty((len(block), len(features))))
            for place, name in enumerate(features):
                blocks[-1][:, place] = _numbers(columns[name], name, path)
        if not blocks:
            raise UsageError(f"{path}: there are no rows.")
        labels = [typed_column(each, name, path) for name, each in zip(label_names, label_columns)]
        return Table(np.concatenate(blocks), labels, features)


def read_column(path: str, name: str) -> list[str]:
    """Read one column of a ``.csv`` file as text; missing values are empty."""
    with (
        reading(path, _CANNOT_BE_READ, passing=UsageError),
        open(path, encoding="utf-8-sig", newline="") as file,
    ):
        rows = csv.reader(file, strict=True)
        names = next(rows, None) or []
        chosen(lambda all_names: ([name], []), names, path)
        place = names.index(name)
        return [fields[place] for fields in _whole_rows(rows, len(names), path)]


def table_columns(path: str) -> list[str]:
    """Names of the columns of a ``.csv`` file."""
    with (
        reading(path, _CANNOT_BE_READ, passing=UsageError),
        open(path, encoding="utf-8-sig", newline="") as file,
    ):
        return next(csv.reader(file, strict=True), [])


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


def _numbers(texts: Iterable[str], name: str, path: str) -> list[float]:
    try:
        return list(map(float, texts))
    except ValueError as error:
        raise UsageError(
            f"{path}: column {name!r} does not hold numbers: {error}. Name it with --label-column "
            "or --exclude-column."
        ) from error


def is_number(text: str) -> bool:
    """Whether a text is a number, also one that is not finite."""
    try:
        float(text)
    except ValueError:
        return False
    return True


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


def chosen(
    choose: Choose, names: list[str], path: str, beside: Iterable[str] = ()
) -> tuple[list[str], list[str]]:
    """Names of the labels and of the features, each of one column of the table.

    Those of the labels may also be `beside`, which is not asked about.
    """
    known: set[str] = set()
    for name in names:
        if name in known:
            raise UsageError(f"{path}: two columns are named {name!r}.")
        known.add(name)
    label_names, features = choose(names)
    known.update(beside)
    for name in [*label_names, *features]:
        if name not in known:
            raise UsageError(f"{path} has no column {name!r}. It has {listed([*names, *beside])}.")
        if not name.strip():
            raise UsageError(
                f"{path}: column {names.index(name)} has no name. Name it, or leave it out: "
                "pandas writes row numbers there unless it is told index=False."
            )
    for name in label_names:
        if label_names.count(name) > 1:
            raise UsageError(f"--label-column {name} is given twice; each column counts once.")
    return label_names, features


def listed(names: Iterable[Any]) -> str:
    """List the first names, and how many more there are, for an error."""
    names = list(map(str, names))
    return ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
