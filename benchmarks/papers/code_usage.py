"""How codes of 12 bits are used, and whether near ones are alike: figures 1, 7 and 8 of mLGAP.

    python -m benchmarks.papers.code_usage --features DEEP.npz --intents CLINC.npz
        [--seeds 5] [--output docs/notes/reproduction/usage]

Usage: how many codes of the database hold how many rows, for each method of figures 1 and 8.

Likeness: hashers learn from coarse classes. Of what they return for a query, only rows of its own
coarse class are looked at, as in figure 7. Which share of these has the fine class of the query, at
distances of at most 1, and of 2? Means over the queries that have rows in both places.
"""

import argparse
from pathlib import Path

import numpy as np
from sklearn.base import clone

from benchmarks.papers.experiments import VEHICLES, Sets
from benchmarks.papers.paper_results import write_lines
from sklearn_hashrank.codes import hamming_distances
from sklearn_hashrank.comparison import method_from_name
from sklearn_hashrank.model_selection import PerClassRetrievalSplit

N_BITS = 12
OF_USAGE = ("dsh", "density", "itq", "lsh", "pca-rr", "pca", "spectral", "sklsh", "spherical")
OF_USAGE += ("dispersed-paper", "dispersed", "talr-ap")
OF_LIKENESS = ("dsh", "dispersed-paper", "dispersed", "talr-ap")
PART, NEAR, FAR, LESS = "likeness", "alike within 1", "alike at 2", "alike within 1 less at 2"
MOST_ROWS = 20_000
NOTHING = "", ""


def fitted(method, X, y, seed):
    """A hasher of a method, on these rows."""
    hasher = clone(method_from_name(method)).set_params(n_bits=N_BITS)
    if "random_state" in hasher.get_params():
        hasher.set_params(random_state=seed)
    return hasher.fit(X, y)


def usage(codes):
    """Pairs of a number of rows and the number of codes that hold so many."""
    held = np.unique(codes, axis=0, return_counts=True)[1]
    return list(zip(*(column.tolist() for column in np.unique(held, return_counts=True))))


def alike(distances, same_coarse, same_fine):
    """Mean share of the fine class within distance 1 and at 2, among rows of the coarse class."""
    near, far = (same_coarse & at for at in (distances <= 1, distances == 2))
    kept = near.any(axis=1) & far.any(axis=1)
    return [
        float(np.mean((rows & same_fine)[kept].sum(axis=1) / rows[kept].sum(axis=1)))
        for rows in (near, far)
    ]


def sets_of_likeness(sets):
    """Name, title, rows, coarse and fine classes, and how many rows of each fine class."""
    data = sets.get("label_paths")
    coarse, fine = np.asarray(data.y).T
    yield "hidden-intents", f"{data.title}, learned from domains", data.X, coarse, fine, (10, 50)
    data = sets.get("cifar10_features")
    coarse = np.isin(data.y, VEHICLES).astype(int)
    title = f"{data.title}, learned from animals and vehicles"
    yield "hidden-classes", title, data.X, coarse, data.y, (100, 500)


def likeness(sets, n_seeds):
    """Lines of results."""
    for task, _, X, coarse, fine, sizes in sets_of_likeness(sets):
        for seed in range(n_seeds):
            protocol = PerClassRetrievalSplit(*sizes, random_state=seed)
            [(train, query, database)] = protocol.split(X, fine)
            database = database[:MOST_ROWS]  # rows come shuffled
            for method in OF_LIKENESS:
                hasher = fitted(method, X[train], coarse[train], seed)
                distances = hamming_distances(hasher.predict(X[query]), hasher.predict(X[database]))
                shares = alike(
                    distances,
                    coarse[query][:, None] == coarse[database],
                    fine[query][:, None] == fine[database],
                )
                at = PART, task, len(query), len(database), len(train), method, N_BITS, seed
                shares.append(shares[0] - shares[1])
                for measure, share in zip((NEAR, FAR, LESS), shares):
                    yield *at, measure, f"{share:.6g}", *NOTHING, ""
                print(f"{task}, seed {seed}, {method}: {shares[0]:.3f} {shares[1]:.3f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--features", required=True, help="network features of CIFAR-10, npz")
    parser.add_argument("--intents", required=True, help="embeddings of CLINC150, npz")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--output", default="docs/notes/reproduction/usage")
    options = parser.parse_args()
    folder = Path(options.output)
    command = "python -m benchmarks.papers.code_usage --features DEEP.npz --intents CLINC.npz"
    sets = Sets({"features": options.features, "intents": options.intents})
    data, lines = sets.get("cifar10_features"), []
    [(train, _, database)] = PerClassRetrievalSplit(100, 500, random_state=0).split(data.X, data.y)
    for method in OF_USAGE:
        codes = fitted(method, data.X[train], data.y[train], 0).predict(data.X[database])
        lines += [[method, *pair] for pair in usage(codes)]
        print(f"usage, {method}", flush=True)
    about = {"title": data.title, "n_bits": N_BITS, "n_database": len(database), "command": command}
    write_lines(folder / "code_usage.csv", lines, about, ["method", "n_rows", "n_codes"])
    lines = sorted(map(list, likeness(sets, options.seeds)), key=lambda line: list(map(str, line)))
    titles = {task: {"title": title} for task, title, *_ in sets_of_likeness(sets)}
    about = {"part": PART, "tasks": titles, "command": command}
    write_lines(folder / "likeness.csv", lines, about)


if __name__ == "__main__":
    main()
