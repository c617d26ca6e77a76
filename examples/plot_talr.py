"""
Relaxed objective and discrete measure during training
======================================================

``TALRLinear`` maximizes a smooth stand-in for tie-aware average precision: codes relaxed by a tanh,
and soft counts in place of counts. What matters is the discrete measure on rows it has not seen.
Here are both, pass by pass, for the four relaxations on scikit-learn's digits.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from sklearn_hashrank import LSHHasher, TALRLinear, retrieval_histogram
from sklearn_hashrank.objectives import AveragePrecision

X, y = load_digits(return_X_y=True)
X_train, X_query, y_train, y_query = train_test_split(
    X, y, test_size=400, stratify=y, random_state=0
)


def query_score(hasher):
    """Tie-aware AP of the queries against the training rows."""
    codes = hasher.fit(X_train, y_train).predict(X_query)
    histogram = retrieval_histogram(codes, hasher.predict(X_train), y_query, y_train)
    return histogram.average_precision().mean()


# %%
# A fifth of the training rows is set aside. After every pass they query the others, with binary
# codes and the tie-aware measure; the weights of the best pass are returned.
figure, axes = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
for relaxation, style in zip(("simplified", "arxiv", "cvpr", "exact"), ("-", "--", "-.", ":")):
    hasher = TALRLinear(
        n_bits=16,
        objective=AveragePrecision(relaxation=relaxation),
        early_stopping=True,
        validation_fraction=0.2,
        n_iter_no_change=60,
        random_state=0,
    )
    score = query_score(hasher)
    print(f"{relaxation:10s} {hasher.n_iter_:3d} passes  AP of the queries {score:.4f}")
    axes[0].plot(hasher.history_["objective"], style, label=relaxation)
    axes[1].plot(hasher.history_["validation"], style, label=f"{relaxation} ({score:.3f})")

baseline = query_score(LSHHasher(n_bits=16, random_state=0))
print(f"LSH                       AP of the queries {baseline:.4f}")

axes[0].set(title="relaxed objective, minibatches", xlabel="pass", ylabel="relaxed AP")
axes[1].set(title="tie-aware AP, validation rows", xlabel="pass", ylabel="AP")
axes[1].axhline(baseline, color="gray", linewidth=1, label=f"random hyperplanes ({baseline:.3f})")
for axis in axes:
    axis.legend(title="relaxation" if axis is axes[0] else "relaxation (AP of the queries)")
plt.show()

# %%
# The values of the relaxations are not comparable with one another, nor with the measure; the codes
# they lead to are.
