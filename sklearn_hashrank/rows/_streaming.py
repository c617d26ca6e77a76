"""More rows than fit into memory: blocks of rows, one after the other or several at a time."""

from collections.abc import Callable, Iterator
from itertools import chain, islice
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from scipy import sparse
from sklearn.utils import _safe_indexing

_BLOCK_BYTES = 1 << 25


class Blocks(NamedTuple):
    """Rows as they come.

    Attributes
    ----------
    blocks : iterator
        Of rows, or of pairs ``(rows, y)``.
    n_rows : int or None
        How many there are, where that is known.
    are_pairs : bool
    """

    blocks: Iterator[Any]
    n_rows: int | None
    are_pairs: bool


def read_blocks(X: Any, batch_size: int | str, n_bits: int) -> Blocks:
    """Cut an array into blocks; take those of an iterator as they are.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features), or iterator
        Only the rows of one block are read at a time.
    batch_size : int or "auto"
        Rows of a block; "auto" lets it take some 32 MB with its projections.
    n_bits : int
        Projections of a row.

    Returns
    -------
    blocks : Blocks
    """
    if isinstance(X, Iterator):
        first = next(X, None)
        if first is None:
            raise ValueError("the iterator gave no block; at least one block of rows is needed.")
        are_pairs = isinstance(first, tuple)
        if are_pairs and len(first) != 2:
            raise ValueError(f"a block must be rows or a pair (rows, y). Got {len(first)} values.")
        return Blocks(chain([first], X), None, are_pairs)
    if sparse.issparse(X):
        X = X.tocsr()
    elif not hasattr(X, "shape"):
        X = np.asarray(X)
    n_rows = X.shape[0] if X.shape else 0
    step = _rows_of_a_block(X, n_bits) if batch_size == "auto" else int(batch_size)
    starts = range(0, max(n_rows, 1), step)
    return Blocks((_rows(X, slice(i, i + step)) for i in starts), n_rows, False)


def _rows(X, part):
    rows = _safe_indexing(X, part) if X.shape else X
    return rows.compute() if hasattr(rows, "compute") else rows  # of a dask array


def _rows_of_a_block(X, n_bits):
    n_numbers = n_bits
    if sparse.issparse(X):
        n_numbers += 2 * X.nnz // max(1, X.shape[0])
    elif len(X.shape) == 2:
        n_numbers += X.shape[1]
    return max(1, _BLOCK_BYTES // (8 * n_numbers))


def map_blocks(
    function: Callable[[Any], Any], blocks: Iterator[Any], n_jobs: int | None
) -> Iterator[Any]:
    """Apply a function to all blocks in order, to as many at a time as there are threads."""
    n_threads = effective_n_jobs(n_jobs)
    if n_threads == 1:
        yield from map(function, blocks)
        return
    with Parallel(n_jobs=n_jobs, require="sharedmem") as parallel:
        while some := [delayed(function)(block) for block in islice(blocks, n_threads)]:
            done = parallel(some)
            some.clear()  # before the next blocks are made
            yield from done


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
