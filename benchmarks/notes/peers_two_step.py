"""Quality and time of two-step hashers and class codes, as `docs/notes/methods` shows them.

    python -m benchmarks.notes.peers_two_step [--data GIST.npz] [--methods fasthash] [--seeds 5]

Digits, and 2,000 training rows, 500 queries and 3,000 database rows of GIST features, of which
the database holds no training rows.
"""

import argparse
import time

import numpy as np
from sklearn.base import clone

from benchmarks.notes.peers_projections import find_sets, split
from sklearn_hashrank import retrieval_histogram
from sklearn_hashrank.codes import weighted_distances
from sklearn_hashrank.comparison import method_from_name
from sklearn_hashrank.metrics import distance_histogram

METHODS = ("classifier", "fasthash", "machash", "structhash", "structhash-trees")


def average_precisions(hasher, queries, database):
    """Mean tie-aware AP by Hamming distance, and by learned weights where there are some."""
    codes, items = hasher.predict(queries[0]), hasher.predict(database[0])
    found = [retrieval_histogram(codes, items, queries[1], database[1])]
    if hasattr(hasher, "weights_"):
        distances = weighted_distances(codes, items, hasher.weights_)
        found.append(distance_histogram(distances, queries[1], database[1]))
    return [each.average_precision().mean() for each in found]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", help="npz file with X_train, y_train, X_test, y_test")
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--bits", type=int, nargs="+", default=[16, 32, 64])
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args()
    for name, data in find_sets(options.data).items():
        print(f"\n{name}: mean AP_T over {options.seeds} seeds and its standard error; fit, CPU s")
        for method in options.methods.split(","):
            prototype = method_from_name(method)
            for n_bits in options.bits:
                runs, seconds = [], 0.0
                for seed in range(options.seeds):
                    train, queries, database = split(*data, seed)
                    hasher = clone(prototype).set_params(n_bits=n_bits, random_state=seed)
                    start = time.process_time()
                    hasher.fit(*train)
                    seconds += time.process_time() - start
                    runs.append(average_precisions(hasher, queries, database))
                for kind, values in zip(("", ", weighted"), zip(*runs)):
                    error = np.std(values, ddof=min(1, len(values) - 1)) / np.sqrt(len(values))
                    cell = f"{np.mean(values):.4f} ±{error:.4f}"
                    label = f"{method}{kind}, {n_bits} bits"
                    print(f"  {label:32s} {cell}   {seconds / options.seeds:.2f}", flush=True)


if __name__ == "__main__":
    main()
