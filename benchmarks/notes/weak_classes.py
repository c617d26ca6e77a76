"""RSH, iterative quantization and random hyperplanes on many weak classes, seen and not.

    python -m benchmarks.notes.weak_classes [--data GIST.npz] [--features DEEP.npz] [--bits 64]
        [--seeds 3]

The sets are those of `groups.py`: classes of images cut into 20 each. Those that are not cut by
k-means alone are weak. A figure is a mean tie-aware AP of rows that are not trained on as queries.
They retrieve the training rows; new rows; and, of a third of the classes that nobody trains on, new
rows of these.
"""

import argparse

import numpy as np

from benchmarks.notes.groups import find_sets, split
from benchmarks.protocols import average_precision, cell
from sklearn_hashrank import ITQHasher, LSHHasher, RSHHasher

HASHERS = {"RSH": RSHHasher, "ITQ": ITQHasher, "LSH": LSHHasher}


def scores_of(make, X, y, rows, unseen, n_bits, seed):
    """AP with training rows as the database, with new rows, and of classes not trained on."""
    train, query, new = rows

    def fitted(some):
        return make(n_bits=n_bits, random_state=seed).fit(X[some], y[some])

    def without(some):
        return some[~np.isin(y[some], unseen)]

    def only(some):
        return some[np.isin(y[some], unseen)]

    hasher = fitted(train)
    seen = [average_precision(hasher, X, y, query, database) for database in (train, new)]
    hasher = fitted(without(train))
    return [*seen, average_precision(hasher, X, y, only(query), only(new))]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", help="npz file with X_train, y_train, X_test, y_test")
    parser.add_argument("--features", help="npz file with X, y and scale")
    parser.add_argument("--bits", type=int, default=64)
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    options.intents = None
    for title, X, y, sizes in find_sets(options):
        if title.endswith("by k-means"):
            continue
        print(f"\n{title}, {options.bits} bits: training rows, new rows, classes not trained on")
        for label, make in HASHERS.items():
            found = []
            for seed in range(options.seeds):
                classes = np.random.RandomState(50 + seed).permutation(np.unique(y))
                unseen, rows = classes[: len(classes) // 3], split(y, sizes, seed)
                found.append(scores_of(make, X, y, rows, unseen, options.bits, seed))
            print(f"{label:4s}", "   ".join(map(cell, np.transpose(found))), flush=True)


if __name__ == "__main__":
    main()
