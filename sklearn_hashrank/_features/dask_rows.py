"""Chunks of a dask array as a source of rows: one task per chunk, sums added in a tree.

Dask is never imported unless one of its arrays is given.
"""

from collections.abc import Callable, Iterator
from functools import reduce
from itertools import islice
from operator import add
from typing import Any

import numpy as np
from scipy import sparse

from .._utils.threads import count_threads
from .block_rows import is_dask_array

_ADDED_AT_A_TIME = 8  # sums that one worker holds at a time, against the depth of the tree
_NO_ROWS = "the dask array is empty; at least one row is needed."


class DaskRows:
    """Chunks of the rows of a dask array, with the methods of `BlockRows`.

    Chunks of parts of the columns are put together. Chunks without rows, as a selection leaves them
    behind, count for nothing. `y`, an array or a dask array, is cut like X; `check` is applied to
    every pair ``(rows, y)`` by the task that works on it.
    """

    in_one_block = False

    def __init__(self, X: Any, y: Any = None, check: Callable[[Any], Any] | None = None):
        self._X, self._y, self._check = _whole_rows(X), _checked_y(y, X), check
        self._known_y: list = []  # the first chunks, computed
        self.n_rows = None if np.isnan(X.shape[0]) else int(X.shape[0])
        self.are_pairs = y is not None

    def array_of(self, function: Callable[[Any, Any], Any], model: Any, example: np.ndarray) -> Any:
        """Dask array of ``function(chunk, model)`` for every chunk of rows.

        The model is sent to every worker once. The `example`, a result for some rows, sets the
        dtype and the number of columns.
        """
        import dask

        return self._X.map_blocks(
            _map_chunk,
            dask.delayed(model, traverse=False),
            function=function,
            empty=example[:0],
            dtype=example.dtype,
            chunks=(self._X.chunks[0], (example.shape[1],)),
            drop_axis=list(range(2, self._X.ndim)),  # of images
            meta=np.empty((0, 0), dtype=example.dtype),
        )

    def blocks(self) -> Iterator[Any]:
        return self.map(_itself)

    def map(self, function: Callable[[Any], Any], n_jobs: int | None = None) -> Iterator[Any]:
        """Apply a function to every chunk: tasks, of which `n_jobs` are computed at a time."""
        import dask

        one, shared = dask.delayed(_map_block), self._shared(function)
        tasks = (one(shared, rows, y, self.are_pairs) for rows, y, _ in self._chunks())
        n_at_a_time = count_threads(n_jobs)
        while some := list(islice(tasks, n_at_a_time)):
            results = list(dask.compute(*some))
            results.reverse()
            while results:
                if (result := results.pop()) is not None:
                    yield result
                del result

    def sum(self, function: Callable[[Any, Any, int | None], Any]) -> Any:
        """Add up what a function makes of the chunks: tasks, added eight at a time, in a tree."""
        import dask

        one, add_up = dask.delayed(_term), dask.delayed(_add)
        shared = self._shared(function)
        terms = [one(shared, *chunk) for chunk in self._chunks()]
        while len(terms) > 1:
            step = _ADDED_AT_A_TIME
            terms = [add_up(terms[i : i + step]) for i in range(0, len(terms), step)]
        total = terms[0].compute() if terms else None
        if total is None:
            raise ValueError(_NO_ROWS)
        return total

    def first_y(self) -> Any:
        """Look at the first `y`; what is computed for it takes the place of its chunks."""
        if not is_dask_array(self._y):
            return self._y
        while not self._known_y or not self._known_y[-1].shape[0]:
            number = len(self._known_y)
            if number == self._y.numblocks[0]:
                raise ValueError(_NO_ROWS)
            self._known_y.append(self._y.blocks[number].compute())
        return self._known_y[-1]

    def _shared(self, function):
        """Make the function and the check one task, so that each worker gets them once."""
        import dask

        return dask.delayed((function, self._check), traverse=False)

    def _chunks(self) -> Iterator[tuple[Any, Any, int | None]]:
        """Chunks of X with those of y and the number of their first row, None if unknown."""
        sizes = self._X.chunks[0]
        starts = [0, *np.cumsum(sizes)[:-1]]
        rows = self._X.to_delayed().reshape(len(sizes), -1)[:, 0]
        for chunk, y, start in zip(
            rows, _cut(self._y, self._X, self._known_y), starts, strict=True
        ):
            yield chunk, y, None if np.isnan(start) else int(start)


def _itself(block):
    return block


def _map_chunk(rows, model, function, empty):
    return function(rows, model) if rows.shape[0] else empty


def _map_block(shared, rows, y, is_pair):
    function, check = shared
    if not rows.shape[0]:
        return None
    block = (rows, y) if is_pair else rows
    return function(block if check is None else check(block))


def _term(shared, rows, y, start):
    function, check = shared
    if not rows.shape[0]:
        return None
    rows, y = (rows, y) if check is None else check((rows, y))
    return function(rows, y, start)


def _add(terms):
    known = [term for term in terms if term is not None]
    return reduce(add, known) if known else None


def _whole_rows(X):
    """Put chunks of parts of the columns together, because a block holds whole rows."""
    return X.rechunk({axis: -1 for axis in range(1, X.ndim)})


def _checked_y(y, X):
    """Check that `y` can be cut like the chunks of X."""
    if y is None:
        return None
    if not is_dask_array(y):
        y = y.tocsr() if sparse.issparse(y) else y
    n_rows, wanted = (array.shape[0] if array.ndim else 0 for array in (y, X))
    if not np.isnan(n_rows) and not np.isnan(wanted):
        if n_rows != wanted:
            raise ValueError(
                f"y must have one row per row of the dask array, {wanted}. Got {n_rows}."
            )
    elif not is_dask_array(y):
        raise ValueError(
            "the chunks of the dask array have unknown sizes, so that an array y cannot be cut "
            "likewise. Call compute_chunk_sizes() on it, or pass y as a dask array."
        )
    elif len(y.chunks[0]) != len(X.chunks[0]):
        raise ValueError(
            "dask arrays of unknown chunk sizes must have the same number of chunks. "
            f"Got {len(X.chunks[0])}, and {len(y.chunks[0])} of y."
        )
    return _whole_rows(y) if is_dask_array(y) else y


def _cut(y, X, known):
    """Cut the rows of y for every chunk of X; the first chunks of y are known already."""
    sizes = X.chunks[0]
    if y is None:
        return [None] * len(sizes)
    if not is_dask_array(y):
        stops = np.cumsum(sizes)
        return [y[stop - size : stop] for size, stop in zip(sizes, stops)]
    are_cut_alike = y.chunks[0] == sizes or np.isnan(y.shape[0]) or np.isnan(X.shape[0])
    if not are_cut_alike:
        y, known = _with_known(y, known).rechunk({0: sizes}), []
    return [*known, *y.to_delayed().reshape(len(sizes), -1)[len(known) :, 0]]


def _with_known(y, known):
    """Put computed chunks back into the array, so that they are not computed again."""
    import dask
    import dask.array as da

    if not known:
        return y
    parts = [
        da.from_delayed(dask.delayed(rows, traverse=False), rows.shape, y.dtype, meta=y._meta)
        for rows in known
    ]
    if len(known) < y.numblocks[0]:
        parts.append(y.blocks[len(known) :])
    return da.concatenate(parts)
