"""ITQHasher beside the iterative quantization of faiss, where that is installed.

OMP_NUM_THREADS=1 python -m benchmarks.speed.quantization
"""

import argparse

import numpy as np
from sklearn.datasets import make_low_rank_matrix
from threadpoolctl import threadpool_limits

from benchmarks.sheet import Sheet, best_of
from sklearn_hashrank import EuclideanAffinity, ITQHasher, retrieval_histogram

N_QUERIES = 500


def quality(codes, X):
    """Mean tie-aware AP of the nearest hundredth by Euclidean distance."""
    queries, database = codes[:N_QUERIES], codes[N_QUERIES:]
    affinity = EuclideanAffinity(percentiles=[1], levels=[1]).fit(X[N_QUERIES:])
    histogram = retrieval_histogram(
        queries, database, X[:N_QUERIES], X[N_QUERIES:], affinity=affinity
    )
    return np.nanmean(histogram.average_precision())


def measure(sheet, n_bits=32):
    """Time to fit, to encode, and what the codes are worth."""
    try:
        import faiss
    except ImportError:
        return
    faiss.omp_set_num_threads(1)
    with threadpool_limits(1):
        _measure(sheet, faiss, n_bits)


def _measure(sheet, faiss, n_bits):
    X = make_low_rank_matrix(20_000, 512, effective_rank=20, random_state=0).astype(np.float32)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    train = X[:5000]
    sheet.section(f"Iterative quantization: 5,000 rows of 512 features, {n_bits} bits, one thread")

    def fit_theirs():
        transform = faiss.ITQTransform(X.shape[1], n_bits, True)
        transform.train(train)
        return transform

    ours, hasher = best_of(lambda: ITQHasher(n_bits, random_state=0).fit(train))
    theirs, transform = best_of(fit_theirs)
    sheet.row("fit", 1e3 * ours, "ms", "faiss", 1e3 * theirs)
    ours, codes = best_of(lambda: hasher.predict(X))
    theirs, projected = best_of(lambda: transform.apply(X))
    sheet.row("encode 20,000 rows", 1e3 * ours, "ms", "faiss", 1e3 * theirs)
    peer = quality((projected > 0).astype(np.uint8), X)
    sheet.row("mean tie-aware AP, the nearest 1 %", quality(codes, X), "AP", "faiss", peer)


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    measure(Sheet())
