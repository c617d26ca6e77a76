"""Weight decay and dropout of few rows: by default, by "cv", and by a search.

    python benchmarks/few_rows.py [--clinc CLINC.npz] [--scene SCENE.npz] [--tmc2007 TMC.npz]
        [--deep DEEP.npz] [--only PART OF A TITLE] [--seeds 3] [--bits 32]

Every set gives some training rows, which are the database, and other rows as queries, other ones
for each seed. The measure is AP, of label sets NDCG. The search is scikit-learn's GridSearchCV with
RetrievalKFold over all values that "cv" tries, and "auto". Sets whose file is not given
are left out.
"""

import argparse
import time

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.model_selection import GridSearchCV

from sklearn_hashrank import TALRLinear
from sklearn_hashrank.metrics import (
    make_retrieval_scorer,
    tie_aware_average_precision_score,
    tie_aware_ndcg_score,
)
from sklearn_hashrank.model_selection import RetrievalKFold

GRID = {
    "dropout": ["auto", 0.0, 0.1, 0.3, 0.5],
    "weight_decay": ["auto", 0.0, 0.01, 0.05, 0.15, 0.4],
}


def some(X, y, n_train, n_queries, seed):
    """Training rows and queries, at random."""
    order = np.random.default_rng(seed).permutation(len(X))[: n_train + n_queries]
    train, query = order[:n_train], order[n_train:]
    return X[train], y[train], X[query], y[query]


def some_of_each(X, y, n_train, n_queries, seed):
    """Training rows and queries of every class."""
    order = np.random.default_rng(seed).permutation(len(X))
    parts = [order[y[order] == label] for label in np.unique(y)]
    train = np.concatenate([rows[:n_train] for rows in parts])
    query = np.concatenate([rows[n_train : n_train + n_queries] for rows in parts])
    return X[train], y[train], X[query], y[query]


def deep_rows(path, seed):
    """2,000 training rows and 1,000 queries of network features."""
    file = np.load(path)
    rows = np.sort(np.random.default_rng(seed).permutation(len(file["y"]))[:3000])
    X = ((file["X"][rows] / 255.0) ** 2 * file["scale"]).astype(np.float32)
    return some(X, file["y"][rows], 2000, 1000, seed)


def label_sets(path, n_train, n_queries, seed):
    """Rows with label sets."""
    file = np.load(path)
    return some(file["X"].astype(np.float32), file["Y"].astype(np.int8), n_train, n_queries, seed)


def find_sets(options):
    """Titles of the sets whose data are there, and what samples them."""
    digits, cancer = (load(return_X_y=True) for load in (load_digits, load_breast_cancer))
    yield "Digits, 500 rows", lambda seed: some(*digits, 500, 800, seed)
    yield "Breast cancer, 300 rows", lambda seed: some(*cancer, 300, 269, seed)
    if options.clinc:
        file = np.load(options.clinc)
        rows = file["X_train"].astype(np.float32), file["intent_train"]
        yield "150 intents of 10 rows", lambda seed: some_of_each(*rows, 10, 6, seed)
    if options.scene:
        yield "Scene, 800 rows", lambda seed: label_sets(options.scene, 800, 800, seed)
    if options.tmc2007:
        yield "tmc2007, 1,000 rows", lambda seed: label_sets(options.tmc2007, 1000, 800, seed)
    if options.deep:
        yield "Network features, 2,000 rows", lambda seed: deep_rows(options.deep, seed)


def measure(hasher, X, y, queries, query_y):
    """Score of the queries, and seconds of CPU to fit."""
    start = time.process_time()
    fitted = hasher.fit(X, y)
    seconds = time.process_time() - start
    fitted = getattr(fitted, "best_estimator_", fitted)
    metric = tie_aware_ndcg_score if y.ndim > 1 else tie_aware_average_precision_score
    score = metric(query_y, fitted.predict(queries), database=(y, fitted.predict(X)))
    return score, seconds, fitted


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("clinc", "scene", "tmc2007", "deep"):
        parser.add_argument(f"--{name}", help="npz file")
    parser.add_argument("--only", default="", help="part of the titles of the sets to run")
    parser.add_argument("--seeds", type=lambda t: [int(n) for n in t.split(",")], default=[0, 1, 2])
    parser.add_argument("--bits", type=int, default=32)
    parser.add_argument("--skip-search", action="store_true")
    options = parser.parse_args()
    for title, sample in find_sets(options):
        if options.only not in title:
            continue
        for seed in options.seeds:
            X, y, queries, query_y = sample(seed)
            plain = TALRLinear(options.bits, random_state=seed)
            chosen = TALRLinear(options.bits, random_state=seed, weight_decay="cv", dropout="cv")
            scorer = make_retrieval_scorer("ndcg" if y.ndim > 1 else "ap", database="fit")
            search = GridSearchCV(
                plain, GRID, scoring=scorer, cv=RetrievalKFold(3, random_state=seed)
            )
            ways = {"default": plain, "cv": chosen} | (
                {} if options.skip_search else {"search": search}
            )
            for way, hasher in ways.items():
                score, seconds, fitted = measure(hasher, X, y, queries, query_y)
                print(
                    f"{title} | seed {seed} | {way} | {score:.4f} | {seconds:.1f} s | "
                    f"weight_decay {fitted.weight_decay_:.3g} dropout {fitted.dropout_:.3g}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
