"""Hashers with the objectives of others, as they are compared with released code.

    python -m benchmarks.notes.peers_minibatch [--data GIST.npz] [--seeds 5]
        [--methods mihash dpsh ...]

Protocol: 2,000 training rows, 500 queries, 3,000 database rows that nobody trains on, from the
second half of the data set; the defaults were chosen on the first half. Digits: 900 training rows
from the first 1,297 rows, 250 queries from the others; the database is what is left. Mean tie-aware
AP over seeds, its standard deviation, and CPU seconds of a fit.
"""

import argparse
import time

import numpy as np
from sklearn.datasets import load_digits

from benchmarks.protocols import average_precision, cell, gist
from sklearn_hashrank.comparison import method_from_name

METHODS = ("mihash", "dpsh", "dtsh", "hashnet", "talr-ap:max_iter=60:dropout=0")
BITS = (16, 32, 64)


def split_half(y, seed):
    """Training rows, queries and database from the second half."""
    half = len(y) // 2
    order = half + np.random.RandomState(seed).permutation(len(y) - half)
    return order[:2000], order[2000:2500], order[2500:5500]


def split_digits(y, seed):
    """Training rows, queries and database; defaults never saw the last 500 rows."""
    rng = np.random.RandomState(seed)
    first, last = rng.permutation(1297), 1297 + rng.permutation(len(y) - 1297)
    return first[:900], last[:250], np.concatenate([first[900:], last[250:]])


def find_sets(data):
    """Rows, labels and split of the data sets that are there."""
    X, y = load_digits(return_X_y=True)
    sets = {"digits": (X.astype(np.float32), y, split_digits)}
    if data:
        sets["GIST"] = (*gist(data), split_half)
    return sets


def measure(name, X, y, split, methods, seeds, bits=BITS):
    """Print a line for each method, and return its cells."""
    rows = []
    print(f"\n{name}: mean tie-aware AP over {seeds} seeds at {bits} bits, seconds of a fit")
    for notation in methods:
        cells, seconds = [], []
        for n_bits in bits:
            scores = []
            for seed in range(seeds):
                train, query, database = split(y, seed)
                hasher = method_from_name(notation).set_params(n_bits=n_bits)
                if "random_state" in hasher.get_params():
                    hasher.set_params(random_state=seed)
                start = time.process_time()
                hasher.fit(X[train], y[train])
                seconds.append(time.process_time() - start)
                scores.append(average_precision(hasher, X, y, query, database))
            cells.append(cell(scores, 3))
        print(f"  {notation:30s} {'   '.join(cells)}   {np.mean(seconds):.2f} s", flush=True)
        rows.append((notation, *cells, f"{np.mean(seconds):.2f}"))
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", help="npz file with X_train, y_train, X_test, y_test")
    parser.add_argument("--methods", nargs="*", default=METHODS)
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args()
    for name, (X, y, split) in find_sets(options.data).items():
        measure(name, X, y, split, options.methods, options.seeds)


if __name__ == "__main__":
    main()
