"""Tables in CSV files: features as numbers, labels exactly as they are written."""

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any

import numpy as np

from .._files.reading import reading
from ._errors import UsageError
from ._table import Table

_ROWS_AT_A_TIME = 256  # measured: 4096 rows of 64 columns leave the cache, and take a third longer
_INTEGER = re.compile(r"0|-?[1-9][0-9]*")  # as written, so that two that differ are not equal
_INT64 = np.iinfo(np.int64)
_MISSING = {"na", "n/a", "#na", "#n/a", "<na>", "nan", "null", "none"}  # in any case, with a sign


class CsvTable(Table):
    """A CSV file with a header, in UTF-8."""

    def __init__(self, path: str):
        self.source = path
        with self._lines() as lines:
            self.names = next(lines, [])
        if not self.names:
            raise UsageError(f"{path}: there is no header: the first line must name the columns.")
        for mark in ";\t":
            if len(self.names) == 1 and mark in self.names[0]:
                raise UsageError(f"{path}: fields are separated by {mark!r}. Use commas.")
        for name, count in Counter(self.names).items():
            if count > 1:
                raise UsageError(f"{path}: two columns are named {name!r}.")

    def read(
        self, features: Any, labels: Sequence[str] = (), ids: str | None = None
    ) -> tuple[Any, list[np.ndarray], Any]:
        """See :meth:`Table.read`.

        Labels and ids are integers where the whole column is written in the canonical form of
        integers of 64 bits (0, 12, -7), and text exactly as it is written where one row is not.
        """
        self.check(features)
        for name in features:
            if not name.strip():
                raise UsageError(
                    f"{self.source}: column {self.names.index(name)} has no name. Name it, or "
                    "leave it out: pandas writes row numbers there unless it is told index=False."
                )
        texts: dict[str, list[str]] = {name: [] for name in (*labels, *([ids] if ids else []))}
        n_rows, blocks = 0, []
        with self._rows() as rows:
            while block := list(islice(rows, _ROWS_AT_A_TIME)):
                columns = dict(zip(self.names, zip(*block)))
                for name, values in texts.items():
                    values.extend(columns[name])
                blocks.append(np.empty((len(block), len(features))))
                for place, name in enumerate(features):
                    blocks[-1][:, place] = self._numbers(columns[name], name, n_rows)
                n_rows += len(block)
        if not blocks:
            raise UsageError(f"{self.source}: there are no rows.")
        names = self._typed(ids, texts[ids], "id") if ids else None
        if names is not None and names.dtype.kind == "U":
            names = names.astype(object)
        return np.concatenate(blocks), [self._typed(name, texts[name]) for name in labels], names

    def texts(self, name: str) -> list[str]:
        """See :meth:`Table.texts`."""
        self.check([name])
        place = self.names.index(name)
        with self._rows() as rows:
            return [fields[place] for fields in rows]

    @contextmanager
    def _lines(self) -> Iterator[Any]:
        with (
            reading(self.source, ": cannot be read as csv: {}.", passing=UsageError),
            open(self.source, encoding="utf-8-sig", newline="") as file,
        ):
            yield csv.reader(file, strict=True)

    @contextmanager
    def _rows(self) -> Iterator[Iterator[list[str]]]:
        with self._lines() as lines:
            next(lines)
            yield self._whole_rows(lines)

    def _whole_rows(self, lines: Any) -> Iterator[list[str]]:
        """Check that rows have as many fields as the header, and only trailing lines are blank."""
        blank = None
        for row, fields in enumerate(lines):
            if fields and blank is not None:
                raise UsageError(f"{self.source}: row {blank} is empty.")
            if len(fields) == len(self.names):
                yield fields
            elif fields:
                raise UsageError(
                    f"{self.source}: row {row} (line {lines.line_num}) has {len(fields)} fields. "
                    f"The header has {len(self.names)}."
                )
            elif blank is None:
                blank = row

    def _numbers(self, texts: Sequence[str], name: str, first: int) -> list[float]:
        try:
            return list(map(float, texts))
        except ValueError as error:
            place = next(place for place, text in enumerate(texts) if not is_number(text))
            text = texts[place]
            what = f"{text!r}, which is not a number" if text.strip() else "empty"
            raise UsageError(
                f"{self.source}: row {first + place} of column {name!r} is {what}. If the column "
                "is not a feature, name it with --label-column or --exclude-column."
            ) from error

    def _typed(self, name: str, values: list[str], what: str = "label") -> np.ndarray:
        """Values as integers if all are written as integers, else as text, unchanged."""
        distinct = set(values)
        marks = {text for text in distinct if text.strip().lstrip("+-").lower() in _MISSING}
        missing = {text for text in distinct if not text.strip()}
        if all(map(is_number, distinct - marks - missing)):
            missing |= marks  # among numbers they stand for none; among words they are words
        if missing:
            row = next(row for row, text in enumerate(values) if text in missing)
            raise UsageError(
                f"{self.source}: the {what} of row {row} is missing (column {name!r})."
            )
        if all(_INTEGER.fullmatch(text) and len(text) <= 20 for text in distinct):
            integers = {text: int(text) for text in distinct}
            if all(_INT64.min <= number <= _INT64.max for number in integers.values()):
                return np.fromiter(map(integers.__getitem__, values), np.int64, len(values))
        check_text(distinct, name, self.source, what)
        return np.array(values)


def is_number(text: str) -> bool:
    """Whether a text is a number, also one that is not finite."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def check_text(texts: Iterable[str], name: str, source: str, what: str = "label") -> None:
    """Refuse a character with which arrays of numpy end text."""
    if any("\0" in text for text in texts):
        raise UsageError(f"{source}: column {name!r} holds a NUL character, which no {what} may.")
