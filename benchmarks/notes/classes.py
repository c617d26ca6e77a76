"""Many classes with few rows each, and classes that nobody trained on.

    python -m benchmarks.notes.classes --intents CLINC.npz [--seeds 3]

The file holds X_train, X_test, intent_train and intent_test: sentence embeddings of CLINC150, whose
150 intents have 100 training rows each. A figure is a mean tie-aware AP.

*Many classes*: all rows of each intent to train on, and 20. Queries are the test rows, the database
is all training rows. *Unseen classes*: 100 intents are trained on, rows of the other 50 retrieve
each other; five draws of the classes.
"""

import argparse
from functools import partial

import numpy as np

from benchmarks.protocols import average_precision, intents
from benchmarks.sheet import Sheet
from sklearn_hashrank import (
    ClassifierHasher,
    ITQHasher,
    LWHHasher,
    RSHHasher,
    TALRKernel,
    TALRLinear,
)
from sklearn_hashrank.model_selection import UnseenClassesSplit

AIMS = {16: 0.57, 32: 0.72, 64: 0.80}
BEHIND_RSH = 0.015
N_QUERIES, N_TRAIN, N_UNSEEN = 30, 100, 50
HASHERS = {
    "ITQ": ITQHasher,
    "codes of a classifier": ClassifierHasher,
    "RSH": RSHHasher,
    "LWH": LWHHasher,
    "TALR-AP": TALRLinear,
    "TALR-AP, dropout=0.5": partial(TALRLinear, dropout=0.5),
    "TALR on kernels": TALRKernel,
}


def measure(sheet, path, seeds=3, n_draws=5):
    """Sheet sections of both."""
    X, y, query, database = intents(path)
    many_classes(sheet, X, y, query, database, seeds)
    unseen_classes(sheet, X, y, n_draws)


def many_classes(sheet, X, y, query, database, seeds):
    """Mean AP of all intents at several lengths, from all training rows and from a fifth."""
    for n_rows in (100, 20):
        sheet.section(f"150 intents, {n_rows} training rows each: mean AP over {seeds} seeds")
        for label, make in HASHERS.items():
            for n_bits in (16, 32, 64):
                scores = []
                for seed in range(seeds):
                    train = database[_rows_of_each(y[database], n_rows, seed)]
                    hasher = make(n_bits=n_bits, random_state=seed).fit(X[train], y[train])
                    scores.append(average_precision(hasher, X, y, query, database))
                aim = AIMS[n_bits] if n_rows == 100 and label == "TALR-AP" else None
                work = f"{label}, {n_bits} bits, ±{np.std(scores, ddof=min(1, seeds - 1)):.4f}"
                sheet.row(work, np.mean(scores), "AP", at_least=aim)


def unseen_classes(sheet, X, y, n_draws):
    """Mean AP of unseen intents, and what TALR is ahead of RSH in the mean of both lengths."""
    sheet.section(
        f"50 unseen intents, 100 to train on: mean AP over {n_draws} draws of the classes"
    )
    means = {}
    for label, make in HASHERS.items():
        for n_bits in (32, 64):
            protocol = UnseenClassesSplit(N_QUERIES, N_TRAIN, n_test_classes=N_UNSEEN)
            scores = []
            for seed in range(n_draws):
                protocol.random_state = seed
                [(train, query, database)] = protocol.split(X, y)
                hasher = make(n_bits=n_bits, random_state=seed).fit(X[train], y[train])
                scores.append(average_precision(hasher, X, y, query, database))
            means[label, n_bits] = np.mean(scores)
            work = f"{label}, {n_bits} bits, ±{np.std(scores, ddof=min(1, n_draws - 1)):.4f}"
            sheet.row(work, np.mean(scores), "AP")
    for label in HASHERS:
        if label.startswith("TALR-AP"):
            ahead = np.mean([means[label, n] - means["RSH", n] for n in (32, 64)])
            sheet.row(f"{label}, ahead of RSH", ahead, "AP", at_least=-BEHIND_RSH)


def _rows_of_each(y, n_rows, seed):
    order = np.random.RandomState(seed).permutation(len(y))
    rows = [order[y[order] == label][:n_rows] for label in np.unique(y)]
    return np.sort(np.concatenate(rows))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--intents", required=True, help="npz file, see above")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--draws", type=int, default=5, help="of the unseen classes")
    options = parser.parse_args()
    measure(Sheet(), options.intents, options.seeds, options.draws)


if __name__ == "__main__":
    main()
