"""USearch: bits in bytes, "b1", by an exact scan or by a graph."""

import numpy as np
from usearch.index import Index, MetricKind
from usearch.index import search as scan

from sklearn_hashrank.codes import pack_codes


def search(codes, queries, n_bits, k):
    found = scan(
        pack_codes(codes, n_bits),
        pack_codes(queries, n_bits),
        k,
        metric=MetricKind.Hamming,
        exact=True,
    )
    return found.distances, found.keys


def search_graph(codes, queries, n_bits, k):
    packed = pack_codes(codes, n_bits)
    index = Index(ndim=8 * packed.shape[1], metric=MetricKind.Hamming, dtype="b1")
    index.add(np.arange(len(packed)), packed)
    found = index.search(pack_codes(queries, n_bits), k)
    return found.distances, found.keys


def search_graph_of_distinct_codes(codes, queries, n_bits, k):
    """Each code is indexed once; its rows follow it into the result."""
    distinct, number = np.unique(pack_codes(codes, n_bits), axis=0, return_inverse=True)
    rows_of = np.split(np.argsort(number, kind="stable"), np.cumsum(np.bincount(number))[:-1])
    index = Index(ndim=8 * distinct.shape[1], metric=MetricKind.Hamming, dtype="b1")
    index.add(np.arange(len(distinct)), distinct)
    found = index.search(pack_codes(queries, n_bits), min(k, len(distinct)))
    distances, ids = [], []
    for numbers, near in zip(found.keys, found.distances):
        rows = [rows_of[number] for number in numbers]
        ids.append(np.concatenate(rows)[:k])
        distances.append(np.repeat(near, [len(each) for each in rows])[:k])
    return np.array(distances), np.array(ids)
