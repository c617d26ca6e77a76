"""Recall of the 10 nearest rows by cosine, by codes that were learned without labels.

    python -m benchmarks.notes.unlabelled --embeddings CLINC.npz --gist GIST.npz --bits 16,64
        --seeds 3

By Hamming distance, ties counted by their mean, and by the asymmetric distance of real projections
to codes. The product quantizer of faiss, where that is installed, has as many bytes. Embeddings
have queries of their own: X_test, or X_val with --validation, by which defaults were chosen. Of
pixels and GIST, each seed draws 1,000 queries and 15,000 rows: database and training rows.
"""

import argparse
import time

import numpy as np
from sklearn.preprocessing import normalize

from benchmarks.protocols import FASHION_MNIST, cell, fashion_mnist, gist
from sklearn_hashrank import (
    ITQHasher,
    LSHHasher,
    NeighborAffinity,
    PCAHasher,
    RSHHasher,
    SignHasher,
    TALRLinear,
    retrieval_histogram,
)

K, N_QUERIES, N_ROWS = 10, 1000, 15_000


def draw(X, seed):
    """Queries and database of one seed."""
    order = np.random.RandomState(seed).permutation(len(X))
    return X[order[:N_QUERIES]], X[order[N_QUERIES : N_QUERIES + N_ROWS]]


def embeddings(path, part):
    """Queries and database with a split of their own."""
    with np.load(path) as file:
        return file[f"X_{part}"].astype(np.float32), file["X_train"].astype(np.float32)


def nearest(scores):
    """Numbers of the K largest of each row."""
    return np.argpartition(-scores, K, axis=1)[:, :K]


def overlap(found, true):
    """Share of the true neighbors that were found."""
    return np.mean([len(np.intersect1d(a, b)) for a, b in zip(found, true)]) / K


def methods(n_bits, n_features, seed):
    """Hashers that take so many bits."""
    options = {"random_state": seed}
    hashers = {"lsh": LSHHasher(n_bits, **options), "talr": TALRLinear(n_bits, **options)}
    if n_bits <= n_features:
        hashers["sign"] = SignHasher(n_bits)
        hashers["pca"] = PCAHasher(n_bits, **options)
        hashers["itq"] = ITQHasher(n_bits, **options)
        hashers["rsh"] = RSHHasher(n_bits, **options)
    return hashers


def recalls(hasher, queries, database, true):
    """Recall by Hamming distance, by asymmetric distance, and seconds of the fit."""
    start = time.process_time()
    hasher.fit(database)
    seconds = time.process_time() - start
    codes = hasher.predict(database)
    histogram = retrieval_histogram(
        hasher.predict(queries), codes, queries, database, affinity=NeighborAffinity(K)
    )
    scores = hasher.decision_function(queries) @ (2.0 * codes - 1).astype(np.float32).T
    return histogram.recall(k=K).mean(), overlap(nearest(scores), true), seconds


def product_quantizer(n_bits, queries, database, true):
    """Recall by the product quantizer of faiss with as many bytes."""
    import faiss

    rows, queries = normalize(database), normalize(queries)
    index = faiss.IndexPQ(rows.shape[1], n_bits // 8, 8, faiss.METRIC_INNER_PRODUCT)
    index.train(rows)
    index.add(rows)
    return overlap(index.search(queries, K)[1], true)


def measure(name, splits, lengths, wanted):
    """Print a table of one data set."""
    for n_bits in lengths:
        found = {}
        for seed, (queries, database) in enumerate(splits):
            true = nearest(normalize(queries) @ normalize(database).T)
            for method, hasher in methods(n_bits, database.shape[1], seed).items():
                if not wanted or method in wanted:
                    row = recalls(hasher, queries, database, true)
                    found.setdefault(method, []).append(row)
            if (not wanted or "pq" in wanted) and database.shape[1] % (n_bits // 8) == 0:
                try:
                    recall = product_quantizer(n_bits, queries, database, true)
                except ImportError:
                    continue
                found.setdefault("pq", []).append((np.nan, recall, np.nan))
        for method, rows in found.items():
            hamming, asymmetric, seconds = np.transpose(rows)
            print(
                f"{name:12s} {n_bits:4d} bits {method:5s} Hamming {cell(hamming, 3)}  "
                f"asymmetric {cell(asymmetric, 3)}  fit {seconds.mean():5.1f} CPU-s",
                flush=True,
            )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--embeddings", help="npz file with X_train, X_val, X_test")
    parser.add_argument("--validation", action="store_true", help="queries are X_val")
    parser.add_argument("--gist", help="npz file with X_train, y_train, X_test, y_test")
    parser.add_argument("--fashion", default=FASHION_MNIST, help="folder, or none")
    parser.add_argument("--bits", default="16,32,64,128,256")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--methods", default="", help="some of sign,lsh,pca,itq,rsh,talr,pq")
    arguments = parser.parse_args()
    lengths = [int(n_bits) for n_bits in arguments.bits.split(",")]
    wanted = set(filter(None, arguments.methods.split(",")))
    seeds = range(arguments.first_seed, arguments.first_seed + arguments.seeds)
    if arguments.embeddings:
        part = "val" if arguments.validation else "test"
        splits = [embeddings(arguments.embeddings, part)] * len(seeds)
        measure("embeddings", splits, lengths, wanted)
    if arguments.gist:
        X, _ = gist(arguments.gist)
        measure("GIST", [draw(X, seed) for seed in seeds], lengths, wanted)
    if arguments.fashion != "none":
        X, _ = fashion_mnist(arguments.fashion)
        measure("pixels", [draw(X, seed) for seed in seeds], lengths, wanted)


if __name__ == "__main__":
    main()
