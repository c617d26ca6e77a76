"""Hashers of kernels and anchors, as they are compared with released code.

    python -m benchmarks.notes.peers_kernels [--data GIST.npz] [--seeds 5] [--methods ksh bre ...]

Protocol: 2,000 training rows, 500 queries, 3,000 database rows that nobody trains on, sampled from
the whole data set. Digits: 300 queries; the other rows are trained on and are the database. Mean
tie-aware AP over seeds, its standard deviation, and CPU seconds of a fit.
"""

import argparse

import numpy as np
from sklearn.datasets import load_digits

from benchmarks.notes.peers_minibatch import measure
from benchmarks.protocols import gist

METHODS = ("klsh", "agh-1", "agh-2", "bre", "ksh", "ksh:n_labeled=1000", "talr-ap", "talr-kernel")


def split_rows(y, seed):
    """Training rows, queries and database."""
    order = np.random.RandomState(seed).permutation(len(y))
    return order[:2000], order[2000:2500], order[2500:5500]


def split_digits(y, seed):
    """Training rows, queries and database, which is the training rows."""
    order = np.random.RandomState(seed).permutation(len(y))
    return order[300:], order[:300], order[300:]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", help="npz file with X_train, y_train, X_test, y_test")
    parser.add_argument("--methods", nargs="*", default=METHODS)
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args()
    X, y = load_digits(return_X_y=True)
    measure("digits", X, y, split_digits, options.methods, options.seeds)
    if options.data:
        measure("GIST", *gist(options.data), split_rows, options.methods, options.seeds)


if __name__ == "__main__":
    main()
