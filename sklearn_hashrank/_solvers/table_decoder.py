"""Codes and a decoder that looks groups of their bits up in tables, found in turn."""

from typing import Any

import numpy as np
from scipy import sparse

from .. import _kernels

_MOST_SWEEPS = 100  # a few are needed; rounding might go on for ever
_BLOCK_NUMBERS = 1 << 22  # products of rows and entries in memory at once


def values_of_codes(packed: np.ndarray, n_values: int) -> np.ndarray:
    """Numbers of the nibbles or bytes of packed codes, int64; the high nibble comes first."""
    if n_values == 16:
        packed = np.stack([packed >> 4, packed & 15], axis=2).reshape(len(packed), -1)
    return packed.astype(np.int64)


def decode(tables: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Sum the entries that codes (n, n_groups) name in tables (n_groups, size, n_features)."""
    rows = tables[0][codes[:, 0]]
    for table, values in zip(tables[1:], codes.T[1:]):
        rows += table[values]
    return rows


def fit_tables(
    rows: np.ndarray, codes: np.ndarray, tables: np.ndarray, base: np.ndarray, ridge: float
) -> np.ndarray:
    """Set each table in turn to what reconstructs rows best, when the others stay.

    `tables` are changed. They stay near `base` where few rows have a value: an entry of `base`
    counts as `ridge` rows. Returns what is not reconstructed, (n_samples, n_features).
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

    `fields` (n_samples, n_groups * size) are products of rows and entries, less half of the squared
    length of the entry, and are changed to what is left of them for each group when the others are
    reconstructed; `coupling` is that of :func:`coupling_of`; `codes` are changed.
    """
    _kernels.table_descent.descend(fields, coupling, codes, _MOST_SWEEPS)


def coupling_of(tables: np.ndarray) -> np.ndarray:
    """Products of all entries with each other, zero within each table."""
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

    Neither raises the penalized error, see :func:`fit_tables`. The tables start from `base`, and
    `codes` are changed. At most `max_iter` alternations end when the error falls by no more than
    the share `tol`. Entries in `beyond`, numbered over all tables, are named by no code. Returns
    the tables, and the mean squared errors with the penalty: of the first tables, and after each
    alternation.
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
