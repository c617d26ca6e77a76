"""Dask arrays: one task per chunk of rows, and sums of what the chunks give, in a tree.

Dask is never imported unless one of its arrays is given.
"""

import sys
from collections.abc import Callable, Iterator
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from scipy import sparse

_ADDED_AT_A_TIME = 8


def is_dask_array(X: Any) -> bool:
    """Whether `X` is a dask array."""
    module = sys.modules.get("dask.array")
    return module is not None and isinstance(X, module.Array)


def map_rows(
    function: Callable[[Any, Any], np.ndarray], X: Any, model: Any, example: np.ndarray
) -> Any:
    """Dask array of ``function(chunk, model)`` for every chunk of rows.

    Parameters
    ----------
    function : callable
        Called with the rows of a chunk and the model.
    X : dask array of shape (n_samples, n_features)
        Rows to map.
    model : object
        Sent to every worker once.
    example : ndarray
        A result for some rows; it sets the dtype and the number of columns.

    Returns
    -------
    result : dask array of shape (n_samples, example.shape[1])
    """
    import dask

    X = _whole_rows(X)
    return X.map_blocks(
        _map_chunk,
        dask.delayed(model, traverse=False),
        function=function,
        empty=example[:0],
        dtype=example.dtype,
        chunks=(X.chunks[0], (example.shape[1],)),
        meta=np.empty((0, 0), dtype=example.dtype),
    )


def sum_chunks(function: Callable[..., Any], shared: Any, X: Any, y: Any) -> Any:
    """Sum of ``function(shared, chunk of X, chunk of y, first row)`` over all chunks of rows.

    Chunks without rows, as a selection leaves them behind, are left out.

    Parameters
    ----------
    function : callable
        What it returns can be added by ``+``.
    shared : object
        Sent to every worker once.
    X : dask array of shape (n_samples, n_columns)
        Rows to add up.
    y : dask array or array-like with n_samples rows, or None
        Targets of the rows, cut into the same chunks.

    Returns
    -------
    total : object
        Added in the order of the rows.
    """
    import dask

    one, add_up = dask.delayed(_sum_chunk), dask.delayed(_add)
    shared = dask.delayed(shared, traverse=False)
    terms = [one(function, shared, *chunk) for chunk in _chunks(X, y)]
    while len(terms) > 1:
        step = _ADDED_AT_A_TIME
        terms = [add_up(terms[i : i + step]) for i in range(0, len(terms), step)]
    total = terms[0].compute()
    if total is None:
        raise ValueError("the dask array is empty; at least one row is needed.")
    return total


def first_rows(y: Any) -> Any:
    """Rows of the first chunk of a dask array that has any; of others all."""
    if not is_dask_array(y):
        return y
    for number in range(y.numblocks[0]):
        rows = y.blocks[number].compute()
        if rows.shape[0]:
            break
    return rows


def _map_chunk(rows, model, function, empty):
    return function(rows, model) if rows.shape[0] else empty


def _sum_chunk(function, shared, rows, *rest):
    return function(shared, rows, *rest) if rows.shape[0] else None


def _add(terms):
    known = [term for term in terms if term is not None]
    return reduce(add, known) if known else None


def _whole_rows(X):
    """Chunks of all columns."""
    return X.rechunk({axis: -1 for axis in range(1, X.ndim)})


def _chunks(X: Any, y: Any) -> Iterator[tuple[Any, Any, int | None]]:
    """Chunks of X with those of y and the number of their first row, None if unknown."""
    X = _whole_rows(X)
    sizes = X.chunks[0]
    starts = [0, *np.cumsum(sizes)[:-1]]
    rows = X.to_delayed().reshape(len(sizes), -1)[:, 0]
    for chunk, of_y, start in zip(rows, _cut(y, X), starts, strict=True):
        yield chunk, of_y, None if np.isnan(start) else int(start)


def _cut(y, X):
    """The rows of y for every chunk of X."""
    sizes = X.chunks[0]
    if y is None:
        return [None] * len(sizes)
    if not is_dask_array(y):
        y = y.tocsr() if sparse.issparse(y) else np.asarray(y)
    n_rows, wanted = (array.shape[0] if array.ndim else 0 for array in (y, X))
    if n_rows != wanted and not (np.isnan(n_rows) or np.isnan(wanted)):
        raise ValueError(f"y must have one row per row of the dask array, {wanted}. Got {n_rows}.")
    if not is_dask_array(y):
        if np.isnan(wanted):
            raise ValueError(
                "the chunks of the dask array have unknown sizes, so that an array y cannot be cut "
                "likewise. Call compute_chunk_sizes() on it, or pass y as a dask array."
            )
        stops = np.cumsum(sizes)
        return [y[stop - size : stop] for size, stop in zip(sizes, stops)]
    y = _whole_rows(y)
    if np.isnan(n_rows) or np.isnan(wanted):
        if len(y.chunks[0]) != len(sizes):
            raise ValueError(
                "dask arrays of unknown chunk sizes must have the same number of chunks. "
                f"Got {len(sizes)}, and {len(y.chunks[0])} of y."
            )
    else:
        y = y.rechunk({0: sizes})
    return y.to_delayed().reshape(len(sizes), -1)[:, 0]
