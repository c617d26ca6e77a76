"""The hit rate, a measure of one's own: is anything relevant among the first k."""

from itertools import permutations

import numpy as np
from scipy.special import gammaln

from sklearn_hashrank import LSHHasher, retrieval_histogram
from sklearn_hashrank.measures import MEASURES, Measure, evaluate


def literal_hit_rate(tie, nearer, k):
    """Mean over all orders of one tie, behind `nearer` irrelevant items; 1 is relevant."""
    orders = [[0] * nearer + list(order) for order in permutations(tie)]
    return np.mean([any(order[:k]) for order in orders])


# measure
def hit_rate(ties, k=None):
    """Return the probability that one of the first `k` items is relevant."""
    places = ties.places(k)
    irrelevant = ties.total - ties.relevant
    misses = np.where(places <= irrelevant, log_choices(irrelevant, places), -np.inf)
    return 1 - np.exp((misses - log_choices(ties.total, places)).sum(axis=1))


def log_choices(n, k):
    """Logarithm of n! / (n - k)!, in how many ways k of n items can be put in order."""
    return gammaln(n + 1) - gammaln(np.maximum(n - k, 0) + 1)


MEASURES["hit_rate"] = Measure(hit_rate, "hit_rate", "hit rate")

# check
for tie, nearer, k in [([1, 0, 0, 0], 0, 2), ([1, 1, 0, 0, 0], 1, 3), ([1, 0], 3, 3), ([1], 0, 4)]:
    counts = [[[nearer, tie.count(0)], [0, tie.count(1)]]]
    expected = literal_hit_rate(tie, nearer, k)
    np.testing.assert_allclose(evaluate("hit_rate", counts, [0, 1], k=k), expected)

# use
rng = np.random.default_rng(0)
X, y = rng.normal(size=(300, 20)), rng.integers(0, 5, 300)
hasher = LSHHasher(n_bits=8, random_state=0).fit(X[50:], y[50:])
histogram = retrieval_histogram(hasher.predict(X[:50]), hasher.predict(X[50:]), y[:50], y[50:])
for ties in ("pessimistic", "expected", "optimistic"):
    print(f"{ties:12s} {histogram.measure('hit_rate', k=3, ties=ties).mean():.3f}")
