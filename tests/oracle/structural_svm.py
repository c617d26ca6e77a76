"""The structural SVM over rankings, written out: all rankings of few items, and all pairs.

A ranking is a tuple of item numbers, the first retrieved item first. `relevant` is a list of bools.
"""

from itertools import permutations
from math import log2

import numpy as np
from scipy import optimize


def loss(ranking, relevant, name):
    """1 - AP, 1 - NDCG with gain 1 for what is relevant, or 1 - AUC."""
    ranks = [rank for rank, item in enumerate(ranking, start=1) if relevant[item]]
    if name == "ap":
        return 1 - sum(found / rank for found, rank in enumerate(ranks, start=1)) / len(ranks)
    if name == "auc":
        n_irrelevant = len(ranking) - len(ranks)
        before = sum(rank - found for found, rank in enumerate(ranks, start=1))
        return before / (len(ranks) * n_irrelevant)
    ideal = sum(1 / log2(rank + 1) for rank in range(1, len(ranks) + 1))
    return 1 - sum(1 / log2(rank + 1) for rank in ranks) / ideal


def psi(ranking, relevant, query, database, n_bits):
    """1 / (|X+||X-| b) * sum_ij y_ij q (x_i - x_j)^T over relevant i, irrelevant j."""
    place = {item: rank for rank, item in enumerate(ranking)}
    total, n_pairs = np.zeros(len(query)), 0
    for i in ranking:
        for j in ranking:
            if relevant[i] and not relevant[j]:
                y = 1 if place[i] < place[j] else -1
                total += y * (database[i] - database[j])
                n_pairs += 1
    return np.outer(query, total) / (n_pairs * n_bits)


def true_ranking(items, relevant):
    """All relevant items first."""
    return tuple(sorted(items, key=lambda item: not relevant[item]))


def violation(ranking, relevant, query, database, weights, n_bits, name):
    """loss(y) - F(y*) + F(y)."""
    gram = weights @ weights.T
    true = true_ranking(ranking, relevant)
    difference = psi(true, relevant, query, database, n_bits)
    difference = difference - psi(ranking, relevant, query, database, n_bits)
    return loss(ranking, relevant, name) - np.sum(gram * difference)


def largest_violation(items, relevant, query, database, weights, n_bits, name):
    """The largest violation of all rankings of `items`."""
    return max(
        violation(ranking, relevant, query, database, weights, n_bits, name)
        for ranking in permutations(items)
    )


def slack(queries, database, relevant, own, weights, n_bits, name):
    """Mean over queries of the largest violation; the query itself is not ranked."""
    return np.mean(
        [
            largest_violation(
                [item for item in range(len(database)) if item != own[q]],
                relevant[q],
                queries[q],
                database,
                weights,
                n_bits,
                name,
            )
            for q in range(len(queries))
        ]
    )


def slow_most_violated(scores, relevant, name):
    """Counts of inversions and loss of the most violated ranking, in O(n+ n-) (Yue et al. 2007).

    Each irrelevant item moves up past relevant ones from the end, and stays at its best place.
    """
    positive = sorted(np.flatnonzero(relevant), key=lambda i: -scores[i])
    negative = sorted(np.flatnonzero(~relevant), key=lambda j: -scores[j])
    n_positive, n_negative = len(positive), len(negative)
    ideal = sum(1 / log2(rank + 1) for rank in range(1, n_positive + 1))
    counts = np.zeros(len(scores))
    for before, j in enumerate(negative, start=1):
        value = best_value = 0.0
        best = n_positive
        for k in range(n_positive - 1, -1, -1):
            rank = k + before  # of relevant item k + 1 without item j in front of it
            if name == "ap":
                gain = ((k + 1) / rank - (k + 1) / (rank + 1)) / n_positive
            else:
                gain = (1 / log2(rank + 1) - 1 / log2(rank + 2)) / ideal
            value += gain - 2 * (scores[positive[k]] - scores[j]) / (n_positive * n_negative)
            if value > best_value:
                best_value, best = value, k
        counts[j] = best - n_positive
        for i in positive[best:]:
            counts[i] += 1
    ranks = [number + counts[i] for number, i in enumerate(positive, start=1)]
    if name == "ap":
        value = sum(found / rank for found, rank in enumerate(ranks, start=1)) / n_positive
    else:
        value = sum(1 / log2(rank + 1) for rank in ranks) / ideal
    return counts, 1 - value


def weighted_psi(ranking, relevant, query, codes):
    """1 / (|X+||X-|) sum_ij y_ij (|h(q) - h(x_j)| - |h(q) - h(x_i)|) for every bit h."""
    place = {item: rank for rank, item in enumerate(ranking)}
    total, n_pairs = np.zeros(codes.shape[1]), 0
    for i in ranking:
        for j in ranking:
            if relevant[i] and not relevant[j]:
                y = 1 if place[i] < place[j] else -1
                total += y * ((codes[query] != codes[j]) * 1.0 - (codes[query] != codes[i]))
                n_pairs += 1
    return total / n_pairs


def weights_of_bits(codes, queries, relevant, C, name):
    """Weights and objective of the linear program over all rankings of all queries."""
    n_bits, n_queries = codes.shape[1], len(queries)
    rows, bounds = [], []
    for number, query in enumerate(queries):
        items = [item for item in range(len(codes)) if item != query]
        true = weighted_psi(true_ranking(items, relevant[number]), relevant[number], query, codes)
        for ranking in permutations(items):
            fall = true - weighted_psi(ranking, relevant[number], query, codes)
            slack = np.zeros(n_queries)
            slack[number] = 1
            rows.append(np.concatenate([fall, slack]))
            bounds.append(loss(ranking, relevant[number], name))
    costs = np.concatenate([np.ones(n_bits), np.full(n_queries, C / n_queries)])
    found = optimize.linprog(costs, A_ub=-np.array(rows), b_ub=-np.array(bounds))
    return found.x[:n_bits], found.fun
