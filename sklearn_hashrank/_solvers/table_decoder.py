"""Codes and a decoder that looks groups of their bits up in tables, found in turn."""

from typing import Any

import numpy as np
from scipy import sparse

from .. import _kernels

__all__ = [
    "coupling_of",
    "decode",
    "fit_tables",
    "reconstruct_by_tables",
    "values_of_codes",
    "values_of_least_error",
]

_MOST_SWEEPS = 100  # a few are needed; rounding might go on for ever
_BLOCK_NUMBERS = 1 << 22  # products of rows and entries in memory at once


def values_of_codes(packed: np.ndarray, n_values: int) -> np.ndarray:
    """Numbers that the parts of packed codes are.

    Parameters
    ----------
    packed : ndarray of shape (n_samples, n_bytes), uint8
        Codes.
    n_values : {16, 256}
        Values of a part: of a nibble or of a byte.

    Returns
    -------
    values : ndarray of shape (n_samples, n_parts), int64
        The high nibble of a byte comes first.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_hashrank._solvers.table_decoder import values_of_codes
    >>> values_of_codes(np.array([[0x2F]], dtype=np.uint8), 16)
    array([[ 2, 15]])
    """
    if n_values == 16:
        packed = np.stack([packed >> 4, packed & 15], axis=2).reshape(len(packed), -1)
    return packed.astype(np.int64)


def decode(tables: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Sum the entries that codes name.

    Parameters
    ----------
    tables : ndarray of shape (n_groups, size, n_features)
        Vectors that the values of the groups add.
    codes : ndarray of shape (n_samples, n_groups), int
        Values of the groups, from 0 to size - 1.

    Returns
    -------
    rows : ndarray of shape (n_samples, n_features)
        Sums of the entries.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_hashrank._solvers.table_decoder import decode
    >>> tables = np.array([[[0.0], [1.0]], [[10.0], [20.0]]])
    >>> decode(tables, np.array([[0, 1], [1, 0]]))
    array([[20.],
           [11.]])
    """
    rows = tables[0][codes[:, 0]]
    for table, values in zip(tables[1:], codes.T[1:]):
        rows += table[values]
    return rows


def fit_tables(
    rows: np.ndarray, codes: np.ndarray, tables: np.ndarray, base: np.ndarray, ridge: float
) -> np.ndarray:
    """Set each table in turn to what reconstructs rows best, when the others stay.

    Parameters
    ----------
    rows : ndarray of shape (n_samples, n_features)
        Rows to reconstruct.
    codes : ndarray of shape (n_samples, n_groups), int
        Values of the groups of their codes.
    tables : ndarray of shape (n_groups, size, n_features)
        The tables to start from, changed.
    base : ndarray of the same shape
        What tables stay near, where few rows have a value.
    ridge : float
        Penalty of the squared difference of an entry and that of `base`: the entry of `base` counts
        as so many rows.

    Returns
    -------
    residual : ndarray of shape (n_samples, n_features)
        What is not reconstructed.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_hashrank._solvers.table_decoder import fit_tables
    >>> rows, codes = np.array([[1.0], [3.0], [8.0]]), np.array([[0], [0], [1]])
    >>> tables = np.zeros((1, 2, 1))
    >>> fit_tables(rows, codes, tables, tables.copy(), 0.0)
    array([[-1.],
           [ 1.],
           [ 0.]])
    """
    n, size = len(rows), tables.shape[1]
    residual = rows - decode(tables, codes)
    for table, of_base, values in zip(tables, base, codes.T):
        residual += table[values]
        picked = sparse.csr_matrix((np.ones(n), values, np.arange(n + 1)), shape=(n, size))
        counts = np.bincount(values, minlength=size)[:, None] + ridge
        sums = picked.T @ residual + ridge * of_base
        np.divide(sums, counts, out=table, where=counts > 0)
        residual -= table[values]
    return residual


def values_of_least_error(fields: np.ndarray, coupling: np.ndarray, codes: np.ndarray) -> None:
    """Change groups one after the other while that lowers the squared error.

    Parameters
    ----------
    fields : ndarray of shape (n_samples, n_groups * size), float64
        Products of rows and entries, less half of the squared length of the entry. Changed to what
        is left of them for each group when the others are reconstructed.
    coupling : ndarray of shape (n_groups * size, n_groups * size), float64
        See :func:`coupling_of`.
    codes : ndarray of shape (n_samples, n_groups), int64
        The values to start from, changed.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_hashrank._solvers.table_decoder import coupling_of, values_of_least_error
    >>> tables = np.array([[[0.0], [1.0]], [[0.0], [2.0]]])
    >>> fields = np.array([[3.2]]) @ tables.reshape(4, 1).T - tables.ravel() ** 2 / 2
    >>> codes = np.zeros((1, 2), dtype=np.int64)
    >>> values_of_least_error(fields, coupling_of(tables), codes)
    >>> codes
    array([[1, 1]])
    """
    _kernels.table_descent.descend(fields, coupling, codes, _MOST_SWEEPS)


def coupling_of(tables: np.ndarray) -> np.ndarray:
    """Multiply all entries with each other, but those of one table.

    Parameters
    ----------
    tables : ndarray of shape (n_groups, size, n_features)
        Vectors that the values of the groups add.

    Returns
    -------
    coupling : ndarray of shape (n_groups * size, n_groups * size)
        Products of the entries, zero within each table.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_hashrank._solvers.table_decoder import coupling_of
    >>> coupling_of(np.array([[[1.0]], [[2.0]]]))
    array([[0., 2.],
           [2., 0.]])
    """
    entries = tables.reshape(-1, tables.shape[2])
    coupling: np.ndarray = entries @ entries.T
    size = tables.shape[1]
    for start in range(0, len(entries), size):
        coupling[start : start + size, start : start + size] = 0
    return coupling


def reconstruct_by_tables(
    rows: np.ndarray,
    codes: np.ndarray,
    base: np.ndarray,
    max_iter: int,
    ridge: float,
    tol: float,
    beyond: Any = (),
) -> tuple[np.ndarray, list[float]]:
    """Alternate between the tables of given codes and the codes of given tables.

    Neither raises the penalised error, see :func:`fit_tables`.

    Parameters
    ----------
    rows : ndarray of shape (n_samples, n_features)
        Rows to reconstruct.
    codes : ndarray of shape (n_samples, n_groups), int64
        The codes to start from, changed.
    base : ndarray of shape (n_groups, size, n_features)
        The tables to start from, and to stay near.
    max_iter : int
        Most alternations; 0 finds the tables of the codes as they are.
    ridge : float
        See :func:`fit_tables`.
    tol : float
        It ends when the error falls by no more than this share of it.
    beyond : array-like of int, default=()
        Entries of the tables, as one list, that no code may name.

    Returns
    -------
    tables : ndarray of shape (n_groups, size, n_features)
        The tables of the last codes.
    errors : list of float
        Mean squared error with the penalty, of the first tables, and after each alternation.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_hashrank._solvers.table_decoder import reconstruct_by_tables
    >>> rows = np.array([[1.0], [1.2], [9.0], [9.2]])
    >>> codes = np.array([[0], [1], [1], [1]])
    >>> base = np.array([[[0.0], [8.0]]])
    >>> tables, errors = reconstruct_by_tables(rows, codes, base, 5, 0.01, 0.0)
    >>> codes.ravel()
    array([0, 0, 1, 1])
    >>> bool(np.all(np.diff(errors) <= 0))
    True
    """
    tables = base.copy()
    errors = []
    for iteration in range(max_iter + 1):
        if iteration:
            _encode_again(rows, tables, codes, beyond)
        residual = fit_tables(rows, codes, tables, base, ridge)
        penalty = ridge * np.sum((tables - base) ** 2)
        errors.append(float((np.vdot(residual, residual) + penalty) / len(rows)))
        if iteration and errors[-2] - errors[-1] <= tol * errors[-2]:
            break
    return tables, errors


def _encode_again(rows, tables, codes, beyond):
    """Codes of least error of all rows, from those they have, block by block."""
    coupling = coupling_of(tables)
    entries = tables.reshape(-1, tables.shape[2])
    halves = np.einsum("ij,ij->i", entries, entries) / 2
    halves[list(beyond)] = np.inf
    size = max(1, _BLOCK_NUMBERS // len(entries))
    for start in range(0, len(rows), size):
        block = slice(start, start + size)
        values_of_least_error(rows[block] @ entries.T - halves, coupling, codes[block])
