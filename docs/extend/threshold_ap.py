"""An objective of one's own: average precision with a tie as one threshold."""

import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import average_precision_score
from sklearn.preprocessing import scale

from sklearn_hashrank.objectives import BatchObjective, Objective, TieValues


class ThresholdAP(Objective):
    """Every relevant item of a tie is met at the end of the tie.

    AP = 1/N_rel sum_d c+_d C+_d / C_d. It is what scikit-learn's function computes.
    """

    measure = "ap"
    relaxation = "threshold"

    def level_gain(self, levels):
        """Return 1 for relevant levels."""
        return (levels > 0).astype(np.float64)

    def ideal(self, levels, n_items):
        """Return the number of relevant items."""
        return n_items[:, levels > 0].sum(axis=1).astype(np.float64)

    def tie(self, ties):
        """Return the contributions of the ties and their derivatives."""
        gain, gain_before, items, items_before = ties
        last = np.maximum(items_before + items, 0.5)  # the rank of the last item
        slope = items_before + items > 0.5
        precision = (gain_before + gain) / last
        by_items = -gain * precision / last * slope
        return TieValues(gain * precision, precision + gain / last, gain / last, by_items, by_items)


# check
rng = np.random.default_rng(0)
counts = rng.integers(0, 4, (6, 2, 9)).astype(np.float64)
n_items, levels = counts.sum(axis=2), np.array([0.0, 1.0])
value, gradient = ThresholdAP().value_and_gradient(counts, levels, n_items)

for query, of_query in enumerate(counts.astype(int)):
    distances = np.concatenate([np.repeat(np.arange(9), of_level) for of_level in of_query])
    relevant = np.repeat([0, 1], of_query.sum(axis=1))
    np.testing.assert_allclose(value[query], average_precision_score(relevant, -distances))

for index in np.ndindex(counts.shape):
    nearby = [counts.copy(), counts.copy()]
    nearby[0][index] += 1e-6
    nearby[1][index] += 2e-6
    near, far = (ThresholdAP().value(c, levels, n_items)[index[0]] for c in nearby)
    np.testing.assert_allclose(gradient[index], (far - near) / 1e-6, rtol=1e-4, atol=1e-6)

# use
X, y = load_digits(return_X_y=True)
X, y = scale(X[:300]), y[:300]
level = (y[:, None] == y).astype(np.uint8)
objective = BatchObjective(ThresholdAP(), levels=[0, 1])
weights = rng.normal(size=(X.shape[1], 16)) / np.sqrt(X.shape[1])
for step in range(31):
    value, by_scores = objective.value_and_gradient(X @ weights, level)
    if step % 10 == 0:
        print(f"step {step:2d}  relaxed AP {value:.3f}")
    weights += 3 * X.T @ by_scores
