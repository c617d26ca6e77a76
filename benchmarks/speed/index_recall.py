"""Recall of graph indexes over codes, by ids and by distances: Fashion-MNIST, ITQ, ten nearest.

Needs usearch and faiss, which the environment of ``make test-all`` has.
"""

import argparse

import numpy as np

from benchmarks.protocols import FASHION_MNIST, fashion_mnist
from sklearn_hashrank import HammingNeighbors, ITQHasher
from sklearn_hashrank.metrics import index_recall_score

K = 10


def usearch_graph(packed, queries):
    """Distances and ids."""
    from usearch.index import Index

    index = Index(ndim=8 * packed.shape[1], metric="hamming", dtype="b1")
    index.add(np.arange(len(packed)), packed)
    found = index.search(queries, K)
    return found.distances, found.keys


def faiss_graph(packed, queries):
    """Distances and ids."""
    import faiss

    index = faiss.IndexBinaryHNSW(8 * packed.shape[1], 16)
    index.add(packed)
    return index.search(queries, K)


def main():
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", default=FASHION_MNIST, help="folder of Fashion-MNIST")
    parser.add_argument("--n-queries", type=int, default=1000)
    options = parser.parse_args()
    X, _ = fashion_mnist(options.data)
    rng = np.random.default_rng(0)
    order = rng.permutation(len(X))
    query, database = np.split(order, [options.n_queries])
    print("bits  index    rows indexed  recall of ids  recall by distance")
    for n_bits in (16, 32, 64):
        hasher = ITQHasher(n_bits, output="packed", random_state=0).fit(X[database[:5000]])
        queries, packed = hasher.transform(X[query]), hasher.transform(X[database])
        exact, ids = HammingNeighbors(K, n_bits=n_bits, n_jobs=1).fit(packed).kneighbors(queries)
        distinct = packed[np.sort(np.unique(packed, axis=0, return_index=True)[1])]
        nearest = HammingNeighbors(K, n_bits=n_bits).fit(distinct).kneighbors(queries)
        for name, search in (("usearch", usearch_graph), ("faiss", faiss_graph)):
            for rows, (distances, places) in (
                (packed, (exact, ids)),
                (distinct, nearest),
            ):
                found, keys = search(rows, queries)
                of_ids = np.mean([np.isin(*row).mean() for row in zip(keys, places)])
                recall = index_recall_score(found, distances)
                print(f"{n_bits:4}  {name:8} {len(rows):12,}  {of_ids:13.3f}  {recall:18.3f}")


if __name__ == "__main__":
    main()
