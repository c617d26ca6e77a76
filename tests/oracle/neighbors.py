"""Neighbours by their definition: all pairs, sorted by (distance, index)."""

from tests.oracle.histograms import hamming_distance


def ranking(queries, database, exclude_self=False):
    """All (distance, index) of each query, sorted."""
    return [
        sorted(
            (hamming_distance(query, item), j)
            for j, item in enumerate(database)
            if not (exclude_self and i == j)
        )
        for i, query in enumerate(queries)
    ]


def nearest(ranked, k):
    """The first `k` of each query."""
    return [row[:k] for row in ranked]


def within(ranked, radius):
    """Those of each query at a distance of at most `radius`."""
    return [[pair for pair in row if pair[0] <= radius] for row in ranked]


def asymmetric_distance(projection, item):
    """Sum of |p| over the bits where the sign of p is not the item's bit."""
    return sum(abs(p) for p, bit in zip(projection, item) if (p > 0) != bool(bit))


def rescored(projections, database, n_candidates, k):
    """Candidates by Hamming distance, then (asymmetric distance, index), for each query."""
    signs = [[int(p > 0) for p in row] for row in projections]
    return [
        sorted((asymmetric_distance(projection, database[j]), j) for _, j in row)[:k]
        for projection, row in zip(projections, nearest(ranking(signs, database), n_candidates))
    ]
