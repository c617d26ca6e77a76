"""Speed of HammingNeighbors, as ratios to peers measured in the same run.

    python benchmarks/neighbors.py                      # all of it, about four minutes
    python benchmarks/neighbors.py --only faiss|scikit-learn|multi-index
    python benchmarks/neighbors.py --only rescoring [--fashion-mnist FOLDER]

1,000 queries x 1,000,000 random codes of 64 bits, the same number of threads for all. Slow peers
get a few of the queries, and their cost is scaled up by the number of pairs. Needs the extra
``faiss``.
"""

import argparse
import os
import platform
import time

import faiss
import numpy as np
import sklearn
from protocols import FASHION_MNIST, by_class, fashion_mnist
from sklearn.neighbors import NearestNeighbors

from sklearn_hashrank import HammingNeighbors, ITQHasher, TALRLinear

N_BITS = 64


def best_of(function, repeats, clock=time.perf_counter):
    times = []
    for _ in range(repeats):
        start = clock()
        result = function()
        times.append(clock() - start)
    return min(times), result


def random_codes(n, seed):
    return np.random.default_rng(seed).integers(0, 256, (n, N_BITS // 8), dtype=np.uint8)


def line(what, ours, peers):
    costs = "".join(f"   {name} {cost:8.4f} = {cost / ours:7.1f} x" for name, cost in peers.items())
    print(f"  {what:30s} {ours:8.4f} ns per pair{costs}")


def against_faiss(n_queries, n, n_jobs):
    clock = time.process_time if n_jobs == 1 else time.perf_counter
    print(
        f"\nk nearest, {n_queries:,} x {n:,}, {n_jobs} thread(s), "
        f"{'CPU' if n_jobs == 1 else 'wall clock'} time; faiss {faiss.__version__}"
    )
    queries, database = random_codes(n_queries, 1), random_codes(n, 2)
    faiss.omp_set_num_threads(n_jobs)
    peer = faiss.IndexBinaryFlat(N_BITS)
    peer.add(database)
    index = HammingNeighbors(n_bits=N_BITS, algorithm="brute", n_jobs=n_jobs).fit(database)
    index.kneighbors(queries[:2])  # compile
    for k, few in ((10, n_queries), (1000, n_queries // 2), (50_000, n_queries // 20)):
        ours, (distances, _) = best_of(lambda k=k: index.kneighbors(queries, k), 4, clock)
        theirs, (expected, _) = best_of(
            lambda k=k, few=few: peer.search(queries[:few], k), 3, clock
        )
        np.testing.assert_array_equal(distances[:few], expected)
        line(
            f"k = {k:,}",
            ours / (n_queries * n) * 1e9,
            {"IndexBinaryFlat": theirs / (few * n) * 1e9},
        )


def against_scikit_learn(n_queries, n, n_jobs):
    print(f"\nk nearest, {n_jobs} thread(s); scikit-learn with {n_queries // 100} of the queries")
    queries, database = random_codes(n_queries, 1), random_codes(n, 2)
    index = HammingNeighbors(10, n_bits=N_BITS, algorithm="brute", n_jobs=n_jobs).fit(database)
    index.kneighbors(queries[:2])
    ours, (distances, _) = best_of(lambda: index.kneighbors(queries), 3)
    bits = np.unpackbits(database, axis=1).astype(bool)
    few = np.unpackbits(queries[: n_queries // 100], axis=1).astype(bool)
    peer = NearestNeighbors(n_neighbors=10, metric="hamming", algorithm="brute", n_jobs=n_jobs)
    theirs, (expected, _) = best_of(lambda: peer.fit(bits).kneighbors(few), 1)
    np.testing.assert_allclose(distances[: len(few)], expected * N_BITS)
    cost = ours / (n_queries * n) * 1e9
    line("k = 10", cost, {"brute Hamming": theirs / (len(few) * n) * 1e9})


def multi_index_against_scan(n_queries, n, n_jobs):
    """Half of the queries are codes of the database with one bit flipped."""
    queries, database = random_codes(n_queries, 1), random_codes(n, 2)
    half = n_queries // 2
    queries[:half] = database[:half]
    queries[:half, 0] ^= 1
    print(f"\n{n_queries:,} queries x {n:,}, multi_index and our brute, {n_jobs} thread(s)")
    scan = HammingNeighbors(n_bits=N_BITS, algorithm="brute", n_jobs=n_jobs).fit(database)
    tables = HammingNeighbors(n_bits=N_BITS, algorithm="multi_index", n_jobs=n_jobs).fit(database)
    start = time.perf_counter()
    tables.radius_neighbors(queries[:1], 2)
    print(f"  tables for radius 2 built in {time.perf_counter() - start:.2f} s, with compilation")
    few = queries[: n_queries // 5]
    scan.radius_neighbors(few[:1], 2)
    for radius in (0, 1, 2, 3, 5, 8):
        ours, found = best_of(lambda r=radius: tables.radius_neighbors(queries, r), 3)
        theirs, expected = best_of(lambda r=radius: scan.radius_neighbors(few, r), 1)
        for rows, expected_rows in zip(found[1], expected[1]):
            np.testing.assert_array_equal(rows, expected_rows)
        ours, theirs = ours / n_queries * 1e6, theirs / len(few) * 1e6
        print(
            f"  radius {radius}: {ours:8.2f} us per query, scanning {theirs:8.2f} us"
            f"  = {theirs / ours:7.1f} x"
        )


def precision_of_rescoring(folder, n_candidates=(None, 100, 1000)):
    """Share of the ten nearest that are of the query's class; None: by Hamming distance."""
    X, y = fashion_mnist(folder)
    query, database, train = by_class(y, np.random.RandomState(0))
    columns = "".join(f"{n or 'Hamming':>9}" for n in n_candidates)
    print(f"\nPrecision of 10 on Fashion-MNIST, by candidates\n  hasher  bits{columns}")
    for name, make in {"ITQ": ITQHasher, "TALR": TALRLinear}.items():
        for n_bits in (16, 32, 64):
            hasher = make(n_bits, output="packed", random_state=0).fit(X[train], y[train])
            index = HammingNeighbors(10, n_bits=n_bits).fit(hasher.transform(X[database]))
            codes, projections = hasher.transform(X[query]), hasher.decision_function(X[query])
            cells = ""
            for n in n_candidates:
                if n is None:
                    found = index.kneighbors(codes, return_distance=False)
                else:
                    index.set_params(rescore="asymmetric", n_candidates=n)
                    found = index.kneighbors(None, None, False, projections=projections)
                cells += f"{np.mean(y[database][found] == y[query][:, None]):9.4f}"
            print(f"  {name:6s}{n_bits:6d}{cells}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=["faiss", "scikit-learn", "multi-index", "rescoring"])
    parser.add_argument("--fashion-mnist", default=FASHION_MNIST, help="folder of the idx files")
    parser.add_argument("--quick", action="store_true", help="a tenth of the database")
    options = parser.parse_args()
    scale = 10 if options.quick else 1
    print(
        f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, "
        f"numpy {np.__version__}, scikit-learn {sklearn.__version__}"
    )
    if options.only in (None, "faiss"):
        for n_jobs in (1, 2):
            against_faiss(1000, 1_000_000 // scale, n_jobs)
    if options.only in (None, "scikit-learn"):
        against_scikit_learn(1000, 1_000_000 // scale, 2)
    if options.only in (None, "multi-index"):
        multi_index_against_scan(1000, 10_000_000 // scale, 2)
    if options.only == "rescoring":
        precision_of_rescoring(options.fashion_mnist)


if __name__ == "__main__":
    main()
