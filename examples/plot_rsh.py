"""
Hash functions learned from rankings
====================================

RSH learns linear hash functions from ranking lists: of any two database items, which one is more
relevant to a query? This example follows section 5 of its paper (Wang, Liu, Sun and Jiang, ICCV
2013). The data have three levels of relevance: the same class (2), the same superclass (1), neither
(0). The measures are the paper's: NDCG of the Hamming ranking, and the mean relevance of the items
within Hamming radius 3 (ACG).

Run it with the folder of Fashion-MNIST's idx files to use those images instead of the digits.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from sklearn_hashrank import ITQHasher, LSHHasher, PCAHasher, RSHHasher, retrieval_histogram
from sklearn_hashrank.datasets import fetch_fashion_mnist

DIGITS = [0, 1, 2, 3, 1, 2, 0, 3, 2, 3]  # superclasses of digits that look alike
CLOTHES = [0, 1, 0, 0, 0, 2, 0, 2, 3, 2]  # tops, trousers, shoes, bags


if len(sys.argv) > 1:
    X, fine = fetch_fashion_mnist(
        data_home=sys.argv[1], subset="test", download_if_missing=False, return_X_y=True
    )
    X, superclass = X / 255, CLOTHES
else:
    X, fine = load_digits(return_X_y=True)
    superclass = DIGITS

# %%
# A label path goes from coarse to fine; integers in several columns are read as such paths.
paths = np.column_stack([np.array(superclass)[fine], fine])
X_database, X_query, y_database, y_query = train_test_split(
    X, paths, test_size=300, stratify=fine, random_state=0
)


# %%
# All of it comes from one retrieval histogram: for each query, how many items of each level lie at
# each distance. An empty ball has a gain of 0, as in the paper.
def evaluate(hasher):
    """NDCG and ACG of a hasher fitted on the database."""
    hasher.set_params(output="packed").fit(X_database, y_database)
    histogram = retrieval_histogram(
        hasher.transform(X_query),
        hasher.codes_,
        y_query,
        y_database,
        n_bits=hasher.n_bits,
    )
    ndcg = histogram.ndcg(gain="linear", discount="log2").mean()
    return ndcg, histogram.average_cumulative_gain(radius=3).mean()


# %%
# The paper draws 100 queries and 1,000 items, keeps the features as they are, and leaves the
# rotation of the solution open. Whitening and the rotation of iterative quantization are defaults
# here; counts instead of triplets make all rows affordable.
PAPER = {"solver": "alm", "shrinkage": 1, "rotation": None, "spread": "eigenvectors"}
hashers = {
    "LSH": lambda n_bits: LSHHasher(n_bits, random_state=0),
    "PCA": lambda n_bits: PCAHasher(n_bits),
    "ITQ": lambda n_bits: ITQHasher(n_bits, random_state=0),
    "RSH, 100 x 1,000, as in the paper": lambda n_bits: RSHHasher(
        n_bits, n_queries=100, n_database=1000, **PAPER, random_state=0
    ),
    "RSH, defaults": lambda n_bits: RSHHasher(n_bits, random_state=0),
}
lengths = (8, 16, 24, 32)
scores = {
    name: np.array([evaluate(make(n_bits)) for n_bits in lengths]) for name, make in hashers.items()
}
print(f"{len(X_query)} queries, {len(X_database)} items, NDCG and ACG within radius 3")
print(f"{'':34s}" + "".join(f"{n_bits:8d} bits " for n_bits in lengths))
for name, rows in scores.items():
    print(f"{name:34s}  " + "   ".join(f"{ndcg:.3f} {gain:.3f}" for ndcg, gain in rows))

# %%
# Longer codes leave the ball of radius 3 empty for more and more queries, so that ACG falls while
# NDCG hardly does: the ranking is as good, the lookup finds less.
figure, axes = plt.subplots(1, 2, figsize=(9, 4.2), layout="constrained")
for column, (axis, title) in enumerate(zip(axes, ("NDCG", "ACG within radius 3"))):
    for (name, rows), marker in zip(scores.items(), "ov^sD"):
        axis.plot(lengths, rows[:, column], marker=marker, markersize=4, label=name)
    axis.set(title=title, xlabel="bits", xticks=lengths)
figure.legend(
    *axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize="small"
)
plt.show()
