"""Average precision of random orders of tied items, beside the exact mean over all orders.

    python benchmarks/tie_orders.py --data GIST.npz [--seeds 0 1 2 3 4]
        [--output docs/reproduction/ties]

What an evaluation does that sorts: the database is shuffled, then sorted by distance for each query
by a stable sort. Ten such orders for each hasher. Seeds that the output has already are kept.
"""

import argparse
import csv
import json
from pathlib import Path

import numpy as np
from protocols import gist
from sklearn.base import clone

from sklearn_hashrank import retrieval_histogram
from sklearn_hashrank.codes import hamming_distances
from sklearn_hashrank.comparison import method_from_name

METHODS = ("lsh", "itq", "ssh", "rsh", "mihash", "talr-ap")
N_BITS, N_ORDERS, N_QUERIES, N_TRAIN, N_DATABASE = (16, 32), 10, 300, 2000, 20_000
COLUMNS = [
    "part",
    "task",
    "n_queries",
    "n_database",
    "n_train",
    "method",
    "n_bits",
    "seed",
    "measure",
    "value",
    "low",
    "high",
    "fit_seconds",
]
SEED = COLUMNS.index("seed")
TASK = "random-orders"


def sorted_measures(distances, relevant, order):
    """Mean AP and NDCG over the queries, of the database in this order."""
    aps, ndcgs = [], []
    discounts = 1 / np.log2(np.arange(2, len(order) + 2))
    ideal = np.cumsum(discounts)
    for row, hits in zip(distances, relevant):
        ranked = hits[order][np.argsort(row[order], kind="stable")]
        places = np.flatnonzero(ranked)
        aps.append(np.mean(np.arange(1, len(places) + 1) / (places + 1)))
        ndcgs.append(discounts[places].sum() / ideal[len(places) - 1])
    return np.mean(aps), np.mean(ndcgs)


def measures_of(codes, items, y, y_items, random_state):
    """Exact mean over all orders, one random order, and the mean of ten, of AP and NDCG."""
    found = retrieval_histogram(codes, items, y, y_items)
    distances = hamming_distances(codes, items).astype(np.uint8)
    relevant = y[:, None] == y_items
    random = np.random.RandomState(random_state)
    orders = [
        sorted_measures(distances, relevant, random.permutation(len(items)))
        for _ in range(N_ORDERS)
    ]
    values = {}
    for place, name in enumerate(("ap", "ndcg")):
        report = found.tie_report(name)
        values[name] = report.expected, report.pessimistic, report.optimistic
        of_orders = [order[place] for order in orders]
        nothing = float("nan"), float("nan")
        values[f"{name}:one random order"] = of_orders[0], *nothing
        values[f"{name}:ten random orders"] = np.mean(of_orders), *nothing
    return values


def read_lines(path):
    """Lines of earlier seeds; there may be none."""
    if not path.exists():
        return []
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.reader(file))[1:]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True, help="GIST of CIFAR-10, npz")
    parser.add_argument("--seeds", type=int, nargs="+", default=range(5))
    parser.add_argument("--output", default="docs/reproduction/ties")
    options = parser.parse_args()
    X, y = gist(options.data)
    path = Path(options.output) / "tie_orders.csv"
    lines = [line for line in read_lines(path) if int(line[SEED]) not in options.seeds]
    for seed in options.seeds:
        order = np.random.RandomState(seed).permutation(len(X))
        ends = np.cumsum([N_QUERIES, N_TRAIN, N_DATABASE])
        queries, train, items, _ = np.split(order, ends)
        for method in METHODS:
            for n_bits in N_BITS:
                hasher = clone(method_from_name(method)).set_params(n_bits=n_bits)
                if "random_state" in hasher.get_params():
                    hasher.set_params(random_state=seed)
                hasher.fit(X[train], y[train])
                codes = hasher.predict(X[queries]), hasher.predict(X[items])
                for measure, figures in measures_of(*codes, y[queries], y[items], seed).items():
                    texts = ["" if np.isnan(each) else f"{each:.6g}" for each in figures]
                    sizes = len(queries), len(items), len(train)
                    run = method, n_bits, seed, measure
                    lines.append(["tie_orders", TASK, *sizes, *run, *texts, ""])
                print(f"seed {seed}, {method}, {n_bits} bits", flush=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerows([COLUMNS, *sorted([*map(str, line)] for line in lines)])
    about = {"part": "tie_orders", "tasks": {TASK: {"title": "CIFAR-10, GIST"}}}
    about["command"] = "python benchmarks/tie_orders.py --data GIST.npz"
    path.with_suffix(".json").write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
