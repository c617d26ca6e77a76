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

The spaces of features that hashers learn in.

How rows become features, and weights become hyperplanes::

    X --Moments--> mean, variance --FeatureSpace.of--> space
    X --space.transform--> rows inside --learner--> weights, offsets
    weights, offsets --space.fold--> components_, intercept_

How rows become features of anchors, which are some rows that all others are compared with::

    X --Anchors.random, Anchors.kmeans--> anchors
    X --anchors.squared_distances--> distances --KernelFeatures--> centred Gaussian kernels
                                               --AnchorWeights--> sparse weights of the nearest

Neither the scale nor the offset of the features matters to what is learned, and no square
overflows. Rows are compared with anchors block by block, so that the features of all rows are never
in memory at once.
"""
