"""Distances of all pairs of codes."""

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_array

from .._features.tensors import as_numpy
from ._formats import CodeReader, bytes_to_words, write_codes


def hamming_distances(
    query_codes: ArrayLike, database_codes: ArrayLike, n_bits: int | None = None
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
    queries, database, _ = _read_both(query_codes, database_codes, n_bits)
    queries, database = bytes_to_words(queries), bytes_to_words(database)
    distances = np.empty((len(queries), len(database)), dtype=np.int64)
    for row, query in zip(distances, queries):
        np.bitwise_count(query ^ database).sum(axis=1, out=row)
    return distances


def spherical_distances(
    query_codes: ArrayLike, database_codes: ArrayLike, n_bits: int | None = None
) -> np.ndarray:
    """Spherical Hamming distance of every query-database pair.

    It is the number of differing bits, divided by that of the bits that are 1 in both codes and
    0.1, which the paper adds to divide by no zero. Equal quotients of whole numbers are equal
    numbers here, so that ties are told exactly.

    Parameters
    ----------
    query_codes, database_codes : array-like
        Codes in any format; the two may differ in format when `n_bits` is given.
    n_bits : int, default=None
        Length of a code, see :func:`pack_codes`.

    Returns
    -------
    distances : ndarray of shape (n_queries, n_database), float64

    See Also
    --------
    hamming_distances : The number of differing bits alone.

    References
    ----------
    J.-P. Heo, Y. Lee, J. He, S.-F. Chang, S.-E. Yoon, "Spherical hashing", CVPR 2012.

    Examples
    --------
    >>> from sklearn_hashrank.codes import spherical_distances
    >>> spherical_distances([[0, 1, 1]], [[0, 1, 1], [1, 1, 1], [0, 0, 1]]).round(2)
    array([[0.  , 0.48, 0.91]])
    """
    queries, database, _ = _read_both(query_codes, database_codes, n_bits)
    queries, database = bytes_to_words(queries), bytes_to_words(database)
    distances = np.empty((len(queries), len(database)))
    for row, query in zip(distances, queries):
        n_different = np.bitwise_count(query ^ database).sum(axis=1, dtype=np.int64)
        n_common = np.bitwise_count(query & database).sum(axis=1, dtype=np.int64)
        np.divide(10 * n_different, 10 * n_common + 1, out=row)
    return distances


def weighted_distances(
    query_codes: ArrayLike, database_codes: ArrayLike, weights: ArrayLike, n_bits: int | None = None
) -> np.ndarray:
    """Sum of the weights of the differing bits of every query-database pair.

    Parameters
    ----------
    query_codes, database_codes : array-like
        Codes in any format; the two may differ in format when `n_bits` is given.
    weights : array-like of shape (n_bits,)
        Weight of each bit, for instance `weights_` of
        :class:`~sklearn_hashrank.StructHasher`.
    n_bits : int, default=None
        Length of a code, see :func:`pack_codes`.

    Returns
    -------
    distances : ndarray of shape (n_queries, n_database), float64
        Pairs that differ in the same bits have equal distances, to the last digit.

    See Also
    --------
    hamming_distances : With all weights 1.

    Examples
    --------
    >>> from sklearn_hashrank.codes import weighted_distances
    >>> weighted_distances([[0, 1, 1]], [[0, 1, 1], [1, 1, 1], [0, 0, 0]], [2.0, 1.0, 0.5])
    array([[0. , 2. , 1.5]])
    """
    of_bits = as_numpy(weights, "weights")
    of_bits = check_array(of_bits, ensure_2d=False, dtype=np.float64, input_name="weights")
    if of_bits.ndim != 1:
        raise ValueError(f"weights must be of shape (n_bits,). Got shape {of_bits.shape}.")
    *packed, length = _read_both(query_codes, database_codes, n_bits)
    if len(of_bits) != length:
        raise ValueError(f"weights must have one number per bit, {length}. Got {len(of_bits)}.")
    queries, database = (write_codes(codes, length, "bits") for codes in packed)
    distances = np.zeros((len(queries), len(database)))
    for bit, weight in enumerate(of_bits):
        distances += weight * (queries[:, bit, None] != database[:, bit])
    return distances


def _read_both(
    query_codes: ArrayLike, database_codes: ArrayLike, n_bits: int | None
) -> tuple[np.ndarray, np.ndarray, int]:
    """Return both as packed bytes, and the length of a code.

    Without `n_bits` the values tell the format, and are judged together.
    """
    reader = CodeReader(n_bits)
    queries = reader.packed(query_codes, "query codes")
    if n_bits is not None:
        reader = CodeReader(n_bits)
    database = reader.packed(database_codes, "database codes")
    assert reader.n_bits is not None  # the first array sets it
    return queries, database, reader.n_bits
