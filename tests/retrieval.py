"""Digits as a retrieval problem, for the tests of the learned hashers."""

import functools

import numpy as np
from sklearn.datasets import load_digits

from sklearn_hashrank import retrieval_histogram


@functools.cache
def shuffled_digits():
    """Training rows, their labels, query rows, their labels."""
    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(X))
    X, y = X[order].astype(np.float32), y[order]
    return X[:900], y[:900], X[900:], y[900:]


def retrieve(hasher, X, y, X_query, y_query, measure="average_precision"):
    """Mean measure of the queries against the rows, relevant as the hasher learned it."""
    affinity = getattr(hasher, "affinity_", "auto")
    histogram = retrieval_histogram(
        hasher.predict(X_query), hasher.predict(X), y_query, y, affinity=affinity
    )
    return float(np.nanmean(histogram.measure(measure)))
