"""Ids of rows: the column of a table by which rows are known, and which is no feature."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ._errors import UsageError
from ._parquet_files import column_names, parquet_source
from ._parquet_tables import parquet_ids
from ._tables import read_column, table_columns, typed_column

USUAL = "id"
_ROWS_AT_A_TIME = 1 << 16


def id_column_of(
    names: Sequence[str], wanted: str | None, path: str, beside: Iterable[str] = ()
) -> str | None:
    """The column of ids among those of a table; None where there is none.

    What is `beside` them, such as folders that hold many rows, is one only where it is `wanted`.
    """
    if wanted is not None and wanted not in (*names, *beside):
        raise UsageError(f"{path} has no column {wanted!r}, which --id-column names.")
    return USUAL if wanted is None and USUAL in names else wanted


def ids(path: str, id_column: str | None = None) -> Any:
    """Ids of the rows of a table, an array or a column in files; None where there are none."""
    source = parquet_source(path)
    if source is not None:
        name = id_column_of(column_names(source), id_column, path, source.folders)
        return None if name is None else parquet_ids(path, source, name)
    if Path(path).suffix.lower() != ".csv" or not Path(path).is_file():
        return None
    name = id_column_of(table_columns(path), id_column, path)
    if name is None:
        return None
    found = typed_column(read_column(path, name), name, path, "id")
    return found if found.dtype.kind in "iu" else found.astype(object)


def ids_at(names: Any, rows: Any) -> Any:
    """Ids of some rows in any order, of which only these are read."""
    distinct, places = np.unique(rows, return_inverse=True)
    return names[distinct][places].reshape(np.shape(rows))


def check_same_ids(rows: str, codes: str, id_column: str | None = None) -> None:
    """Refuse rows that are in another order than the codes, where the ids of both say so.

    Codes of rows without ids have numbers, which are not compared with ids of another kind.
    """
    of_rows, of_codes = ids(rows, id_column), ids(codes)
    if of_rows is None or of_codes is None or of_rows.dtype.kind != of_codes.dtype.kind:
        return
    row = _first_difference(of_rows, of_codes)
    if row is None:
        return
    numbers = np.arange(len(of_codes))
    has_numbers = of_codes.dtype.kind in "iu" and _first_difference(of_codes, numbers) is None
    if has_numbers and not np.array_equal(np.sort(of_rows[:]), numbers):
        return  # codes of rows without ids have their numbers
    here = slice(row, row + 1)
    raise UsageError(
        f"{rows}: row {row} is {of_rows[here][0]}, and of {codes} it is {of_codes[here][0]}. "
        "Both must have the same rows in the same order."
    )


def _first_difference(names: Any, others: Any) -> int | None:
    """The first row whose ids differ, up to where one of both ends, read in blocks."""
    n_both = min(len(names), len(others))
    for start in range(0, n_both, _ROWS_AT_A_TIME):
        stop = min(start + _ROWS_AT_A_TIME, n_both)
        differing = np.flatnonzero(names[start:stop] != others[start:stop])
        if len(differing):
            return start + int(differing[0])
    return None
