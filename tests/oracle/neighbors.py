"""Neighbors by their definition: all pairs, sorted by (distance, index)."""

from fractions import Fraction

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


def rounded(projection):
    """Sign and one of eight sizes for each bit: four bits of the projection."""
    largest = max(abs(p) for p in projection)
    return [(p > 0, round(7 * (abs(p) / largest)) if largest else 0) for p in projection]


def rounded_distance(projection, item):
    """Sum of the sizes of the bits that differ."""
    return sum(size for (sign, size), bit in zip(rounded(projection), item) if sign != bool(bit))


def nearest_by_projections(projections, database, n_candidates, k, prefix=None, passes=None):
    """Candidates by (rounded distance of the first bits, index), then (distance, index)."""
    found = []
    for i, projection in enumerate(projections):
        candidates = sorted(
            (rounded_distance(projection[:prefix], item[:prefix]), j)
            for j, item in enumerate(database)
            if passes is None or passes[i][j]
        )[:n_candidates]
        ranked = sorted((asymmetric_distance(projection, database[j]), j) for _, j in candidates)
        found.append(ranked[:k])
    return found


def nearest_by_prefix(queries, database, prefix, n_candidates, k, passes=None, exclude_self=False):
    """Candidates by (distance of the first bits, index), then (distance of all bits, index)."""
    firsts = [row[:prefix] for row in queries], [row[:prefix] for row in database]
    found = []
    for i, row in enumerate(ranking(*firsts, exclude_self=exclude_self)):
        candidates = [j for _, j in row if passes is None or passes[i][j]][:n_candidates]
        ranked = sorted((hamming_distance(queries[i], database[j]), j) for j in candidates)
        found.append(ranked[:k])
    return found


def relevant_neighbors(queries, database, k, metric, exclude_self=False):
    """1 where an item is at most as far as the k-th nearest, in exact arithmetic; all rows tied."""

    def farness(query, item):
        a, b = [Fraction(x) for x in query], [Fraction(x) for x in item]
        product = sum(p * q for p, q in zip(a, b))
        if metric == "euclidean":
            return sum((p - q) ** 2 for p, q in zip(a, b))
        if metric == "inner_product":
            return -product
        sizes = sum(p * p for p in a) * sum(q * q for q in b)
        return -product * abs(product) / sizes if sizes else Fraction(0)  # ordered as the cosine

    relevant = []
    for i, query in enumerate(queries):
        distances = [farness(query, item) for item in database]
        others = sorted(d for j, d in enumerate(distances) if not (exclude_self and i == j))
        limit = others[k - 1] if len(others) >= k else None
        relevant.append([float(limit is None or d <= limit) for d in distances])
    return relevant
