"""What the objectives of DispersionHasher do to code usage, mLGAP and average precision.

    python -m benchmarks.notes.dispersion [--fashion-mnist FOLDER] [--only objectives ...]
        [--data GIST.npz] [--deep FEATURES.npz]

Protocol: Fashion-MNIST, 100 queries per class; the database is all other rows; 500 training rows
per class, a subset of the database. The other data sets are part of `sets` alone; of the digits
there are 20 queries and 60 training rows per class. Mean and standard deviation over seeds.
"""

import argparse
import time
from functools import partial

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits
from sklearn.kernel_approximation import Nystroem
from sklearn.pipeline import make_pipeline

from benchmarks.protocols import FASHION_MNIST, by_class, deep_features, fashion_mnist, gist
from benchmarks.sheet import best_of
from sklearn_hashrank import DispersionHasher, ITQHasher, LSHHasher, TALRLinear
from sklearn_hashrank import objectives as losses
from sklearn_hashrank.metrics import (
    code_usage,
    local_group_average_precision_score,
    tie_aware_average_precision_score,
)
from sklearn_hashrank.objectives.pairwise._distances import CityBlock

DSH = partial(DispersionHasher, objective="dsh")
DISPERSED = partial(DispersionHasher, objective="dispersed")
PRINTED = {"margin": 2.0, "zone": (1 / 6, 1 / 3)}
PAPER = partial(DispersionHasher, objective=losses.Dispersed(**PRINTED))
SUPERCLASS = np.array([2, 3, 2, 3, 2, 4, 2, 4, 5, 4])  # tops, trousers and dresses, shoes, bags


def describe(hasher, X, y, query, database):
    """Return distinct codes, entropy of the code distribution, mLGAP and AP_T."""
    query_codes, codes = hasher.predict(X[query]), hasher.predict(X[database])
    usage = code_usage(codes)
    retrieval = y[query], query_codes
    options = {"database": (y[database], codes), "n_jobs": 2}
    return (
        usage.n_distinct,
        usage.entropy,
        local_group_average_precision_score(*retrieval, **options),
        tie_aware_average_precision_score(*retrieval, **options),
    )


def compare(X, y, hashers, seeds, bits=(12, 24), measured=None, n_query=100, n_train=500):
    """Print one line for each hasher and number of bits; `hashers` may name their own labels."""
    relevant = y if measured is None else measured
    for n_bits in bits:
        head = f"{n_bits} bits, {seeds} seeds"
        print(f"\n{head:40s} codes  entropy   mLGAP            AP_T")
        for label, make in hashers.items():
            figures, seconds = [], 0.0
            for seed in range(seeds):
                rng = np.random.RandomState(seed)
                query, database, train = by_class(y, rng, n_query, n_train)
                make_one, labels = make if isinstance(make, tuple) else (make, y)
                hasher = make_one(n_bits=n_bits, random_state=seed)
                start = time.process_time()
                hasher.fit(X[train], labels[train])
                seconds += time.process_time() - start
                figures.append(describe(hasher, X, relevant, query, database))
            means = np.mean(figures, axis=0)
            spread = np.std(figures, axis=0, ddof=min(1, seeds - 1))
            print(
                f"  {label:36s} {means[0]:7.0f}   {means[1]:6.2f}   "
                f"{means[2]:.4f} ±{spread[2]:.4f}   {means[3]:.4f} ±{spread[3]:.4f}   "
                f"fit {seconds / seeds:.2f} s CPU",
                flush=True,
            )


def objectives(X, y, seeds):
    """Plain DSH against the dispersed objective as the paper has them; others for comparison."""
    makers = {
        "LSH": LSHHasher,
        "ITQ": ITQHasher,
        "TALR-AP": partial(TALRLinear, objective="ap"),
        "DSH": DSH,
        "dispersed": DISPERSED,
        "dispersed, the paper's zone": PAPER,
    }
    compare(X, y, makers, seeds)


def zones(X, y, seeds):
    """Which part of the dispersed objective does what: the zone or the margin."""
    makers = {"DSH": DSH}
    for margin in (2.0, 1.0):
        for name, zone in {
            "no zone": (0, 0),
            "zone 1/6 to 1/3": (1 / 6, 1 / 3),
            "zone 1/3 to 2/3": (1 / 3, 2 / 3),
            "zone 2/3 to 1": (2 / 3, 1),
        }.items():
            makers[f"dispersed, margin {margin:.0f}, {name}"] = partial(
                DispersionHasher, objective=losses.Dispersed(margin=margin, zone=zone)
            )
    compare(X, y, makers, seeds)


def hierarchy(X, y, seeds):
    """Classes within superclasses, measured against either."""
    paths = np.column_stack([SUPERCLASS[y], y])
    hierarchical = partial(DispersionHasher, objective="hierarchical")
    makers = {
        "DSH of classes": (DSH, y),
        "DSH of superclasses": (DSH, paths[:, 0]),
        "dispersed, superclasses": (DISPERSED, paths[:, 0]),
        "hierarchical": (hierarchical, paths),
        "nested, as printed": (partial(DispersionHasher, objective="nested"), paths),
        "hierarchical, the paper's zone": (
            partial(DispersionHasher, objective=losses.Hierarchical(**PRINTED)),
            paths,
        ),
        "hierarchical, margin 1": (
            partial(DispersionHasher, objective=losses.Hierarchical(zone=(1 / 6, 1 / 3))),
            paths,
        ),
    }
    for name, measured in {"superclasses": paths[:, 0], "classes": y}.items():
        print(f"\nrelevance by {name}", end="")
        compare(X, y, makers, seeds, measured=measured)


def sets(data, deep, seeds):
    """DSH and the dispersed objective on other data sets."""
    makers = {"DSH": DSH, "dispersed": DISPERSED, "dispersed, the paper's zone": PAPER}
    X, y = load_digits(return_X_y=True)
    print("\ndigits", end="")
    compare(X.astype(np.float32), y, makers, seeds, n_query=20, n_train=60)
    for name, load, path in (("GIST", gist, data), ("deep features", deep_features, deep)):
        if path:
            print(f"\n{name}", end="")
            compare(*load(path), makers, seeds)


def nearness(X, y, seeds):
    """How far apart relevant training pairs end up, in units of the dispersed objective."""
    for n_bits in (12, 24):
        for label, options in {
            "the paper's": {"margin": 2.0, "zone": (1 / 6, 1 / 3)},
            "margin 2, no zone": {"margin": 2.0, "zone": (0, 0)},
            "defaults": {},
            "margin 1, no zone": {"zone": (0, 0)},
        }.items():
            shares = []
            for seed in range(seeds):
                rows = by_class(y, np.random.RandomState(seed))[2]
                hasher = DISPERSED(n_bits, random_state=seed, **options).fit(X[rows], y[rows])
                rows = np.random.RandomState(seed).permutation(rows)[:1000]
                distances = CityBlock.distances(hasher.decision_function(X[rows])) / n_bits
                relevant = (y[rows][:, None] == y[rows]) & ~np.eye(len(rows), dtype=bool)
                shares.append([np.mean(distances[relevant] < end) for end in (1 / 6, 1 / 3)])
            near, within = np.mean(shares, axis=0)
            print(
                f"  {n_bits} bits, {label:20s} relevant pairs nearer than 1/6 per bit: {near:.2%}, "
                f"than 1/3: {within:.2%}"
            )


def kernel_map(X, y, seeds):
    """Features that let classes collapse: Nystroem(1000), and 2,000 training rows per class."""

    def mapped(n_bits, random_state, **options):
        return make_pipeline(
            Nystroem(gamma=0.01, n_components=1000, random_state=random_state),
            DispersionHasher(n_bits=n_bits, random_state=random_state, **options),
        )

    makers = {
        "DSH": partial(mapped, objective="dsh"),
        "dispersed": mapped,
        "dispersed, the paper's zone": partial(mapped, objective=losses.Dispersed(**PRINTED)),
        "dispersed, margin 1, no zone": partial(mapped, objective=losses.Dispersed(zone=(0, 0))),
    }
    compare(X, y, makers, seeds, n_train=2000)


def robustness(X, y, seeds):
    """The same hashers on changed features; figures must agree."""
    for name, change in {"as given": X, "1000 X + 7": 1000 * X + 7}.items():
        print(f"\n{name}", end="")
        compare(change, y, {"DSH": DSH, "dispersed": DISPERSED}, seeds, bits=(24,))


def step(X, y, seeds):
    """Time of value and gradient for one batch, against the M x M x bits array of differences."""
    rng = np.random.default_rng(0)
    codes = rng.normal(size=(256, 32)).astype(np.float32)
    labels = y[rng.permutation(len(y))[:256]]
    level = (labels[:, None] == labels).astype(np.uint8)
    levels, dispersed = np.array([0.0, 1.0]), losses.Dispersed()
    low, high = (32 * dispersed.zones(levels)).astype(np.float32).T

    def direct():
        differences = codes[:, None] - codes
        distances = np.abs(differences).sum(axis=2)
        below, above = low[level] - distances, distances - high[level]
        slope = 0.5 * ((above > 0).astype(np.float32) - (below > 0))
        np.fill_diagonal(slope, 0)
        gradient = -2 * (slope[:, :, None] * np.sign(differences)).sum(axis=1) / 256 / 255
        return gradient - 0.02 / 256 * np.sign(np.abs(codes) - 1) * np.sign(codes)

    ours = partial(dispersed.value_and_gradient, codes, level, levels)
    assert np.abs(ours()[1] - direct()).max() < 1e-6
    calls = {
        "dispersed": ours,
        "dsh": partial(losses.DSH().value_and_gradient, codes, level, levels),
        "distances alone, scipy cdist": partial(cdist, codes, codes, "cityblock"),
        "dispersed, direct in numpy": direct,
    }
    for name, call in calls.items():
        call()
        best, _ = best_of(call, 20)
        print(f"  {name:32s} {1e3 * best:7.2f} ms")


PARTS = {
    part.__name__: part
    for part in (objectives, zones, nearness, kernel_map, hierarchy, robustness, step)
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fashion-mnist", default=FASHION_MNIST, help="folder of the idx files")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--data", help="npz file with X_train, y_train, X_test, y_test")
    parser.add_argument("--deep", help="npz file with X in bytes, y and scale")
    names = ["sets", *PARTS]
    parser.add_argument("--only", nargs="*", choices=names, default=names)
    options = parser.parse_args()
    X, y = fashion_mnist(options.fashion_mnist)
    for part in options.only:
        print(f"\n== {part}")
        if part == "sets":
            sets(options.data, options.deep, options.seeds)
        else:
            PARTS[part](X, y, options.seeds)


if __name__ == "__main__":
    main()
