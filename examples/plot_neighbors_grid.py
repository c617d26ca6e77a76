"""
What a hasher retrieves
=======================

A score says how good a ranking is; a picture says what is wrong with it. For a few digits that no
hasher has seen, these are the nearest ones by Hamming distance of 32-bit codes: of random
hyperplanes, and of hyperplanes learned for average precision.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from sklearn_hashrank import LSHHasher, TALRLinear, retrieval_histogram
from sklearn_hashrank.codes import hamming_distances

X, y = load_digits(return_X_y=True)
X_database, X_query, y_database, y_query = train_test_split(
    X, y, test_size=200, stratify=y, random_state=0
)
hashers = {
    "random hyperplanes": LSHHasher(32, random_state=0),
    "learned for average precision": TALRLinear(32, random_state=0),
}

# %%
# The database is sorted at random before it is ranked: items at the same distance have no order of
# their own, and a picture should not give them the one that they are stored in.
order = np.random.default_rng(0).permutation(len(X_database))
X_database, y_database = X_database[order], y_database[order]
retrieved, precision = {}, {}
for name, hasher in hashers.items():
    hasher.fit(X_database, y_database)
    codes, queries = hasher.predict(X_database), hasher.predict(X_query)
    distances = hamming_distances(queries, codes)
    nearest = np.argsort(distances, axis=1, kind="stable")[:, :8]
    retrieved[name] = nearest, np.take_along_axis(distances, nearest, axis=1)
    precision[name] = retrieval_histogram(queries, codes, y_query, y_database).average_precision()
    print(f"{name:30s} average precision {precision[name].mean():.3f}")

# %%
# One query of each of six classes, each the one whose average precision by random hyperplanes is
# the median of its class. Below each item stands its distance; a wrong one is crossed out.
shown = []
for label in (1, 3, 5, 6, 8, 9):
    rows = np.flatnonzero(y_query == label)
    ranked = rows[np.argsort(precision["random hyperplanes"][rows])]
    shown.append(ranked[len(ranked) // 2])

figure = plt.figure(figsize=(12, 6.2), layout="constrained")
parts = figure.subfigures(1, 3, width_ratios=[1.15, 8, 8])


def draw(axis, row, wrong=False, text=""):
    """One digit, crossed out where it is wrong."""
    axis.imshow(row.reshape(8, 8), cmap="gray_r")
    axis.set(xticks=[], yticks=[])
    axis.set_xlabel(text, fontsize=8, labelpad=2)
    axis.spines[:].set_color("0.8")
    if wrong:
        axis.spines[:].set(color="#D55E00", linewidth=2)
        axis.plot(
            [-0.5, 7.5], [-0.5, 7.5], [-0.5, 7.5], [7.5, -0.5], color="#D55E00", linewidth=1.3
        )
        axis.set(xlim=(-0.5, 7.5), ylim=(7.5, -0.5))


parts[0].suptitle("query")
for axis, query in zip(parts[0].subplots(len(shown), 1), shown):
    draw(axis, X_query[query], text=" ")
for part, (name, (items, distances)) in zip(parts[1:], retrieved.items()):
    part.suptitle(name)
    axes = part.subplots(len(shown), items.shape[1])
    for line, query in zip(axes, shown):
        for axis, item, distance in zip(line, items[query], distances[query]):
            draw(axis, X_database[item], y_database[item] != y_query[query], f"{distance}")
plt.show()

# %%
# Many items are tied, most of all those of good codes: whole classes share few codes. Which of
# them are shown is chance, which is why the score is a mean over all their orders.
for name, (_, distances) in retrieved.items():
    tied = (distances[:, :-1] == distances[:, 1:]).mean()
    print(f"{name:30s} {100 * tied:.0f} % of these neighbors are as near as the next one")
