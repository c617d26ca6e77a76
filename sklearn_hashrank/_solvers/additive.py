"""Tables of an additive quantizer, and codes that name one entry of each, found in turn."""

from collections.abc import Callable

import numpy as np
from numpy.random import RandomState
from scipy import linalg, sparse

from .. import _kernels
from .._utils.threads import run_in_threads

N_VALUES = 256  # of a byte

_MOST_SWEEPS = 100  # a few are needed; rounding might go on forever
_ROWS_OF_A_BLOCK = 1024  # whose products with all entries are in memory at once, for each thread
_POWER_OF_COOLING = 0.5  # of LSQ++ (Martinez et al., ECCV 2018)


def decode(tables: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Sum the entries that codes (n, n_tables) name in tables (n_tables, size, n_features)."""
    rows = tables[0][codes[:, 0]]
    for table, values in zip(tables[1:], codes.T[1:]):
        rows += table[values]
    return rows


def coupling_of(tables: np.ndarray) -> np.ndarray:
    """Products of all entries with each other, zero within each table."""
    entries = tables.reshape(-1, tables.shape[2])
    coupling: np.ndarray = entries @ entries.T
    size = tables.shape[1]
    for start in range(0, len(entries), size):
        coupling[start : start + size, start : start + size] = 0
    return coupling


def encode(
    rows: np.ndarray, tables: np.ndarray, coupling: np.ndarray, beam_width: int
) -> np.ndarray:
    """Codes of low error, (n, n_tables) int64: a beam search, then descent table by table.

    `rows`, `tables` and `coupling`, which is that of :func:`coupling_of`, are float32.
    """
    entries = tables.reshape(-1, tables.shape[2])
    fields = rows @ entries.T
    fields -= np.einsum("ij,ij->i", entries, entries) / 2
    codes = np.empty((len(rows), len(tables)), np.int64)
    _kernels.table_beams.search(fields, coupling, beam_width, codes)
    _kernels.table_descent.descend(fields, coupling, codes, _MOST_SWEEPS)
    return codes


def first_tables(
    rows: np.ndarray, n_tables: int, random_state: RandomState, n_jobs: int | None
) -> np.ndarray:
    """Tables of residuals: each has the means of the cells of random rows of what is left.

    One pass of k-means is enough, and better than many: tables that share the variance evenly leave
    the alternation more to choose from than tables of which the first explain most.
    """
    left = rows.copy()
    tables = np.empty((n_tables, N_VALUES, rows.shape[1]), rows.dtype)
    for table in tables:
        few = len(rows) < N_VALUES
        table[:] = left[random_state.choice(len(rows), N_VALUES, replace=few)]
        halves = np.einsum("ij,ij->i", table, table) / 2
        values = _map_blocks(_nearest_entries(left, table, halves), len(rows), n_jobs)
        picked = _one_hot(values[:, None])
        counts = np.bincount(values, minlength=N_VALUES)[:, None]
        np.divide(picked.T @ left, counts, out=table, where=counts > 0)
        left -= table[values]
    return tables


def _nearest_entries(rows, table, halves):
    return lambda block: np.argmax(rows[block] @ table.T - halves, axis=1)


def fit_tables(rows: np.ndarray, codes: np.ndarray, ridge: float) -> np.ndarray:
    """Tables that reconstruct rows of mean zero best, given their codes.

    The squares of the entries are penalized: each counts as `ridge` rows of zeros. So entries that
    few rows name, and directions of little variance, are not learned from noise.
    """
    picked = _one_hot(codes)
    moments = (picked.T @ picked).toarray().astype(np.float64)
    moments[np.diag_indices_from(moments)] += ridge
    products = (picked.T @ rows).astype(np.float64)
    entries = linalg.solve(moments, products, assume_a="pos", overwrite_a=True, overwrite_b=True)
    return entries.astype(rows.dtype).reshape(codes.shape[1], N_VALUES, -1)


def learn_tables(
    rows: np.ndarray,
    n_tables: int,
    *,
    max_iter: int,
    ridge: float,
    beam_width: int,
    random_state: RandomState,
    n_jobs: int | None,
    report: Callable[[int, float], None],
) -> tuple[np.ndarray, list[float]]:
    """Alternate between the codes of given tables and the tables of given codes.

    Before every alternation, the tables are perturbed by noise that fades out, as in LSQ++: without
    it the alternation ends in a worse optimum. `rows` are float32 of mean zero. `report` is called
    with the number of the alternation and the mean squared error. Returns the tables and the errors
    after the start and each alternation.
    """
    tables = first_tables(rows, n_tables, random_state, n_jobs)
    deviations = rows.std(axis=0)
    errors: list[float] = []
    for iteration in range(max_iter + 1):
        if iteration:
            heat = (1 - iteration / max_iter) ** _POWER_OF_COOLING / n_tables
            noise = random_state.standard_normal(tables.shape)
            tables = tables + (heat * noise * deviations).astype(rows.dtype)
        codes = _map_blocks(_encoder(rows, tables, beam_width), len(rows), n_jobs)
        tables = fit_tables(rows, codes, ridge)
        left = rows - decode(tables, codes)
        errors.append(float(np.vdot(left, left)) / len(rows))
        report(iteration, errors[-1])
    return tables, errors


def _encoder(rows, tables, beam_width):
    coupling = coupling_of(tables)
    return lambda block: encode(rows[block], tables, coupling, beam_width)


def _map_blocks(function, n_rows, n_jobs):
    """Results of blocks, whose cuts do not depend on threads, below each other."""
    starts = range(0, n_rows, _ROWS_OF_A_BLOCK)
    blocks = [slice(start, start + _ROWS_OF_A_BLOCK) for start in starts]
    return np.concatenate(run_in_threads(function, blocks, n_jobs))


def _one_hot(codes):
    """Which entries of all tables the codes name, (n, n_tables * size), sparse."""
    n, n_tables = codes.shape
    columns = codes + N_VALUES * np.arange(n_tables)
    shape = n, n_tables * N_VALUES
    ones = np.ones(codes.size, np.float32)
    return sparse.csr_matrix((ones, columns.ravel(), np.arange(0, codes.size + 1, n_tables)), shape)


def deal_directions(variances: np.ndarray, n_parts: int) -> list[np.ndarray]:
    """Deal principal directions to parts, so that products of their variances are alike.

    This is the allocation of OPQ (Ge et al., CVPR 2013): every direction, the one of most variance
    first, goes to the part of least product that has room. Equally many bytes then suit all parts.
    """
    logs = np.log(np.maximum(variances, np.finfo(float).tiny))
    room = -(-len(variances) // n_parts)
    parts: list[list[int]] = [[] for _ in range(n_parts)]
    sums = np.zeros(n_parts)
    for direction in np.argsort(-variances, kind="stable").tolist():
        open_parts = [part for part in range(n_parts) if len(parts[part]) < room]
        part = min(open_parts, key=sums.__getitem__)
        parts[part].append(direction)
        sums[part] += logs[direction] - logs.min()
    return [np.array(sorted(part), np.int64) for part in parts]
