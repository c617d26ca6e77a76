"""Blocks of rows in this process, one after the other or several at a time."""

from collections.abc import Callable, Iterator
from numbers import Integral
from operator import iadd
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import _safe_indexing

from .._utils.threads import map_in_threads
from ._base import Rows

_BLOCK_BYTES = 1 << 25


class BlockRows(Rows):
    """Blocks of an iterator, of which the first may be looked at in advance.

    Parameters
    ----------
    blocks : iterator
    n_rows : int or None
    are_pairs : bool
    in_one_block : bool
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
        """See :meth:`Rows.blocks`."""
        while self._looked_at:
            yield self._looked_at.pop()  # which keeps no block alive
        yield from self._blocks

    def first_y(self) -> Any:
        """See :meth:`Rows.first_y`."""
        if not self._looked_at:
            self.put_back(next(self._blocks))
        return self._looked_at[0][1]

    def map(self, function: Callable[[Any], Any], n_jobs: int | None = None) -> Iterator[Any]:
        """See :meth:`Rows.map`; threads of this process."""
        return map_in_threads(function, self.blocks(), n_jobs)

    def sum(self, function: Callable[[Any, Any, int | None], Any]) -> Any:
        """See :meth:`Rows.sum`; blocks follow one another, and are added in place."""
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


def iterator_rows(blocks: Iterator[Any]) -> BlockRows:
    """Take the blocks of an iterator as they are."""
    first = next(blocks, None)
    if first is None:
        raise ValueError("the iterator gave no block; at least one block of rows is needed.")
    are_pairs = isinstance(first, tuple)
    if are_pairs and len(first) != 2:
        raise ValueError(f"a block must be rows or a pair (rows, y). Got {len(first)} values.")
    rows = BlockRows(blocks, None, are_pairs, in_one_block=False)
    rows.put_back(first)
    return rows


def _block(X, y, part):
    rows = _safe_indexing(X, part) if X.shape else X
    return rows if y is None else (rows, _safe_indexing(y, part))


def _rows_of_a_block(X, n_numbers):
    if sparse.issparse(X):
        n_numbers += 2 * X.nnz // max(1, X.shape[0])
    elif len(X.shape) == 2:
        n_numbers += X.shape[1]
    return max(1, _BLOCK_BYTES // (8 * max(1, n_numbers)))


def report_progress(
    encoded: Iterator[Any], name: str, n_rows: int | None, verbose: int
) -> Iterator[Any]:
    """Print a line every `verbose` blocks of codes or pairs, and one at the end."""
    number, done, total = 0, 0, "" if n_rows is None else f" of {n_rows:,}"

    def report():
        print(f"[{name}] block {number}: {done:,}{total} rows")

    for number, block in enumerate(encoded, 1):
        done += len(block[0] if isinstance(block, tuple) else block)
        yield block
        if number % verbose == 0:
            report()
    if number % verbose:
        report()


def check_batch_size(batch_size: Any) -> None:
    """Refuse what is neither "auto" nor a positive int."""
    is_int = isinstance(batch_size, Integral) and not isinstance(batch_size, bool)
    is_auto = isinstance(batch_size, str) and batch_size == "auto"
    if not is_auto and not (is_int and batch_size >= 1):
        raise ValueError(f"batch_size must be 'auto' or an int >= 1. Got {batch_size!r} instead.")
