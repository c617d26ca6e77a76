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
(``measures/``).

Rankings that no code made have ties of their own for each query, `RaggedTies`. They are counted in
one place, from scores of all items and of the relevant ones::

    from_scores        _score_rankings.py   dense, sparse, one array for each query
    from_run           _run_rankings.py     dictionaries; _trec_files.py reads files and tables
    distance_histogram _distance_histogram.py   distances, and an affinity of `y`
      -> Rankings.table                     _rankings.py: the kernel ``count_between``
      -> RaggedTies                         measures/: seen by measures in chunks of queries
"""

from ._counting import retrieval_histogram
from ._distance_histogram import distance_histogram
from ._histogram import RetrievalHistogram
from ._trec_files import read_qrels, read_run

__all__ = [
    "RetrievalHistogram",
    "distance_histogram",
    "read_qrels",
    "read_run",
    "retrieval_histogram",
]
