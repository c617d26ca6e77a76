"""Hamming distances of all pairs of codes."""

from typing import Any

import numpy as np

from ._formats import CodeReader


def hamming_distances(
    query_codes: Any, database_codes: Any, n_bits: int | None = None
) -> np.ndarray:
    """Number of differing bits of every query-database pair.

    Parameters
    ----------
    query_codes, database_codes : array-like
        Codes in any format; the two may differ in format when `n_bits` is given.
    n_bits : int, default=None
        Length of a code, see :func:`pack_codes`.

    Returns
    -------
    distances : ndarray of shape (n_queries, n_database), int64

    Examples
    --------
    >>> from sklearn_hashrank.codes import hamming_distances
    >>> hamming_distances([[0, 0, 1]], [[0, 0, 1], [1, 1, 0]])
    array([[0, 3]])
    """
    reader = CodeReader(n_bits)
    queries = reader.words(query_codes, "query codes")
    database = reader.words(database_codes, "database codes")
    distances = np.empty((len(queries), len(database)), dtype=np.int64)
    for row, query in zip(distances, queries):
        np.bitwise_count(query ^ database).sum(axis=1, out=row)
    return distances
