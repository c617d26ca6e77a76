"""Quality of the projection hashers on new rows, as `docs/notes/methods` shows it.

    python -m benchmarks.notes.peers_projections [--data GIST.npz] [--methods spectral,wta]
        [--draws 8]

Digits, and 2,000 training rows, 500 queries and 3,000 database rows of GIST features, of which
the database holds no training rows.
"""

import argparse
from itertools import product

import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_digits

from benchmarks.protocols import gist
from sklearn_hashrank import retrieval_histogram
from sklearn_hashrank.codes import spherical_distances
from sklearn_hashrank.comparison import method_from_name
from sklearn_hashrank.metrics import distance_histogram

METHODS = (
    "lsh",
    "pca-rr",
    "sklsh",
    "spectral",
    "spherical",
    "wta",
    "cmh",
    "density",
    "ssh:n_labeled=2000",
)


def find_sets(path):
    """Rows, labels and numbers of training rows, queries and database rows, by name."""
    sets = {"digits": (*load_digits(return_X_y=True), 800, 300, 697)}
    if path:
        sets["GIST"] = (*gist(path), 2000, 500, 3000)
    return sets


def split(X, y, n_train, n_queries, n_database, seed):
    """Rows and labels to train on, to ask with and to search."""
    order = np.random.RandomState(seed).permutation(len(X))
    ends = np.cumsum([n_train, n_queries, n_database])
    parts = np.split(order[: ends[-1]], ends[:-1])
    return [(X[part].astype(np.float64), y[part]) for part in parts]


def average_precisions(hasher, train, queries, database):
    """Mean tie-aware AP by Hamming distance, and of spheres by their own distance too."""
    hasher.fit(*train)
    codes, items = hasher.predict(queries[0]), hasher.predict(database[0])
    found = [retrieval_histogram(codes, items, queries[1], database[1])]
    if hasattr(hasher, "spheres_"):
        distances = spherical_distances(codes, items)
        found.append(distance_histogram(distances, queries[1], database[1]))
    return [each.average_precision().mean() for each in found]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", help="npz file with X_train, y_train, X_test, y_test")
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--bits", type=int, nargs="+", default=[16, 32, 64])
    parser.add_argument("--seeds", type=int, default=5, help="splits")
    parser.add_argument("--draws", type=int, default=1, help="hashers for each split")
    options = parser.parse_args()
    for name, data in find_sets(options.data).items():
        print(f"\n{name}: mean AP_T over {options.seeds} splits and its standard error")
        for method in options.methods.split(","):
            prototype, lines = method_from_name(method), {}
            for n_bits in options.bits:
                if n_bits > data[0].shape[1]:
                    continue
                runs = []
                for seed, draw in product(range(options.seeds), range(options.draws)):
                    hasher = clone(prototype).set_params(n_bits=n_bits)
                    hasher.set_params(random_state=options.draws * seed + draw)
                    runs.append(average_precisions(hasher, *split(*data, seed)))
                for kind, values in zip(("", " (spherical distance)"), zip(*runs)):
                    error = np.std(values, ddof=1) / np.sqrt(len(values))
                    lines.setdefault(kind, []).append(f"{np.mean(values):.4f} ±{error:.4f}")
            for kind, cells in lines.items():
                print(f"  {method + kind:34s} {'   '.join(cells)}", flush=True)


if __name__ == "__main__":
    main()
