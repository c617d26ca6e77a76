"""Codes of queries and items that have different features, learned from clicks.

    python -m benchmarks.notes.two_towers --intents CLINC.npz --gist GIST.npz --deep DEEP.npz

*intents*: a query is 96 of the 256 numbers of a sentence, after a random rotation, and an item the
other 160 of another sentence. *pictures*: a query is the GIST of a picture, 512 numbers, and an
item the 1,280 features that a network gives another one. For each of 3,000 queries, 5 of 3,000
items of its class were clicked; nothing else is known. 500 other queries retrieve these items, and
3,000 other items without clicks, by codes of 64 bits. AP is that by class.

*towers* is what the page on clicks shows. *ridge, ITQ* predicts the mean of the clicked items from
the features of a query, and encodes that by the ITQ of the items. *ITQ of both* has not seen the
clicks: it encodes the same matrix as towers.
"""

import argparse

import numpy as np
from scipy import sparse
from sklearn.linear_model import RidgeCV

from benchmarks.protocols import cell, deep_features
from sklearn_hashrank import ITQHasher, PrecomputedAffinity, TALRLinear, retrieval_histogram

N_TRAIN, N_TEST, N_CLICKS, N_BITS = 3000, 500, 5, 64
WIDTH_OF_QUERIES = 96


def intents(options, rng):
    """Features as queries, features as items, and classes of the same rows."""
    with np.load(options.intents) as file:
        X, y = file["X_train"].astype(np.float32), file["intent_train"]
    rotation, _ = np.linalg.qr(rng.normal(size=(X.shape[1], X.shape[1])))
    X = (X @ rotation).astype(np.float32)
    return X[:, :WIDTH_OF_QUERIES], X[:, WIDTH_OF_QUERIES:], y


def pictures(options, rng):
    """Features as queries, features as items, and classes of the same rows."""
    with np.load(options.gist) as file:
        Q, y = file["X_train"].astype(np.float32), file["y_train"].ravel()
    X, y_of_items = deep_features(options.deep)
    assert (y == y_of_items[: len(y)]).all()
    return Q, X[: len(y)], y


def ap(query_codes, item_codes, query_y, item_y):
    found = retrieval_histogram(query_codes, item_codes, query_y, item_y)
    return found.average_precision().mean()


def measure(Q, X, y, rng, seed):
    """AP of each method, of items that were clicked and of others."""
    parts = np.split(rng.permutation(len(y)), np.cumsum([N_TRAIN, N_TRAIN, N_TRAIN, N_TEST]))
    asked, known, new, tested = parts[:4]
    Q_train, Q_test, Q_y, Q_test_y = Q[asked], Q[tested], y[asked], y[tested]
    clicks = [
        (query, item)
        for query, label in enumerate(Q_y)
        for item in rng.permutation(np.flatnonzero(y[known] == label))[:N_CLICKS]
    ]
    clicked = sparse.csr_matrix((np.ones(len(clicks)), np.transpose(clicks)), [N_TRAIN, N_TRAIN])
    of_queries, of_items = Q_train.mean(axis=0), X[known].mean(axis=0)

    def rows(Q, X):
        return sparse.block_diag((Q - of_queries, X - of_items)).tocsr().astype(np.float32)

    both = rows(Q_train, X[known])
    affinity = PrecomputedAffinity.from_pairs(clicks, np.arange(N_TRAIN), np.arange(N_TRAIN))
    towers = TALRLinear(N_BITS, affinity=affinity, random_state=seed)
    towers.fit(both, np.arange(2 * N_TRAIN))
    blind = ITQHasher(N_BITS, random_state=seed).fit(both)
    n_clicks = np.asarray(clicked.sum(axis=1)).ravel()
    has_clicks = n_clicks > 0
    means = (clicked @ X[known])[has_clicks] / n_clicks[has_clicks, None]
    ridge = RidgeCV(np.logspace(-3, 3, 13)).fit(Q_train[has_clicks], means)
    itq = ITQHasher(N_BITS, random_state=seed).fit(X[known])
    found = {}
    for name, items in (("clicked", known), ("new", new)):
        asked_for = rows(Q_test, X[items])
        for method, hasher in (("towers", towers), ("ITQ of both", blind)):
            codes = hasher.predict(asked_for)
            found[method, name] = ap(codes[:N_TEST], codes[N_TEST:], Q_test_y, y[items])
        codes = itq.predict(ridge.predict(Q_test).astype(np.float32)), itq.predict(X[items])
        found["ridge, ITQ", name] = ap(*codes, Q_test_y, y[items])
        found["chance", name] = ap(codes[0] * 0, codes[1] * 0, Q_test_y, y[items])
    return found


SETS = {"intents": intents, "pictures": pictures}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("intents", "gist", "deep"):
        parser.add_argument(f"--{name}", help=".npz file")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    options = parser.parse_args()
    is_given = {"intents": options.intents, "pictures": options.gist and options.deep}
    for name, read in SETS.items():
        if not is_given[name]:
            continue
        found = []
        for seed in options.seeds:
            rng = np.random.default_rng(seed)
            found.append(measure(*read(options, rng), rng, seed))
        print(f"{name}: AP of clicked items, of new items")
        for method in ("chance", "ITQ of both", "ridge, ITQ", "towers"):
            cells = [cell([each[method, part] for each in found], 3) for part in ("clicked", "new")]
            print(f"  {method:14s}", *cells, flush=True)


if __name__ == "__main__":
    main()
