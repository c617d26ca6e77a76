"""Search of a dask array of codes on a cluster of processes, compared with the search in memory.

    python -m benchmarks.speed.dask_neighbors [--n 10000000] [--chunks 20] [--workers 2]

Workers have one thread each and make their own codes, chunk by chunk, every time they are asked.
One worker is killed during the second search.
"""

import argparse
import os
import resource
import signal
import threading
import time

import dask.array as da
import numpy as np
from distributed import Client, LocalCluster

from sklearn_hashrank import HammingNeighbors

N_BITS = 64


def make_codes(block, block_info=None):
    """Random codes, the same for the same chunk."""
    rng = np.random.default_rng(block_info[0]["chunk-location"][0])
    return rng.integers(0, 256, (len(block), N_BITS // 8), dtype=np.uint8)


def peak_megabytes():
    """Largest resident memory of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main():
    """Print times, memory, and whether the results are equal."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=10_000_000)
    parser.add_argument("--chunks", type=int, default=20)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--n-queries", type=int, default=1000)
    parser.add_argument("--k", type=int, default=10)
    options = parser.parse_args()
    queries = np.random.default_rng(12345).integers(
        0, 256, (options.n_queries, N_BITS // 8), dtype=np.uint8
    )
    rows = da.zeros(options.n, chunks=-(-options.n // options.chunks), dtype=np.uint8)
    codes = rows.map_blocks(
        make_codes, dtype=np.uint8, chunks=(rows.chunks[0], (N_BITS // 8,)), new_axis=1
    )
    index = HammingNeighbors(options.k, n_bits=N_BITS).fit(codes)
    with (
        LocalCluster(
            n_workers=options.workers, threads_per_worker=1, dashboard_address=":0"
        ) as cluster,
        Client(cluster) as client,
    ):
        index.kneighbors(queries[:1])  # loads the kernels
        before = max(client.run(peak_megabytes).values())
        start = time.perf_counter()
        found = index.kneighbors(queries)
        print(f"{options.chunks} chunks: {time.perf_counter() - start:.1f} s")
        peaks = client.run(peak_megabytes)
        print(f"peak of a worker {max(peaks.values()):.0f} MB, of which {before:.0f} MB before")
        print(f"peak of the client {peak_megabytes():.0f} MB")
        victim = next(iter(client.run(os.getpid).values()))
        killer = threading.Timer(1, os.kill, (victim, signal.SIGKILL))
        killer.start()
        start = time.perf_counter()
        again = index.kneighbors(queries)
        print(f"with a killed worker: {time.perf_counter() - start:.1f} s")
        print("the same:", all(map(np.array_equal, found, again)))
    packed = codes.compute(scheduler="synchronous")
    memory = HammingNeighbors(options.k, n_bits=N_BITS).fit(packed)
    start = time.perf_counter()
    expected = memory.kneighbors(queries)
    print(f"in memory, one thread: {time.perf_counter() - start:.1f} s")
    print("equal to the search in memory:", all(map(np.array_equal, found, expected)))
    print(f"codes take {packed.nbytes / 2**20:.0f} MB, this process {peak_megabytes():.0f} MB")


if __name__ == "__main__":
    main()
