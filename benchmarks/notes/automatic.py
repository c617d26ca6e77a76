"""What ``dropout="auto"`` and ``objective="auto"`` of TALRLinear cost or gain, set by set.

    python -m benchmarks.notes.automatic --data FOLDER [--only PART OF A TITLE] [--bits 12,32]
        [--settings 5] [--seeds 5] [--store FILE]
    python -m benchmarks.notes.automatic --store FILE --table

All rows come from the training part of a file: nothing is chosen by the queries of other
tables. A figure is the mean tie-aware AP of queries that retrieve new rows, which were not trained
on. Each seed has a split of its own, the same for all settings; differences are of pairs. What is
finished stays in the store, a line for each fit. Data sets that are not there are left out.
"""

import argparse
import json
from collections import defaultdict
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

from benchmarks.notes.dropout import split
from benchmarks.protocols import (
    FASHION_MNIST,
    average_precision,
    deep_features,
    fashion_mnist,
    gist,
    intents,
)
from sklearn_hashrank import TALRLinear
from sklearn_hashrank.feature_extraction import GIST
from sklearn_hashrank.objectives import NDCG

ROWS_OF_FASHION = 14_000  # descriptors of so many images take a minute


def automatic(n_features, n_rows):
    return min(n_features / n_rows, 0.3)


SETTINGS = {
    "auto": lambda share: {},
    "ap, no dropout": lambda share: {"dropout": 0},
    "ndcg, no dropout": lambda share: {"objective": NDCG(), "dropout": 0},
    "ap, half": lambda share: {"dropout": share / 2},
    "ndcg, dropout": lambda share: {"objective": NDCG(), "dropout": share},
}
"""Parameters, given the automatic dropout of average precision."""


def find_sets(folder):
    """Title, a function that gives rows and labels, and how many of each class have which part."""
    X, y = load_digits(return_X_y=True)
    yield "Digits, pixels", lambda: (X, y), (80, 30, 60)
    yield "Digits, GIST", lambda: (GIST((8, 8)).fit_transform(X), y), (80, 30, 60)
    if Path(FASHION_MNIST).is_dir():
        images, labels = (array[:ROWS_OF_FASHION] for array in fashion_mnist(FASHION_MNIST))
        sizes = (500, 100, 500)
        yield (
            "Fashion-MNIST, GIST",
            lambda: (GIST((28, 28)).fit_transform(images).astype(np.float32), labels),
            sizes,
        )
        yield "Fashion-MNIST, pixels", lambda: (images, labels), sizes
    if folder is None:
        return

    def training_part(rows, labels):
        return rows[:50_000], labels[:50_000]

    yield (
        "CIFAR-10, GIST",
        lambda: training_part(*gist(folder / "cifar10_gist512.npz")),
        (500, 100, 500),
    )
    yield (
        "CIFAR-10, network",
        lambda: training_part(*deep_features(folder / "cifar10_deep1280.npz")),
        (500, 100, 500),
    )

    def of_intents():
        rows, labels, _, part = intents(folder / "clinc150_embeddings256.npz")
        return rows[part], labels[part]

    yield "150 intents", of_intents, (60, 20, 20)


def run(options, finished, store):
    for title, rows, sizes in find_sets(options.data):
        if options.only not in title:
            continue
        X, y = rows()
        for seed in range(options.seeds):
            train, query, new = split(y, sizes, np.random.RandomState(seed))
            for n_bits in options.bits:
                for name, parameters in list(SETTINGS.items())[: options.settings]:
                    key = [title, n_bits, seed, name]
                    if key in finished:
                        continue
                    given = parameters(automatic(X.shape[1], len(train)))
                    hasher = TALRLinear(n_bits, random_state=seed, **given).fit(X[train], y[train])
                    score = average_precision(hasher, X, y, query, new)
                    print(json.dumps([*key, hasher.dropout_, float(score)]), file=store, flush=True)


def table(lines):
    scores = defaultdict(dict)
    for title, n_bits, seed, name, _, score in lines:
        scores[title, n_bits, name][seed] = score
    print(f"{'set':24s}{'bits':>5s}{'auto':>8s}", *(f"{n:>22s}" for n in list(SETTINGS)[1:]))
    for title, n_bits in dict.fromkeys((line[0], line[1]) for line in lines):
        auto = scores[title, n_bits, "auto"]
        cells = []
        for name in list(SETTINGS)[1:]:
            found = scores[title, n_bits, name]
            if not found:
                cells.append("not run")
                continue
            differences = [found[seed] - auto[seed] for seed in found if seed in auto]
            above = sum(each > 0 for each in differences)
            mean, spread = np.mean(differences), np.std(differences)
            cells.append(f"{mean:+8.4f} ±{spread:.4f} {above}/{len(differences)}")
        print(
            f"{title:24s}{n_bits:5d}{np.mean(list(auto.values())):8.4f}",
            *map("{:>22s}".format, cells),
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder of the npz files")
    parser.add_argument("--only", default="", help="part of the titles of the sets to run")
    parser.add_argument("--bits", default=[12, 32], type=lambda s: [int(n) for n in s.split(",")])
    parser.add_argument("--settings", type=int, default=len(SETTINGS), help="the first so many")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--store", type=Path, default=Path("build/automatic.jsonl"))
    parser.add_argument("--table", action="store_true", help="print the table of the finished runs")
    options = parser.parse_args()
    lines = []
    if options.store.exists():
        lines = [json.loads(line) for line in options.store.read_text().splitlines()]
    if options.table:
        table(lines)
        return
    options.store.parent.mkdir(parents=True, exist_ok=True)
    with options.store.open("a") as store:
        run(options, [line[:4] for line in lines], store)


if __name__ == "__main__":
    main()
