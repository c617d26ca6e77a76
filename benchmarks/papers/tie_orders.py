"""Average precision of random orders of tied items, beside the exact mean over all orders.

    python -m benchmarks.papers.tie_orders [--data GIST.npz] [--features DEEP.npz]
        [--seeds 0 1 2 3 4]
        [--output docs/notes/reproduction/ties]

What an evaluation does that sorts: the database is shuffled, then sorted by distance for each query
by a stable sort. Of GIST features ten such orders for each hasher; of network features one, in the
first setting of CIFAR-10, which is figure 2 of TALR 2017. Seeds that the output has are kept.
"""

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.base import clone

from benchmarks.papers.paper_results import COLUMNS, read_lines, write_lines
from benchmarks.protocols import deep_features, gist
from sklearn_hashrank import retrieval_histogram
from sklearn_hashrank.codes import hamming_distances
from sklearn_hashrank.comparison import method_from_name
from sklearn_hashrank.model_selection import PerClassRetrievalSplit

TASK, METHOD, SEED = (COLUMNS.index(name) for name in ("task", "method", "seed"))


def disjoint(X, y, seed):
    """Row numbers of 300 queries, 2,000 training rows and 20,000 of a database."""
    order = np.random.RandomState(seed).permutation(len(X))
    return np.split(order, np.cumsum([300, 2000, 20_000]))[:3]


def setting_1(X, y, seed):
    """Row numbers of the papers' first setting."""
    [(train, queries, items)] = PerClassRetrievalSplit(100, 500, random_state=seed).split(X, y)
    return queries, train, items


@dataclass(frozen=True)
class Task:
    """What is measured on a set: methods, lengths, numbers of orders, and how rows are sampled."""

    key: str
    title: str
    option: str
    read: Callable
    parts: Callable
    methods: tuple[str, ...]
    n_bits: tuple[int, ...]
    n_orders: int


TASKS = (
    Task(
        "random-orders",
        "CIFAR-10, GIST",
        "data",
        gist,
        disjoint,
        ("lsh", "itq", "ssh", "rsh", "mihash", "talr-ap"),
        n_bits=(16, 32),
        n_orders=10,
    ),
    Task(
        "setting-1",
        "CIFAR-10, features of a network",
        "features",
        deep_features,
        setting_1,
        ("bre", "structhash-trees", "machash", "fasthash", "dpsh", "mihash", "talr-ap"),
        n_bits=(32,),
        n_orders=1,
    ),
)


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


def measures_of(codes, items, y, y_items, random_state, n_orders=10):
    """Exact mean over all orders, one random order, and the mean of ten, of AP and NDCG."""
    found = retrieval_histogram(codes, items, y, y_items)
    distances = hamming_distances(codes, items).astype(np.uint8)
    relevant = y[:, None] == y_items
    random = np.random.RandomState(random_state)
    orders = [
        sorted_measures(distances, relevant, random.permutation(len(items)))
        for _ in range(n_orders)
    ]
    values = {}
    for place, name in enumerate(("ap", "ndcg")):
        report = found.tie_report(name)
        values[name] = report.expected, report.pessimistic, report.optimistic
        of_orders = [order[place] for order in orders]
        nothing = float("nan"), float("nan")
        values[f"{name}:one random order"] = of_orders[0], *nothing
        if n_orders == 10:
            values[f"{name}:ten random orders"] = np.mean(of_orders), *nothing
    return values


def run(task, X, y, seed, methods):
    """Lines of one seed."""
    queries, train, items = task.parts(X, y, seed)
    for method in methods:
        for n_bits in task.n_bits:
            hasher = clone(method_from_name(method)).set_params(n_bits=n_bits)
            if "random_state" in hasher.get_params():
                hasher.set_params(random_state=seed)
            hasher.fit(X[train], y[train])
            codes = hasher.predict(X[queries]), hasher.predict(X[items])
            found = measures_of(*codes, y[queries], y[items], seed, task.n_orders)
            for measure, figures in found.items():
                texts = ["" if np.isnan(each) else f"{each:.6g}" for each in figures]
                sizes = len(queries), len(items), len(train)
                at = method, n_bits, seed, measure
                yield list(map(str, ["tie_orders", task.key, *sizes, *at, *texts, ""]))
            print(f"{task.key}, seed {seed}, {method}, {n_bits} bits", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", help="GIST of CIFAR-10, npz")
    parser.add_argument("--features", help="network features of CIFAR-10, npz")
    parser.add_argument("--methods", nargs="+", help="of each set; all by default")
    parser.add_argument("--seeds", type=int, nargs="+", default=range(5))
    parser.add_argument("--output", default="docs/notes/reproduction/ties")
    options = parser.parse_args()
    path = Path(options.output) / "tie_orders.csv"
    lines = read_lines(path)
    titles = {task.key: {"title": task.title} for task in TASKS}
    about = {"part": "tie_orders", "tasks": titles}
    about["command"] = "python -m benchmarks.papers.tie_orders --data GIST.npz --features DEEP.npz"
    for task in TASKS:
        if not getattr(options, task.option):
            continue
        X, y = task.read(getattr(options, task.option))
        for seed in options.seeds:
            kept = {
                line[METHOD] for line in lines if (line[TASK], line[SEED]) == (task.key, str(seed))
            }
            wanted = [name for name in options.methods or task.methods if name not in kept]
            lines += run(task, X, y, seed, wanted)
            write_lines(path, sorted(lines), about)


if __name__ == "__main__":
    main()
