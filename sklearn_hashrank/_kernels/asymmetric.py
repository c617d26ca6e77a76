"""Asymmetric distances between the projections of queries and binary codes."""

from ._jit import drop_lowest, kernel, lowest_bit


@kernel
def sum_weights_of_differing_bits(queries, codes, weights, candidates, distances):
    """Sum, for each candidate, the query's weights of the bits that differ.

    Parameters
    ----------
    queries : (n_queries, n_words) uint64
    codes : (n, n_words) uint64
    weights : (n_queries, 64 * n_words) float64, in the order of the bits of the words
    candidates : (n_queries, n_candidates) int64, rows of `codes`
    distances : (n_queries, n_candidates) float64, written
    """
    for q in range(candidates.shape[0]):
        for c in range(candidates.shape[1]):
            total = 0.0
            for w in range(queries.shape[1]):
                differing = queries[q, w] ^ codes[candidates[q, c], w]
                while differing:
                    total += weights[q, 64 * w + lowest_bit(differing)]
                    differing = drop_lowest(differing)
            distances[q, c] = total
