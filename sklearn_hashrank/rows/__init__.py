"""Where rows come from: arrays, memmaps, iterators of blocks, dask arrays."""

from ._dask import first_rows, is_dask_array, map_rows, sum_chunks
from ._streaming import check_batch_size, map_blocks, read_blocks, report_progress

__all__ = [
    "check_batch_size",
    "first_rows",
    "is_dask_array",
    "map_blocks",
    "map_rows",
    "read_blocks",
    "report_progress",
    "sum_chunks",
]
