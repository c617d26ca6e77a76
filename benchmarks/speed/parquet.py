"""Fit, encode, search and evaluate rows of a Parquet file by the command and by dask.

    python -m benchmarks.speed.parquet [--rows 10000000] [--features 64] [--bits 64]
        [--folder FOLDER]

Every step is a process of its own, whose peak of resident memory is that of the operating system.
Both ways see the same file: lists of float32, their labels and ids, in row groups of 65,536. The
file stays in the folder, which needs some 300 bytes for each row of 64 features, and is used again.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

N_CLASSES, N_QUERIES, GROUP, SEED = 100, 1000, 1 << 16, 0
NEIGHBOURS = 10


def make_rows(number, n, n_features):
    """Rows of a group around the centres of their labels, in half as many directions."""
    centers = np.random.default_rng(SEED).normal(size=(N_CLASSES, n_features))
    mixing = np.random.default_rng(SEED + 1).normal(size=(n_features // 2, n_features))
    rng = np.random.default_rng((SEED, number))
    labels = rng.integers(0, N_CLASSES, n)
    rows = rng.standard_normal((n, n_features // 2), dtype=np.float32) @ mixing / 4
    return (rows + centers[labels]).astype(np.float32), labels


def write_rows(path, n_rows, n_features, first=0):
    import pyarrow as pa
    import pyarrow.parquet as pq

    writer = None
    for start in range(0, n_rows, GROUP):
        n = min(GROUP, n_rows - start)
        rows, labels = make_rows(first + start // GROUP, n, n_features)
        lists = pa.FixedSizeListArray.from_arrays(rows.ravel(), n_features)
        table = pa.table({"id": np.arange(start, start + n), "embedding": lists, "y": labels})
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table)
    writer.close()


def measure(name, *command):
    """Run a process, and print how long it took and how much memory it had."""
    start = time.perf_counter()
    process = subprocess.Popen([sys.executable, *command], stdout=subprocess.PIPE, text=True)
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    print(f"{name:<18} {seconds:8.1f} s {usage.ru_maxrss / 1024:8.0f} MB", flush=True)
    if status:
        raise SystemExit(f"{name} failed: {output}")
    return output


def in_chunks(path, column, width, dtype):
    """Row groups of a column as the chunks of a dask array."""
    import dask.array as da
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        about = file.metadata
        sizes = tuple(about.row_group(i).num_rows for i in range(about.num_row_groups))

    def read(block_info=None):
        with pq.ParquetFile(path) as file:
            group = file.read_row_group(block_info[None]["chunk-location"][0], columns=[column])
        values = group.column(0).combine_chunks()
        values = values.flatten() if width else values
        array = values.to_numpy().astype(dtype, copy=False)
        return array.reshape(-1, width) if width else array

    chunks = (sizes, (width,)) if width else (sizes,)
    meta = np.empty((0,) * len(chunks), dtype)
    return da.map_blocks(read, chunks=chunks, dtype=dtype, meta=meta)


def by_dask(folder, n_bits, n_features):
    """All steps in one process, whose scheduler is that of threads."""
    import dask

    from sklearn_hashrank import HammingNeighbors, ITQHasher, retrieval_histogram

    dask.config.set(scheduler="threads", num_workers=2)
    X = in_chunks(folder / "items.parquet", "embedding", n_features, np.float32)
    y = in_chunks(folder / "items.parquet", "y", None, np.int64)
    queries = in_chunks(folder / "queries.parquet", "embedding", n_features, np.float32).compute()
    query_y = in_chunks(folder / "queries.parquet", "y", None, np.int64).compute()
    hasher = ITQHasher(n_bits, output="packed", random_state=SEED).fit(X)
    codes = hasher.encode_blocks(X, out=folder / "dask.npy", n_jobs=2)
    of_queries = hasher.transform(queries)
    index = HammingNeighbors(NEIGHBOURS, n_bits=n_bits).fit(codes)
    distances, _ = index.kneighbors(of_queries)
    histogram = retrieval_histogram(
        of_queries, hasher.transform(X), query_y, y, affinity="auto", n_bits=n_bits
    )
    np.savez(folder / "dask.npz", distances=distances)
    print(histogram.average_precision().mean())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--features", type=int, default=64)
    parser.add_argument("--bits", type=int, default=64)
    parser.add_argument("--folder", default=str(Path(tempfile.gettempdir()) / "hashrank_parquet"))
    parser.add_argument("--ways", nargs="+", default=["command", "dask"], help="what is run")
    parser.add_argument("--in-this-process", action="store_true", help="the steps by dask")
    options = parser.parse_args()
    folder = Path(options.folder)
    if options.in_this_process:
        by_dask(folder, options.bits, options.features)
        return
    folder.mkdir(exist_ok=True)
    items, queries = folder / "items.parquet", folder / "queries.parquet"
    if not items.exists():
        write_rows(items, options.rows, options.features)
        write_rows(queries, N_QUERIES, options.features, first=1 << 20)
    print(f"{items.stat().st_size / 1e9:.1f} GB of {options.rows:,} x {options.features}")
    codes = folder / "codes.parquet"
    if "command" in options.ways:
        by_command(folder, items, queries, codes, options.bits)
    if "dask" in options.ways:
        sizes = ("--bits", str(options.bits), "--features", str(options.features))
        dask = ("-m", __spec__.name, "--in-this-process", "--folder", folder, *sizes)
        print(measure("all by dask", *dask).strip())
        compare(codes, folder, options.bits)


def by_command(folder, items, queries, codes, n_bits):
    """One step after the other, each a process."""
    hashrank = ("-m", "sklearn_hashrank")
    model, new = folder / "model.npz", folder / "queries.codes.parquet"
    found = folder / "found.npz"
    bits = ("--bits", str(n_bits))
    measure("fit", *hashrank, "fit", "--data", items, *bits, "--output", model)
    encode = (*hashrank, "encode", "--model", model)
    measure("encode", *encode, "--data", items, "--output", codes)
    measure("encode queries", *encode, "--data", queries, "--output", new)
    search = (*hashrank, "search", "--model", model, "--data", queries, "--database", codes)
    measure("search", *search, "-k", str(NEIGHBOURS), "--output", found)
    labels = ("--label-column", "y", "--database-labels", items, "--query-labels", queries)
    output = measure(
        "evaluate", *hashrank, "evaluate", "--database", codes, "--queries", new, *labels,
        "--measures", "ap", "--json",
    )  # fmt: skip
    print(output.strip())


def compare(codes, folder, n_bits):
    """Say how far the results of both ways agree."""
    import pyarrow.parquet as pq

    from sklearn_hashrank.codes import load_codes

    n_differ = start = 0

    of_dask = load_codes(folder / "dask.npy", n_bits=n_bits)
    with pq.ParquetFile(codes) as file:
        for batch in file.iter_batches(columns=["code"]):
            here = b"".join(batch.column(0).to_pylist())
            here = np.frombuffer(here, np.uint8).reshape(len(batch), -1)
            n_differ += int((here != of_dask[start : start + len(batch)]).any(axis=1).sum())
            start += len(batch)
    with np.load(folder / "found.npz") as one, np.load(folder / "dask.npz") as other:
        equal = np.mean(one["distances"] == other["distances"])
    print(f"{n_differ:,} of {start:,} codes differ; {equal:.2%} of the distances are equal")


if __name__ == "__main__":
    main()
