"""Quality of the hashers beside what is expected of them, over seeds.

    python -m benchmarks.notes.quality [--data GIST.npz] [--features DEEP.npz]
        [--fashion-mnist FOLDER]
        [--only RSH,TALR-AP] [--seeds 3]

Protocol: 100 queries per class; the database is all other rows; 500 training rows per class, a
subset of the database. A figure is the mean tie-aware AP; data sets that are not there are left
out.
"""

import argparse
from pathlib import Path

import numpy as np

from benchmarks.protocols import (
    FASHION_MNIST,
    average_precision,
    by_class,
    deep_features,
    fashion_mnist,
    gist,
)
from benchmarks.sheet import Sheet
from sklearn_hashrank import (
    ClassifierHasher,
    ITQHasher,
    LSHHasher,
    LWHHasher,
    RSHHasher,
    TALRLinear,
)

HASHERS = {
    "LSH": LSHHasher,
    "ITQ": ITQHasher,
    "RSH": RSHHasher,
    "LWH": LWHHasher,
    "TALR-AP": TALRLinear,
    "codes of a classifier": ClassifierHasher,
}
AIMS = {
    "Fashion-MNIST pixels": {
        "RSH": {12: 0.64, 32: 0.685, 48: 0.69},
        "LWH": {12: 0.50, 24: 0.57, 32: 0.60},
        "TALR-AP": {12: 0.722, 24: 0.75, 32: 0.758, 48: 0.765},
    },
    "CIFAR-10 GIST": {
        "RSH": {12: 0.23, 32: 0.265, 48: 0.275, 128: 0.29},
        "LWH": {12: 0.20, 24: 0.235, 32: 0.23},
        "TALR-AP": {12: 0.306, 24: 0.334, 32: 0.342, 48: 0.354},
    },
    "CIFAR-10 network features": {
        "RSH": {12: 0.62, 32: 0.67, 48: 0.68},
        "LWH": {12: 0.58, 32: 0.63},
        "TALR-AP": {12: 0.67, 24: 0.70, 32: 0.71, 48: 0.72},
    },
}


def measure(sheet, sets, seeds=3, bits=(12, 24, 32, 48), hashers=tuple(HASHERS)):
    """Mean AP of every hasher on every data set."""
    for name, (X, y) in sets.items():
        sheet.section(f"{name}: mean tie-aware AP over {seeds} seeds")
        for label in hashers:
            make = HASHERS[label]
            aims = AIMS[name].get(label, {})
            for n_bits in sorted({*bits, *aims}):
                scores = []
                for seed in range(seeds):
                    query, database, train = by_class(y, np.random.RandomState(seed))
                    hasher = make(n_bits=n_bits, random_state=seed).fit(X[train], y[train])
                    scores.append(average_precision(hasher, X, y, query, database))
                work = f"{label}, {n_bits} bits, ±{np.std(scores, ddof=min(1, seeds - 1)):.4f}"
                sheet.row(work, np.mean(scores), "AP", at_least=aims.get(n_bits))


def find_sets(data, folder, features=None):
    """The data sets that are there."""
    sets = {}
    if Path(folder).is_dir():
        sets["Fashion-MNIST pixels"] = fashion_mnist(folder)
    if data:
        sets["CIFAR-10 GIST"] = gist(data)
    if features:
        sets["CIFAR-10 network features"] = deep_features(features)
    return sets


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", help="npz file with X_train, y_train, X_test, y_test")
    parser.add_argument("--features", help="npz file with X, y and scale")
    parser.add_argument("--fashion-mnist", default=FASHION_MNIST, help="folder of the idx files")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--only", help=f"some of {','.join(HASHERS)}", default=",".join(HASHERS))
    options = parser.parse_args()
    sets = find_sets(options.data, options.fashion_mnist, options.features)
    measure(Sheet(), sets, options.seeds, hashers=options.only.split(","))


if __name__ == "__main__":
    main()
