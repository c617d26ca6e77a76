"""Ties of rankings by scores: how many items lie at and between the scores of relevant items."""

import numpy as np

from ._jit import inlined, kernel

_FEW = 24  # up to so many scores, comparing an item with all of them takes less than a search


@inlined
def _place(keys, n_keys, score):
    low, high = 0, n_keys
    while low < high:
        middle = (low + high) >> 1
        if keys[middle] < score:
            low = middle + 1
        else:
            high = middle
    return low


@inlined
def _bin(keys, n_keys, score):
    """2j + 1 at score j, 2j between scores j - 1 and j."""
    place = _place(keys, n_keys, score)
    if place < n_keys and keys[place] == score:
        return 2 * place + 1
    return 2 * place


@kernel
def count_between(
    scores,
    starts,
    relevant,
    relevant_starts,
    judged,
    judged_starts,
    is_descending,
    sizes,
    totals,
    n_judged,
    places,
):
    """Count the items of each query at the scores of its relevant ones, and between them.

    Parameters
    ----------
    scores, starts : (n_items,) and (n_queries + 1,), the scores of each query
    relevant, relevant_starts : those of the relevant items
    judged, judged_starts : those of the items that were judged irrelevant
    is_descending : bool, whether the highest score comes first
    sizes : (n_queries,), out: ties of each query; ties without items are left out
    totals, n_judged : (2 * n_relevant + n_queries,), out: items and judged irrelevant items of
        each tie; those of query q from ``2 * relevant_starts[q] + q`` on
    places : (n_relevant,), out: the tie of each relevant item, among those of its query
    """
    for q in range(starts.size - 1):
        first, last = relevant_starts[q], relevant_starts[q + 1]
        keys = np.sort(relevant[first:last])
        n_keys = 0
        for i in range(keys.size):
            if i == 0 or keys[i] != keys[n_keys - 1]:
                keys[n_keys] = keys[i]
                n_keys += 1
        bins = np.zeros(2 * n_keys + 1, np.int64)
        of_query = scores[starts[q] : starts[q + 1]]
        if n_keys <= _FEW:
            below = 0
            for j in range(n_keys):
                key = keys[j]
                n_less = 0
                n_equal = 0
                for i in range(of_query.size):
                    n_less += of_query[i] < key
                    n_equal += of_query[i] == key
                bins[2 * j] = n_less - below
                bins[2 * j + 1] = n_equal
                below = n_less + n_equal
            bins[2 * n_keys] = of_query.size - below
        else:
            for i in range(of_query.size):
                bins[_bin(keys, n_keys, of_query[i])] += 1
        of_judged = np.zeros(bins.size, np.int64)
        for i in range(judged_starts[q], judged_starts[q + 1]):
            of_judged[_bin(keys, n_keys, judged[i])] += 1
        tie_of_bin = np.zeros(bins.size, np.int64)
        start = 2 * first + q
        size = 0
        for step in range(bins.size):
            number = bins.size - 1 - step if is_descending else step
            if bins[number] > 0:
                totals[start + size] = bins[number]
                n_judged[start + size] = of_judged[number]
                tie_of_bin[number] = size
                size += 1
        sizes[q] = size
        for i in range(first, last):
            places[i] = tie_of_bin[2 * _place(keys, n_keys, relevant[i]) + 1]
