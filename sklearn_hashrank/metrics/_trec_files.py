"""Runs and qrels as dictionaries: from TREC files, tables and named tuples."""

import gzip
import io
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from operator import attrgetter
from typing import IO, Any, Literal

from .._files.reading import MalformedFileError, open_regular, reading
from .._utils.parameters import is_finite

Duplicates = Literal["error", "best"]

_ENCODING = "utf-8-sig"  # a mark at the beginning, as some editors leave, is no part of a query


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
    form = "query, Q0, item, rank, score and tag"
    return _read(path, "run", form, 4, float, takes_best=duplicates == "best")


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
    return _read(path, "qrels", "query, iteration, item and level", 3, int, takes_best=False)


def _read(
    path: Any, what: str, form: str, place: int, parse: Callable[[str], float], *, takes_best: bool
) -> dict[str, dict[str, float]]:
    """Read lines of a form: a query, an item in the third place, and a number in a given place."""
    names = re.split(", | and ", form)

    def malformed(number: int, text: str) -> MalformedFileError:
        return MalformedFileError(f"{os.fspath(path)}: line {number} {text}")

    found: dict[str, dict[str, float]] = {}
    last, docs = None, {}
    with reading(path, f" is not a TREC file of {what}: {{}}."), _open(path) as file:
        for number, line in enumerate(file, 1):
            fields = line.split()
            if len(fields) != len(names):
                if not fields:
                    continue
                raise malformed(number, f"must hold {form}. Got {len(fields)} fields.")
            query, doc, text = fields[0], fields[2], fields[place]
            if query != last:
                last, docs = query, found.setdefault(query, {})
            try:
                value = parse(text)
            except ValueError:
                value = None
            if value is None or "_" in text:  # which Python takes in numbers
                raise malformed(
                    number, f"must hold a number as its {names[place]}. Got {text[:40]!r}."
                )
            if doc in docs:
                if not takes_best:
                    raise malformed(number, f"has item {doc[:40]!r} of query {query[:40]!r} again.")
                value = _better(value, docs[doc])
            docs[doc] = value
    if not found:
        raise MalformedFileError(f"{os.fspath(path)}: there are no lines of {what}.")
    return found


@contextmanager
def _open(path: Any) -> Iterator[IO[str]]:
    with open_regular(path) as file:
        if os.fspath(path).endswith(".gz"):
            with gzip.open(file, "rt", encoding=_ENCODING) as text:
                yield text
        else:
            yield io.TextIOWrapper(file, encoding=_ENCODING)
