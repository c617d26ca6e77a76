"""A pairwise objective of one's own: irrelevant rows differ in half of the bits."""

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from sklearn_hashrank import DispersionHasher, LSHHasher
from sklearn_hashrank.objectives import PairwiseObjective


class HalfApart(PairwiseObjective):
    """Relevant pairs share a code; the others differ in half of the bits, as random codes do.

    On codes of -1 and +1 the city-block distance is twice the Hamming distance, so half of the
    bits is a distance of 1 per bit.
    """

    metric = "cityblock"

    def __init__(self, *, slack=0.25, regularization=0.01):
        self.slack = slack
        self.regularization = regularization

    def zones(self, levels):
        """Return the zone of each level, in distances per bit."""
        return np.where(levels[:, None] > 0, (0, 0), (1 - self.slack, 1 + self.slack))


# check
rng = np.random.default_rng(0)
scores, levels = rng.normal(size=(6, 8)), np.array([0.0, 1.0])
level = rng.integers(0, 2, (6, 6)).astype(np.uint8)
value, gradient = HalfApart().value_and_gradient(scores, level, levels)
for index in np.ndindex(scores.shape):
    step = np.zeros_like(scores)
    step[index] = 1e-6
    ahead, behind = (
        HalfApart().value_and_gradient(scores + sign * step, level, levels)[0] for sign in (1, -1)
    )
    np.testing.assert_allclose(gradient[index], (ahead - behind) / 2e-6, rtol=1e-4, atol=1e-6)

# use
X, y = load_digits(return_X_y=True)
X, X_test, y, y_test = train_test_split(X, y, random_state=0)
random = LSHHasher(n_bits=16, random_state=0).fit(X, y)
learned = DispersionHasher(n_bits=16, objective=HalfApart(slack=0.1), random_state=0).fit(X, y)
for hasher in (random, learned):
    print(f"{type(hasher).__name__:16s}  AP {hasher.score(X_test, y_test):.2f}")
