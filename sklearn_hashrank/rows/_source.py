"""The one door: what a caller gives as rows becomes a source of rows."""

from collections.abc import Callable, Iterator
from typing import Any

from ._base import Rows
from ._blocks import BlockRows, array_rows, iterator_rows
from ._dask import DaskRows, is_dask_array
from ._gathering import gather


def source(
    X: Any,
    y: Any = None,
    *,
    batch_size: int | str | None = None,
    n_numbers: int = 0,
    check: Callable[[Any], Any] | None = None,
) -> Rows:
    """Rows of any origin, in blocks.

    Parameters
    ----------
    X : {array-like, sparse matrix, dask array} of shape (n_samples, n_columns), or iterator
        An iterator gives blocks of rows, or pairs ``(rows, y)``. Chunks of a dask array are blocks.
    y : array-like or dask array with n_samples rows, default=None
        What goes with the rows; None where there is nothing, or where blocks bring it.
    batch_size : int or "auto", default=None
        Rows of a block that an array is cut into; "auto" lets a block take some 32 MB. None: one
        block of all rows.
    n_numbers : int, default=0
        Numbers that a caller makes of every row; they count for "auto".
    check : callable, default=None
        ``check(block)`` returns the block, a pair ``(rows, y)``, as arrays, or says what is wrong
        with it. Small blocks of an iterator are then put together.

    Returns
    -------
    rows : Rows
    """
    if is_dask_array(X):
        return DaskRows(X, y, check)
    if not isinstance(X, Iterator):
        rows = array_rows(X, y, batch_size, n_numbers)
        return rows if check is None else _checked(rows, map(check, rows.blocks()))
    rows = iterator_rows(X)
    return rows if check is None else _checked(rows, gather(map(check, rows.blocks())))


def _checked(rows: BlockRows, pairs: Iterator[tuple[Any, Any]]) -> BlockRows:
    return BlockRows(pairs, rows.n_rows, True, rows.in_one_block)
