"""What a query retrieves at distances of at most 1, and of 2, as figure 7 of mLGAP.

    python -m benchmarks.papers.retrieved_pictures [--fashion-mnist FOLDER]
        [--output docs/notes/reproduction/retrieved.png]

Hashers of 12 bits learn from pixels of Fashion-MNIST, with one label for all shoes and one for all
tops. Only rows with the label of the query are shown, the nearest first, as there. Queries are the
first ones of shoes and of tops for which both hashers return most at both distances, up to ten.
"""

import argparse

import numpy as np

from benchmarks.papers.code_usage import N_BITS, fitted
from benchmarks.protocols import FASHION_MNIST, fashion_mnist
from sklearn_hashrank.codes import hamming_distances
from sklearn_hashrank.model_selection import PerClassRetrievalSplit

METHODS = ("dsh", "dispersed-paper")
SHOES, TOPS = 0, 1
KINDS = {5: SHOES, 7: SHOES, 9: SHOES, 0: TOPS, 2: TOPS, 4: TOPS, 6: TOPS, 1: 2, 3: 3, 8: 4}
SHOWN = (SHOES, TOPS)
N_SHOWN = 10


def retrieved(distances, near):
    """Columns at distances of at most 1, or of 2, the nearest first."""
    rows = np.flatnonzero(distances <= 1 if near else distances == 2)
    return rows[np.argsort(distances[rows], kind="stable")]


def choose_query(distances, candidates):
    """First candidate of those for which the hashers return most, up to what is shown."""

    def fewest(query):
        counts = [len(retrieved(each[query], near)) for each in distances for near in (True, False)]
        return min(*counts, N_SHOWN)

    return max(candidates, key=fewest)


def draw(X, queries, found):
    """A figure: for each query and method a row for each distance."""
    from matplotlib.figure import Figure

    n_rows = 2 * len(METHODS) * len(queries)
    figure = Figure(figsize=(8.4, 0.72 * n_rows))
    axes = figure.subplots(n_rows, N_SHOWN + 1)
    for row, (query, method, near, items) in enumerate(found):
        for ax, picture in zip(axes[row], [query, *items]):  # there may be fewer
            ax.imshow(255 - 255 * X[picture].reshape(28, 28), cmap="gray")
        for ax in axes[row]:
            ax.set(xticks=[], yticks=[])
            for spine in ax.spines.values():
                spine.set_visible(False)
        for spine in axes[row, 0].spines.values():
            spine.set(visible=True, color="#d55e00", linewidth=1.5)
        distance = "at most 1" if near else "2"
        axes[row, 0].set_ylabel(f"{method},\ndistance {distance}", fontsize=7, rotation=0)
        axes[row, 0].yaxis.set_label_coords(-1.15, 0.3)
    figure.subplots_adjust(
        left=0.17, right=0.995, top=0.995, bottom=0.005, wspace=0.05, hspace=0.08
    )
    return figure


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fashion-mnist", default=FASHION_MNIST, help="folder of the idx files")
    parser.add_argument("--output", default="docs/notes/reproduction/retrieved.png")
    options = parser.parse_args()
    X, y = fashion_mnist(options.fashion_mnist)
    coarse = np.array([KINDS[label] for label in y])
    [(train, query, database)] = PerClassRetrievalSplit(20, 500, random_state=0).split(X, y)
    database = database[:10_000]  # rows come shuffled
    distances = []
    for method in METHODS:
        hasher = fitted(method, X[train], coarse[train], 0)
        found = hamming_distances(hasher.predict(X[query]), hasher.predict(X[database]))
        distances.append(np.where(coarse[query][:, None] == coarse[database], found, N_BITS + 1))
        print(method, flush=True)
    rows, chosen = [], []
    for kind in SHOWN:
        at = choose_query(distances, np.flatnonzero(coarse[query] == kind))
        chosen.append(at)
        for method, each in zip(METHODS, distances):
            for near in (True, False):
                items = database[retrieved(each[at], near)[:N_SHOWN]]
                rows.append((query[at], method, near, items))
    figure = draw(X, chosen, rows)
    figure.savefig(options.output, dpi=80, metadata={"Software": None})


if __name__ == "__main__":
    main()
