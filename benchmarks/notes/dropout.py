"""TALRLinear where training rows are few: dropout, and the objective of HashNet.

    python -m benchmarks.notes.dropout [--data GIST.npz] [--features DEEP.npz] [--intents CLINC.npz]
        [--fashion-mnist FOLDER] [--bits 32] [--seeds 3]

All rows are of the training part of a file. A figure is a mean tie-aware AP: queries retrieve new
rows, which were not trained on, and the training rows. Data sets that are not there are left out.
"""

import argparse
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.protocols import (
    FASHION_MNIST,
    average_precision,
    cell,
    deep_features,
    fashion_mnist,
    gist,
    intents,
)
from sklearn_hashrank import TALRLinear

HASHERS = {
    "dropout=0": partial(TALRLinear, dropout=0),
    "dropout=0.1": partial(TALRLinear, dropout=0.1),
    "dropout=0.4": partial(TALRLinear, dropout=0.4),
    "default": TALRLinear,
    "HashNet": partial(TALRLinear, objective="hashnet", max_iter=60),
}


def split(y, sizes, random_state):
    """Numbers of training rows, queries and new rows: so many of each class, disjoint."""
    parts = []
    for label in np.unique(y):
        rows = random_state.permutation(np.flatnonzero(y == label))
        parts.append(np.split(rows[: sum(sizes)], np.cumsum(sizes)[:-1]))
    return [np.concatenate(part) for part in zip(*parts, strict=True)]


def find_sets(options):
    """Title, rows, labels, and training rows, queries and new rows of each class."""
    sets = []
    if options.features:
        X, y = deep_features(options.features)
        sets.append(("Network features", X[:50_000], y[:50_000]))
    if options.data:
        X, y = gist(options.data)
        sets.append(("GIST", X[:50_000], y[:50_000]))
    if Path(options.fashion_mnist).is_dir():
        X, y = fashion_mnist(options.fashion_mnist)
        sets.append(("Fashion-MNIST", X[:60_000], y[:60_000]))
    for title, X, y in sets:
        for n_train in (100, 300):
            yield title, X, y, (n_train, 60, 500)
    if options.intents:
        X, y, _, training_part = intents(options.intents)
        for n_train in (15, 60):
            yield "150 intents", X[training_part], y[training_part], (n_train, 20, 20)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", help="npz file with X_train, y_train, X_test, y_test")
    parser.add_argument("--features", help="npz file with X, y and scale")
    parser.add_argument("--intents", help="npz file with X_train, intent_train, X_test, ...")
    parser.add_argument("--fashion-mnist", default=FASHION_MNIST, help="folder of the idx files")
    parser.add_argument("--bits", type=int, default=32)
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    for title, X, y, sizes in find_sets(options):
        print(f"\n{title}, {sizes[0]} training rows of each class, {options.bits} bits")
        print(f"{'':14s}{'new rows':18s}training rows")
        for label, make in HASHERS.items():
            found = []
            for seed in range(options.seeds):
                train, query, new = split(y, sizes, np.random.RandomState(seed))
                hasher = make(n_bits=options.bits, random_state=seed).fit(X[train], y[train])
                found.append([average_precision(hasher, X, y, query, d) for d in (new, train)])
            cells = [cell(scores, 3) for scores in np.transpose(found)]
            print(f"{label:14s}{cells[0]:18s}{cells[1]}", flush=True)


if __name__ == "__main__":
    main()
