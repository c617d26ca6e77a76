"""
Hash the digits, and look at the codes
======================================

Two hashers turn the 64 pixels of scikit-learn's digits into codes of 32 bits: random hyperplanes,
and hyperplanes that maximize average precision. Retrieval by Hamming distance is then scored with
its bounds over the order of ties, and the codes are drawn as they are.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from sklearn_hashrank import LSHHasher, TALRLinear, retrieval_histogram

X, y = load_digits(return_X_y=True)
X_database, X_query, y_database, y_query = train_test_split(
    X, y, test_size=200, stratify=y, random_state=0
)
print(f"{len(X_query)} queries, {len(X_database)} database items, 10 classes\n")

# %%
# One pass over the codes gives a retrieval histogram, and every score follows from it.
hashers = {
    hasher: hasher.fit(X_database, y_database).predict(X_query)
    for hasher in (
        LSHHasher(n_bits=32, random_state=0),
        TALRLinear(n_bits=32, random_state=0),
    )
}
print("hasher      measure  pessimistic   tie-aware  optimistic")
for hasher, codes in hashers.items():
    histogram = retrieval_histogram(codes, hasher.predict(X_database), y_query, y_database)
    for name, measure in (("AP", histogram.average_precision), ("NDCG", histogram.ndcg)):
        worst, mean, best = (
            measure(ties=ties).mean() for ties in ("pessimistic", "expected", "optimistic")
        )
        print(f"{type(hasher).__name__:11s} {name:7s} {worst:12.4f} {mean:11.4f} {best:11.4f}")

# %%
# The range between the bounds is what could be reported for the same codes by choosing the order
# of ties. Better codes are tied with their like, so that it is narrower for them.
#
# Every row below is a query, every column a bit, and rows are ordered by class. Random bits differ
# within a class; learned bits are the class, with a few slips.
by_class = np.argsort(y_query, kind="stable")
figure, axes = plt.subplots(1, 2, figsize=(8, 5), layout="constrained", sharey=True)
for axis, (hasher, codes) in zip(axes, hashers.items()):
    axis.imshow(codes[by_class], cmap="gray_r", aspect="auto", interpolation="nearest")
    axis.set(title=type(hasher).__name__, xlabel="bit")
starts = np.searchsorted(y_query[by_class], np.arange(10))
axes[0].set_yticks(starts, [str(digit) for digit in range(10)])
axes[0].set(ylabel="digit")
plt.show()
