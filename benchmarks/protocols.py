"""Data sets and the retrieval protocols of the literature, for the other benchmarks."""

import numpy as np

from sklearn_hashrank import retrieval_histogram
from sklearn_hashrank.datasets import fetch_fashion_mnist
from sklearn_hashrank.model_selection import PerClassRetrievalSplit

FASHION_MNIST = "/usr/share/datasets/fashion-mnist"


def fashion_mnist(folder=FASHION_MNIST):
    """All 70,000 images as rows of pixels in [0, 1], and labels."""
    X, y = fetch_fashion_mnist(data_home=folder, download_if_missing=False, return_X_y=True)
    return X.astype(np.float32) / 255, y


def gist(path):
    """All rows and labels of an npz file with X_train, y_train, X_test, y_test."""
    with np.load(path) as file:
        X = np.concatenate([file["X_train"], file["X_test"]]).astype(np.float32)
        return X, np.concatenate([file["y_train"], file["y_test"]]).astype(int)


def deep_features(path):
    """All rows and labels of an npz file with X in bytes, y and scale."""
    with np.load(path) as file:
        X = (file["X"] / 255.0) ** 2 * file["scale"]
        return X.astype(np.float32), file["y"].astype(int)


def intents(path):
    """Embeddings, intents, and the places of queries (the test part) and database (training)."""
    with np.load(path) as file:
        X = np.concatenate([file["X_test"], file["X_train"]]).astype(np.float32)
        y = np.concatenate([file["intent_test"], file["intent_train"]]).astype(int)
        n_query = len(file["X_test"])
    return X, y, np.arange(n_query), np.arange(n_query, len(y))


def by_class(y, random_state, n_query=100, n_train=500):
    """Query, database and training rows, `n_train` of each class (None: the whole database).

    Rows come in the order of the data set.
    """
    protocol = PerClassRetrievalSplit(n_query, n_train, random_state=random_state)
    [(train, query, database)] = protocol.split(y, y)
    return np.sort(query), np.sort(database), np.sort(train)


def average_precision(hasher, X, y, query, database):
    """Mean tie-aware AP of some rows that retrieve others."""
    codes = hasher.predict(X[query]), hasher.predict(X[database])
    histogram = retrieval_histogram(*codes, y[query], y[database], n_jobs=2)
    return histogram.average_precision().mean()


def cell(values, digits=4):
    """Mean and standard deviation, for a table."""
    deviation = np.std(values, ddof=min(1, len(values) - 1))
    return f"{np.mean(values):.{digits}f} ±{deviation:.{digits}f}"
