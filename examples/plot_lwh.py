"""
Watch a structural SVM converge, and certify it
===============================================

LWH asks that the true ranking of the database score higher than any other ranking by its loss. In
W W^T that problem is convex. The sub-gradient solver works on W, fast and without a guarantee; the
semidefinite solver works on W W^T and gives a lower bound that nothing can beat. Where the two
meet, the fast one has found the optimum.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from sklearn_hashrank import LWHHasher, retrieval_histogram

X, y = load_digits(return_X_y=True)
X_database, X_query, y_database, y_query = train_test_split(
    X, y, test_size=300, stratify=y, random_state=0
)

# %%
# The same problem twice: 300 queries over 1,000 rows, 12 principal components, and 12 bits, so that
# nothing is lost when W W^T is taken apart.
hashers = {
    solver: LWHHasher(
        12,
        solver=solver,
        alpha=0.005,
        n_queries=300,
        n_database=1000,
        n_components=12,
        random_state=0,
    ).fit(X_database, y_database)
    for solver in ("pegasos", "sdp")
}
for solver, hasher in hashers.items():
    histogram = retrieval_histogram(
        hasher.predict(X_query), hasher.predict(X_database), y_query, y_database
    )
    print(
        f"{solver:8s} {hasher.n_iter_:2d} iterations, objective {hasher.objective_:.4f}, "
        f"lower bound {hasher.lower_bound_:.4f}, AP {histogram.average_precision().mean():.3f}"
    )

# %%
# Violation is how far the most violated rankings are above the slack of the working set. The
# tolerance of the paper is 0.01.
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
for solver, hasher in hashers.items():
    iterations = range(1, hasher.n_iter_ + 1)
    left.semilogy(iterations, hasher.history_["violation"], marker=".", label=solver)
    [line] = right.plot(iterations, hasher.history_["objective"], marker=".", label=solver)
    bound = hasher.history_["lower_bound"]
    right.plot(iterations, bound, ":", color=line.get_color(), label=f"{solver}, lower bound")
left.axhline(hashers["sdp"].tol, color="black", linewidth=0.8, label="tol")
left.set(xlabel="iteration", ylabel="violation")
right.set(xlabel="iteration", ylabel="objective", ylim=(0, 1.2))
left.legend()
right.legend()
plt.show()
