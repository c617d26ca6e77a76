"""An objective of one's own that changes as the training goes on."""

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from sklearn_hashrank import LSHHasher, TALRLinear
from sklearn_hashrank.objectives import BaseObjective


class Focusing(BaseObjective):
    """Relevant pairs agree and others do not, at first by and by, at last in every bit.

    The similarity of two relaxed codes ``tanh(alpha * scores)`` shall be 1 where rows are relevant
    to each other, and 0 elsewhere. Steepness doubles during the training.
    """

    learning_rates = {"sgd": 3.0}  # a mean over pairs has small slopes

    def __init__(self, *, alpha=1.0):
        self.alpha = alpha
        self.growth = 1.0

    def anneal(self, progress):
        """Make the relaxed codes steeper."""
        self.growth = 2.0**progress

    def check_affinity(self, affinity, guessed):
        """Refuse relevance of several levels, which all would be taken for one."""
        if np.count_nonzero(affinity.levels_ > 0) > 1:
            raise ValueError("Focusing knows relevant and irrelevant rows only. Got more levels.")

    def value_and_gradient(self, scores, level, levels):
        """Return minus the mean squared error of the similarities, and its gradient."""
        alpha = self.growth * self.alpha
        codes = np.tanh(alpha * scores)
        error = codes @ codes.T / codes.shape[1] - (levels[level] > 0)
        np.fill_diagonal(error, 0)
        by_codes = -2 * (error + error.T) @ codes / (error.size * codes.shape[1])
        return -np.mean(error**2), by_codes * (1 - codes**2) * alpha


# check
rng = np.random.default_rng(0)
y = rng.integers(0, 3, 12)
scores, level, levels = rng.normal(size=(12, 4)), (y[:, None] == y).astype(int), np.arange(2.0)
objective = Focusing()
objective.anneal(0.5)
_, gradient = objective.value_and_gradient(scores, level, levels)
for place in np.ndindex(scores.shape):
    nearby = [scores.copy(), scores.copy()]
    nearby[0][place] -= 1e-6
    nearby[1][place] += 1e-6
    low, high = (objective.value_and_gradient(s, level, levels)[0] for s in nearby)
    np.testing.assert_allclose(gradient[place], (high - low) / 2e-6, rtol=1e-4, atol=1e-8)

# use
X, y = load_digits(return_X_y=True)
X, X_test, y, y_test = train_test_split(X, y, random_state=0)
random = LSHHasher(n_bits=16, random_state=0).fit(X, y)
learned = TALRLinear(n_bits=16, objective=Focusing(), max_iter=60, random_state=0).fit(X, y)
for hasher in (random, learned):
    print(f"{type(hasher).__name__:10s}  AP {hasher.score(X_test, y_test):.1f}")
