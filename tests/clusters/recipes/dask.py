"""Dask: a chunk of rows for each file, and all steps on the cluster of the client."""

import dask.array as da
import numpy as np
import pyarrow.parquet as pq

from sklearn_hashrank import HammingNeighbors, ITQHasher, retrieval_histogram


def read(files, column, width=None):
    """A column of Parquet files as a dask array, one chunk for each file."""
    sizes = tuple(pq.ParquetFile(file).metadata.num_rows for file in files)

    def chunk(block_info=None):
        file = files[block_info[None]["chunk-location"][0]]
        values = pq.read_table(file, columns=[column])[column].combine_chunks()
        array = (values.flatten() if width else values).to_numpy(zero_copy_only=False)
        return array.reshape(-1, width) if width else array

    chunks, shape = ((sizes, (width,)), (0, 0)) if width else ((sizes,), (0,))
    dtype = np.float32 if width else np.int64
    return da.map_blocks(chunk, chunks=chunks, dtype=dtype, meta=np.empty(shape, dtype))


def all_steps(files, width, queries, query_y, n_bits):
    X, y = read(files, "embedding", width), read(files, "y")
    hasher = ITQHasher(n_bits, output="packed", random_state=0).fit(X)
    codes = hasher.transform(X)
    asked = hasher.transform(queries)
    nearest = HammingNeighbors(10, n_bits=n_bits).fit(codes).kneighbors(asked)
    histogram = retrieval_histogram(asked, codes, query_y, y, n_bits=n_bits)
    return hasher, nearest, histogram.average_precision().mean()
