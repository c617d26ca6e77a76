"""Search a billion codes of 64 bits: a scan of all of them, tables, and lists of faiss.

    python -m benchmarks.speed.billion [--codes 1000000000] [--queries 100] [--n-jobs 1]
    python -m benchmarks.speed.billion --compare [--codes 20000000]

The first command scans all codes with the index that searches the shards of ``hashrank encode``.
They are made anew chunk by chunk, since 8 GB of them may not fit into memory, and the time of that
is taken apart. Codes near every query are put at known places all over the database, and must be
found. The second compares ways to search fewer codes, all in memory, that are not random: codes of
blobs by LSH. Times are of the processor, per query.
"""

import argparse
import resource
import time

import numpy as np

from sklearn_hashrank import HammingNeighbors, LSHHasher
from sklearn_hashrank._features.out_of_memory import StoredRows

N_BITS, K, CHUNK, SEED = 64, 10, 1 << 23, 0


class MadeCodes(StoredRows):
    """Random codes, made where they are asked for, with some that are near to queries."""

    dtype = np.dtype(np.uint8)

    def __init__(self, n_codes, queries):
        self.shape = (n_codes, N_BITS // 8)
        self.seconds = 0.0
        rng = np.random.default_rng(SEED + 1)
        self.places = np.sort(rng.choice(n_codes, K * len(queries), replace=False))
        self.of_query = rng.permutation(np.repeat(np.arange(len(queries)), K))
        flips = rng.integers(0, N_BITS, (len(self.places), 2))
        bits = np.unpackbits(queries[self.of_query], axis=1)
        for column in flips.T:
            bits[np.arange(len(bits)), column] ^= 1
        self.near = np.packbits(bits, axis=1)
        self.base = np.random.default_rng(SEED).bytes(8 * CHUNK)

    def read(self, start, stop):
        """Rows by their numbers: the same random words, with other ones added in every chunk."""
        before = time.process_time()
        words = np.frombuffer(self.base, np.uint64)
        first = np.arange(start, stop) % CHUNK
        key = np.arange(start, stop, dtype=np.uint64) // np.uint64(CHUNK)
        codes = (words[first] ^ (key * np.uint64(0x9E3779B97F4A7C15))).view(np.uint8)
        codes = codes.reshape(-1, N_BITS // 8)
        low, high = np.searchsorted(self.places, [start, stop])
        codes[self.places[low:high] - start] = self.near[low:high]
        self.seconds += time.process_time() - before
        return codes


def scan(n_codes, n_queries, n_jobs):
    queries = np.random.default_rng(SEED + 2).integers(0, 256, (n_queries, N_BITS // 8), np.uint8)
    small = HammingNeighbors(K, n_bits=N_BITS, n_jobs=n_jobs)
    small.fit(MadeCodes(2 * K * n_queries, queries)).kneighbors(queries)  # compiles
    codes = MadeCodes(n_codes, queries)
    index = HammingNeighbors(K, n_bits=N_BITS, n_jobs=n_jobs).fit(codes)
    start, clock = time.process_time(), time.perf_counter()
    distances, indices = index.kneighbors(queries)
    seconds, clock = time.process_time() - start - codes.seconds, time.perf_counter() - clock
    n_found = sum(
        np.isin(codes.places[codes.of_query == query], indices[query]).sum()
        for query in range(n_queries)
    )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{n_codes:,} codes of {N_BITS} bits ({n_codes * 8 / 1e9:.1f} GB), {n_queries} queries")
    print(f"search     {seconds:8.1f} CPU-s = {seconds / n_queries * 1e3:.1f} ms a query")
    print(f"           {seconds / n_queries / n_codes * 1e9:.4f} ns a code and query")
    print(f"codes made {codes.seconds:8.1f} CPU-s; all by the clock {clock:.1f} s")
    print(f"peak of resident memory {peak:.0f} MB")
    print(f"{n_found:,} of {len(codes.places):,} codes that were put near queries were found, at a")
    print(f"distance of at most {distances.max()}")


def timed(search, n_queries, repeat=3):
    """What a search returns, and the fastest of several runs in milliseconds a query."""
    seconds = []
    for _ in range(repeat):
        start = time.process_time()
        found = search()
        seconds.append(time.process_time() - start)
    return found, min(seconds) / n_queries * 1e3


def compare(n_codes, n_queries):
    rng = np.random.default_rng(SEED)
    centers = rng.normal(size=(1000, 32)).astype(np.float32)

    def rows(n):
        noise = rng.standard_normal((n, 32), dtype=np.float32)
        return centers[rng.integers(0, len(centers), n)] + 0.3 * noise

    hasher = LSHHasher(N_BITS, random_state=SEED).fit(rows(1000))
    blocks = [hasher.packed_codes(rows(1 << 18)) for _ in range(-(-n_codes // (1 << 18)))]
    codes, queries = np.concatenate(blocks)[:n_codes], hasher.packed_codes(rows(n_queries))
    index = HammingNeighbors(K, n_bits=N_BITS, algorithm="brute").fit(codes)
    index.kneighbors(queries[:2])
    (distances, _), plain = timed(lambda: index.kneighbors(queries), n_queries)
    print(f"{n_codes:,} codes of blobs, {n_queries} queries, {K} nearest")
    print(f"{'scan':28s} {plain:8.2f} ms a query, recall by distance 1.000")
    tables = HammingNeighbors(K, n_bits=N_BITS, algorithm="multi_index").fit(codes)
    start = time.process_time()
    tables.radius_neighbors(queries[:1], 2)
    print(f"{'tables: built in':28s} {time.process_time() - start:8.1f} s")
    for radius in (2, 4, 6):
        one, far = timed(lambda r=radius: index.radius_neighbors(queries, r), n_queries)
        other, near = timed(lambda r=radius: tables.radius_neighbors(queries, r), n_queries)
        assert all(map(np.array_equal, one[1], other[1]))
        n_found = np.mean([*map(len, one[1])])
        name = f"radius {radius}, {n_found:,.0f} found"
        print(f"{name:28s} {far:8.2f} ms by scan, {near:8.3f} ms by tables")
    try:
        import faiss
    except ImportError:
        print("faiss is not installed: its lists were not measured")
        return
    faiss.omp_set_num_threads(1)
    n_lists = 4096
    quantizer = faiss.IndexBinaryFlat(N_BITS)
    lists = faiss.IndexBinaryIVF(quantizer, N_BITS, n_lists)
    start = time.process_time()
    lists.train(codes[rng.choice(n_codes, min(n_codes, 64 * n_lists), replace=False)])
    lists.add(codes)
    name = f"faiss, {n_lists} lists: built in"
    print(f"{name:28s} {time.process_time() - start:8.1f} s")
    for n_probes in (1, 4, 16, 64):
        lists.nprobe = n_probes
        (found, _), spent = timed(lambda: lists.search(queries, K), n_queries)
        recall = np.mean(np.sort(found, axis=1) <= distances[:, -1:])
        name = f"{n_probes} of {n_lists} lists"
        print(f"{name:28s} {spent:8.2f} ms a query, recall by distance {recall:.3f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--codes", type=int)
    parser.add_argument("--queries", type=int, default=100)
    parser.add_argument("--n-jobs", type=int, default=1)
    parser.add_argument("--compare", action="store_true")
    options = parser.parse_args()
    if options.compare:
        compare(options.codes or 20_000_000, options.queries)
    else:
        scan(options.codes or 1_000_000_000, options.queries, options.n_jobs)


if __name__ == "__main__":
    main()
