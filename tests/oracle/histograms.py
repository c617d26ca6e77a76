"""Retrieval histograms by their definition: one pair after the other."""

import numpy as np


def hamming_distance(a, b):
    return sum(int(x) != int(y) for x, y in zip(a, b))


def retrieval_counts(query_bits, database_bits, relevance, levels, exclude_self=False):
    """Count pairs by (query, level, distance); `relevance` is the whole matrix of levels."""
    n_bits = len(query_bits[0])
    counts = np.zeros((len(query_bits), len(levels), n_bits + 1), dtype=int)
    for i, query in enumerate(query_bits):
        for j, item in enumerate(database_bits):
            if not (exclude_self and i == j):
                level = list(levels).index(relevance[i][j])
                counts[i, level, hamming_distance(query, item)] += 1
    return counts


def same_label(query_y, database_y):
    return [[float(a == b) for b in database_y] for a in query_y]


def shared_labels(query_y, database_y):
    return [[float(sum(p and q for p, q in zip(a, b))) for b in database_y] for a in query_y]


def shared_prefix(query_y, database_y):
    def length(a, b):
        n = 0
        while n < len(a) and a[n] == b[n]:
            n += 1
        return float(n)

    return [[length(a, b) for b in database_y] for a in query_y]


def distance_levels(query_y, database_y, thresholds, levels):
    """`thresholds` descend while `levels` ascend; a level holds where distance <= threshold."""

    def level(a, b):
        distance = np.sqrt(sum((float(p) - float(q)) ** 2 for p, q in zip(a, b)))
        return max([0.0] + [v for t, v in zip(thresholds, levels) if distance <= t])

    return [[level(a, b) for b in database_y] for a in query_y]


def pair_quantile(y, percentage):
    """Smallest pair distance such that at least `percentage` of all pairs lie within it."""
    distances = sorted(
        float(np.sqrt(np.sum((np.asarray(a, float) - np.asarray(b, float)) ** 2)))
        for i, a in enumerate(y)
        for b in y[:i]
    )
    for n_within, distance in enumerate(distances, start=1):
        if n_within >= percentage / 100 * len(distances) - 1e-9:
            return distance
    raise AssertionError("percentage above 100")
