"""Central similarity against TALR and HashNet: few classes and many, seen and unseen.

    python -m benchmarks.notes.central_similarity --clusters FEATURES.npz --classes GIST.npz \
        --intents CLINC.npz --output central.jsonl
    python -m benchmarks.notes.central_similarity --step

``--classes`` is a file with X_train and y_train of 10 classes. ``--clusters`` has X and y of 10
classes, each of which is cut into 10 and into 20 clusters of its rows by k-means: 100 and 200
classes. ``--intents`` has X_train and intent_train of 150 intents. Each seed samples 5,000 training
rows and 1,000 queries, which retrieve the training rows; or trains on two thirds of the classes,
and lets at most 3,000 rows of the others retrieve each other. Those of --methods that begin with
``deep-`` are perceptrons, which need torch. Finished runs are kept in the output, and the same
command again does what is missing. Figures are mean tie-aware AP, and CPU seconds.
"""

import argparse
import json
import time
from functools import partial
from pathlib import Path

import numpy as np
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

from benchmarks.protocols import cell
from benchmarks.sheet import best_of
from sklearn_hashrank import ClassifierHasher, LabelAffinity, TALRKernel, TALRLinear
from sklearn_hashrank.metrics import tie_aware_average_precision_score
from sklearn_hashrank.objectives import Centers, HashNet, SimplifiedAP

N_TRAIN, N_QUERIES, N_ROWS = 5000, 1000, 12_000
learned = partial(TALRLinear, max_iter=60)
METHODS = {
    "talr-ap": TALRLinear,
    "hashnet": partial(learned, objective=HashNet()),
    "centers": partial(learned, objective=Centers()),
    "centers:form=bits": partial(learned, objective=Centers("bits")),
    "classifier": ClassifierHasher,
    "talr-kernel": TALRKernel,
    "talr-kernel, centers": partial(TALRKernel, objective=Centers()),
}
LINEAR = "talr-ap;hashnet;centers;centers:form=bits;classifier"
NETWORKS = {"deep-talr-ap": "ap", "deep-hashnet": "hashnet", "deep-centers": Centers()}


def maker(method):
    """What makes the hashers of a method."""
    if method not in NETWORKS:
        return METHODS[method]
    from sklearn_hashrank.deep import DeepHasher

    return partial(DeepHasher, objective=NETWORKS[method])


def clusters(X, y, n_clusters):
    """Number of the cluster of its class that each row lies in."""
    found = np.empty(len(y), dtype=np.int64)
    for number, label in enumerate(np.unique(y)):
        rows = np.flatnonzero(y == label)
        means = KMeans(n_clusters, n_init=1, max_iter=20, random_state=0).fit(X[rows])
        found[rows] = number * n_clusters + means.labels_
    return found


def read(options):
    """Rows and labels by the name of a set."""
    if options.classes:
        file = np.load(options.classes)
        yield "10 classes", file["X_train"][:N_ROWS].astype(np.float32), file["y_train"][:N_ROWS]
    if options.clusters:
        file = np.load(options.clusters)
        X, y = (file["X"][:N_ROWS] / np.float32(255)) ** 2 * file["scale"], file["y"][:N_ROWS]
        X = X.astype(np.float32)
        for n_clusters in (10, 20):
            yield f"{10 * n_clusters} clusters", X, clusters(X, y, n_clusters)
    if options.intents:
        file = np.load(options.intents)
        yield "150 intents", file["X_train"].astype(np.float32), file["intent_train"]


def seen(y, seed):
    """Training rows, queries, and the database, which is the training rows."""
    order = np.random.RandomState(seed).permutation(len(y))
    train = order[:N_TRAIN]
    return train, order[N_TRAIN : N_TRAIN + N_QUERIES], train


def unseen(y, seed):
    """Training rows of two thirds of the classes; rows of the others are queries and database."""
    random_state = np.random.RandomState(seed)
    labels = random_state.permutation(np.unique(y))
    is_known = np.isin(y, labels[: 2 * len(labels) // 3])
    train = random_state.permutation(np.flatnonzero(is_known))[:N_TRAIN]
    others = random_state.permutation(np.flatnonzero(~is_known))
    return train, others[:N_QUERIES], others[N_QUERIES : N_QUERIES + 3000]


def measure(make, X, y, rows, n_bits, seed):
    """Mean AP, and the CPU seconds of the fit."""
    train, query, database = rows
    start = time.process_time()
    hasher = make(n_bits=n_bits, random_state=seed).fit(X[train], y[train])
    seconds = time.process_time() - start
    codes = hasher.predict(X[query]), hasher.predict(X[database])
    score = tie_aware_average_precision_score(y[query], codes[0], database=(y[database], codes[1]))
    return score, seconds


def time_step(n_bits=64):
    """Print the CPU time of an objective and its gradient, by classes and rows of a batch."""
    rng = np.random.default_rng(0)
    for n_rows in (256, 1024):
        for n_classes in (100, 1000, 2000, 4000, 8000):
            y = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, n_rows)])
            rows = rng.permutation(len(y))[:n_rows]
            affinity = LabelAffinity().fit(y)
            scores = rng.normal(size=(n_rows, n_bits)).astype(np.float32)
            level = np.equal.outer(y[rows], y[rows]).astype(np.uint8)
            of_rows = Centers().bind(affinity, y)
            ways = {"centers": partial(of_rows, scores, rows)}
            for name, objective in (("talr-ap", SimplifiedAP()), ("hashnet", HashNet())):
                arguments = scores, level, affinity.levels_
                ways[name] = partial(objective.value_and_gradient, *arguments)
            with threadpool_limits(1):
                times = {name: best_of(way, 5, time.process_time)[0] for name, way in ways.items()}
            cells = "   ".join(f"{name} {seconds * 1e3:6.2f} ms" for name, seconds in times.items())
            print(f"{n_rows:5,} rows, {n_classes:5,} classes: {cells}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--classes", help="npz file, see above")
    parser.add_argument("--clusters", help="npz file, see above")
    parser.add_argument("--intents", help="npz file, see above")
    parser.add_argument("--bits", default="32")
    parser.add_argument("--methods", default=LINEAR, help="with semicolons (default: linear ones)")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="start none after")
    parser.add_argument("--output", type=Path, help="needed without --step")
    parser.add_argument("--step", action="store_true", help="time the objective alone")
    options = parser.parse_args()
    if options.step:
        time_step()
        return
    if options.output is None:
        parser.error("--output is needed.")
    done = {}
    if options.output.exists():
        for line in options.output.read_text().splitlines():
            *run, figures = json.loads(line)
            done[tuple(run)] = figures
    methods = options.methods.split(";")
    start = time.process_time()
    with threadpool_limits(1):
        sets = list(read(options))
        for seed in range(options.seeds):
            for name, X, y in sets:
                for split in (seen, unseen):
                    rows = split(y, seed)
                    for n_bits in map(int, options.bits.split(",")):
                        for method in methods:
                            run = (name, split.__name__, n_bits, method, seed)
                            late = time.process_time() - start > options.seconds
                            if run in done or late or (method == "classifier" and split is unseen):
                                continue
                            done[run] = measure(maker(method), X, y, rows, n_bits, seed)
                            with options.output.open("a") as file:
                                file.write(json.dumps([*run, done[run]]) + "\n")
    for run in dict.fromkeys(each[:4] for each in done):
        figures = np.transpose([found for each, found in done.items() if each[:4] == run])
        name, split, n_bits, method = run
        cells = f"{cell(figures[0], 3)}  {cell(figures[1], 1)} s  {figures.shape[1]} seeds"
        print(f"{name:14s} {split:7s} {n_bits:3d} bits  {method:18s} {cells}")


if __name__ == "__main__":
    main()
