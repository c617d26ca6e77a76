"""Runs and qrels as dictionaries: from TREC files, tables and named tuples."""

import gzip
import io
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from operator import attrgetter
from typing import IO, Any, Literal

from .._files.reading import MalformedFileError, open_regular, reading
from .._utils.parameters import is_finite

Duplicates = Literal["error", "best"]

_ENCODING = "utf-8-sig"  # a mark at the beginning, as some editors leave, is no part of a query
_QREL = "query, iteration, item and level"
_SCORED = "query, Q0, item, rank, score and tag"


def as_run(run: Any, duplicates: Duplicates) -> Mapping[str, Mapping[str, float]]:
    """Return ``{query: {item: score}}`` of what :meth:`RetrievalHistogram.from_run` takes."""
    if isinstance(run, Mapping):
        return _checked(run, "run", "score")
    if isinstance(run, (str, os.PathLike)):
        return read_run(run, duplicates)
    return _gathered(run, "run", "score", duplicates == "best")


def as_qrels(qrels: Any) -> Mapping[str, Mapping[str, float]]:
    """Return ``{query: {item: level}}`` of what :meth:`RetrievalHistogram.from_run` takes."""
    if isinstance(qrels, Mapping):
        found = _checked(qrels, "qrels", "level")
    elif isinstance(qrels, (str, os.PathLike)):
        return read_qrels(qrels)
    else:
        found = _gathered(qrels, "qrels", "relevance", False)
    kinds: set[type] = set()
    for judged in found.values():
        kinds.update(map(type, judged.values()))
    if not kinds <= {int}:
        for query, judged in found.items():
            if not all(map(is_finite, judged.values())):
                raise ValueError(
                    "qrels must hold finite numbers as relevance levels. Those of query "
                    f"{query!r} are not."
                )
    return found


def _checked(given: Mapping[Any, Any], name: str, what: str) -> Mapping[Any, Any]:
    for query, docs in given.items():
        if type(docs) is not dict and not isinstance(docs, Mapping):
            raise ValueError(
                f"{name} must be a dict of dicts, {{query: {{item: {what}}}}}. Got "
                f"{type(docs).__name__} for query {query!r}."
            )
    return given


def _gathered(rows: Any, name: str, value: str, takes_best: bool) -> dict[str, dict[str, float]]:
    """Gather the rows of a table with columns, or named tuples."""
    fields = ("query_id", "doc_id", value)
    if hasattr(rows, "columns"):
        triples: Iterable[Any] = zip(*(list(rows[field]) for field in fields))
    elif isinstance(rows, Iterable):
        triples = map(attrgetter(*fields), rows)
    else:
        raise ValueError(
            f"{name} must be a dict of dicts, the name of a TREC file, a DataFrame or an iterable "
            f"of named tuples with the fields {', '.join(fields)}. Got {type(rows).__name__}."
        )
    found: dict[str, dict[str, float]] = {}
    for query, doc, number in triples:
        docs = found.setdefault(query, {})
        if doc in docs:
            if not takes_best:
                raise ValueError(f"{name} must hold item {doc!r} of query {query!r} once.")
            number = _better(number, docs[doc])
        docs[doc] = number
    return found


def _better(score: float, other: float) -> float:
    """Return the higher score, in whatever order they come: NaN is the lowest."""
    return score if score > other or other != other else other


def read_run(path: Any, duplicates: Duplicates = "error") -> dict[str, dict[str, float]]:
    """Read a TREC run: lines of query, Q0, item, rank, score and tag.

    Parameters
    ----------
    path : str or path-like
        ``.gz`` is decompressed.
    duplicates : {"error", "best"}, default="error"
        What an item is that a query has twice: an error, or its better score counts.

    Returns
    -------
    run : dict
        ``{query: {item: score}}``.

    Raises
    ------
    MalformedFileError
        Where a line is not of this form; the message names it.

    Examples
    --------
    >>> import tempfile
    >>> from sklearn_hashrank.metrics import read_run
    >>> with tempfile.NamedTemporaryFile("w") as file:
    ...     _ = file.write("q1 Q0 doc7 1 0.5 system")
    ...     file.flush()
    ...     read_run(file.name)
    {'q1': {'doc7': 0.5}}
    """
    run: dict[str, dict[str, float]] = {}
    last, docs = None, {}
    with reading(path, " is not a TREC run: {}."), _open(path) as file:
        for number, line in enumerate(file, 1):
            fields = line.split()
            if len(fields) != 6:
                if not fields:
                    continue
                raise _malformed(path, number, _SCORED, len(fields))
            query, _, doc, _, score, _ = fields
            if query != last:
                last, docs = query, run.setdefault(query, {})
            try:
                value = float(score)
            except ValueError:
                raise _no_number(path, number, "score", score) from None
            if "_" in score:  # which Python takes in numbers
                raise _no_number(path, number, "score", score)
            if doc in docs:
                if duplicates == "error":
                    raise _duplicate(path, number, query, doc)
                value = _better(value, docs[doc])
            docs[doc] = value
    return _with_lines(run, path, "run")


def read_qrels(path: Any) -> dict[str, dict[str, float]]:
    """Read TREC qrels: lines of query, iteration, item and level.

    Parameters
    ----------
    path : str or path-like
        ``.gz`` is decompressed.

    Returns
    -------
    qrels : dict
        ``{query: {item: level}}``.

    Raises
    ------
    MalformedFileError
        Where a line is not of this form, or judges an item again; the message names it.

    Examples
    --------
    >>> import tempfile
    >>> from sklearn_hashrank.metrics import read_qrels
    >>> with tempfile.NamedTemporaryFile("w") as file:
    ...     _ = file.write("q1 0 doc7 2")
    ...     file.flush()
    ...     read_qrels(file.name)
    {'q1': {'doc7': 2}}
    """
    qrels: dict[str, dict[str, float]] = {}
    with reading(path, " is not a TREC file of qrels: {}."), _open(path) as file:
        for number, line in enumerate(file, 1):
            fields = line.split()
            if not fields:
                continue
            if len(fields) != 4:
                raise _malformed(path, number, _QREL, len(fields))
            query, _, doc, level = fields
            judged = qrels.setdefault(query, {})
            if doc in judged:
                raise _duplicate(path, number, query, doc)
            try:
                judged[doc] = int(level)
            except ValueError:
                raise _no_number(path, number, "level", level) from None
            if "_" in level:
                raise _no_number(path, number, "level", level)
    return _with_lines(qrels, path, "qrels")


@contextmanager
def _open(path: Any) -> Iterator[IO[str]]:
    with open_regular(path) as file:
        if os.fspath(path).endswith(".gz"):
            with gzip.open(file, "rt", encoding=_ENCODING) as text:
                yield text
        else:
            yield io.TextIOWrapper(file, encoding=_ENCODING)


def _with_lines(found: dict[str, Any], path: Any, what: str) -> dict[str, Any]:
    if not found:
        raise MalformedFileError(f"{os.fspath(path)}: there are no lines of {what}.")
    return found


def _malformed(path: Any, number: int, fields: str, n_found: int) -> MalformedFileError:
    return MalformedFileError(
        f"{os.fspath(path)}: line {number} must hold {fields}. Got {n_found} fields."
    )


def _no_number(path: Any, number: int, what: str, text: str) -> MalformedFileError:
    return MalformedFileError(
        f"{os.fspath(path)}: the {what} in line {number} is not a number: {text[:40]!r}."
    )


def _duplicate(path: Any, number: int, query: str, doc: str) -> MalformedFileError:
    return MalformedFileError(
        f"{os.fspath(path)}: line {number} has item {doc[:40]!r} of query {query[:40]!r} again."
    )
