"""The candidates of `hashrank suggest` on many small sets, and whether one rule fits all of them.

    python -m benchmarks.notes.rule_of_thumb --data FOLDER [--only PART OF A TITLE] [--store FOLDER]
    python -m benchmarks.notes.rule_of_thumb --store FOLDER --table

The first form tries the candidates on every set: 2,500 rows at most, of which 500 are queries and
up to 1,000 are trained on, three splits, 32 bits. What is finished stays in the store, a file for
each set. The second makes the tables of the user guide. It also leaves one set out after the other:
for each situation, the rule is the method with the smallest mean loss on the other sets, and its
loss is what the best method of the set that was left out is ahead of it.
"""

import argparse
import json
from pathlib import Path

import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_breast_cancer, load_digits, load_wine

from benchmarks.protocols import FASHION_MNIST, deep_features, fashion_mnist, gist
from sklearn_hashrank.comparison import suggest
from sklearn_hashrank.comparison._best import rivals_of_leader
from sklearn_hashrank.comparison._method_table import METHODS, SITUATIONS

N_ROWS, N_TRAIN, N_SPLITS, N_BITS = 2500, 1000, 3, 32
# Also tried, beside the candidates: what the rule might be, but is not.
ALSO = {"classes": ["lwh", "mihash"], "grades": ["talr-ap"], "new classes": ["talr-ap"]}


def some(*arrays):
    """The same random rows of several arrays."""
    order = np.random.default_rng(0).permutation(arrays[0].shape[0])[:N_ROWS]
    return [array[order] for array in arrays]


def split_into_clusters(X, y, n_clusters=8):
    """Label paths: the class, and a cluster of its rows."""
    clusters = np.empty(len(y), dtype=int)
    for label in np.unique(y):
        rows = np.flatnonzero(y == label)
        found = KMeans(n_clusters, n_init=1, random_state=0).fit_predict(X[rows])
        clusters[rows] = n_clusters * label + found
    return np.stack([y, clusters], axis=1) + 2


def find_tasks(folder):
    """Title, situation, and a function that gives X and y."""
    digits, cancer, wine = (
        load(return_X_y=True) for load in (load_digits, load_breast_cancer, load_wine)
    )

    def pixels():
        return some(*fashion_mnist(FASHION_MNIST))

    def descriptors():
        return some(*gist(folder / "cifar10_gist512.npz"))

    def network():
        return some(*deep_features(folder / "cifar10_deep1280.npz"))

    def intents(*names):
        file = np.load(folder / "clinc150_embeddings256.npz")
        labels = [file[f"{name}_train"].astype(int) for name in names]
        X, y = some(file["X_train"].astype(np.float32), np.stack(labels, axis=1))
        return X, y[:, 0] if len(names) == 1 else y + 2

    def label_sets(name):
        file = np.load(folder / name)
        return some(file["X"].astype(np.float32), file["Y"].astype(np.int8))

    def descriptions():
        return some(np.load(folder / "descriptions_minilm384.npz")["X"].astype(np.float32))[0]

    def clusters(rows, place=slice(None)):
        X, y = rows()
        return X, split_into_clusters(X, y)[:, place]

    for title, rows in (
        ("Digits", lambda: digits),
        ("Network features", network),
        ("GIST", descriptors),
        ("150 intents", lambda: intents("intent")),
        ("Fashion-MNIST pixels", pixels),
        ("10 domains of intents", lambda: intents("domain")),
        ("Clusters of network features", lambda: clusters(network, 1)),
        ("Clusters of GIST", lambda: clusters(descriptors, 1)),
        ("Breast cancer", lambda: cancer),
        ("Wine", lambda: wine),
    ):
        yield title, "classes", rows
    for title, rows in (
        ("Scene, label sets", lambda: label_sets("ml_scene.npz")),
        ("tmc2007, label sets", lambda: label_sets("ml_tmc2007_500.npz")),
        ("Paths of intents", lambda: intents("domain", "intent")),
        ("Paths of network features", lambda: clusters(network)),
        ("Paths of digits", lambda: (digits[0], split_into_clusters(*digits))),
    ):
        yield title, "grades", rows
    for title, rows in (
        ("New intents", lambda: intents("intent")),
        ("New digits", lambda: digits),
        ("New clusters of network features", lambda: clusters(network, 1)),
        ("New clusters of GIST", lambda: clusters(descriptors, 1)),
        ("New classes of pixels", pixels),
    ):
        yield title, "new classes", rows
    for title, rows in (
        ("Descriptions, no labels", descriptions),
        ("Intents, no labels", lambda: intents("intent")[0]),
        ("Network features, no labels", lambda: network()[0]),
        ("GIST, no labels", lambda: descriptors()[0]),
        ("Digits, no labels", lambda: digits[0]),
    ):
        yield title, "no labels", lambda rows=rows: (rows(), None)


def run(title, situation, rows):
    """Try the candidates, and return the numbers as JSON has them."""
    X, y = rows()
    new = situation == "new classes"
    settings = {"n_bits": N_BITS, "new_classes": new, "max_rows": N_TRAIN, "n_splits": N_SPLITS}
    names = [name + m.suits[situation] for name, m in METHODS.items() if situation in m.suits]
    names += ALSO.get(situation, [])
    settings["methods"] = [name for name in names if X.shape[1] >= N_BITS or name not in _NARROW]
    found = suggest(X, y, **settings)
    assert found.about["situation"] == SITUATIONS[situation]
    column = found.columns[0]
    means, rivals = rivals_of_leader(found.results, column.name, N_BITS)
    cells = {table.column.name: table.cells for table in found.tables()}
    return {
        "title": title,
        "situation": situation,
        "sample": found.about["protocol"]["sizes"],
        "measure": column.title,
        "taken": found.best().method,
        "methods": {
            method: {
                "mean": mean,
                "spread": cells[column.name][method, N_BITS].deviation,
                "behind": method in rivals and rivals[method].is_behind,
                "training": cells["fit_seconds"][method, N_BITS].mean,
                "encoding": cells["encode_microseconds"][method, N_BITS].mean,
            }
            for method, mean in means.items()
        },
    }


_NARROW = ("itq", "sign")  # take no more bits than there are features


def losses(results):
    """What the best method is ahead of each, by set and method."""
    best = {r["title"]: max(m["mean"] for m in r["methods"].values()) for r in results}
    return {
        r["title"]: {name: best[r["title"]] - m["mean"] for name, m in r["methods"].items()}
        for r in results
    }


def rule_of(results):
    """The method of all of these sets whose mean loss is the smallest."""
    of_sets = losses(results)
    common = set.intersection(*(set(methods) for methods in of_sets.values()))
    return min(sorted(common), key=lambda n: np.mean([methods[n] for methods in of_sets.values()]))


def leave_one_out(results):
    """For each set: the rule of the others, whether it is within noise of the best, its loss."""
    rows = []
    for left_out in results:
        rule = rule_of([each for each in results if each is not left_out])
        if rule not in left_out["methods"]:
            continue
        loss = losses([left_out])[left_out["title"]][rule]
        rows.append((left_out["title"], rule, not left_out["methods"][rule]["behind"], loss))
    return rows


def tables(results):
    """Tables in reStructuredText, one for each situation, and what leaving sets out gives."""
    lines = []
    for situation in SITUATIONS:
        own = [each for each in results if each["situation"] == situation]
        if len(own) < 2:
            continue
        names = list(dict.fromkeys(name for each in own for name in each["methods"]))
        of_sets = losses(own)
        lines += [situation.capitalize(), "-" * len(situation), ""]
        lines += [".. list-table::", "   :header-rows: 1", ""]
        lines += _row(["set", *(f"``{name}``" for name in names)])
        for each in own:
            lines += _row([each["title"], *(_cell(each["methods"].get(name)) for name in names)])
        mean = [[of[name] for of in of_sets.values() if name in of] for name in names]
        lines += _row(["mean loss", *(f"{np.mean(values):.3f}" for values in mean)])
        found = leave_one_out(own)
        within = sum(is_within for _, _, is_within, _ in found)
        missed = [(title, loss) for title, _, is_within, loss in found if not is_within]
        rules = sorted({rule for _, rule, _, _ in found})
        named = " or ".join(f"``{rule}``" for rule in rules)
        text = (
            f"Leaving one set out, the rule of the others is {named}. It is within noise of the "
            f"best on {within} of {len(found)} sets."
        )
        if missed:
            text += " Elsewhere it loses " + ", ".join(f"{x:.3f} ({t})" for t, x in missed) + "."
        lines += ["", text, ""]
    return "\n".join(lines)


def _cell(method):
    if method is None:
        return ""
    text = f"{method['mean']:.3f}"
    return text if method["behind"] else f"**{text}**"


def _row(cells):
    return [f"   {'* -' if i == 0 else '  -'} {cell}".rstrip() for i, cell in enumerate(cells)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder of the npz files")
    parser.add_argument("--only", default="", help="part of the titles of the sets to run")
    parser.add_argument("--store", type=Path, default=Path("build/rule_of_thumb"))
    parser.add_argument("--table", action="store_true", help="make the tables of what is there")
    options = parser.parse_args()
    if options.table:
        results = [json.loads(path.read_text()) for path in sorted(options.store.glob("*.json"))]
        print(tables(results))
        return
    options.store.mkdir(parents=True, exist_ok=True)
    for title, situation, rows in find_tasks(options.data):
        path = options.store / f"{title.replace(' ', '_').replace(',', '')}.json"
        if options.only in title and not path.exists():
            path.write_text(json.dumps(run(title, situation, rows), indent=1))
            print(title, flush=True)


if __name__ == "__main__":
    main()
