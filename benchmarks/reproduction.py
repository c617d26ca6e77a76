"""The experiments of the papers behind the hashers, as far as data at hand allow.

    python benchmarks/reproduction.py --data GIST.npz --multilabel TMC.npz [--only PART ...]

GIST.npz holds X_train, y_train, X_test, y_test; TMC.npz holds X, of word counts, and Y, of labels.
Prints reStructuredText tables: means over seeds, with the standard deviation.
"""

import argparse
import warnings
from functools import partial

import numpy as np
from protocols import FASHION_MNIST, by_class, cell, fashion_mnist, gist
from sklearn.exceptions import ConvergenceWarning

from sklearn_hashrank import (
    EuclideanAffinity,
    HierarchicalAffinity,
    ITQHasher,
    LabelAffinity,
    LSHHasher,
    LWHHasher,
    RSHHasher,
    SharedLabelAffinity,
    TALRLinear,
    retrieval_histogram,
)

PAPER = {"solver": "alm", "shrinkage": 1, "rotation": None, "spread": "orthogonal"}
ANIMALS = np.array([0, 0, 1, 1, 1, 1, 1, 1, 0, 0])  # of CIFAR-10
GARMENTS = np.array([0, 1, 0, 0, 0, 2, 0, 2, 3, 2])  # tops, trousers, shoes, bags


class Task:
    """Features, what they are compared by, and rows drawn for a seed."""

    def __init__(self, name, X, y, affinity, split):
        self.name, self.X, self.y, self.affinity, self.split = name, X, y, affinity, split


def at_random(n_query, n_train):
    """Random queries, all other rows as database, of which some train."""

    def split(task, seed):
        rows = np.random.RandomState(seed).permutation(len(task.X))
        return rows[:n_query], rows[n_query:], rows[n_query:][:n_train]

    return split


def per_class(n_query=100, n_train=500):
    def split(task, seed):
        return by_class(task.y, np.random.RandomState(seed), n_query, n_train)

    return split


def measure(hasher, task, seed, measures):
    """Every measure of one fitted hasher, from one histogram."""
    query, database, train = task.split(task, seed)
    if task.y is None:
        targets, y_train = task.X, None
    else:
        targets, y_train = task.y, task.y[train]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        hasher.set_params(output="packed").fit(task.X[train], y_train)
    affinity = task.affinity
    if affinity is None:  # thresholds at quantiles of the training distances
        affinity = getattr(hasher, "affinity_", EuclideanAffinity())
    histogram = retrieval_histogram(
        hasher.transform(task.X[query]),
        hasher.transform(task.X[database]),
        targets[query],
        targets[database],
        affinity=affinity,
        n_bits=hasher.n_bits,
        n_jobs=2,
    )
    return {name: float(np.nanmean(values(histogram))) for name, values in measures.items()}


def tables(task, methods, bits, seeds, measures):
    """Print one table for each measure."""
    found = {}
    for label, make in methods.items():
        for n_bits in bits:
            runs = [
                measure(make(n_bits=n_bits, random_state=seed), task, seed, measures)
                for seed in range(seeds)
            ]
            found[label, n_bits] = {name: [run[name] for run in runs] for name in measures}
    for name in measures:
        rows = [
            [label, *(cell(found[label, n_bits][name], 3) for n_bits in bits)] for label in methods
        ]
        print_table(f"{task.name}: {name}", ["", *(f"{n_bits} bits" for n_bits in bits)], rows)


def print_table(title, header, rows):
    """Print a reStructuredText csv-table."""
    print(f"\n.. csv-table:: {title}\n   :header: {', '.join(map(repr_cell, header))}\n")
    for row in rows:
        print(f"   {', '.join(map(repr_cell, row))}", flush=True)


def repr_cell(text):
    return f'"{text}"'


def rsh(sets, options):
    """NDCG of eq. 12 and ACG within radius 3; 100 queries x 1,000 items; 1,000 random queries."""
    sampled = {"n_queries": 100, "n_database": 1000}
    methods = {
        "LSH": LSHHasher,
        "ITQ": ITQHasher,
        "RSH, the paper's": partial(RSHHasher, **PAPER, **sampled),
        "RSH, rotated and whitened": partial(RSHHasher, **sampled),
    }
    measures = {
        "NDCG": lambda h: h.ndcg(gain="linear", discount="log2"),
        "ACG within radius 3": lambda h: h.average_cumulative_gain(radius=3),
    }
    split = at_random(1000, 5000)
    tasks = []
    X, y = sets["Fashion-MNIST"]
    paths = np.column_stack([GARMENTS[y], y])
    tasks.append(Task("Fashion-MNIST, label paths", X, paths, HierarchicalAffinity(), split))
    if "GIST" in sets:
        X, y = sets["GIST"]
        paths = np.column_stack([ANIMALS[y], y])
        tasks.append(Task("CIFAR-10 GIST, label paths", X, paths, HierarchicalAffinity(), split))
    if "multilabel" in sets:
        X, Y = sets["multilabel"]
        tasks.append(Task("tmc2007-500, shared labels", X, Y, SharedLabelAffinity(), split))
    for task in tasks:
        tables(task, methods, (8, 16, 24, 32), options.seeds, measures)
    if "GIST" in sets:
        X = unit_rows(sets["GIST"][0])
        affinity = EuclideanAffinity(percentiles=[5, 2], levels=[1, 2]).fit(X[:5000])
        task = Task("CIFAR-10 GIST, Euclidean levels 5 % and 2 %", X, None, affinity, split)
        unlabelled = {
            label: make if label in ("LSH", "ITQ") else partial(make, affinity=affinity)
            for label, make in methods.items()
        }
        tables(task, unlabelled, (8, 16, 24, 32), options.seeds, measures)


def lwh(sets, options):
    """MAP, PH2 and recall; 300 queries of 1,000 labelled rows; 2,000 random queries."""
    sampled = {"n_queries": 300, "n_database": 1000}
    methods = {
        "LSH": LSHHasher,
        "ITQ": ITQHasher,
        "RSH, the paper's": partial(RSHHasher, **PAPER, **sampled),
        "RSH": partial(RSHHasher, **sampled),
        "LWH": partial(LWHHasher, **sampled),
    }
    measures = {
        "mean AP": lambda h: h.average_precision(),
        "PH2": lambda h: h.lookup_precision(radius=2),
        "recall at 1,000": lambda h: h.recall(k=1000),
    }
    tasks = []
    for name in ("Fashion-MNIST", "GIST"):
        if name in sets:
            X, y = sets[name]
            tasks.append(Task(name, X, y, LabelAffinity(), at_random(2000, 1000)))
    if "multilabel" in sets:
        X, Y = sets["multilabel"]
        affinity = SharedLabelAffinity()
        tasks.append(Task("tmc2007-500, any shared label", X, Y, affinity, at_random(2000, 1000)))
    for task in tasks:
        tables(task, methods, (8, 16, 24, 32, 48), options.seeds, measures)


def talr(sets, options):
    """AP in the two settings, NDCG of shared labels, NDCG of Euclidean levels."""
    methods = {"LSH": LSHHasher, "ITQ": ITQHasher, "RSH": RSHHasher, "LWH": LWHHasher}
    methods["TALR-AP"] = partial(TALRLinear, objective="ap")
    ap = {"mean AP": lambda h: h.average_precision()}
    ndcg = {"NDCG": lambda h: h.ndcg()}
    bits = (12, 24, 32, 48)
    for name in ("Fashion-MNIST", "GIST"):
        if name in sets:
            X, y = sets[name]
            first = Task(f"{name}, setting 1", X, y, LabelAffinity(), per_class())
            tables(first, methods, bits, options.seeds, ap)
            second = Task(f"{name}, setting 2", X, y, LabelAffinity(), per_class(1000, None))
            large = {label: methods[label] for label in ("ITQ", "RSH", "TALR-AP")}
            tables(second, large, bits, options.seeds, ap)
    methods["TALR-NDCG"] = partial(TALRLinear, objective="ndcg")
    if "multilabel" in sets:
        X, Y = sets["multilabel"]
        task = Task("tmc2007-500", X, Y, SharedLabelAffinity(), at_random(2100, 10_500))
        tables(task, methods, (16, 32, 48, 64), options.seeds, ap | ndcg)


def ties(sets, options):
    """How far AP moves with the order of ties: 1,000 queries, LSH, drawn several times."""
    for name, (X, y) in sets.items():
        if name == "multilabel":
            continue
        rows = []
        task = Task(name, X, y, LabelAffinity(), at_random(1000, 1000))
        kinds = ("pessimistic", "expected", "optimistic")
        measures = {kind: (lambda h, ties=kind: h.average_precision(ties=ties)) for kind in kinds}
        for n_bits in (8, 16, 32, 48, 64):
            runs = [
                measure(LSHHasher(n_bits, random_state=seed), task, seed, measures)
                for seed in range(options.draws)
            ]
            rows.append([n_bits, *(cell([run[kind] for run in runs], 3) for kind in kinds)])
        print_table(f"{name}: mean AP of LSH over the order of ties", ["bits", *kinds], rows)


def unit_rows(X):
    """Centred rows of unit length."""
    X = X - X.mean(axis=0)
    return X / np.linalg.norm(X, axis=1, keepdims=True)


PARTS = {part.__name__: part for part in (rsh, lwh, talr, ties)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", help="npz file with X_train, y_train, X_test, y_test")
    parser.add_argument("--multilabel", help="npz file with X and Y")
    parser.add_argument("--fashion-mnist", default=FASHION_MNIST, help="folder of the idx files")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--draws", type=int, default=10, help="draws of the part `ties`")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    options = parser.parse_args()
    sets = {"Fashion-MNIST": fashion_mnist(options.fashion_mnist)}
    if options.data:
        sets["GIST"] = gist(options.data)
    if options.multilabel:
        with np.load(options.multilabel) as file:
            sets["multilabel"] = file["X"].astype(np.float32), file["Y"].astype(int)
    for part in options.only:
        print(f"\n{part}\n{'-' * len(part)}\n{PARTS[part].__doc__}")
        PARTS[part](sets, options)


if __name__ == "__main__":
    main()
