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


@inlined
def _order(scores, order):
    """Write the stable ascending order of some scores."""
    n = scores.size
    if n > _FEW:
        order[:n] = np.argsort(scores, kind="mergesort")
        return
    for i in range(n):
        place = i
        while place > 0 and scores[order[place - 1]] > scores[i]:
            order[place] = order[place - 1]
            place -= 1
        order[place] = i


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
    order,
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
    places : (n_relevant,), out: the ties of the relevant items, among those of their query,
        ascending
    order : (n_relevant,), out: which relevant item of the query each of them is
    """
    most = 0
    for q in range(starts.size - 1):
        most = max(most, relevant_starts[q + 1] - relevant_starts[q])
    ascending = np.empty(most, np.int64)
    keys, key_ends = np.empty(most, relevant.dtype), np.empty(most, np.int64)
    all_bins, all_judged = np.empty(2 * most + 1, np.int64), np.empty(2 * most + 1, np.int64)
    for q in range(starts.size - 1):
        first, last = relevant_starts[q], relevant_starts[q + 1]
        of_relevant = relevant[first:last]
        _order(of_relevant, ascending)
        n_keys = 0
        for i in range(of_relevant.size):
            score = of_relevant[ascending[i]]
            if i == 0 or score != keys[n_keys - 1]:
                keys[n_keys] = score
                n_keys += 1
            key_ends[n_keys - 1] = i + 1
        bins, of_judged = all_bins[: 2 * n_keys + 1], all_judged[: 2 * n_keys + 1]
        bins[:] = 0
        of_judged[:] = 0
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
        for i in range(judged_starts[q], judged_starts[q + 1]):
            of_judged[_bin(keys, n_keys, judged[i])] += 1
        start = 2 * first + q
        size = 0
        filled = first
        for step in range(bins.size):
            number = bins.size - 1 - step if is_descending else step
            if bins[number] > 0:
                totals[start + size] = bins[number]
                n_judged[start + size] = of_judged[number]
                if number % 2 == 1:
                    key = number // 2
                    for i in range(key_ends[key - 1] if key > 0 else 0, key_ends[key]):
                        places[filled] = size
                        order[filled] = ascending[i]
                        filled += 1
                size += 1
        sizes[q] = size
