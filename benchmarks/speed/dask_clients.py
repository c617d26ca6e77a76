"""Memory of the client that fits hashers on a dask array, on a cluster of two processes.

    python -m benchmarks.speed.dask_clients [--megabytes 512] [--hashers itq rsh talr-ap]

Each hasher has a client of its own. The workers make the rows, float32 with 128 columns and labels
of ten classes, so that what the client holds is what `fit` brings to it. Printed are the peaks of
resident memory of the client before and after the fit, and after codes were made and evaluated.
"""

import argparse
import resource
import subprocess
import sys

import numpy as np

N_FEATURES, N_BITS, CHUNK, SEED = 128, 64, 50_000, 0
HASHERS = ("sign", "lsh", "pca", "itq", "rsh", "talr-ap", "ksh", "lwh", "spectral")


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def chunk(block_info=None):
    """Rows around the centres of their classes, made by a worker."""
    about = block_info[None]
    location, (start, stop) = about["chunk-location"], about["array-location"][0]
    rng = np.random.default_rng((SEED, location[0]))
    centers = np.random.default_rng(SEED).normal(size=(10, N_FEATURES)).astype(np.float32)
    rows = rng.standard_normal((stop - start, N_FEATURES), dtype=np.float32)
    return rows + centers[np.arange(start, stop) % 10]


def client(name, megabytes):
    import dask.array as da
    from distributed import Client, LocalCluster

    from sklearn_hashrank import retrieval_histogram
    from sklearn_hashrank.comparison import method_from_name

    n_rows = megabytes * (1 << 20) // (4 * N_FEATURES)
    sizes = da.core.normalize_chunks((CHUNK, N_FEATURES), (n_rows, N_FEATURES))
    with LocalCluster(2, threads_per_worker=1, dashboard_address=":0") as cluster, Client(cluster):
        meta = np.empty((0, 0), np.float32)
        X = da.map_blocks(chunk, chunks=sizes, dtype=np.float32, meta=meta)
        y = da.arange(n_rows, chunks=(sizes[0],)) % 10
        hasher = method_from_name(name).set_params(n_bits=N_BITS)
        if "random_state" in hasher.get_params():
            hasher.set_params(random_state=SEED)
        before = peak()
        hasher.fit(X, y)
        after = peak()
        queries = X[:500].compute()
        codes = hasher.set_params(output="packed").transform(X)
        found = retrieval_histogram(
            hasher.transform(queries), codes, np.arange(500) % 10, y, n_bits=N_BITS
        )
        ap = found.average_precision().mean()
        print(f"{name:10} {before:6.0f} {after:8.0f} {peak():10.0f} {ap:8.3f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--megabytes", type=int, default=512)
    parser.add_argument("--hashers", nargs="+", default=HASHERS)
    parser.add_argument("--client", help="fit this one in this process")
    options = parser.parse_args()
    if options.client:
        client(options.client, options.megabytes)
        return
    print(f"{options.megabytes} MB, two workers; peaks of the client in MB")
    print("hasher     before  after fit  evaluated    AP", flush=True)
    for name in options.hashers:
        more = ("--megabytes", str(options.megabytes), "--client", name)
        subprocess.run([sys.executable, "-m", __spec__.name, *more], check=True)


if __name__ == "__main__":
    main()
