"""Hashers on the features of a network, on their principal components, and on mixed units.

    python -m benchmarks.notes.feature_scales [--features DEEP.npz] [--methods NAME,...]
        [--bits 12,32]
        [--seeds 3]

Protocol: 100 queries per class (digits: 30); the database is all other rows; 500 training rows per
class (digits: the whole database). A row says the mean tie-aware AP of the features as they are,
and what it gains by scikit-learn's PCA(512) of the training rows in front, or when one feature or
five are multiplied by 10,000, with the standard deviation over the seeds. DEEP.npz holds X in
bytes, y and scale. The papers' own versions, ``rsh-paper`` and ``lwh-paper``, leave units as they
are.
"""

import argparse

import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

from benchmarks.protocols import average_precision, by_class, deep_features
from benchmarks.sheet import Sheet
from sklearn_hashrank.comparison import method_from_name

WITHOUT_SCALES = ("pca", "pca-rr", "itq")  # what varies most is all that they look for
QUICK = ("itq", "rsh", "lwh", "talr-ap", "dsh", "dispersed", "ksh", "talr-kernel")
LEARNERS = (
    *(*WITHOUT_SCALES, "rsh", "lwh", "talr-ap", "dsh", "dispersed", "classifier", "dpsh", "dtsh"),
    *("hashnet", "mihash", "structhash", "machash", "ssh", "bre", "ksh", "talr-kernel"),
)


def raw(X, train, seed):
    return X


def components(X, train, seed):
    return PCA(512, random_state=seed).fit(X[train]).transform(X)


def mixed_units(n_features):
    """A change of some features, around the one of median deviation."""

    def change(X, train, seed):
        by_deviation = np.argsort(X[train].std(axis=0))
        first = (len(by_deviation) - n_features + 1) // 2
        X = X.copy()
        X[:, by_deviation[first : first + n_features]] *= 10_000
        return X

    return change


IN_OTHER_UNITS = (
    ("with one feature times 10,000", mixed_units(1), WITHOUT_SCALES, 0.05),
    ("with five features times 10,000", mixed_units(5), WITHOUT_SCALES, 0.05),
)
AFTER_PCA = ("after PCA(512)", components, (), 0.01)


def measure(sheet, path, methods=QUICK, lengths=(12, 32), seeds=3):
    """Sheet sections of what AP gains in mixed units; of network features, after a PCA as well."""
    X, y = load_digits(return_X_y=True)
    draws = [by_class(y, np.random.RandomState(seed), 30, None) for seed in range(seeds)]
    _compare(sheet, "Digits", X, y, draws, methods, lengths, IN_OTHER_UNITS)
    if path:
        X, y = deep_features(path)
        draws = [by_class(y, np.random.RandomState(seed)) for seed in range(seeds)]
        changes = AFTER_PCA, *IN_OTHER_UNITS[:1]
        _compare(sheet, "Network features", X, y, draws, methods, lengths, changes)


def _compare(sheet, data, X, y, draws, methods, lengths, changes):
    def run(prepare, skipped=()):
        runs = [(name, n_bits) for name in methods if name not in skipped for n_bits in lengths]
        scores = {run: [] for run in runs}
        for seed, rows in enumerate(draws):
            prepared = prepare(X, rows[-1], seed)
            for name, n_bits in runs:
                scores[name, n_bits].append(_score(name, n_bits, seed, prepared, y, *rows))
        return {run: np.array(values) for run, values in scores.items()}

    before = run(raw)
    for title, prepare, skipped, most_lost in changes:
        sheet.section(f"{data} {title}: what AP gains, {len(draws)} seeds")
        for (name, n_bits), values in run(prepare, skipped).items():
            gains = values - before[name, n_bits]
            spread = np.std(gains, ddof=min(1, len(draws) - 1))
            work = f"{name}, {n_bits} bits: {before[name, n_bits].mean():.3f}, then "
            work += f"{values.mean():.3f}, ±{spread:.3f}"
            sheet.row(work, gains.mean(), "AP", at_least=-most_lost)


def _score(name, n_bits, seed, X, y, query, database, train):
    hasher = method_from_name(name).set_params(n_bits=n_bits)
    if "random_state" in hasher.get_params():
        hasher.set_params(random_state=seed)
    return average_precision(hasher.fit(X[train], y[train]), X, y, query, database)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--features", help="npz file with X, y and scale")
    parser.add_argument("--methods", type=lambda text: text.split(","), default=LEARNERS)
    parser.add_argument(
        "--bits", type=lambda text: [int(n) for n in text.split(",")], default=[12, 32]
    )
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    measure(Sheet(), options.features, options.methods, options.bits, options.seeds)


if __name__ == "__main__":
    main()
