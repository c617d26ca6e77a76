"""Step sizes of SSHHasher: in units of the rows, and the authors', which are those of the features.

    python -m benchmarks.notes.ssh_steps --data GIST.npz --features DEEP.npz --intents CLINC.npz
        [--fashion-mnist FOLDER] [--seeds 5] [--bits 16 32]

Mean tie-aware AP and its standard deviation, on rows that nobody trained on, and how far each step
is from 1, with the p-value of Student's paired test over the seeds. Pixels stand in two units. Of
the network features every other one is used.
"""

import argparse

import numpy as np
from sklearn.datasets import load_digits

from benchmarks.protocols import FASHION_MNIST, cell, deep_features, fashion_mnist, gist, intents
from sklearn_hashrank import SSHHasher, retrieval_histogram
from sklearn_hashrank.metrics import paired_test

N_QUERIES, N_DATABASE = 500, 3000


def find_sets(options):
    """Yield names, rows, labels and numbers of training rows."""
    yield "digits", *load_digits(return_X_y=True), 800
    yield "GIST", *gist(options.data), 2000
    X, y = deep_features(options.features)
    yield "network", np.ascontiguousarray(X[:, ::2]), y, 2000
    X, y, _, _ = intents(options.intents)
    yield "intents", X, y, 6000
    X, y = fashion_mnist(options.fashion_mnist)
    yield "pixels to 1", X, y, 2000
    yield "pixels to 255", X * 255, y, 2000


def average_precision(X, y, n_train, seed, **parameters):
    """Mean AP of one split."""
    order = np.random.RandomState(seed).permutation(len(X))
    train, rest = order[:n_train], order[n_train : n_train + N_QUERIES + N_DATABASE]
    n_queries = min(N_QUERIES, len(rest) // 3)
    queries, items = rest[:n_queries], rest[n_queries:]
    hasher = SSHHasher(random_state=seed, **parameters).fit(X[train], y[train])
    codes = hasher.predict(X[queries]), hasher.predict(X[items])
    return retrieval_histogram(*codes, y[queries], y[items]).average_precision().mean()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True, help="GIST of CIFAR-10, npz")
    parser.add_argument("--features", required=True, help="network features of CIFAR-10, npz")
    parser.add_argument("--intents", required=True, help="embeddings of CLINC150, npz")
    parser.add_argument("--fashion-mnist", default=FASHION_MNIST, help="folder of the idx files")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--bits", type=int, nargs="+", default=[16, 32])
    parser.add_argument("--steps", nargs="+", default=["1", "3", "10", "raw"])
    parser.add_argument("--only", nargs="+", help="names of sets")
    options = parser.parse_args()
    for name, X, y, n_train in find_sets(options):
        if options.only and name not in options.only:
            continue
        for n_bits in options.bits:
            found = {
                step: [
                    average_precision(
                        *(X, y, n_train, seed),
                        n_bits=n_bits,
                        step_size=step if step == "raw" else float(step),
                    )
                    for seed in range(options.seeds)
                ]
                for step in options.steps
            }
            for step, values in found.items():
                test = paired_test(values, found[options.steps[0]], method="student")
                lead = f"{test.statistic:+.4f}, p {test.pvalue:.3f}"
                print(f"{name:14s} {n_bits} bits  {step:4s} {cell(values, 3)}  {lead}", flush=True)


if __name__ == "__main__":
    main()
