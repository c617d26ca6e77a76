"""Quality and speed of RSHHasher beside the unsupervised baselines.

    python -m benchmarks.notes.rsh --data GIST.npz [--fashion-mnist FOLDER]
        [--only quality|speed|solvers]

Protocol: 100 queries per class; the database is all other rows; 500 training rows per class, a
subset of the database. Mean and standard deviation over seeds. Speed is printed as ratios to peers
measured in the same run.
"""

import argparse
import time
from functools import partial

import numpy as np

from benchmarks.protocols import (
    FASHION_MNIST,
    average_precision,
    by_class,
    cell,
    fashion_mnist,
    gist,
)
from benchmarks.sheet import Sheet, best_of
from sklearn_hashrank import (
    EuclideanAffinity,
    ITQHasher,
    LabelAffinity,
    LSHHasher,
    PCAHasher,
    RSHHasher,
)
from sklearn_hashrank._features.centered_rows import CenteredRows
from sklearn_hashrank.hashers.rsh._supervision import group_rows, supervise

PAPER = {"solver": "alm", "shrinkage": 1, "rotation": None, "spread": "eigenvectors"}
SAMPLED = partial(RSHHasher, n_queries=300, n_database=3000)
HASHERS = {
    "LSH": LSHHasher,
    "PCA": PCAHasher,
    "ITQ": ITQHasher,
    "RSH 300 x 3,000, paper": partial(SAMPLED, **PAPER),
    "RSH 300 x 3,000, paper + itq": partial(SAMPLED, **PAPER | {"rotation": "itq"}),
    "RSH 300 x 3,000, rotation=None": partial(SAMPLED, rotation=None),
    "RSH 300 x 3,000": SAMPLED,
    "RSH, paper": partial(RSHHasher, **PAPER),
    "RSH, paper + itq": partial(RSHHasher, **PAPER | {"rotation": "itq"}),
    "RSH, rotation=None": partial(RSHHasher, rotation=None),
    "RSH": RSHHasher,
}


def quality(name, X, y, seeds, bits=(12, 24, 32, 48)):
    print(f"\n{name}, AP_T: mean and deviation over {seeds} seeds, {bits} bits")
    for label, make in HASHERS.items():
        cells, seconds = [], 0.0
        for n_bits in bits:
            scores = []
            for seed in range(seeds):
                query, database, train = by_class(y, np.random.RandomState(seed))
                hasher = make(n_bits=n_bits, random_state=seed)
                start = time.process_time()
                hasher.fit(X[train], y[train])
                seconds += time.process_time() - start
                scores.append(average_precision(hasher, X, y, query, database))
            cells.append(cell(scores))
        mean_seconds = seconds / len(bits) / seeds
        print(f"  {label:32s} {'   '.join(cells)}   fit {mean_seconds:.2f} s CPU", flush=True)


def triplets_by_contraction(relevance, X):
    """p_m as it is written: every p_m from its N x N slice of the tensor, which is formed whole."""
    S = np.sign(relevance[:, :, None] - relevance[:, None, :])
    return np.stack([(s @ X).sum(axis=0) * -2 for s in S])


def triplets_by_row_sums(relevance, X):
    """The strongest peer: the same tensor in bytes, summed over j before X is touched."""
    relevance = relevance.astype(np.int8)
    S = np.sign(relevance[:, :, None] - relevance[:, None, :])
    return 2 * S.sum(axis=2, dtype=float) @ X


def supervise_rows(affinity, query_y, database_y, queries, database):
    return supervise(
        affinity,
        group_rows(affinity, query_y, queries),
        group_rows(affinity, database_y, database),
        share=1.0,
    )


def speed(sheet):
    """Supervision from counts beside the tensor of triplets, and beside a matrix product."""
    sheet.section("RSH: 100 queries x 1,000 items x 3,072 features, 10 classes, 32 bits")
    rng = np.random.default_rng(0)
    y = rng.integers(0, 10, 1000)
    X = rng.normal(size=(10, 3072))[y] + 3 * rng.normal(size=(1000, 3072))
    affinity = LabelAffinity().fit(y)
    labels, rows = affinity.validate(y), CenteredRows(X, X.mean(axis=0))
    ours, found = best_of(
        lambda: supervise_rows(affinity, labels[:100], labels, rows.take(np.arange(100)), rows), 10
    )
    relevance = affinity.pairwise(y[:100], y)
    for peer in (triplets_by_contraction, triplets_by_row_sums):
        seconds, p = best_of(lambda peer=peer: peer(relevance, X), 2)
        kinds, kind_of = affinity.group(labels[:100])
        assert len(kinds) == len(found.wins)
        np.testing.assert_allclose(found.wins[kind_of], p, atol=1e-6)
        aim = 100 if peer is triplets_by_contraction else None
        name = peer.__name__.replace("_", " ")
        sheet.row("supervision", 1e3 * ours, "ms", name, 1e3 * seconds, at_least=aim)
        for whole, options in {"whole fit": {}, "whole fit, shrinkage=1": {"shrinkage": 1}}.items():
            hasher = RSHHasher(32, n_queries=100, random_state=0, **options)
            fit, _ = best_of(partial(hasher.fit, X, y))
            sheet.row(whole, 1e3 * fit, "ms", name, 1e3 * seconds)

    sheet.section("RSH: 1,000 queries x 100,000 items x 512 features")
    X = rng.normal(size=(100_000, 512))
    y = rng.integers(0, 100, len(X))
    rows, queries = CenteredRows(X, X.mean(axis=0)), np.arange(1000)
    weights = rng.normal(size=(1000, len(X)))
    gemm, _ = best_of(lambda: weights @ X, 2)
    for affinity, targets in (
        (LabelAffinity(), y),
        (LabelAffinity(), rng.permutation(len(X))),
        (EuclideanAffinity(), rng.normal(size=(len(X), 8))),
        (EuclideanAffinity(), X),
    ):
        targets = affinity.fit(targets).validate(targets)
        seconds, _ = best_of(
            lambda affinity=affinity, targets=targets: supervise_rows(
                affinity, targets[queries], targets, rows.take(queries), rows
            ),
            1,
        )
        kinds, _ = affinity.group(targets)
        work = f"{affinity!r} of {targets.shape[1]} columns, {len(kinds)} rows"
        sheet.row("the matrix product it needs", gemm, "s", work, seconds, at_most=5)


def solvers(sheet):
    """Augmented multipliers beside eigenvectors, on rows without labels."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5000, 784)) * np.geomspace(1, 0.01, 784)
    for n_bits in (32, 64):
        sheet.section(f"RSH: 5,000 rows x 784 features without y, {n_bits} bits; CPU time")
        hashers = {solver: RSHHasher(n_bits, solver=solver) for solver in ("eigh", "alm")}
        seconds = {
            solver: best_of(partial(hasher.set_params(random_state=0).fit, X), 1, time.process_time)
            for solver, hasher in hashers.items()
        }
        work = "whole fit, solver='eigh', the default"
        sheet.row(work, seconds["eigh"][0], "s", "solver='alm'", seconds["alm"][0])
        values = [fit.objective_ for _, fit in seconds.values()]
        sheet.row("objective", values[0], "", "solver='alm'", values[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", help="npz file with X_train, y_train, X_test, y_test")
    parser.add_argument("--fashion-mnist", default=FASHION_MNIST, help="folder of the idx files")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--only", choices=["quality", "speed", "solvers"])
    options = parser.parse_args()
    if options.only in (None, "speed"):
        speed(Sheet())
    if options.only in (None, "solvers"):
        solvers(Sheet())
    if options.only in (None, "quality"):
        quality("Fashion-MNIST pixels", *fashion_mnist(options.fashion_mnist), options.seeds)
        if options.data:
            quality("CIFAR-10 GIST-512", *gist(options.data), options.seeds)


if __name__ == "__main__":
    main()
