"""The likelihoods of pairs and triplets as they are written in the papers, one after the other.

`u` are relaxed codes as nested lists, `relevant[q][i]` says whether row i is relevant to query q.
Losses, to be minimised.
"""

import math


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def sign(x):
    return (x > 0) - (x < 0)


def log_sigmoid(t):
    return -math.log(1 + math.exp(-t))


def quantization(u):
    """Mean of (u - sign u)^2 over rows and bits."""
    return sum((x - sign(x)) ** 2 for row in u for x in row) / (len(u) * len(u[0]))


def pairs_of(u):
    return [(i, j) for i in range(len(u)) for j in range(len(u)) if i != j]


def dpsh(u, relevant, regularization):
    """Equation (5) of the DPSH paper, as a mean over pairs and over bits."""
    losses = []
    for i, j in pairs_of(u):
        theta = dot(u[i], u[j]) / 2
        losses.append(-(relevant[i][j] * theta - math.log(1 + math.exp(theta))))
    return sum(losses) / len(losses) + regularization * quantization(u)


def hashnet(scores, relevant, alpha, scale):
    """Equation (4) of the HashNet paper with the weights (2), |S| / |S1| and |S| / |S0|.

    Divided by the number of pairs |S|.
    """
    z = [[math.tanh(alpha * x) for x in row] for row in scores]
    pairs = pairs_of(z)
    n_similar = sum(relevant[i][j] for i, j in pairs)
    total = 0.0
    for i, j in pairs:
        t = scale / len(z[0]) * dot(z[i], z[j])
        weight = len(pairs) / (n_similar if relevant[i][j] else len(pairs) - n_similar)
        total += weight * (math.log(1 + math.exp(t)) - relevant[i][j] * t)
    return total / len(pairs)


def dtsh(u, grade, margin, regularization):
    """The negative log triplet likelihood: mean over queries of the mean over their triplets.

    ``grade[q][i]`` is a number: a triplet has a row of a higher one than the other.
    """
    queries = []
    for q in range(len(u)):
        losses = [
            -log_sigmoid((dot(u[q], u[p]) - dot(u[q], u[n])) / 2 - margin * len(u[q]))
            for p in range(len(u))
            for n in range(len(u))
            if q not in (p, n) and grade[q][p] > grade[q][n]
        ]
        if losses:
            queries.append(sum(losses) / len(losses))
    return sum(queries) / max(len(queries), 1) + regularization * quantization(u)
