"""Pairs of items that belong together, from tables or TREC files, as relevance of rows."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..affinity._precomputed import PrecomputedAffinity
from ..metrics._trec_files import read_qrels
from ._csv_table import is_number
from ._errors import UsageError
from ._messages import note
from ._parquet_files import find_parquet
from ._rows import TABLE_FILES, open_table

_QUERIES_ELSEWHERE = (
    " Items are ids of rows, queries are not: to learn, pass a folder with the rows of both as "
    "--data; to evaluate, pass codes of the queries as --queries."
)
PAIRS_HELP = "relevant pairs: a table of query, item and perhaps grade, or TREC judgments"


class Pair(NamedTuple):
    """A query and an item, under the names that rows of judgments have."""

    query_id: str
    doc_id: str
    relevance: float


def affinity_of_pairs(
    path: str, ids: Any, n_rows: int, item_ids: Any = None, n_items: int = 0
) -> PrecomputedAffinity:
    """Relevance of rows by the pairs of a file, of which those of unknown ids are left out.

    `n_items` = 0: queries and items are the same rows. Else the numbers of items go on where those
    of queries end. Without ids, rows are known by their numbers.
    """
    queries = _texts(ids, n_rows)
    items = _texts(item_ids, n_items) if n_items else None
    known, known_items = set(queries), set(queries if items is None else items)
    pairs = _pairs_of_table(path)
    if pairs is None:
        qrels = read_qrels(path)
        pairs = [
            Pair(query, item, grade) for query in qrels for item, grade in qrels[query].items()
        ]
    kept = [pair for pair in pairs if pair.query_id in known and pair.doc_id in known_items]
    if not kept:
        raise UsageError(
            f"{path}: none of its {len(pairs):,} pairs is of two ids of the rows. The first pair "
            f"is {tuple(pairs[0][:2])}, the first row {queries[0]!r}."
            + (_QUERIES_ELSEWHERE if any(pair.doc_id in known_items for pair in pairs) else "")
        )
    if len(kept) < len(pairs):
        note(f"{path}: {len(pairs) - len(kept):,} of {len(pairs):,} pairs name no row: left out")
    return PrecomputedAffinity.from_pairs(kept, queries, items)


def judgments(path: str) -> str | list[Pair]:
    """What a run is judged by: the pairs of a table, or the name of a TREC file."""
    return path if (pairs := _pairs_of_table(path)) is None else pairs


def _pairs_of_table(path: str) -> list[Pair] | None:
    """Pairs of one or more tables; None where a path is of none."""
    is_table = Path(path).suffix.lower() in TABLE_FILES or find_parquet(path) is not None
    table = open_table(path) if is_table else None
    if table is None:
        return None
    has_grades = "grade" in table.names
    if not has_grades and len(table.names) > 2:
        others = ", ".join(name for name in table.names if name not in ("query", "item"))
        note(f"{path}: there is no column 'grade', so all pairs are relevant; not used: {others}")
    queries, items = table.texts("query"), table.texts("item")
    grades = table.texts("grade") if has_grades else ["1"] * len(queries)
    if not queries:
        raise UsageError(f"{path}: there are no pairs.")
    for row, fields in enumerate(zip(queries, items, grades)):
        if not all(fields) or not is_number(fields[2]) or not np.isfinite(float(fields[2])):
            raise UsageError(
                f"{path}: row {row} must have a query, an item and a number as grade. Got {fields}."
            )
    return [Pair(query, item, float(grade)) for query, item, grade in zip(queries, items, grades)]


def _texts(ids: Any, n_rows: int) -> list[str]:
    return [*map(str, range(n_rows) if ids is None else np.asarray(ids[:]).tolist())]
