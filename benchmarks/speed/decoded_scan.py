"""Time of a scan of a million codes: decoded codes, and those of faiss of as many bytes.

    python -m benchmarks.speed.decoded_scan [--bytes 32] [--rows 1000000] [--repeats 5]

CPU milliseconds of a query for its ten nearest, one thread, batches of 50 queries, the fastest and
the median of the repeats. Rows are random, of 256 numbers: no scan depends on them. The methods
take turns, so that a busy machine slows all of them. FastScan (`fs`) rounds its distances to bytes,
and the results of DecodedNeighbors are exact.
"""

import argparse
import time

import faiss
import numpy as np
from threadpoolctl import threadpool_limits

from sklearn_hashrank import AdditiveQuantizer, BinaryAutoencoderHasher, HammingNeighbors
from sklearn_hashrank.neighbors import DecodedNeighbors

N_FEATURES, N_QUERIES, K, BLOCK = 256, 50, 10, 50_000


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bytes", type=int, default=32, help="more than 8")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    faiss.omp_set_num_threads(1)
    rng = np.random.default_rng(0)
    train = rng.normal(size=(6_000, N_FEATURES)).astype(np.float32)
    queries = rng.normal(size=(N_QUERIES, N_FEATURES)).astype(np.float32)
    n_bytes = options.bytes
    codes = rng.integers(0, 256, (options.rows, n_bytes), dtype=np.uint8)
    searches = {}
    hasher = BinaryAutoencoderHasher(8 * n_bytes, max_iter=1, random_state=0)
    quantizer = AdditiveQuantizer(n_bytes, max_iter=1, beam_width=1, random_state=0)
    for name, each in (("linear decoder", hasher), ("tables of bytes", quantizer)):
        index = DecodedNeighbors(each.fit(train), K, n_jobs=1).fit(codes)
        searches[f"DecodedNeighbors, {name}"] = lambda index=index: index.kneighbors(queries)
    hamming = HammingNeighbors(K, n_bits=8 * n_bytes, n_jobs=1).fit(codes)
    of_queries = hasher.packed_codes(queries)
    searches["HammingNeighbors"] = lambda: hamming.kneighbors(of_queries)
    for factory in (f"PQ{2 * n_bytes}x4fs", f"PQ{n_bytes}np", f"PCAR{8 * n_bytes - 64},RaBitQ"):
        index = faiss.index_factory(N_FEATURES, factory)
        index.train(train)
        for start in range(0, options.rows, BLOCK):
            n_rows = min(BLOCK, options.rows - start)
            index.add(rng.normal(size=(n_rows, N_FEATURES)).astype(np.float32))
        searches[f"faiss {factory}"] = lambda index=index: index.search(queries, K)
    times = {name: [] for name in searches}
    with threadpool_limits(1):
        for _ in range(options.repeats + 1):
            for name, search in searches.items():
                start = time.process_time()
                search()
                times[name].append(1e3 * (time.process_time() - start) / N_QUERIES)
    for name, of_runs in times.items():
        print(f"{name:33s} {min(of_runs[1:]):7.2f} {np.median(of_runs[1:]):7.2f} ms per query")


if __name__ == "__main__":
    main()
