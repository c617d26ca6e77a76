"""Rows of any origin in blocks, and the spaces of features that hashers learn in.

Rows come in blocks (``block_rows.py``, ``dask_rows.py``). Those that a hasher is fitted on and that
are not in memory are ``ManyRows`` (``out_of_memory.py``): it adds up all of them, or learns from a
sample::

    encode_blocks:        source(X) -> map(encode) -> codes.collect_codes
    retrieval_histogram:  source(codes, y) -> first_y -> affinity -> sum(count a block)
    fit:                  many_rows(X, y) -> source().sum(what adds up), sample(n) -> rows in memory

Rows become features, and weights become hyperplanes::

    X --Moments--> mean, variance --FeatureSpace.of--> space
    X --space.transform--> rows inside --learner--> weights, offsets
    weights, offsets --space.fold--> components_, intercept_

Anchors are some rows that all others are compared with, block by block::

    X --Anchors.random, Anchors.kmeans--> anchors
    X --anchors.squared_distances--> distances --KernelFeatures--> centered Gaussian kernels
                                               --AnchorWeights--> sparse weights of the nearest

Neither the scale nor the offset of the features matters to what is learned, and no square
overflows.
"""
