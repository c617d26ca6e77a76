"""
Search bits, objective and steepness at once
============================================

``predict`` of a hasher gives codes, which is what the metrics take. So ``make_scorer`` turns any
metric into the score of a grid search, as it does for a classifier. One thing is different: an
integer ``cv`` stratifies for classifiers only, and shuffles for nobody. Rows that are sorted by
class then make folds of one class, where every row is relevant and every code is perfect. Hence the
explicit ``cv``.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV

from sklearn_hashrank import ITQHasher, TALRLinear
from sklearn_hashrank.metrics import make_retrieval_scorer, tie_aware_average_precision_score
from sklearn_hashrank.model_selection import PerClassRetrievalSplit, RetrievalKFold
from sklearn_hashrank.objectives import NDCG, AveragePrecision

X, y = load_digits(return_X_y=True)

# %%
# Queries are set aside first: 20 of each digit. What is chosen is chosen on the training rows.
protocol = PerClassRetrievalSplit(n_queries=20, n_train=100, random_state=0)
train, query, database = next(protocol.split(X, y))

grid = {
    "n_bits": [8, 16, 32],
    "objective": [AveragePrecision(), NDCG()],
    "objective__alpha": [0.5, 1, 2, 4, 8],
}
search = GridSearchCV(
    TALRLinear(max_iter=15, random_state=0),
    grid,
    scoring=make_scorer(tie_aware_average_precision_score),
    cv=RetrievalKFold(n_splits=3, random_state=0),
    n_jobs=2,
)
search.fit(X[train], y[train])
best = search.best_params_
print(f"{len(search.cv_results_['params'])} candidates, best: {best}")

# %%
# In the search, rows of a fold retrieve each other. In use, queries retrieve the whole database,
# which a retrieval scorer encodes once.
scorer = make_retrieval_scorer(["ap", "ndcg"], database=(X[database], y[database]))
itq = ITQHasher(best["n_bits"], random_state=0).fit(X[train])
for name, hasher in (("chosen by the search", search), ("ITQ, as many bits", itq)):
    scores = scorer(hasher, X[query], y[query])
    print(f"{name:22s} AP {scores['ap']:.3f}  NDCG {scores['ndcg']:.3f}")

# %%
# A relaxation that is too flat costs as much as three quarters of the bits. Shades are one
# deviation over folds, the star is what was chosen.
figure, axes = plt.subplots(1, 2, figsize=(9, 3.8), sharey=True, layout="constrained")
results = search.cv_results_
for axis, objective in zip(axes, grid["objective"]):
    for n_bits, color in zip(grid["n_bits"], plt.cm.viridis([0.05, 0.45, 0.8])):
        kinds = [type(each) is type(objective) for each in results["param_objective"]]
        chosen = (results["param_n_bits"] == n_bits) & kinds
        alpha = results["param_objective__alpha"][chosen].astype(float)
        mean, spread = (results[f"{part}_test_score"][chosen] for part in ("mean", "std"))
        axis.plot(alpha, mean, "o-", color=color, label=f"{n_bits} bits")
        axis.fill_between(alpha, mean - spread, mean + spread, color=color, alpha=0.2, linewidth=0)
    axis.set_xscale("log", base=2)
    axis.set(title=type(objective).__name__, xlabel="alpha", xticks=grid["objective__alpha"])
    axis.set_xticklabels(map(str, grid["objective__alpha"]))
axis = axes[[type(each) for each in grid["objective"]].index(type(best["objective"]))]
axis.plot(
    best["objective__alpha"],
    np.max(results["mean_test_score"]),
    "*",
    color="crimson",
    markersize=14,
)
axes[0].set_ylabel("tie-aware AP, held-out folds")
axes[0].legend()
plt.show()
