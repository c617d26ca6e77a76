"""The definition of every measure on one concrete ranking, and all rankings of tied items.

A ranking is a tuple of levels, the first retrieved item first. Something in it is relevant.
"""

from collections import Counter
from itertools import permutations, product
from math import fsum, log2


def _first(ranking, k):
    return ranking if k is None else ranking[:k]


def _n_relevant(ranking):
    return sum(1 for level in ranking if level > 0)


def precision(ranking, k):
    n_places = len(ranking) if k is None else k
    return _n_relevant(_first(ranking, k)) / n_places


def recall(ranking, k):
    return _n_relevant(_first(ranking, k)) / _n_relevant(ranking)


def f1(ranking, k):
    p, r = precision(ranking, k), recall(ranking, k)
    return 2 * p * r / (p + r) if p + r > 0 else 0.0


def average_precision(ranking, k, normalize="relevant"):
    total = 0.0
    for t, level in enumerate(_first(ranking, k), start=1):
        if level > 0:
            total += precision(ranking, t)
    n_retrieved = _n_relevant(_first(ranking, k))
    if normalize == "retrieved":
        return total / n_retrieved if n_retrieved else 0.0
    if normalize == "min" and k is not None:
        return total / min(k, _n_relevant(ranking))
    return total / _n_relevant(ranking)


def dcg(ranking, k, gain="exponential", discount="log2p1"):
    total = 0.0
    for t, level in enumerate(_first(ranking, k), start=1):
        value = 2**level - 1 if gain == "exponential" else level
        if discount == "log2p1":
            total += value / log2(t + 1)
        else:
            total += value if t == 1 else value / log2(t)
    return total


def ndcg(ranking, k, gain="exponential", discount="log2p1"):
    ideal = sorted(ranking, reverse=True)
    return dcg(ranking, k, gain, discount) / dcg(ideal, k, gain, discount)


def reciprocal_rank(ranking, k):
    for t, level in enumerate(_first(ranking, k), start=1):
        if level > 0:
            return 1 / t
    return 0.0


def r_precision(ranking, k):
    return precision(ranking, _n_relevant(ranking))


def average_precision_at_r(ranking, k):
    return average_precision(ranking, _n_relevant(ranking), "min")


def hit_rate(ranking, k):
    return float(any(level > 0 for level in _first(ranking, k)))


def rank_biased_precision(ranking, k, p=0.8):
    relevant = (level > 0 for level in _first(ranking, k))
    return (1 - p) * sum(p**place for place, hit in enumerate(relevant) if hit)


def bpref(ranking, k):
    """As trec_eval has it, where every irrelevant item was judged."""
    r = _n_relevant(ranking)
    n = len(ranking) - r
    total, n_ahead = 0.0, 0
    for level in ranking:
        if level == 0:
            n_ahead += 1
        else:
            total += 1 - min(n_ahead, r) / min(n, r) if n_ahead else 1
    return total / r


LITERAL = {
    "average_precision": average_precision,
    "average_precision_at_r": average_precision_at_r,
    "bpref": bpref,
    "dcg": dcg,
    "f1": f1,
    "hit_rate": hit_rate,
    "ndcg": ndcg,
    "precision": precision,
    "r_precision": r_precision,
    "rank_biased_precision": rank_biased_precision,
    "recall": recall,
    "reciprocal_rank": reciprocal_rank,
}


def all_rankings(ties):
    """List (ranking, number of orders of the tied items that give it).

    ``ties`` is a list of lists of levels.
    """
    orders = [Counter(permutations(tie)).items() for tie in ties]
    rankings = []
    for choice in product(*orders):
        ranking, weight = (), 1
        for part, count in choice:
            ranking += part
            weight *= count
        rankings.append((ranking, weight))
    return rankings


def mean_max_min(name, ties, k, **options):
    """Return the mean, the maximum and the minimum of a measure over all orders of tied items."""
    rankings = all_rankings(ties)
    values = [LITERAL[name](ranking, k, **options) for ranking, _ in rankings]
    weights = [weight for _, weight in rankings]
    mean = fsum(value * weight for value, weight in zip(values, weights)) / sum(weights)
    return mean, max(values), min(values)
