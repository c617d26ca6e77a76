"""Quality and speed of TALRLinear.

    python benchmarks/talr.py --data GIST.npz [--fashion-mnist FOLDER] [--only quality|speed|...]

Protocol: 100 queries per class; the database is all other rows; 500 training rows per class, a
subset of the database. Mean and standard deviation over seeds, with the defaults.
"""

import argparse
import time

import numpy as np
from protocols import FASHION_MNIST, by_class, fashion_mnist, gist

from sklearn_hashrank import LSHHasher, TALRLinear, retrieval_histogram


def average_precision(hasher, X, y, query, database):
    hasher.set_params(output="packed")
    histogram = retrieval_histogram(
        hasher.transform(X[query]),
        hasher.transform(X[database]),
        y[query],
        y[database],
        n_bits=hasher.n_bits,
        n_jobs=2,
    )
    return histogram.average_precision().mean()


def compare(name, X, y, hashers, seeds, bits=(12, 24, 32, 48), n_train=500):
    """Print a table: hashers by bits, mean and spread of AP_T over seeds."""
    print(f"\n{name}, AP_T over {seeds} seeds, {', '.join(map(str, bits))} bits")
    for label, make in hashers.items():
        cells, seconds = [], 0.0
        for n_bits in bits:
            scores = []
            for seed in range(seeds):
                rows = by_class(y, np.random.RandomState(seed), n_train=n_train)
                query, database, train = rows
                hasher = make(n_bits=n_bits, random_state=seed)
                start = time.process_time()
                hasher.fit(X[train], y[train])
                seconds += time.process_time() - start
                scores.append(average_precision(hasher, X, y, query, database))
            cells.append(f"{np.mean(scores):.4f} ±{np.std(scores, ddof=min(1, seeds - 1)):.4f}")
        mean_seconds = seconds / len(bits) / seeds
        print(f"  {label:28s} {'   '.join(cells)}   fit {mean_seconds:.2f} s CPU", flush=True)


def quality(X, y, name, seeds):
    compare(name, X, y, {"LSH": LSHHasher, "TALR-AP, defaults": TALRLinear}, seeds)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", help="npz file with X_train, y_train, X_test, y_test")
    parser.add_argument("--fashion-mnist", default=FASHION_MNIST, help="folder of the idx files")
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    sets = {"Fashion-MNIST": fashion_mnist(options.fashion_mnist)}
    if options.data:
        sets["GIST"] = gist(options.data)
    for name, (X, y) in sets.items():
        quality(X, y, name, options.seeds)


if __name__ == "__main__":
    main()
