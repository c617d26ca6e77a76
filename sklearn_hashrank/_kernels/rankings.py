"""Ties of rankings by scores: how many items lie at and between the scores of relevant items."""

import numpy as np

from ._jit import inlined, lean_kernel

_FEW = 64  # up to so many scores, comparing all cells with theirs takes less than a search
_VERY_FEW = 5  # up to so many, comparing all scores with them takes less than setting cells
_MOST_CELLS = 1 << 16
_CELLS_A_KEY = 16  # of a search: more take less time to search, and more to fill
_STRETCH = 1 << 15  # items whose cells stay in the cache, and which 16 bits can count
_AT_ONCE = 256  # a multiple of what vector instructions compare
_RUN = 24  # of scores that are sorted by insertion


@inlined
def _order(scores, order, other):
    """Write the stable ascending order of some scores: of short runs, then merged."""
    n = scores.size
    for start in range(0, n, _RUN):
        for i in range(start, min(start + _RUN, n)):
            place = i
            while place > start and scores[order[place - 1]] > scores[i]:
                order[place] = order[place - 1]
                place -= 1
            order[place] = i
    width = _RUN
    while width < n:
        for i in range(n):
            other[i] = order[i]
        for start in range(0, n, 2 * width):
            left, right = start, min(start + width, n)
            middle, stop = right, min(start + 2 * width, n)
            for i in range(start, stop):
                is_left = right == stop or (
                    left < middle and scores[other[left]] <= scores[other[right]]
                )
                if is_left:
                    order[i] = other[left]
                    left += 1
                else:
                    order[i] = other[right]
                    right += 1
        width *= 2


@inlined
def _set_cells(scores, keys, n_cells, cells):
    """Divide the range of the keys into cells. Rounding is monotone: lower cells, lower scores."""
    low, scale, highest = np.float64(keys[0]), 0.0, np.float64(n_cells - 1)
    width = np.float64(keys[keys.size - 1]) - low
    if width > 0:  # the first and the last cell are below and above all keys
        scale = (n_cells - 3) / width
        low -= width / (n_cells - 3)
    for i in range(scores.size):
        # What is not a number, by infinite scores or a scale of 0, is in the first cell.
        cell: float = (np.float64(scores[i]) - low) * scale
        cell = cell if cell > 0.0 else 0.0
        cells[i] = np.uint16(np.int32(cell if cell < highest else highest))


@inlined
def _count_cells(cells, key_cells, in_cells):
    """Add the numbers of lower and of equal cells, in 16 bits: of those most are compared at once.

    Keys of one cell have one count, at the first of them.
    """
    for j in range(key_cells.size):
        cell = key_cells[j]
        if j == 0 or cell != key_cells[j - 1]:
            n_less, n_equal = np.uint16(0), np.uint16(0)
            for i in range(cells.size):
                n_less = np.uint16(n_less + (cells[i] < cell))
                n_equal = np.uint16(n_equal + (cells[i] == cell))
            in_cells[2 * j] += n_less
            in_cells[2 * j + 1] += n_equal


@inlined
def _compare_all(scores, keys, bins):
    """Count at and between keys by comparing each with all scores."""
    below = 0
    for j in range(keys.size):
        n_less, n_equal = 0, 0
        for i in range(scores.size):
            n_less += scores[i] < keys[j]
            n_equal += scores[i] == keys[j]
        bins[2 * j], bins[2 * j + 1] = n_less - below, n_equal
        below = n_less + n_equal
    bins[2 * keys.size] = scores.size - below


@inlined
def _compare(scores, keys, key_ends, key_cells, in_cells, bins):
    """Count at and between keys, by comparing them where a cell holds more than relevant items."""
    n_keys = keys.size
    below = 0
    first = 0
    while first < n_keys:
        stop = first
        n_at = 0
        while stop < n_keys and key_cells[stop] == key_cells[first]:
            bins[2 * stop + 1] = key_ends[stop + 1] - key_ends[stop]
            n_at += bins[2 * stop + 1]
            stop += 1
        n_less, n_inside = in_cells[2 * first], in_cells[2 * first + 1]
        for j in range(first, stop):
            if n_at < n_inside:
                n_less, n_equal = 0, 0
                for i in range(scores.size):
                    n_less += scores[i] < keys[j]
                    n_equal += scores[i] == keys[j]
                bins[2 * j + 1] = n_equal
            bins[2 * j] = n_less - below
            below = n_less + bins[2 * j + 1]
            n_less = below
        first = stop
    bins[2 * n_keys] = scores.size - below


@inlined
def _set_firsts(key_cells, n_cells, firsts):
    """Write how many keys are in lower cells than each."""
    place = 0
    for cell in range(n_cells + 1):
        firsts[cell] = place
        while place < key_cells.size and key_cells[place] == cell:
            place += 1


@inlined
def _search(scores, keys, cells, firsts, bins):
    """Search each score among the keys of its cell."""
    for i in range(scores.size):
        score, cell = scores[i], cells[i]
        place, high = firsts[cell], firsts[cell + 1]
        while place < high:
            middle = (place + high) >> 1
            if keys[middle] < score:
                place = middle + 1
            else:
                high = middle
        if place < keys.size and keys[place] == score:
            bins[2 * place + 1] += 1
        else:
            bins[2 * place] += 1


@inlined
def _count(scores, keys, key_ends, are_relevant_inside, cells, all_key_cells, of_cells, bins):
    """Count scores at each key, in bin 2j + 1, and below it, in bin 2j."""
    is_few = are_relevant_inside and keys.size <= _FEW
    if is_few and keys.size <= _VERY_FEW:
        _compare_all(scores, keys, bins)
        return
    n_cells = _MOST_CELLS if is_few else min(_CELLS_A_KEY * keys.size, _MOST_CELLS)
    key_cells = all_key_cells[: keys.size]
    _set_cells(keys, keys, n_cells, key_cells)
    if is_few:
        for j in range(2 * keys.size):
            of_cells[j] = 0
    else:
        _set_firsts(key_cells, n_cells, of_cells)
    for start in range(0, scores.size, _STRETCH):
        part = scores[start : start + _STRETCH]
        _set_cells(part, keys, n_cells, cells)
        if is_few:
            padded = -(-part.size // _AT_ONCE) * _AT_ONCE
            for i in range(part.size, padded):
                cells[i] = _MOST_CELLS - 1  # above all keys
            _count_cells(cells[:padded], key_cells, of_cells)
        else:
            _search(part, keys, cells, of_cells, bins)
    if is_few:
        _compare(scores, keys, key_ends, key_cells, of_cells, bins)


def room_to_count(most, dtype):
    """Scratch arrays of `count_between` for at most so many relevant items of a query."""
    of_cells = np.empty(min(_CELLS_A_KEY * most, _MOST_CELLS) + 1, np.int64)
    ascending = np.empty((2, most), np.int64)
    bins = np.empty((2, 2 * most + 1), np.int64)
    cells, key_cells = np.empty(_STRETCH, np.uint16), np.empty(most, np.uint16)
    return (
        ascending,
        np.empty(most, dtype),
        np.zeros(most + 1, np.int64),
        bins,
        cells,
        key_cells,
        of_cells,
    )


@lean_kernel
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
    ascending,
    all_keys,
    key_ends,
    all_bins,
    cells,
    key_cells,
    of_cells,
):
    """Count the items of each query at the scores of its relevant ones, and between them.

    Parameters
    ----------
    scores, starts : (n_items,) and (n_queries + 1,), the scores of each query
    relevant, relevant_starts : those of the relevant items, which are among the scores
    judged, judged_starts : those of the items that were judged irrelevant
    is_descending : bool, whether the highest score comes first
    sizes : (n_queries,), out: ties of each query; ties without items are left out
    totals, n_judged : (2 * n_relevant + n_queries,), out: items and judged irrelevant items of
        each tie; those of query q from ``2 * relevant_starts[q] + q`` on
    places : (n_relevant,), out: the ties of the relevant items, among those of their query,
        ascending
    order : (n_relevant,), out: which relevant item of the query each of them is
    ascending, all_keys, key_ends, all_bins, cells, key_cells, of_cells : scratch, `room_to_count`
    """
    for q in range(starts.size - 1):
        first, last = relevant_starts[q], relevant_starts[q + 1]
        of_relevant = relevant[first:last]
        _order(of_relevant, ascending[0], ascending[1])
        n_keys = 0
        for i in range(of_relevant.size):
            score = of_relevant[ascending[0, i]]
            if i == 0 or score != all_keys[n_keys - 1]:
                all_keys[n_keys] = score
                n_keys += 1
            key_ends[n_keys] = i + 1
        keys = all_keys[:n_keys]
        of_query, bins = scores[starts[q] : starts[q + 1]], all_bins[0, : 2 * n_keys + 1]
        of_judged = all_bins[1, : 2 * n_keys + 1]
        for number in range(2):  # one after the other, by code that is compiled once
            values, counts = of_query, bins
            if number == 1:
                values, counts = judged[judged_starts[q] : judged_starts[q + 1]], of_judged
            for i in range(counts.size):
                counts[i] = 0
            if n_keys == 0 or values.size == 0:
                counts[0] = values.size
            else:
                _count(values, keys, key_ends, number == 0, cells, key_cells, of_cells, counts)
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
                    for i in range(key_ends[key], key_ends[key + 1]):
                        places[filled] = size
                        order[filled] = ascending[0, i]
                        filled += 1
                size += 1
        sizes[q] = size
