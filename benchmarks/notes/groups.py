"""Many classes: groups of 4 rows in batches of 512, and of 16 rows in batches of 1,024.

    python -m benchmarks.notes.groups [--data GIST.npz] [--features DEEP.npz] [--intents CLINC.npz]
        [--bits 48] [--seeds 5]

Classes of images are cut into 20 each: by k-means, at random, and half of the rows by k-means and
half at random. All rows are of the training part of a file. A figure is a mean tie-aware AP of rows
that are not trained on as queries; they retrieve the training rows, and other new rows. The share
is that of rows whose nearest row is of their class, by which `TALRLinear` chooses between the two.
"""

import argparse
from types import SimpleNamespace

import numpy as np
from sklearn.cluster import KMeans
from sklearn.neighbors import NearestNeighbors

from benchmarks.protocols import average_precision, cell, deep_features, gist, intents
from sklearn_hashrank import TALRLinear
from sklearn_hashrank._features.moments import Moments
from sklearn_hashrank._features.space import FeatureSpace

N_ROWS, N_PARTS, FEWEST, N_SAMPLED = 20_000, 20, 60, 256
SETTINGS = {"4 in 512": (4, 512), "16 in 1,024": (16, 1024)}


class InGroups(TALRLinear):
    """TALRLinear whose batches are made as told."""

    def _fit_relevance(self, X, y, by_features=False):
        relevance = super()._fit_relevance(X, y)
        group_size, batch_size = SETTINGS[self.setting]
        relevance._groups = SimpleNamespace(group_size=group_size, batch_size=batch_size)
        return relevance


def share_with_own_nearest(X, y):
    """Share of some rows whose nearest other row is of their class."""
    inside = FeatureSpace.of(Moments.of(X)).transform(X)
    some = np.random.RandomState(0).permutation(len(y))[:N_SAMPLED]
    _, nearest = NearestNeighbors(n_neighbors=2).fit(inside).kneighbors(inside[some])
    return np.mean(y[nearest[:, 1]] == y[some])


def in_parts(X, y, by):
    """Some of the rows, and the number of the part of a class that each is in."""
    rows = np.sort(np.random.RandomState(7).permutation(len(y))[:N_ROWS])
    X, y, sampler = X[rows], y[rows], np.random.RandomState(8)
    parts = np.empty(len(y), dtype=int)
    for label in np.unique(y):
        members = np.flatnonzero(y == label)
        part = at_random = sampler.randint(N_PARTS, size=len(members))
        if by != "at random":
            part = KMeans(N_PARTS, n_init=1, random_state=0).fit_predict(X[members])
        if by == "by half":
            part = np.where(sampler.rand(len(members)) < 0.5, part, at_random)
        parts[members] = N_PARTS * label + part
    is_kept = (np.bincount(parts) >= FEWEST)[parts]
    return X[is_kept], parts[is_kept]


def split(y, sizes, seed):
    """Numbers of training rows, queries and new rows: so many of each class, disjoint."""
    random_state, found = np.random.RandomState(1000 + seed), []
    for label in np.unique(y):
        rows = random_state.permutation(np.flatnonzero(y == label))[: sum(sizes)]
        found.append(np.split(rows, np.cumsum(sizes)[:-1]))
    return [np.sort(np.concatenate(part)) for part in zip(*found, strict=True)]


def find_sets(options):
    """Title, rows, labels, and training rows, queries and new rows of each class."""
    images = []
    if options.data:
        images.append(("GIST", gist(options.data)))
    if options.features:
        images.append(("network features", deep_features(options.features)))
    for title, (X, y) in images:
        for by, n_train, n_new in (
            ("by k-means", 35, 20),
            ("by half", 45, 40),
            ("at random", 45, 40),
        ):
            yield f"{title}, {by}", *in_parts(X[:50_000], y[:50_000], by), (n_train, 5, n_new)
    if options.intents:
        X, y, _, training_part = intents(options.intents)
        for n_train in (15, 75):
            title = f"150 intents, {n_train} rows"
            yield title, X[training_part], y[training_part], (n_train, 10, 90 - n_train)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", help="npz file with X_train, y_train, X_test, y_test")
    parser.add_argument("--features", help="npz file with X, y and scale")
    parser.add_argument("--intents", help="npz file with X_train, intent_train, X_test, ...")
    parser.add_argument("--bits", type=int, default=48)
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args()
    for title, X, y, sizes in find_sets(options):
        train = split(y, sizes, 0)[0]
        share = share_with_own_nearest(X[train], y[train])
        print(f"\n{title}, {options.bits} bits; share {share:.3f}")
        for label in SETTINGS:
            found = []
            for seed in range(options.seeds):
                train, query, new = split(y, sizes, seed)
                hasher = InGroups(n_bits=options.bits, random_state=seed)
                hasher.setting = label
                hasher.fit(X[train], y[train])
                found.append([average_precision(hasher, X, y, query, d) for d in (train, new)])
            of_train, of_new = (cell(scores) for scores in np.transpose(found))
            print(f"{label:12s} training rows {of_train}   new rows {of_new}", flush=True)


if __name__ == "__main__":
    main()
