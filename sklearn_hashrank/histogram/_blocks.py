"""Blocks of a database: pairs (codes, y), checked, and put together where they are small."""

from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np
from scipy import sparse

from ..affinity import BaseAffinity, EuclideanAffinity, as_array, auto_affinity, fit_affinity
from ..codes import as_code_matrix

_GATHERED_ROWS, _GATHERED_BYTES = 1 << 20, 1 << 25


def check_block(block: Any) -> tuple[np.ndarray, Any]:
    """Return codes and `y` of a block, as many rows of each."""
    if not isinstance(block, (tuple, list)) or len(block) != 2:
        raise ValueError(f"a block must be a pair (codes, y). Got {type(block).__name__}.")
    codes = as_code_matrix(block[0], "database codes")
    return codes, check_rows(block[1], len(codes), "database")


def gather(blocks: Iterator[tuple[np.ndarray, Any]]) -> Iterator[tuple[np.ndarray, Any]]:
    """Put small blocks together, as starting threads costs more than counting a few rows.

    The first, by which the affinity is chosen, is left alone. Copies are kept, of some megabytes.
    """
    yield from islice(blocks, 1)
    waiting: list[tuple[np.ndarray, Any]] = []
    n_waiting = 0
    for block in blocks:
        n_rows, n_most = len(block[0]), _rows_to_gather(block)
        is_small = 2 * n_rows <= n_most
        fits = is_small and n_waiting + n_rows <= n_most
        if waiting and not (fits and _form(block) == _form(waiting[0])):
            yield _stacked(waiting)
            waiting, n_waiting = [], 0
        if is_small:
            waiting.append((block[0].copy(), block[1].copy()))
            n_waiting += n_rows
        else:
            yield block
        del block  # before the next one is made
    if waiting:
        yield _stacked(waiting)


def _rows_to_gather(block):
    codes, y = block
    if isinstance(y, np.ma.MaskedArray):  # which the affinity looks into
        return 0
    n_bytes = codes.nbytes + (y.data.nbytes if sparse.issparse(y) else y.nbytes)
    return min(_GATHERED_ROWS, _GATHERED_BYTES * len(codes) // max(1, n_bytes))


def _form(block):
    """What blocks that are put together have in common."""
    return [(sparse.issparse(part), part.dtype.kind, part.shape[1:]) for part in block]


def _stacked(blocks):
    codes, y = zip(*blocks)
    stacked = sparse.vstack(y, format="csr") if sparse.issparse(y[0]) else np.concatenate(y)
    return np.concatenate(codes), stacked


def fit_affinity_of_blocks(affinity: Any, y: Any) -> BaseAffinity:
    """Fit an affinity on the rows of the first block."""
    if isinstance(affinity, str) and affinity == "auto":
        affinity = auto_affinity(y)
    if isinstance(affinity, EuclideanAffinity) and not affinity.__sklearn_is_fitted__():
        raise ValueError(
            "the thresholds of EuclideanAffinity cannot be set from the first of many blocks. "
            "Pass one that was fitted on training rows."
        )
    return fit_affinity(affinity, y)


def check_rows(y: Any, n_rows: int, name: str) -> Any:
    """Return `y` with one row for each of `n_rows` codes."""
    if y is None:
        raise ValueError(f"{name} y must have one row per {name} code. Got None.")
    y = y.tocsr() if sparse.issparse(y) and y.ndim == 2 else as_array(y, f"{name} y")
    if not y.shape or y.shape[0] != n_rows:
        raise ValueError(
            f"{name} y must have one row per {name} code, {n_rows}. Got shape {y.shape}."
        )
    return y
