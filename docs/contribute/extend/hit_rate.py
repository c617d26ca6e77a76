"""The hit rate, a measure of one's own: is anything relevant among the first k."""

from functools import partial
from itertools import permutations

import numpy as np
from scipy.special import gammaln

from sklearn_hashrank import LSHHasher, RetrievalHistogram, retrieval_histogram
from sklearn_hashrank.comparison import compare
from sklearn_hashrank.metrics import make_retrieval_scorer, register_measure
from sklearn_hashrank.model_selection import RandomRetrievalSplit


def literal_any_hit(tie, nearer, k):
    """Mean over all orders of one tie, behind `nearer` irrelevant items; 1 is relevant."""
    orders = [[0] * nearer + list(order) for order in permutations(tie)]
    return np.mean([any(order[:k]) for order in orders])


# measure
def any_hit(ties, k=None):
    """Return the probability that one of the first `k` items is relevant."""
    places = ties.places(k)
    irrelevant = ties.total - ties.relevant
    misses = np.where(places <= irrelevant, log_choices(irrelevant, places), -np.inf)
    return 1 - np.exp((misses - log_choices(ties.total, places)).sum(axis=1))


def log_choices(n, k):
    """Logarithm of n! / (n - k)!, in how many ways k of n items can be put in order."""
    return gammaln(n + 1) - gammaln(np.maximum(n - k, 0) + 1)


register_measure("any_hit", any_hit, label="any hit")

# check
for tie, nearer, k in [([1, 0, 0, 0], 0, 2), ([1, 1, 0, 0, 0], 1, 3), ([1, 0], 3, 3), ([1], 0, 4)]:
    counts = [[[nearer, tie.count(0)], [0, tie.count(1)]]]
    value = RetrievalHistogram(counts, levels=[0, 1]).measure("any_hit", k=k)
    np.testing.assert_allclose(value, literal_any_hit(tie, nearer, k))

# use
rng = np.random.default_rng(0)
X, y = rng.normal(size=(300, 20)), rng.integers(0, 5, 300)
hasher = LSHHasher(n_bits=8, random_state=0).fit(X[50:], y[50:])
histogram = retrieval_histogram(hasher.predict(X[:50]), hasher.predict(X[50:]), y[:50], y[50:])
for ties in ("pessimistic", "expected", "optimistic"):
    print(f"{ties:12s} {histogram.measure('any_hit', k=3, ties=ties).mean():.3f}")

# scorers
scorer = make_retrieval_scorer("any_hit", k=3, database="fit")
print(f"{scorer}: {scorer(hasher, X[:50], y[:50]):.3f}")
several = make_retrieval_scorer(["rr@3", "any_hit@3"])(hasher, X, y)
print({name: round(score, 3) for name, score in several.items()})
print(make_retrieval_scorer("any_hit"))

# compare
comparison = compare(
    X,
    y,
    methods=["lsh", "itq"],
    n_bits=[8],
    seeds=2,
    protocol=RandomRetrievalSplit(n_queries=50),
    measures={"ap": "ap", "any_hit_3": partial(any_hit, k=3)},
)
print(comparison.to_markdown(["any_hit_3"]))
