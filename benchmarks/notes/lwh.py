"""Quality and speed of LWHHasher, and how its defaults were chosen.

    python -m benchmarks.notes.lwh --data GIST.npz [--features DEEP.npz] [--intents CLINC.npz]
        [--fashion-mnist FOLDER] [--only quality|pca|classes|alpha|...]

Protocol of the quality table: 100 queries per class; the database is all other rows; 500 training
rows per class. "whole" makes all training rows queries and database. Mean and standard deviation
over seeds.

"pca" fits on the features of a network, and on their 512 principal components by scikit-learn, by
the same protocol. DEEP.npz holds X in bytes, y and scale; a feature is ``(X / 255)**2 * scale``.

"classes" fits on the training rows of many classes. CLINC.npz holds X_train, intent_train, X_test
and intent_test; all training rows are the database.

"alpha" never sees the queries of the protocol: it fits on 3,000 training rows, and 1,000 more
retrieve the last 1,000.
"""

import argparse
import time
import warnings

import numpy as np
from sklearn.decomposition import PCA
from threadpoolctl import threadpool_limits

from benchmarks.protocols import (
    FASHION_MNIST,
    average_precision,
    by_class,
    cell,
    deep_features,
    fashion_mnist,
    gist,
    intents,
)
from benchmarks.sheet import Sheet
from sklearn_hashrank import ITQHasher, LSHHasher, LWHHasher
from sklearn_hashrank._solvers.cutting_plane import CuttingPlane, PegasosMaster
from sklearn_hashrank.objectives.ranking._ranking_loss import RankingLoss

WHOLE = {"n_queries": None, "n_database": None}
PAPER = {"n_queries": 300, "n_database": 1000, "preparation": "centered", "rotation": None}
FEW = {"n_queries": 300, "n_database": 1000, "alpha": 0.003}
ALPHAS = (0.005, 0.003, 0.002, 0.0015, 0.001)


def sample(train, seed, n=1000):
    return np.random.RandomState(seed + 100).permutation(train)[:n]


def quality(sets, options):
    variants = {
        "LSH": (LSHHasher, {}),
        "LWH": (LWHHasher, {}),
        "LWH, loss='ndcg'": (LWHHasher, {"loss": "ndcg"}),
        "LWH, 300 queries of 1,000 rows": (LWHHasher, FEW),
        "LWH, as printed": (LWHHasher, PAPER),
        "LWH, whole training set": (LWHHasher, WHOLE),
    }
    for name, (X, y) in sets.items():
        draws = [(X, y, *by_class(y, np.random.RandomState(seed))) for seed in range(options.seeds)]
        print(f"\n{name}, AP_T over {options.seeds} seeds, {options.bits} bits")
        for label, (make, keywords) in variants.items():
            _line(label, make, keywords, draws, options.bits)


def pca(sets, options):
    if not options.features:
        return
    X, y = deep_features(options.features)
    places = [by_class(y, np.random.RandomState(seed)) for seed in range(options.seeds)]
    raw = [(X, y, *rows) for rows in places]
    print(f"\nnetwork features, AP_T over {options.seeds} seeds, {options.bits} bits")
    _line("ITQ", ITQHasher, {}, raw, options.bits)
    _line("LWH", LWHHasher, {}, raw, options.bits)
    del raw
    projected = []
    for seed, (query, database, train) in enumerate(places):
        components = PCA(512, random_state=seed).fit(X[train])
        projected.append((components.transform(X), y, query, database, train))
    _line("LWH after PCA(512)", LWHHasher, {}, projected, options.bits)


def classes(sets, options):
    if not options.intents:
        return
    X, y, query, database = intents(options.intents)
    draws = [(X, y, query, database, database)] * options.seeds
    bits = [16, 32, 64]
    print(f"\n{len(np.unique(y))} intents, AP_T over {options.seeds} seeds, {bits} bits")
    _line("ITQ", ITQHasher, {}, draws, bits)
    for label, keywords in (
        ("LWH", {}),
        ("LWH, alpha=0.0005", {"alpha": 0.0005}),
        ("LWH, 300 queries of 1,000 rows", FEW),
    ):
        _line(label, LWHHasher, keywords, draws, bits)


def _line(label, make, keywords, draws, bits):
    """Print AP of one method; `draws` holds X, y, and rows of queries, database and training."""
    cells, seconds, fits = [], 0.0, []
    for n_bits in bits:
        scores = []
        for seed, (X, y, query, database, train) in enumerate(draws):
            hasher = make(n_bits=n_bits, random_state=seed, **keywords)
            start = time.process_time()
            hasher.fit(X[train], y[train])
            seconds += time.process_time() - start
            scores.append(average_precision(hasher, X, y, query, database))
            fits.append(hasher)
        cells.append(cell(scores))
    print(f"  {label:32s} {'   '.join(cells)}   fit {seconds / len(fits):.2f} s CPU", end="")
    if make is LWHHasher:
        iterations = [hasher.n_iter_ for hasher in fits]
        converged = all(hasher.converged_ for hasher in fits)
        print(f", {min(iterations)}-{max(iterations)} iterations, {converged=}", end="")
    print(flush=True)


def alpha(sets, options):
    for name, (X, y) in sets.items():
        print(f"\n{name}, AP_T of held-out training rows, {options.bits} bits")
        for value in ALPHAS:
            cells, iterations = [], []
            for n_bits in options.bits:
                scores = []
                for seed in range(10, 10 + options.seeds):  # other draws than the quality table
                    train = by_class(y, np.random.RandomState(seed))[2]
                    order = np.random.RandomState(seed + 100).permutation(train)
                    rows, query, database = np.split(order, [3000, 4000])
                    hasher = LWHHasher(n_bits, alpha=value, random_state=seed)
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        hasher.fit(X[rows], y[rows])
                    scores.append(average_precision(hasher, X, y, query, database))
                    iterations.append(hasher.n_iter_)
                cells.append(cell(scores))
            print(
                f"  alpha {value:<7} {'   '.join(cells)}   {max(iterations)} iterations", flush=True
            )


def certificate(sets, options):
    """The same problem by both solvers."""
    for name, (X, y) in sets.items():
        print(f"\n{name}, 32 components, 32 bits, 300 queries of 1,000 rows")
        rows = sample(by_class(y, np.random.RandomState(0))[2], 0)
        for solver in ("pegasos", "sdp"):
            start = time.process_time()
            hasher = LWHHasher(32, solver=solver, n_components=32, random_state=0, **FEW)
            hasher.fit(X[rows], y[rows])
            print(
                f"  {solver:8s} objective {hasher.objective_:.4f}, lower bound "
                f"{hasher.lower_bound_:.4f}, {hasher.n_iter_} iterations, "
                f"{time.process_time() - start:.1f} s CPU",
                flush=True,
            )


class Literal:
    """The paper's algorithm as it is written: O(n^2) inference, a dense matrix per constraint."""

    def __init__(self, queries, database, relevant, n_bits, alpha):
        self.queries, self.database, self.relevant = queries, database, relevant
        self.n_bits, self.alpha = n_bits, alpha
        self.matrices, self.losses = [], []

    def most_violated(self, query, relevant, weights):
        scores = (query @ weights) @ (self.database @ weights).T / self.n_bits
        positive, negative = (
            kind[np.argsort(-scores[kind])]
            for kind in (np.flatnonzero(relevant), np.flatnonzero(~relevant))
        )
        n_positive, n_negative = len(positive), len(negative)
        i, j = np.arange(1, n_positive + 1), np.arange(1, n_negative + 1)[:, None]
        gains = (j / (j + i) - (j - 1) / (j + i - 1)) / n_positive
        gains -= 2 * (scores[positive] - scores[negative][:, None]) / (n_positive * n_negative)
        sums = np.zeros((n_negative, n_positive + 1))
        sums[:, :-1] = np.cumsum(gains[:, ::-1], axis=1)[:, ::-1]
        places = sums.argmax(axis=1)
        ordered = np.where(np.arange(n_positive) < places[:, None], 1, -1)  # y_ij
        inverted = 1 - ordered
        difference = inverted.sum(axis=0) @ self.database[positive]
        difference -= inverted.sum(axis=1) @ self.database[negative]
        before = (ordered < 0).sum(axis=0)
        loss = 1 - np.mean(i / (i + before))
        return np.outer(query, difference) / (n_positive * n_negative * self.n_bits), loss

    def add_constraint(self, weights):
        found = [self.most_violated(*pair, weights) for pair in zip(self.queries, self.relevant)]
        self.matrices.append(sum(matrix for matrix, _ in found) / len(found))
        self.losses.append(np.mean([loss for _, loss in found]))

    def descend(self, weights, n_steps=100, damping=0.3):
        for step in range(n_steps):
            gram = weights @ weights.T
            violations = [
                loss - np.sum(gram * matrix) for loss, matrix in zip(self.losses, self.matrices)
            ]
            matrix = self.matrices[int(np.argmax(violations))]
            length = 1 / (damping + self.alpha * step)
            weights = weights + length * ((matrix + matrix.T) @ weights - self.alpha * weights)
            weights *= min(1, np.sqrt(2 / self.alpha) / np.linalg.norm(weights))
        return weights


def speed(sets, options, sheet=None):
    """A whole fit beside the literal algorithm."""
    with threadpool_limits(1):
        _speed(sheet or Sheet())


def _speed(sheet):
    rng = np.random.default_rng(0)
    n_features, n_bits, weight = 512, 32, 0.003
    labels = rng.integers(0, 10, 1000)
    database = rng.normal(size=(1000, n_features)) + rng.normal(size=(10, n_features))[labels] / 3
    database *= np.sqrt(n_bits) / np.linalg.norm(database, axis=1, keepdims=True)
    queries, relevant = database[:300], labels[:300, None] == labels
    nobody = np.full(300, -1)
    sheet.section("LWH: 300 queries x 1,000 items, 512 features, 32 bits; CPU time")
    LWHHasher(n_bits, random_state=0, **FEW).fit(database, labels)  # compiles

    start = time.process_time()
    hasher = LWHHasher(n_bits, random_state=0, **FEW).fit(database, labels)
    fit = time.process_time() - start

    problem = RankingLoss(queries, database, relevant, nobody, n_bits=n_bits)
    master = PegasosMaster(queries, weight, np.random.RandomState(0))
    weights = rng.normal(size=(n_features, n_bits)) / np.sqrt(n_features)
    solver = CuttingPlane(problem.most_violated, master, weights, 0.01)
    start = time.process_time()
    while not solver.step():
        pass
    ours = time.process_time() - start
    n_iter = len(solver.history["slack"])

    literal = Literal(queries, database, relevant, n_bits, weight)
    inference = descent = 0.0
    for iteration in range(1, 51):
        start = time.process_time()
        literal.add_constraint(weights)
        inference += time.process_time() - start
        start = time.process_time()
        weights = literal.descend(weights)
        descent += time.process_time() - start
        if iteration == n_iter:
            same = inference + descent
            peer = f"literal, {n_iter} iterations"
            work = f"fit, {hasher.n_iter_} iterations"
            sheet.row(work, fit, "s", peer, same, at_least=10)
            sheet.row(f"all 512 features, {n_iter} iterations", ours, "s", peer, same)
    sheet.row(work, fit, "s", "literal, 50 iterations", inference + descent)
    best = solver.evaluate(weights)
    sheet.row("objective, all 512 features", solver.objective, "", "literal, 50 iterations", best)
    start = time.process_time()
    for _ in range(3):
        problem.most_violated(weights)
    once = (time.process_time() - start) / 3
    sheet.row("most violated rankings", 1e3 * once, "ms", "literal", 1e3 * inference / 50)


def large(sets, options):
    for name, (X, y) in sets.items():
        train = by_class(y, np.random.RandomState(0))[2]
        start, wall = time.process_time(), time.perf_counter()
        hasher = LWHHasher(32, random_state=0, **WHOLE).fit(X[train], y[train])
        print(
            f"\n{name}, {len(train)} x {len(train)}: {time.process_time() - start:.0f} s CPU, "
            f"{time.perf_counter() - wall:.0f} s, {hasher.n_iter_} iterations, "
            f"{hasher.converged_=}, {hasher.n_constraints_} rankings",
            flush=True,
        )


PARTS = {
    "quality": quality,
    "pca": pca,
    "classes": classes,
    "alpha": alpha,
    "certificate": certificate,
    "speed": speed,
    "large": large,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", help="npz file with X_train, y_train, X_test, y_test")
    parser.add_argument("--features", help="npz file of network features with X, y and scale")
    parser.add_argument("--intents", help="npz file of sentence embeddings with intents")
    parser.add_argument("--fashion-mnist", default=FASHION_MNIST, help="folder of the idx files")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--bits", type=int, nargs="+", default=[12, 24, 32])
    parser.add_argument("--only", choices=PARTS, nargs="+", default=list(PARTS))
    options = parser.parse_args()
    sets = {}
    if set(options.only) - {"speed", "pca", "classes"}:
        sets["Fashion-MNIST"] = fashion_mnist(options.fashion_mnist)
        if options.data:
            sets["GIST"] = gist(options.data)
    for part in options.only:
        PARTS[part](sets, options)


if __name__ == "__main__":
    main()
