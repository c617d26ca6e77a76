"""Relevance levels of squared distances, computed from inner products."""

import numpy as np

from ._jit import kernel


@kernel
def _row(product, query_norm, norms, thresholds, rounding, squared, levels, unsure):
    for j in range(norms.size):
        squared[j] = query_norm + norms[j] - 2.0 * product[j]
        levels[j] = 0
        unsure[j] = False
    for threshold in thresholds:
        for j in range(norms.size):
            levels[j] += np.uint16(squared[j] <= threshold)
            unsure[j] |= abs(squared[j] - threshold) <= rounding * (query_norm + norms[j])


@kernel
def levels_from_products(product, query_norms, norms, thresholds, rounding):
    """Count, for each pair, the thresholds that its squared distance does not exceed.

    Parameters
    ----------
    product : (n_queries, n) float64, inner products
    query_norms, norms : (n_queries,) and (n,) float64, squared norms
    thresholds : (n_thresholds,) float64, of the squared distance
    rounding : float, error of a squared distance relative to the sum of the two norms

    Returns
    -------
    levels : (n_queries, n) uint16
    unsure : (n_queries, n) bool, whether rounding may have decided
    """
    n_queries, n = product.shape
    levels = np.empty((n_queries, n), dtype=np.uint16)
    unsure = np.empty((n_queries, n), dtype=np.bool_)
    squared = np.empty(n)
    for i in range(n_queries):
        _row(product[i], query_norms[i], norms, thresholds, rounding, squared, levels[i], unsure[i])
    return levels, unsure
