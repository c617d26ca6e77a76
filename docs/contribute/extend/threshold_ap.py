"""A ranking objective of one's own: average precision with a tie as one threshold."""

import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import average_precision_score
from sklearn.model_selection import train_test_split

from sklearn_hashrank import LSHHasher, TALRLinear
from sklearn_hashrank.objectives import RankingObjective, TieValues


class ThresholdAP(RankingObjective):
    """Every relevant item of a tie is met at the end of the tie.

    AP = 1/N_rel sum_d c+_d C+_d / C_d. It is what scikit-learn's function computes.
    """

    measure = "ap"

    def tie(self, ties):
        """Return the contributions of the ties and their derivatives."""
        gain, gain_before, total, before = ties
        last = np.maximum(before + total, 0.5)  # the rank of the last item
        slope = before + total > 0.5
        precision = (gain_before + gain) / last
        by_total = -gain * precision / last * slope
        return TieValues(gain * precision, precision + gain / last, gain / last, by_total, by_total)


# check
rng = np.random.default_rng(0)
counts = rng.integers(0, 4, (6, 2, 9)).astype(np.float64)
n_items, levels = counts.sum(axis=2), np.array([0.0, 1.0])
value, gradient = ThresholdAP().evaluate_counts(counts, levels, n_items)

for query, of_query in enumerate(counts.astype(int)):
    distances = np.concatenate([np.repeat(np.arange(9), of_level) for of_level in of_query])
    relevant = np.repeat([0, 1], of_query.sum(axis=1))
    np.testing.assert_allclose(value[query], average_precision_score(relevant, -distances))

for index in np.ndindex(counts.shape):
    nearby = [counts.copy(), counts.copy()]
    nearby[0][index] += 1e-6
    nearby[1][index] += 2e-6
    near, far = (ThresholdAP().evaluate_counts(c, levels, n_items)[0][index[0]] for c in nearby)
    np.testing.assert_allclose(gradient[index], (far - near) / 1e-6, rtol=1e-4, atol=1e-6)

# use
X, y = load_digits(return_X_y=True)
X, X_test, y, y_test = train_test_split(X, y, random_state=0)
random = LSHHasher(n_bits=16, random_state=0).fit(X, y)
learned = TALRLinear(n_bits=16, objective=ThresholdAP(), random_state=0).fit(X, y)
for hasher in (random, learned):
    print(f"{type(hasher).__name__:10s}  AP {hasher.score(X_test, y_test):.2f}")
