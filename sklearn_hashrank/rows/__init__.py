"""Sources of rows: arrays, memmaps, sparse matrices, iterators and dask arrays as one object.

How calls flow
--------------
`source` (``_block_rows.py``) looks at what it is given and returns one of two kinds of
`RowSource`. Both give blocks, map a function over them and sum what a function makes of them, so
that a caller is written once.

``BlockRows`` works in this process. An array, memmap or sparse matrix is cut into
blocks; an iterator brings its own, which may be gathered (``_gathering.py``) where they are small.
One block is alive at a time, or one for each thread of `map`.

``DaskRows`` (``_dask_rows.py``) makes a task of every chunk of rows. A map is another dask array or
results that come back chunk by chunk; a sum is added in a tree. Dask is imported only when one of
its arrays is given.

Rows that a hasher is fitted on, and that are not in memory, are ``ManyRows`` (``_many_rows.py``):
the hasher adds up all of them, or learns from a sample of them. ``StoredRows`` are those of files::

    many_rows(X, y) -> ManyRows.source() -> RowSource.sum(what adds up)
                    -> ManyRows.sample(n, seed, check) -> rows in memory

``BaseHasher.encode_blocks`` maps rows, or pairs ``(rows, y)``, to codes::

    source(X, batch_size=...) -> RowSource.map(encode) -> codes.collect_codes

``retrieval_histogram`` sums what it counts in pairs ``(codes, y)``::

    source(codes, y) -> RowSource.first_y -> affinity
                     -> RowSource.sum(count a block) -> RetrievalHistogram

This folder knows rows only. The caller says what a block must look like, by passing a `check`.
"""

from ._block_progress import check_batch_size, report_progress
from ._block_rows import in_memory, is_dask_array, source
from ._dask_rows import DaskRows
from ._many_rows import ManyRows, StoredRows, many_rows, rows_in_memory
from ._row_source import RowSource
from ._tensors import as_host_array, as_numpy, is_tensor

__all__ = [
    "DaskRows",
    "ManyRows",
    "RowSource",
    "StoredRows",
    "as_host_array",
    "as_numpy",
    "check_batch_size",
    "in_memory",
    "is_dask_array",
    "is_tensor",
    "many_rows",
    "report_progress",
    "rows_in_memory",
    "source",
]
