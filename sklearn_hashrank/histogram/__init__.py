"""Retrieval histograms: how many items of each level lie at each distance from each query.

For each query, how many database items of each relevance level lie at each Hamming distance.
Histograms of database shards add up, so that the database may come in blocks.

How calls flow
--------------
`retrieval_histogram` (``_counting.py``) validates, and decides nothing about blocks or threads::

    source(codes, y, check=check_block)       rows/: array, memmap, iterator, dask array
      -> RowSource.first_y -> affinity             affinity/: fitted once, on the first block
      -> Queries                              _counting.py: equal queries put together, once
      -> RowSource.sum(BlockCounter)               _counting.py: one Count for a block, added up
      -> RetrievalHistogram                   _histogram.py: the measures are its methods

`BlockCounter` is a plain function of a block. In this process it counts one block after the other,
with threads over the queries (``_utils/threads.py``); of a dask array it is sent to the workers
once, and counts one chunk in each task. It reads a block in pieces: the reader of ``codes/`` checks
and packs them, the affinity groups the items by equal `y`, so that a query meets runs of items of
one level, and equal items are counted once where that costs less. The kernel ``count_runs`` then
sees arrays only.

``RetrievalHistogram`` knows neither codes nor `y`; every measure is a function of its counts
(``measures/``). `distance_histogram` (``_distance_histogram.py``) makes one of any distances of
all pairs.
"""

from ._counting import retrieval_histogram
from ._distance_histogram import distance_histogram
from ._histogram import RetrievalHistogram

__all__ = ["RetrievalHistogram", "distance_histogram", "retrieval_histogram"]
