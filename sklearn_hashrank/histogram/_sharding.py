"""Histograms of a database in a dask array: one per chunk, added in a tree."""

import copy
from typing import Any

from ..codes import CodeReader
from ..rows import first_rows, is_dask_array, sum_chunks
from ._blocks import fit_affinity_of_blocks
from ._engine import retrieval_histogram
from ._histogram import RetrievalHistogram


class _Shard:
    """The histogram of some chunks, and the values that their codes were made of."""

    def __init__(self, histogram: RetrievalHistogram, reader: CodeReader):
        self.histogram, self.reader = histogram, reader

    def __add__(self, other: "_Shard") -> "_Shard":
        reader = copy.deepcopy(self.reader)
        reader.join(other.reader)
        return _Shard(self.histogram + other.histogram, reader)


def histogram_of_chunks(
    query_codes: Any,
    database_codes: Any,
    query_y: Any,
    database_y: Any,
    affinity: Any,
    n_bits: int | None,
    keep_codes: bool,
) -> RetrievalHistogram:
    """See :func:`~sklearn_hashrank.retrieval_histogram`."""
    query_codes, query_y = (
        array.compute() if is_dask_array(array) else array for array in (query_codes, query_y)
    )
    reader = CodeReader(n_bits)
    queries = reader.packed(query_codes, "query codes")
    affinity = fit_affinity_of_blocks(affinity, first_rows(database_y))
    shared = (queries, query_y, affinity, reader, keep_codes)
    return sum_chunks(_count_chunk, shared, database_codes, database_y).histogram


def _count_chunk(shared, codes, y, start):
    queries, query_y, affinity, reader, keep_codes = shared
    reader = copy.deepcopy(reader)
    codes = reader.packed(codes, "database codes")
    histogram = retrieval_histogram(
        queries,
        codes,
        query_y,
        y,
        affinity=affinity,
        n_bits=reader.n_bits,
        keep_codes=keep_codes,
    )
    return _Shard(histogram, reader)
