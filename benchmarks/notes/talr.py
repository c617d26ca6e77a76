"""Quality and speed of TALRLinear.

    python -m benchmarks.notes.talr --data GIST.npz [--fashion-mnist FOLDER] [--only quality ...]

Protocol: 100 queries per class; the database is all other rows; 500 training rows per class, a
subset of the database. Mean and standard deviation over seeds, with the defaults.
"""

import argparse
import time
import warnings
from functools import partial

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, normalize
from threadpoolctl import threadpool_limits

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
    LSHHasher,
    TALRLinear,
    retrieval_histogram,
)
from sklearn_hashrank.model_selection import RandomRetrievalSplit


def compare(name, X, y, hashers, seeds, bits=(12, 24, 32, 48), n_train=500):
    """Print a table: hashers by bits, mean and spread of AP_T over seeds."""
    print(f"\n{name}, AP_T over {seeds} seeds, {', '.join(map(str, bits))} bits")
    for label, make in hashers.items():
        cells, seconds = [], 0.0
        for n_bits in bits:
            scores = []
            for seed in range(seeds):
                rows = by_class(y, np.random.RandomState(seed), n_train=n_train)
                query, database, train = rows
                hasher = make(n_bits=n_bits, random_state=seed)
                start = time.process_time()
                hasher.fit(X[train], y[train])
                seconds += time.process_time() - start
                scores.append(average_precision(hasher, X, y, query, database))
            cells.append(cell(scores))
        mean_seconds = seconds / len(bits) / seeds
        print(f"  {label:28s} {'   '.join(cells)}   fit {mean_seconds:.2f} s CPU", flush=True)


def quality(sets, seeds):
    for name, (X, y) in sets.items():
        compare(name, X, y, {"LSH": LSHHasher, "TALR-AP, defaults": TALRLinear}, seeds)


def relaxations(sets, seeds):
    makers = {
        f"TALR-AP, {relaxation}": partial(TALRLinear, relaxation=relaxation)
        for relaxation in ("simplified", "arxiv", "cvpr", "exact")
    }
    for name, (X, y) in sets.items():
        compare(name, X, y, makers, seeds)


def robustness(sets, seeds):
    """The same hasher on changed features; scores must agree."""
    changes = {
        "as given": lambda X: X,
        "1000 X + 7": lambda X: 1000 * X + 7,
        "standardised": lambda X: StandardScaler().fit_transform(X),
        "pixels 0 to 255 / float64": lambda X: 255 * X.astype(np.float64),
    }
    for name, (X, y) in sets.items():
        for change, apply in changes.items():
            compare(f"{name}, {change}", apply(X), y, {"TALR-AP": TALRLinear}, seeds, bits=(32,))


def whole_database(sets, seeds):
    for name, (X, y) in sets.items():
        compare(
            f"{name}, training on the whole database",
            X,
            y,
            {"TALR-AP, defaults": TALRLinear},
            seeds,
            bits=(32,),
            n_train=None,
        )


def kernel_map(sets, seeds):
    """A non-linear hasher as a pipeline."""

    def nystroem(n_bits, random_state):
        return make_pipeline(
            StandardScaler(),
            Nystroem(gamma=0.3 / 512, n_components=1000, random_state=random_state),
            TALRLinear(n_bits=n_bits, random_state=random_state),
        )

    for name, (X, y) in sets.items():
        makers = {"TALR-AP": TALRLinear, "Nystroem(1000), TALR-AP": nystroem}
        compare(name, X, y, makers, seeds)


def streaming(sets, seeds):
    """partial_fit over the minibatches that fit would take."""

    class Streamed(TALRLinear):
        def fit(self, X, y):
            random_state = np.random.RandomState(self.random_state)
            for _ in range(self.max_iter):
                for rows in np.array_split(random_state.permutation(len(X)), len(X) // 256):
                    self.partial_fit(X[rows], y[rows])
            return self

    for name, (X, y) in sets.items():
        makers = {"fit": TALRLinear, "partial_fit": Streamed}
        compare(name, X, y, makers, seeds, bits=(12, 32))


def many_classes(_, seeds):
    """200 made-up classes that overlap heavily: few relevant items in a small batch."""
    random_state = np.random.RandomState(0)
    means = random_state.standard_normal((200, 128))
    y = random_state.permutation(np.repeat(np.arange(200), 300))
    X = (0.35 * means[y] + random_state.standard_normal((len(y), 128))).astype(np.float32)
    makers = {
        f"TALR-AP, batch {size}": partial(TALRLinear, batch_size=size)
        for size in (256, 512, 1024, 2048, "auto")
    }
    makers = {"LSH": LSHHasher, "ITQ": ITQHasher, **makers}
    compare("200 classes", X, y, makers, seeds, bits=(32,), n_train=100)


def unlabelled(sets, seeds):
    """Euclidean levels: 2,000 queries, 20,000 database rows, 5,000 of them for training."""
    for name, (X, _) in sets.items():
        if name != "GIST":
            continue
        print(f"\n{name} without labels, NDCG_T over {seeds} seeds, 16, 32, 64 bits")
        for label, make in {
            "LSH": LSHHasher,
            "ITQ": ITQHasher,
            "TALR-NDCG": partial(TALRLinear, objective="ndcg"),
        }.items():
            cells = []
            for n_bits in (16, 32, 64):
                scores = []
                for seed in range(seeds):
                    protocol = RandomRetrievalSplit(
                        2000, 5000, n_database=20_000, random_state=seed
                    )
                    [split] = protocol.split(X)
                    center = X[split.train].mean(axis=0)
                    train, query, database = (normalize(X[rows] - center) for rows in split)
                    affinity = EuclideanAffinity().fit(train)
                    hasher = make(n_bits=n_bits, random_state=seed)
                    if "affinity" in hasher.get_params():
                        hasher.set_params(affinity=affinity)
                    hasher.fit(train)
                    codes = hasher.predict(query), hasher.predict(database)
                    histogram = retrieval_histogram(*codes, query, database, affinity=affinity)
                    scores.append(np.nanmean(histogram.ndcg()))
                cells.append(cell(scores))
            print(f"  {label:28s} {'   '.join(cells)}", flush=True)


def speed(sets, seeds, sheet=None):
    """CPU time of a whole fit, as a multiple of logistic regression's, one thread each."""
    X, y = sets["Fashion-MNIST"]
    train = by_class(y, np.random.RandomState(0))[2]
    times = {}
    for label, estimator in {
        "TALR-AP, 32 bits, defaults": TALRLinear(random_state=0),
        "LogisticRegression(max_iter=100)": LogisticRegression(max_iter=100),
    }.items():
        with threadpool_limits(1), warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            fit = partial(estimator.fit, X[train], y[train])
            times[label], _ = best_of(fit, seeds, time.process_time)
    (work, ours), (peer, theirs) = times.items()
    sheet = sheet or Sheet()
    sheet.section("A whole fit of 5,000 Fashion-MNIST images, one thread, CPU time")
    sheet.row(work, ours, "s", at_most=3)
    sheet.row(work, ours, "s", peer, theirs)


PARTS = {
    part.__name__: part
    for part in (
        quality,
        relaxations,
        robustness,
        whole_database,
        unlabelled,
        kernel_map,
        many_classes,
        streaming,
        speed,
    )
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", help="npz file with X_train, y_train, X_test, y_test")
    parser.add_argument("--fashion-mnist", default=FASHION_MNIST, help="folder of the idx files")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--only", nargs="*", choices=PARTS, default=list(PARTS))
    options = parser.parse_args()
    sets = {"Fashion-MNIST": fashion_mnist(options.fashion_mnist)}
    if options.data:
        sets["GIST"] = gist(options.data)
    for part in options.only:
        print(f"\n== {part.replace('_', ' ')}")
        PARTS[part](sets, options.seeds)


if __name__ == "__main__":
    main()
