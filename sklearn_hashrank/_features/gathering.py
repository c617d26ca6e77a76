"""Put small blocks of pairs together, because counting a block has a fixed cost."""

from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np
from scipy import sparse

_MOST_ROWS, _MOST_BYTES = 1 << 20, 1 << 25

Pair = tuple[np.ndarray, Any]


def gather(pairs: Iterator[Pair]) -> Iterator[Pair]:
    """Put small blocks ``(rows, y)`` together, where their form is the same.

    The first is left alone, as the meaning of `y` is read off it. Copies of the small blocks are
    kept, of some megabytes.
    """
    yield from islice(pairs, 1)
    waiting: list[Pair] = []
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
    return min(_MOST_ROWS, _MOST_BYTES * len(rows) // max(1, n_bytes))


def _form(pair):
    """Return what blocks must have in common to be put together."""
    return [(sparse.issparse(part), part.dtype.kind, part.shape[1:]) for part in pair]


def _stacked(pairs):
    rows, y = zip(*pairs)
    stacked = sparse.vstack(y, format="csr") if sparse.issparse(y[0]) else np.concatenate(y)
    return np.concatenate(rows), stacked
