"""`source`, which takes rows of any origin, and the rows that this process reads in blocks."""

import math
import sys
from collections.abc import Callable, Iterator
from operator import iadd
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import _safe_indexing

from .._utils.threads import map_in_threads
from .gathering import gather
from .row_source import RowSource

_BLOCK_BYTES = 1 << 25


def is_dask_array(X: Any) -> bool:
    """Whether `X` is a dask array."""
    module = sys.modules.get("dask.array")
    return module is not None and isinstance(X, module.Array)


def in_memory(array: Any) -> Any:
    """Compute a dask array; leave everything else as it is."""
    return array.compute() if is_dask_array(array) else array


def source(
    X: Any,
    y: Any = None,
    *,
    batch_size: int | str | None = None,
    n_numbers: int = 0,
    check: Callable[[Any], Any] | None = None,
) -> RowSource:
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
    rows : RowSource
    """
    if is_dask_array(X):
        from .dask_rows import DaskRows

        return DaskRows(X, y, check)
    if not isinstance(X, Iterator):
        rows = array_rows(X, y, batch_size, n_numbers)
        return rows if check is None else _checked(rows, map(check, rows.blocks()))
    if check is None:
        return iterator_rows(X)
    rows = iterator_rows(X, alike=False)  # what they are is up to `check`
    return _checked(rows, gather(map(check, rows.blocks())))


class BlockRows(RowSource):
    """Blocks of an iterator, of which the first may be looked at in advance.

    Parameters
    ----------
    blocks : iterator
        Rows, or pairs ``(rows, y)``.
    n_rows : int or None
        How many there are, where that is known.
    are_pairs : bool
        Whether a block is a pair.
    in_one_block : bool
        Whether the first block holds all rows.
    """

    def __init__(
        self, blocks: Iterator[Any], n_rows: int | None, are_pairs: bool, in_one_block: bool
    ):
        self._blocks = blocks
        self._looked_at: list = []
        self.n_rows, self.are_pairs, self.in_one_block = n_rows, are_pairs, in_one_block

    def put_back(self, block: Any) -> None:
        """Let a block that was read be the next."""
        self._looked_at.append(block)

    def blocks(self) -> Iterator[Any]:
        """See :meth:`RowSource.blocks`."""
        while self._looked_at:
            yield self._looked_at.pop()  # which keeps no block alive
        yield from self._blocks

    def first_y(self) -> Any:
        """See :meth:`RowSource.first_y`."""
        if not self._looked_at:
            self.put_back(next(self._blocks))
        return self._looked_at[0][1]

    def map(self, function: Callable[[Any], Any], n_jobs: int | None = None) -> Iterator[Any]:
        """See :meth:`RowSource.map`; threads of this process."""
        return map_in_threads(function, self.blocks(), n_jobs)

    def sum(self, function: Callable[[Any, Any, int | None], Any]) -> Any:
        """See :meth:`RowSource.sum`; blocks follow one another, and are added in place."""
        total, start = None, 0
        for block in self.blocks():
            rows, y = block if self.are_pairs else (block, None)
            n_rows = rows.shape[0]
            term = function(rows, y, start)
            del block, rows, y  # before the next block is made
            total = term if total is None else iadd(total, term)
            start += n_rows
        return total


def array_rows(X: Any, y: Any, batch_size: int | str | None, n_numbers: int) -> BlockRows:
    """Cut an array into blocks; only the rows of one block are read at a time."""
    if sparse.issparse(X):
        X = X.tocsr()
    elif not hasattr(X, "shape"):
        X = np.asarray(X)
    n_rows = X.shape[0] if X.shape else 0
    if batch_size is None:
        return BlockRows(iter([X if y is None else (X, y)]), n_rows, y is not None, True)
    step = _rows_of_a_block(X, n_numbers) if batch_size == "auto" else int(batch_size)
    starts = range(0, max(n_rows, 1), step)
    blocks = (_block(X, y, slice(start, start + step)) for start in starts)
    return BlockRows(blocks, n_rows, y is not None, len(starts) == 1)


def iterator_rows(blocks: Iterator[Any], alike: bool = True) -> BlockRows:
    """Take the blocks of an iterator as they are; all are pairs, or none is."""
    first = next(blocks, None)
    if first is None:
        raise ValueError("the iterator gave no block; at least one block of rows is needed.")
    are_pairs = isinstance(first, tuple)
    if are_pairs and len(first) != 2:
        raise ValueError(f"a block must be rows or a pair (rows, y). Got {len(first)} values.")
    if alike:
        blocks = _all_alike(blocks, are_pairs)
    rows = BlockRows(blocks, None, are_pairs, in_one_block=False)
    rows.put_back(first)
    return rows


def _all_alike(blocks, are_pairs):
    for block in blocks:
        if isinstance(block, tuple) != are_pairs or (are_pairs and len(block) != 2):
            wanted = "pairs (rows, y)" if are_pairs else "rows"
            given = f"a tuple of {len(block)}" if isinstance(block, tuple) else type(block).__name__
            raise ValueError(f"blocks must be {wanted}, as the first is. Got {given} instead.")
        yield block
        del block  # before the next one is made


def _block(X, y, part):
    rows = _safe_indexing(X, part) if X.shape else X
    return rows if y is None else (rows, _safe_indexing(y, part))


def _rows_of_a_block(X, n_numbers):
    if sparse.issparse(X):
        n_numbers += 2 * X.nnz // max(1, X.shape[0])
    else:
        n_numbers += math.prod(X.shape[1:])
    return max(1, _BLOCK_BYTES // (8 * max(1, n_numbers)))


def _checked(rows: BlockRows, pairs: Iterator[tuple[Any, Any]]) -> BlockRows:
    return BlockRows(pairs, rows.n_rows, True, rows.in_one_block)
