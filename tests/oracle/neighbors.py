"""Neighbours by their definition: all pairs, sorted by (distance, index)."""

from .histograms import hamming_distance


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
