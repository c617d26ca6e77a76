"""Rows of any origin, in blocks: `source` returns one of two kinds, which have the same methods.

``BlockRows`` works in this process. An array, memmap or sparse matrix is cut into blocks; an
iterator brings its own, which are put together where they are small. One block is alive at a time,
or one for each thread of `map`.

``DaskRows`` makes a task of every chunk of rows. A map is another dask array, or results that come
back chunk by chunk; a sum is added in a tree.
"""

import copy
import math
import sys
from collections.abc import Callable, Iterator
from itertools import islice
from operator import iadd
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from scipy import sparse
from sklearn.utils import _safe_indexing

from .._utils.parameters import is_int
from .._utils.threads import count_threads, map_in_threads

if TYPE_CHECKING:
    from .dask_rows import DaskRows

RowSource: TypeAlias = "BlockRows | DaskRows"

_BLOCK_BYTES = 1 << 25  # many times the cost of starting a block, and little memory for each thread
_MOST_GATHERED_ROWS = 1 << 20  # of small blocks that are put together, in as many bytes as a block


def is_dask_array(X: Any) -> bool:
    module = sys.modules.get("dask.array")
    return module is not None and isinstance(X, module.Array)


def in_memory(array: Any) -> Any:
    return array.compute() if is_dask_array(array) else array


def source(
    X: Any,
    y: Any = None,
    *,
    batch_size: int | str | None = None,
    n_numbers: int = 0,
    check: Callable[[Any], Any] | None = None,
) -> RowSource:
    """Rows of any origin, in blocks. They can be read once.

    An iterator gives blocks of rows, or pairs ``(rows, y)``; chunks of a dask array are blocks. An
    array is cut into blocks of `batch_size` rows, with ``"auto"`` of some 32 MB, where the
    `n_numbers` that a caller makes of every row count too; None: one block of all rows.
    ``check(block)`` returns a block, a pair, as arrays, or says what is wrong with it; small blocks
    of an iterator are then put together.
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


def check_batch_size(batch_size: Any) -> None:
    is_auto = isinstance(batch_size, str) and batch_size == "auto"
    if not is_auto and not is_int(batch_size, 1):
        raise ValueError(f"batch_size must be 'auto' or an int >= 1. Got {batch_size!r} instead.")


class BlockRows:
    """Blocks of an iterator, of which the first may be looked at in advance.

    `n_rows` is None for an iterator of the caller; `are_pairs` says whether a block is a pair
    ``(rows, y)``, `in_one_block` whether the first holds all rows.
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
        while self._looked_at:
            yield self._looked_at.pop()  # which keeps no block alive
        yield from self._blocks

    def first_y(self) -> Any:
        if not self._looked_at:
            self.put_back(next(self._blocks))
        return self._looked_at[0][1]

    def map(self, function: Callable[[Any], Any], n_jobs: int | None = None) -> Iterator[Any]:
        """Apply a function to every block, `n_jobs` at a time, and give the results in order."""
        blocks = self.blocks()
        if self.n_rows is None and count_threads(n_jobs) > 1:
            # Threads work on a block while the next one is read, perhaps into the same buffer.
            blocks = map(copy.deepcopy, blocks)
        return map_in_threads(function, blocks, n_jobs)

    def sum(self, function: Callable[[Any, Any, int | None], Any]) -> Any:
        """Add up ``function(rows, y, first_row)`` of all blocks, in place and in their order.

        `y` is None where there is none, and so is the number of the first row where that is not
        known.
        """
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


def gather(pairs: Iterator[tuple[np.ndarray, Any]]) -> Iterator[tuple[np.ndarray, Any]]:
    """Put small blocks ``(rows, y)`` together, where their form is the same: each costs time.

    The first is left alone, as the meaning of `y` is read off it. Copies of the small blocks are
    kept, of some megabytes.
    """
    yield from islice(pairs, 1)
    waiting: list[tuple[np.ndarray, Any]] = []
    n_waiting = 0
    for pair in pairs:
        n_rows, n_most = len(pair[0]), _rows_to_gather(pair)
        is_small = 2 * n_rows <= n_most
        fits = is_small and n_waiting + n_rows <= n_most
        if waiting and not (fits and _form(pair) == _form(waiting[0])):
            yield _stacked(waiting)
            waiting, n_waiting = [], 0
        if is_small:
            waiting.append((pair[0].copy(), pair[1].copy()))
            n_waiting += n_rows
        else:
            yield pair
        del pair  # before the next one is made
    if waiting:
        yield _stacked(waiting)


def _rows_to_gather(pair):
    rows, y = pair
    if isinstance(y, np.ma.MaskedArray):  # whose mask the affinity has to see
        return 0
    n_bytes = rows.nbytes + (y.data.nbytes if sparse.issparse(y) else y.nbytes)
    return min(_MOST_GATHERED_ROWS, _BLOCK_BYTES * len(rows) // max(1, n_bytes))


def _form(pair):
    """Return what blocks must have in common to be put together."""
    return [(sparse.issparse(part), part.dtype.kind, part.shape[1:]) for part in pair]


def _stacked(pairs):
    rows, y = zip(*pairs)
    stacked = sparse.vstack(y, format="csr") if sparse.issparse(y[0]) else np.concatenate(y)
    return np.concatenate(rows), stacked
