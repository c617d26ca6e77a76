"""How encoding and evaluation on a Dask cluster of processes scale on one machine.

    python -m benchmarks.speed.dask_scaling [--n 2000000] [--workers 1 2]

Workers have one thread each. Rows are made by the workers, so that no data travel but codes of the
queries, the model and the histograms. Best of several, after a warm-up that loads the kernels. On
a machine that does other work, the processor time of the busiest worker tells more than the clock.
"""

import argparse
import os
import pickle
import time

import dask
import dask.array as da
import numpy as np
from distributed import Client, LocalCluster, wait

from sklearn_hashrank import ITQHasher, RSHHasher, retrieval_histogram

N_FEATURES, N_BITS, N_QUERIES, N_CLASSES, CHUNK_ROWS = 128, 64, 1000, 10, 100_000


def make_rows(block, block_info=None):
    """Rows around the centres of their labels, the same for every number of workers."""
    rng = np.random.default_rng(block_info[0]["chunk-location"][0])
    centers = np.random.default_rng(0).normal(size=(N_CLASSES, N_FEATURES))
    noise = rng.standard_normal((len(block), N_FEATURES), dtype=np.float32)
    return (noise + centers[block]).astype(np.float32)


def make_codes(block, block_info=None):
    rng = np.random.default_rng(block_info[0]["chunk-location"][0])
    return rng.integers(0, 256, (len(block), N_BITS // 8), dtype=np.uint8)


def best_of(function, client, repeats):
    """Least seconds, least seconds of processor time of the busiest worker, and the result."""
    elapsed, busiest = [], []
    for _ in range(repeats):
        before, start = client.run(time.process_time), time.perf_counter()
        result = function()
        elapsed.append(time.perf_counter() - start)
        after = client.run(time.process_time)
        busiest.append(max(after[worker] - before[worker] for worker in before))
    return min(elapsed), min(busiest), result


def measure(n, n_workers, repeats):
    with (
        LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        labels = da.arange(n, chunks=CHUNK_ROWS) % N_CLASSES
        shape = {"chunks": (labels.chunks[0], (N_FEATURES,)), "new_axis": 1}
        X = labels.map_blocks(make_rows, dtype=np.float32, **shape).persist()
        shape["chunks"] = (labels.chunks[0], (N_BITS // 8,))
        codes = labels.map_blocks(make_codes, dtype=np.uint8, **shape).persist()
        y = labels.persist()
        wait([X, codes, y])
        few, few_y = X[:5000].compute(), y[:5000].compute()
        hasher = ITQHasher(N_BITS, output="packed", random_state=0).fit(few)
        queries, query_y = codes[:N_QUERIES].compute(), few_y[:N_QUERIES]

        def count():
            return retrieval_histogram(queries, codes, query_y, y, n_bits=N_BITS)

        def encode():
            return hasher.transform(X).sum().compute()

        def learn():
            hasher = RSHHasher(N_BITS, solver="eigh", rotation=None, random_state=0)
            return hasher.fit(X, y)

        found = {}
        for name, function in {"histogram": count, "transform": encode, "fit": learn}.items():
            function()
            *found[name], result = best_of(function, client, repeats)
            if name == "histogram":
                assert result.counts.sum() == N_QUERIES * n
                histogram_bytes = len(pickle.dumps(result))
        return found, histogram_bytes, len(labels.chunks[0])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, default=2_000_000, help="rows of the database")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    print(
        f"{options.n:,} rows of {N_FEATURES} float32 features in chunks of {CHUNK_ROWS:,}, "
        f"{N_BITS} bits, {N_QUERIES:,} queries; {os.cpu_count()} cores, dask {dask.__version__}"
    )
    alone = None
    for n_workers in options.workers:
        found, size, n_chunks = measure(options.n, n_workers, options.repeats)
        alone = alone or found
        cells = [
            f"{name} {seconds:5.2f} s ({alone[name][0] / seconds:4.2f} x), "
            f"busiest {busiest:5.2f} s ({alone[name][1] / busiest:4.2f} x)"
            for name, (seconds, busiest) in found.items()
        ]
        print(f"  {n_workers} workers: {';  '.join(cells)}", flush=True)
    print(f"  {n_chunks} tasks; a histogram is {size / 1e6:.2f} MB on the network")


if __name__ == "__main__":
    main()
