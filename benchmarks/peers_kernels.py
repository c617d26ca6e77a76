"""Hashers of kernels and anchors, as they are compared with released code.

    python benchmarks/peers_kernels.py [--data GIST.npz] [--seeds 5] [--methods ksh bre ...]
    python benchmarks/peers_kernels.py --encoding

Protocol: 2,000 training rows, 500 queries, 3,000 database rows that nobody trains on, sampled from
the whole data set. Digits: 300 queries; the other rows are trained on and are the database. Mean
tie-aware AP over seeds, its standard deviation, and CPU seconds of a fit. With ``--encoding``,
seconds to encode 100,000 rows of 512 features with 64 bits, beside the matrix products alone.
"""

import argparse
import functools
import itertools
import time

import numpy as np
from peers_minibatch import measure
from protocols import gist
from sklearn.datasets import load_digits

from sklearn_hashrank.comparison import method_from_name

METHODS = ("klsh", "agh-1", "agh-2", "bre", "ksh", "ksh:n_labelled=1000", "talr-ap", "talr-kernel")


def split_rows(y, seed):
    """Training rows, queries and database."""
    order = np.random.RandomState(seed).permutation(len(y))
    return order[:2000], order[2000:2500], order[2500:5500]


def split_digits(y, seed):
    """Training rows, queries and database, which is the training rows."""
    order = np.random.RandomState(seed).permutation(len(y))
    return order[300:], order[:300], order[300:]


def time_encoding(methods, n_rows=100_000, n_features=512, n_bits=64):
    """Print seconds of encoding, and of the products of matrices of the same shapes."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_features)).astype(np.float32)
    for notation in methods:
        hasher = method_from_name(notation).set_params(n_bits=n_bits, random_state=0)
        if "max_iter" in hasher.get_params():
            hasher.set_params(max_iter=1)
        hasher.fit(X[:2000], rng.integers(10, size=2000))
        sizes = [n_features, *np.shape(getattr(hasher, "anchors_", None))[:1], n_bits]
        factors = [rng.normal(size=size).astype(np.float32) for size in itertools.pairwise(sizes)]

        def multiply(factors=factors):
            functools.reduce(np.matmul, factors, X)

        seconds = [timed(lambda hasher=hasher: hasher.packed_codes(X)), timed(multiply)]
        print(f"  {notation:12s} {seconds[0]:.2f} s, products alone {seconds[1]:.2f} s", flush=True)


def timed(function, repeats=3):
    """Seconds of the fastest call."""
    best = np.inf
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        best = min(best, time.perf_counter() - start)
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", help="npz file with X_train, y_train, X_test, y_test")
    parser.add_argument("--methods", nargs="*", default=METHODS)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--encoding", action="store_true")
    options = parser.parse_args()
    if options.encoding:
        time_encoding(options.methods)
        return
    X, y = load_digits(return_X_y=True)
    measure("digits", X, y, split_digits, options.methods, options.seeds)
    if options.data:
        measure("GIST", *gist(options.data), split_rows, options.methods, options.seeds)


if __name__ == "__main__":
    main()
