"""Recognise codes that were passed in the place of `y`, and the reverse."""

from typing import Any

import numpy as np
from scipy import sparse

from .._features.tensors import as_numpy, is_tensor
from ..codes._formats import CodeReader

ORDER = (
    "Are codes and y swapped? The order is (query_codes, database_codes, query_y, database_y), "
    "(codes, y) in blocks, (y_true, codes) and database=(y_database, database_codes) in metrics."
)
_ROWS_TO_LOOK_AT = 64


def refuse_swapped(
    query_codes: np.ndarray, database_codes: Any, query_y: Any, database_y: Any, n_bits: int | None
) -> None:
    """Raise an error that says so where a `y` can be read as codes, and the codes cannot.

    Parameters
    ----------
    query_codes : ndarray of shape (n_queries, n_columns)
        Codes of the queries.
    database_codes : array-like or None
        Codes of the database, where they are in one array.
    query_y, database_y : array-like
        What belongs to them. A few of the first rows of each are looked at.
    n_bits : int or None
        Length of a code.
    """
    candidates = [query_y] if database_codes is None else [query_y, database_y]
    given = [("query codes", query_codes)]
    if database_codes is not None:
        given.append(("database codes", database_codes))
    for name, codes in given:
        problem = _problem(codes, n_bits, name)
        if problem is not None and any(_problem(y, n_bits, name) is None for y in candidates):
            raise ValueError(f"{problem} {ORDER}")
        n_bits = query_codes.shape[1] if n_bits is None else n_bits


def _problem(codes: Any, n_bits: int | None, name: str) -> str | None:
    """Say why an array of two dimensions cannot be codes; None where it can."""
    if is_tensor(codes):
        codes = as_numpy(codes, name)
    if sparse.issparse(codes):
        return f"{name} must be a dense array. Got a sparse matrix."
    if np.ndim(codes) != 2:
        return f"{name} must be a 2-d array, one code per row. Got shape {np.shape(codes)}."
    try:
        CodeReader(n_bits).packed(np.asarray(codes[:_ROWS_TO_LOOK_AT]), name)
    except (ValueError, TypeError) as error:
        return str(error)
    return None
