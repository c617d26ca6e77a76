"""What codes lose where new rows are of other topics than the rows that the hasher learned from.

    python -m benchmarks.notes.drift --deep DEEP.npz --gist GIST.npz --intents CLINC.npz \\
        --descriptions DESCRIPTIONS.npz --sentences SENTENCES.npy --words WORDS.npy

A third of the topics of a set are new: classes, domains of intents, or clusters by k-means where
there are no labels. Databases of 3,000 rows hold no, some, or only rows of these topics, and so do
300 queries. A hasher that was fitted on 3,000 rows of the old topics is compared with one of the
same method fitted on 3,000 further rows, mixed as the database is. Recall is that of the ten
nearest rows by cosine among the ten, or a hundred, nearest codes. Neither hasher has seen the rows
of the database. `talr-labels` learns from classes or intents, of which those of new topics are new,
and is judged by them: in place of recall, and of candidates, it has the mean tie-aware AP, and the
share of the items of the label among the hundred nearest codes.

--table FILE.csv prints the tables of the documentation from what was measured.
"""

import argparse
import csv
import sys
from itertools import product
from pathlib import Path

import numpy as np
from sklearn.cluster import MiniBatchKMeans

from benchmarks.protocols import cell, deep_features, gist
from sklearn_hashrank import (
    ITQHasher,
    LSHHasher,
    NeighborAffinity,
    SignHasher,
    TALRLinear,
    retrieval_histogram,
)

N_ROWS, N_QUERIES, N_BITS, N_CLUSTERS = 3000, 300, 64, 30
SHARES = (0.0, 0.25, 0.5, 1.0)
KEYS = ("set", "method", "share")
SAMPLE = 1000  # rows of a check that costs little
METHODS = {
    "sign": lambda seed: SignHasher(N_BITS, center=True),
    "lsh": lambda seed: LSHHasher(N_BITS, random_state=seed),
    "itq": lambda seed: ITQHasher(N_BITS, random_state=seed),
    "talr": lambda seed: TALRLinear(N_BITS, random_state=seed),
    "talr-labels": lambda seed: TALRLinear(N_BITS, random_state=seed),
}
LABELLED = {"talr-labels"}


def clusters(X):
    """Topics of rows without labels."""
    rows = X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-12)
    return MiniBatchKMeans(N_CLUSTERS, n_init=1, random_state=0).fit_predict(rows)


def classes(read):
    """Rows whose topics are their labels."""

    def read_classes(path):
        X, y = read(path)
        return X, y, y

    return read_classes


def domains(path):
    """Embeddings of all parts, their domains, and their intents."""
    with np.load(path) as file:
        names = ("X", "domain", "intent")
        parts = ("train", "val", "test")
        X, *y = (np.concatenate([file[f"{name}_{part}"] for part in parts]) for name in names)
        return X.astype(np.float32), *y


def unlabelled(path):
    """Rows of a .npy file, or X of an .npz file, and their clusters; no labels."""
    found = np.load(path)
    X = (found if path.endswith(".npy") else found["X"]).astype(np.float32)
    return X, clusters(X), None


SETS = {
    "deep": classes(deep_features),
    "gist": classes(gist),
    "intents": domains,
    "descriptions": unlabelled,
    "sentences": unlabelled,
    "words": unlabelled,
}


def parts(topics, seed):
    """Rows of old topics to learn from, and further rows of the old and of the new topics.

    New topics are a third of all, or as many as it takes to have a third of the rows.
    """
    rng = np.random.default_rng(seed)
    names = rng.permutation(np.unique(topics))
    sizes = np.array([(topics == name).sum() for name in names])
    n_new = 1 + int(np.searchsorted(np.cumsum(sizes), len(topics) / 3))
    is_new = np.isin(topics, names[:n_new])
    old, new = (rng.permutation(np.flatnonzero(part)) for part in (~is_new, is_new))
    half = len(old) // 2
    return old[:half][:N_ROWS], old[half:], new


class Judge:
    """Fit a method and measure it, on rows given by their numbers."""

    def __init__(self, X, y, method, seed):
        self.X, self.y = X, y if method in LABELLED else None
        self.make = METHODS[method], seed

    def fit(self, rows):
        """A hasher that learned from rows."""
        make, seed = self.make
        return make(seed).fit(self.X[rows], None if self.y is None else self.y[rows])

    def __call__(self, hasher, queries, database):
        """Recall of the nearest rows among ten and a hundred codes; or AP, and recall of labels."""
        codes = hasher.predict(self.X[queries]), hasher.predict(self.X[database])
        if self.y is None:
            rows = self.X[queries], self.X[database]
            found = retrieval_histogram(*codes, *rows, affinity=NeighborAffinity(10))
            return found.recall(k=10).mean(), found.recall(k=100).mean()
        found = retrieval_histogram(*codes, self.y[queries], self.y[database])
        return np.nanmean(found.average_precision()), np.nanmean(found.recall(k=100))


def measure(name, X, topics, y, seed, method, writer):
    """Write a line for each share of new rows."""
    train, old, new = parts(topics, seed)
    n = min(N_ROWS, len(train), len(old) - N_QUERIES, (len(new) - N_QUERIES) // 2)
    judge = Judge(X, y, method, seed)
    before = judge.fit(train[:n])
    usual = before.predict(X[train[:n]]).mean(axis=0)
    for share in SHARES:
        n_new, n_asked = round(share * n), round(share * N_QUERIES)
        queries = np.append(new[:n_asked], old[: N_QUERIES - n_asked])
        first, second = new[N_QUERIES : N_QUERIES + n_new], new[N_QUERIES + n :][:n_new]
        rows = np.append(first, old[N_QUERIES : N_QUERIES + n - n_new])
        others = np.append(second, train[: n - n_new])  # as many of each kind to learn from
        kept = judge(before, queries, rows)
        refitted = judge(judge.fit(others), queries, rows)
        moved = np.abs(before.predict(X[rows]).mean(axis=0) - usual).mean()
        rng = np.random.default_rng(seed)
        some, learned = (rng.permutation(part)[:SAMPLE] for part in (rows, others))
        which = 0 if method in LABELLED else 1
        check = [judge(each, queries, some)[which] for each in (before, judge.fit(learned))]
        values = [*kept, *refitted, moved, *check]
        writer.writerow([name, seed, method, share, n, *(f"{value:.5f}" for value in values)])


HEADER = (
    "set", "seed", "method", "share", "rows", "recall", "candidates", "refitted_recall",
    "refitted_candidates", "bits_moved", "sample_candidates", "sample_refitted",
)  # fmt: skip


def tables(path):
    """Print losses by set and share of new rows, and how well two signs of drift tell them."""
    with open(path) as file:
        lines = list(csv.DictReader(file))
    for line in lines:
        for name in HEADER[3:]:
            line[name] = float(line[name])
        measured = "recall" if line["method"] in LABELLED else "candidates"
        line["loss"] = line[f"refitted_{measured}"] - line[measured]
        line["sample_loss"] = line["sample_refitted"] - line["sample_candidates"]
    for method in dict.fromkeys(line["method"] for line in lines):
        judged = "AP by label" if method in LABELLED else "recall among 100 codes"
        print(f"\n{method}: {judged}, refitted less kept, by share of new rows")
        for name in dict.fromkeys(line["set"] for line in lines):
            row = [
                [
                    e["loss"]
                    for e in lines
                    if (e["set"], e["method"], e["share"]) == (name, method, s)
                ]
                for s in SHARES
            ]
            if row[0]:
                cells = "  ".join(cell(values, 3) for values in row if values)
                print(f"{name:14s} {cells}  {len(row[0])} seeds")
    for method in dict.fromkeys(line["method"] for line in lines):
        mine = [line for line in lines if line["method"] == method]
        loss = np.array([line["loss"] for line in mine])
        for sign in ("bits_moved", "sample_loss"):
            values = np.array([line[sign] for line in mine])
            print(
                f"{method} {sign}: correlation with the loss {np.corrcoef(values, loss)[0, 1]:.2f}"
            )
        for limit in (0.01, 0.02, 0.05):
            is_lost = loss > 0.02
            for sign in ("bits_moved", "sample_loss"):
                says = np.array([line[sign] for line in mine]) > limit
                print(
                    f"  {sign} > {limit}: {(says & is_lost).sum()} of {is_lost.sum()} losses above "
                    f".02 found, {(says & ~is_lost).sum()} of {(~is_lost).sum()} others named"
                )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in SETS:
        parser.add_argument(f"--{name}", help=".npz or .npy file")
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=METHODS)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--output", type=Path, help="where lines are appended; default: printed")
    parser.add_argument("--table", help="a file of lines, of which tables are printed")
    options = parser.parse_args()
    if options.table:
        tables(options.table)
        return
    is_new = not (options.output and options.output.exists())
    file = options.output.open("a", newline="", buffering=1) if options.output else sys.stdout
    writer = csv.writer(file, lineterminator="\n")
    if is_new:
        writer.writerow(HEADER)
    given = {name: read(path) for name, read in SETS.items() if (path := getattr(options, name))}
    for seed, method, name in product(options.seeds, options.methods, given):
        X, topics, y = given[name]
        if y is not None or method not in LABELLED:
            measure(name, X, topics, y, seed, method, writer)


if __name__ == "__main__":
    main()
