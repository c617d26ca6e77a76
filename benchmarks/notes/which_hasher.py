"""Every method by name on five data sets: quality, time to train and time to encode.

    python -m benchmarks.notes.which_hasher --gist GIST.npz --deep DEEP.npz --clinc CLINC.npz
        [--methods NAME,...] [--bits 16,32,64] [--seeds 2] [--n-jobs 2] [--store DIR]
        [--only PART OF A TITLE] [--output docs/notes/which_hasher]

Data sets: Fashion-MNIST pixels, CIFAR-10 GIST and CIFAR-10 deep features with 100 queries and 500
training rows of each class, the database being all rows but the queries; text embeddings with their
intents, and the same without labels, where the ten nearest rows by cosine are relevant: 15,000
training rows are the database, 4,500 rows of the test part are the queries. Data sets whose file is
not given are left out. What is finished stays in the store, so that the same command goes on. Each
data set has a file of its own in the folder of the output.
"""

import argparse
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.protocols import FASHION_MNIST, cell, deep_features, fashion_mnist, gist, intents
from sklearn_hashrank import NeighborAffinity
from sklearn_hashrank.comparison import compare
from sklearn_hashrank.comparison._method_table import GROUPS, METHODS
from sklearn_hashrank.model_selection import PerClassRetrievalSplit, RetrievalSplit

TOO_SLOW_WITHOUT_LABELS = ("fasthash", "machash")  # they compare all rows with each other
SHALLOW = [name for name in METHODS if METHODS[name].group != "deep"]


class Task(NamedTuple):
    """A data set, and what is asked of it."""

    title: str
    X: np.ndarray
    y: np.ndarray | None
    protocol: object
    affinity: object = "auto"
    measure: str = "ap"

    @property
    def slug(self):
        """Name of its file."""
        return self.title.replace(",", "").replace(" ", "_").lower()


def find_tasks(options):
    """The tasks whose data are there."""
    by_class = PerClassRetrievalSplit(n_queries=100, n_train=500)
    if Path(options.fashion_mnist).is_dir():
        yield Task("Fashion-MNIST pixels", *fashion_mnist(options.fashion_mnist), by_class)
    if options.gist:
        yield Task("CIFAR-10 GIST", *gist(options.gist), by_class)
    if options.deep:
        yield Task("CIFAR-10 deep features", *deep_features(options.deep), by_class)
    if options.clinc:
        X, y, query, database = intents(options.clinc)
        split = RetrievalSplit(database, query, database)
        yield Task("Text embeddings, 150 intents", X, y, split)
        neighbors = NeighborAffinity(n_neighbors=10)
        yield Task("Text embeddings, no labels", X, None, split, neighbors, "recall@10")


def run(task, options):
    """Results of all methods that the task allows."""
    methods = options.methods
    if task.y is None:
        methods = [
            name
            for name in methods
            if not METHODS[name].needs_y and name not in TOO_SLOW_WITHOUT_LABELS
        ]
    return compare(
        task.X,
        task.y,
        methods=methods,
        n_bits=options.bits,
        seeds=options.seeds,
        protocol=task.protocol,
        affinity=task.affinity,
        measures=task.measure,
        name=task.title,
        store=options.store,
        n_jobs=options.n_jobs,
        progress=lambda result, done, runs: print(
            f"{task.title}: {done}/{runs} {result.method} {result.n_bits} {result.error}",
            flush=True,
        ),
    )


def table(task, comparison, options):
    """A list table in reStructuredText: methods in groups, lengths, times at the longest."""
    name = "AP_T" if task.measure == "ap" else task.measure
    heads = ["method", *(f"{name}, {bits} bits" for bits in options.bits)]
    heads += [f"training at {max(options.bits)} bits, s", "encoding, µs a row"]
    lines = [task.title, "-" * len(task.title), ""]
    lines += [".. list-table::", "   :header-rows: 1", ""]
    lines += _row(heads)
    known = {}
    for result in comparison.results:
        known.setdefault((result.method, result.n_bits), []).append(result)
    for group in GROUPS:
        for method in options.methods:
            if METHODS[method].group == group and (method, options.bits[0]) in known:
                lines += _row(_cells(method, known, task.measure, options.bits))
    return "\n".join([*lines, ""])


def _cells(method, known, measure, lengths):
    cells = [f"``{method}``"]
    for bits in lengths:
        scores = [r.scores[measure] for r in known.get((method, bits), []) if not r.error]
        cells.append(cell(scores, 3).removesuffix(" ±0.000") if scores else "")
    longest = [r.scores for r in known.get((method, max(lengths)), []) if not r.error]
    for time in ("fit_seconds", "encode_microseconds"):
        cells.append(f"{np.mean([s[time] for s in longest]):.2g}" if longest else "")
    return cells


def _row(cells):
    return [f"   {'* -' if i == 0 else '  -'} {cell}" for i, cell in enumerate(cells)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fashion-mnist", default=FASHION_MNIST, help="folder of the idx files")
    parser.add_argument("--gist", help="npz file with X_train, y_train, X_test, y_test")
    parser.add_argument("--deep", help="npz file with X, y, scale")
    parser.add_argument("--clinc", help="npz file with X_train, intent_train, X_test, intent_test")
    parser.add_argument("--methods", type=lambda t: t.split(","), default=SHALLOW)
    parser.add_argument(
        "--bits", type=lambda t: [int(n) for n in t.split(",")], default=[16, 32, 64]
    )
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--n-jobs", type=int, default=2)
    parser.add_argument("--store", default="build/which_hasher")
    parser.add_argument("--only", default="", help="part of the titles of the data sets to run")
    parser.add_argument("--output", type=Path, help="folder for a table of each data set")
    options = parser.parse_args()
    for task in find_tasks(options):
        if options.only in task.title:
            text = table(task, run(task, options), options)
            print(text, flush=True)
            if options.output:
                options.output.mkdir(parents=True, exist_ok=True)
                (options.output / f"{task.slug}.inc").write_text(text)


if __name__ == "__main__":
    main()
