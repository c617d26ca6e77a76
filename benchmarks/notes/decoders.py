"""What each decoder of a binary autoencoder finds, and what the error on other rows says of it.

    python -m benchmarks.notes.decoders --rows words=rows/words.npy --rows gist=GIST.npz \\
        --rows pixels=fashion-mnist --output decoders.jsonl

Rows are arrays in .npy files, `X` of .npz files (with `scale`, the squares of bytes), their
`X_train` and `X_test`, or Fashion-MNIST. Rows are brought to length 1. Each seed samples 500
queries, rows to learn from, and at most 5,000 other rows. Figures are recall of the 10 nearest by
cosine by what codes decode to, in a database of the rows learned from and of the other rows; the
squared error of the reconstruction of the other rows, relative to their variance; and CPU seconds
of the fit. Finished runs are kept in the output, and the same command again does what is missing.

The tables that follow have a line for each set, number of bytes and of training rows: recall of
each decoder, mean of the seeds, the decoder that ``decoder="auto"`` takes, and the one that has the
least error on other rows, as ``decoder="cv"`` takes it. At the end: how much less than the best
decoder these find, and a linear decoder.
"""

import argparse
import json
import time
from collections import defaultdict
from itertools import product
from pathlib import Path

import numpy as np
from sklearn.preprocessing import normalize

from benchmarks.protocols import fashion_mnist
from sklearn_hashrank import BinaryAutoencoderHasher
from sklearn_hashrank.neighbors import DecodedNeighbors

K, N_QUERIES, N_OTHERS = 10, 500, 5000
DECODERS = ("linear", "nibbles", "bytes")
MOST_BYTES = 16  # of decoders of bytes, whose fit takes memory that grows with their square


def read(path):
    """All rows of a file."""
    if path == "fashion-mnist":
        return fashion_mnist()[0]
    file = np.load(path)
    if isinstance(file, np.ndarray):
        return file
    if "scale" in file:
        return ((file["X"] / 255.0) ** 2 * file["scale"]).astype(np.float32)
    return file["X"] if "X" in file else np.concatenate([file["X_train"], file["X_test"]])


def parts(X, n_rows, seed):
    """Queries, rows to learn from and other rows; None where there are too few."""
    order = np.random.RandomState(seed).permutation(len(X))
    sizes = np.cumsum([min(N_QUERIES, len(X) // 6), n_rows, N_OTHERS])
    if len(X) < sizes[1] + 10 * K:
        return None
    return [normalize(X[np.sort(part)].astype(np.float32)) for part in np.split(order, sizes)[:3]]


def recall(hasher, database, codes, queries):
    """Share of the nearest rows that are found by what codes decode to."""
    true = np.argsort(-queries @ database.T, axis=1)[:, :K]
    found = DecodedNeighbors(hasher, K, n_jobs=1).fit(codes).kneighbors(queries)[1]
    return float(np.mean([np.isin(a, b).mean() for a, b in zip(true, found)]))


def measure(queries, learned, others, n_bits, decoder, seed):
    """Figures of a decoder."""
    start = time.process_time()
    hasher = BinaryAutoencoderHasher(n_bits, decoder=decoder, random_state=seed).fit(learned)
    seconds = time.process_time() - start
    codes = hasher.predict(others)
    error = np.mean((others - hasher.inverse_transform(codes)) ** 2)
    return [
        recall(hasher, learned, hasher.predict(learned), queries),
        recall(hasher, others, codes, queries),
        float(error / others.var(axis=0).mean()),
        seconds,
    ]


def show(done):
    """Print a table of all runs, and what the two rules lose."""
    found = defaultdict(lambda: defaultdict(list))
    for (name, n_bytes, n_rows, decoder, _), figures in done.items():
        found[name, n_bytes, n_rows][decoder].append(figures)
    lost = defaultdict(list)
    print("recall: rows learned from; other rows. auto; cv. CPU seconds; seeds")
    for (name, n_bytes, n_rows), by_decoder in sorted(found.items()):
        names = [each for each in DECODERS if each in by_decoder]
        if len(names) < 2 or len({len(by_decoder[each]) for each in names}) > 1:
            continue  # a run is missing
        runs = np.array([by_decoder[each] for each in names])  # decoders, seeds, figures
        rule = len(names) - 1  # of "auto": tables of bytes, where they are measured, or nibbles
        means = runs.mean(axis=1)
        best = int(means[:, 2].argmin())
        print(
            f"{name:14s} {n_bytes:3d} bytes {n_rows:6,d} rows",
            *("  ".join(f"{value:.3f}" for value in means[:, column]) for column in (0, 1)),
            f"{names[rule]:8s} {names[best]:8s}",
            "  ".join(f"{value:.1f}" for value in means[:, 3]),
            runs.shape[1],
            sep=" | ",
        )
        for column, rows in enumerate(("rows learned from", "other rows")):
            for title, each in (("auto", rule), ("linear", 0)):
                lost[rows, title].append(means[:, column].max() - means[each, column])
            # each seed is chosen for by itself
            chosen = runs[runs[:, :, 2].argmin(axis=0), np.arange(runs.shape[1]), column]
            lost[rows, "cv"].append(means[:, column].max() - chosen.mean())
    for (rows, rule), values in lost.items():
        print(
            f"{rows}, {rule}: recall less than that of the best decoder by {np.mean(values):.4f} "
            f"in the mean and {np.max(values):.4f} at most; by more than .01 in "
            f"{np.sum(np.array(values) > 0.01)} of {len(values)}"
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", action="append", default=[], help="NAME=FILE, may be repeated")
    parser.add_argument("--bytes", default="8,16,32")
    parser.add_argument("--training", default="128,512,1024,2048,8192", help="numbers of rows")
    parser.add_argument("--seeds", default="0,1,2")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="start none after")
    parser.add_argument("--output", type=Path, required=True)
    options = parser.parse_args()
    start, done = time.process_time(), {}
    if options.output.exists():
        for line in options.output.read_text().splitlines():
            *run, figures = json.loads(line)
            done[tuple(run)] = figures
    sets = {name: read(path) for name, path in (each.split("=", 1) for each in options.rows)}
    numbers = (map(int, each.split(",")) for each in (options.seeds, options.training))
    for seed, n_rows, name in product(*numbers, sets):
        rows = parts(sets[name], n_rows, seed)
        for n_bytes, decoder in product(map(int, options.bytes.split(",")), DECODERS):
            run = (name, n_bytes, n_rows, decoder, seed)
            too_long = decoder == "bytes" and n_bytes > MOST_BYTES
            late = time.process_time() - start > options.seconds
            if rows is None or run in done or too_long or late:
                continue
            done[run] = measure(*rows, 8 * n_bytes, decoder, seed)
            with options.output.open("a") as file:
                file.write(json.dumps([*run, done[run]]) + "\n")
    show(done)


if __name__ == "__main__":
    main()
