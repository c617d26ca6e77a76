"""
Ties matter: one set of codes, many scores
==========================================

Hamming distances of ``n_bits`` bits have only ``n_bits + 1`` values, so that most of a ranking is
tied. Average precision computed from a sorted list depends on what the sort does with the ties.
Here are some ways to write that sort, and what they make of the very same codes of scikit-learn's
digits.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import average_precision_score
from sklearn.model_selection import train_test_split

from sklearn_hashrank import LSHHasher, PCAHasher, retrieval_histogram
from sklearn_hashrank.codes import hamming_distances

X, y = load_digits(return_X_y=True)
X_database, X_query, y_database, y_query = train_test_split(
    X, y, test_size=200, stratify=y, random_state=0
)
by_class = np.argsort(y_database, kind="stable")  # a database is often stored class by class
X_database, y_database = X_database[by_class], y_database[by_class]


def histogram(hasher):
    """Retrieval histogram of the queries."""
    hasher.fit(X_database)
    return retrieval_histogram(
        hasher.predict(X_query), hasher.predict(X_database), y_query, y_database
    )


# %%
# Sixteen bits, and the mean over all orders of tied items, with the bounds that no order can leave.
hasher = LSHHasher(n_bits=16, random_state=0)
counts = histogram(hasher)
bounds = {
    ties: counts.average_precision(ties=ties).mean()
    for ties in ("pessimistic", "expected", "optimistic")
}
for ties, value in bounds.items():
    print(f"{ties:12s} {value:.3f}")

# %%
# The same codes, sorted. Each function gives the relevance of the items in the order of retrieval.
distances = hamming_distances(hasher.predict(X_query), hasher.predict(X_database))
relevant = y_query[:, None] == y_database
shuffled = np.random.default_rng(0).permutation(len(y_database))


def sort_pairs(keys, relevant):
    """Sort pairs of key and relevance, and keep the relevance."""
    return [hit for _, hit in sorted(zip(keys, relevant))]


SORTS = {
    "sorted(zip(distance, relevant))": sort_pairs,
    "argsort(distance)": lambda d, r: r[np.argsort(d)],
    "argsort, shuffled database": lambda d, r: r[shuffled][np.argsort(d[shuffled])],
    'argsort(distance, kind="stable")': lambda d, r: r[np.argsort(d, kind="stable")],
    "sorted(zip(similarity, relevant))[::-1]": lambda d, r: sort_pairs(-d, r)[::-1],
}


def average_precision(hits):
    """Mean precision at the relevant items of a ranking."""
    hits = np.asarray(hits)
    return np.mean(np.cumsum(hits)[hits] / (np.flatnonzero(hits) + 1))


scores = {
    name: np.mean([average_precision(sort(d, r)) for d, r in zip(distances, relevant)])
    for name, sort in SORTS.items()
}
scores["sklearn.metrics.average_precision_score"] = np.mean(
    [average_precision_score(r, -d) for d, r in zip(distances, relevant)]
)
for name, value in scores.items():
    print(f"{value:.3f}  {name}")

# %%
# Sorting pairs puts one kind of item first in every tie: these two are the bounds themselves. A
# stable sort keeps the order of the database, and how that helps depends on the query. A shuffled
# database comes near the mean on average over the queries. scikit-learn's function takes a tie for
# one threshold, which is not a mean over its orders at all.
N_BITS = (6, 8, 12, 16, 24, 32, 48, 64)
figure, (left, right) = plt.subplots(
    1, 2, figsize=(10, 3.6), layout="constrained", width_ratios=(1.5, 1)
)
left.axvspan(bounds["pessimistic"], bounds["optimistic"], color="C0", alpha=0.15)
left.axvline(bounds["expected"], color="C0")
order = sorted(scores, key=scores.get)
left.plot([scores[name] for name in order], order, "o", color="C1")
for name in order:
    left.annotate(f"{scores[name]:.3f}", (scores[name], name), (0, 6), textcoords="offset points")
for label, value in zip(("worst order", "mean of all orders", "best order"), bounds.values()):
    left.annotate(label, (value, 5.7), ha="center", color="C0", fontsize="small")
left.tick_params(axis="y", labelsize="small")
left.margins(x=0.15)
left.set(title="The same 16-bit codes", xlabel="average precision", ylim=(-0.6, 6.1))

for color, name, make in (
    ("C2", "principal directions", PCAHasher),
    ("C0", "random hyperplanes", lambda n_bits: LSHHasher(n_bits, random_state=0)),
):
    histograms = [histogram(make(n_bits)) for n_bits in N_BITS]
    worst, mean, best = (
        [h.average_precision(ties=ties).mean() for h in histograms]
        for ties in ("pessimistic", "expected", "optimistic")
    )
    right.fill_between(N_BITS, worst, best, color=color, alpha=0.15, linewidth=0)
    right.plot(N_BITS, mean, ".-", color=color, label=name)
right.set_xscale("log", base=2)
right.set_xticks(N_BITS, [str(n_bits) for n_bits in N_BITS])
right.minorticks_off()
right.set(title="What the order of ties can do", xlabel="bits", ylabel="average precision")
right.legend(fontsize="small")
if len(sys.argv) > 1:
    figure.savefig(sys.argv[1], dpi=110)
plt.show()

# %%
# On the right, between the bounds lies what could be reported for the same codes by choosing the
# order of ties. With few bits the ranges of two methods overlap: a lucky sort makes the worse one
# look better.
