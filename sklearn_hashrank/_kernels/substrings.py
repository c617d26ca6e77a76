"""Nearest codes by tables of substrings (multi-index hashing, Norouzi, Punjani and Fleet 2014).

The bits are cut into m substrings, and a table for each lists the items by the value of theirs.
Step s probes table t = s mod m with every value that differs from the query's substring t in
exactly s // m bits. An item at distance d has a substring with at most d // m differing bits, and
among the first d mod m + 1 ones, or with less; so the steps up to d find it. It is counted at the
first step that finds it, min over t of (differing bits of substring t) m + t, which anyone who
finds it can tell, so that no list of visited items is needed.
"""

import numpy as np

from ._jit import inlined, kernel, popcount
from .nearest import INDEX_BITS, room, unpack_keys

_SHIFT = np.uint64(INDEX_BITS)
_DISTANCE_BITS = np.uint64(64 - INDEX_BITS)
_ONE = np.uint64(1)


@kernel
def _substring(words, start, length):
    """Return `length` bits of a row of words from bit `start`, at most 63."""
    w, offset = start // 64, np.uint64(start % 64)
    value = words[w] >> offset
    if start % 64 + length > 64:
        value |= words[w + 1] << (np.uint64(64) - offset)
    return value & ((_ONE << np.uint64(length)) - _ONE)


@kernel
def fill_table(codes, start, length, offsets, order):
    """List items by the value of a substring, each list in order of index.

    Parameters
    ----------
    codes : (n, n_words) uint64
    start, length : int, the substring
    offsets : (2 ** length + 2 or more,) uint32, zeros; written: where the list of each value starts
    order : (n,) uint32, written: the lists, one after the other
    """
    n = codes.shape[0]
    for i in range(n):
        offsets[np.int64(_substring(codes[i], start, length)) + 2] += np.uint32(1)
    for v in range(1 << length):
        offsets[v + 2] += offsets[v + 1]
    for i in range(n):
        value = np.int64(_substring(codes[i], start, length))
        place = offsets[value + 1]
        if place < n:  # it is, unless a mapped file was changed since the values were counted
            order[place] = i
            offsets[value + 1] = place + np.uint32(1)


@kernel
def _found_before(step, query, code, starts, lengths):
    """Tell whether an earlier step finds the item too."""
    m = starts.size
    for t in range(m):
        mine = _substring(query, starts[t], lengths[t])
        other = _substring(code, starts[t], lengths[t])
        if np.int64(popcount(mine ^ other)) * m + t < step:
            return True
    return False


@kernel
def _next_with_as_many_ones(value):
    lowest = value & -value
    carried = value + lowest
    return carried | (((value ^ carried) >> 2) // lowest)


@kernel
def _probe(step, query, codes, starts, lengths, offsets, order, largest, keys, size):
    """Append keys of what a step finds first within distance `largest`.

    Returns the keys, their number, and how many items were looked at.
    """
    m = starts.size
    t, n_flips = step % m, step // m
    value = np.int64(_substring(query, starts[t], lengths[t]))
    flips, stop = (1 << n_flips) - 1, 1 << lengths[t]
    looked_at = 0
    while flips < stop:
        first, last = offsets[t, value ^ flips], offsets[t, (value ^ flips) + 1]
        looked_at += last - first
        for place in range(first, last):
            i = order[t, place]
            distance = np.int64(0)
            for w in range(query.size):
                distance += np.int64(popcount(query[w] ^ codes[i, w]))
            if distance <= largest and not _found_before(step, query, codes[i], starts, lengths):
                keys = room(keys, size, 1)
                keys[size] = np.uint64(distance) << _SHIFT | np.uint64(i)
                size += 1
        if n_flips == 0:
            break
        flips = _next_with_as_many_ones(flips)
    return keys, size, looked_at


@inlined
def _rotate(keys, size, n_bits):
    for i in range(size):
        keys[i] = keys[i] << n_bits | keys[i] >> (np.uint64(64) - n_bits)


@kernel
def within_by_tables(queries, codes, starts, lengths, offsets, order, radius, by_distance):
    """Find all items within `radius` of each query; results as of ``nearest.within``.

    Parameters
    ----------
    queries : (n_queries, n_words) uint64
    codes : (n, n_words) uint64
    starts, lengths : (m,) int64, of the substrings
    offsets, order : (n_tables, ..) uint32, as `fill_table` makes them, for min(m, radius + 1)
        substrings or more
    radius : int
    by_distance : bool
    """
    n_queries = queries.shape[0]
    n_found = np.zeros(n_queries, np.int64)
    indices = np.empty(0, np.int64)
    distances = np.empty(0, np.int32)
    keys = np.empty(64, np.uint64)
    n_written = 0
    for q in range(n_queries):
        size = 0
        for step in range(radius + 1):
            keys, size, _ = _probe(
                step, queries[q], codes, starts, lengths, offsets, order, radius, keys, size
            )
        if not by_distance:  # the index in front
            _rotate(keys, size, _DISTANCE_BITS)
        keys[:size].sort()
        if not by_distance:
            _rotate(keys, size, _SHIFT)
        indices = room(indices, n_written, size)
        distances = room(distances, n_written, size)
        stop = n_written + size
        unpack_keys(keys, indices[n_written:stop], distances[n_written:stop])
        n_found[q] = size
        n_written = stop
    return n_found, indices[:n_written], distances[:n_written]


@kernel
def nearest_by_tables(
    queries, codes, starts, lengths, offsets, order, n_probes, budget, indices, distances, found
):
    """Find the k nearest items by steps of growing radius, or give a query up.

    Parameters
    ----------
    queries, codes, starts, lengths, offsets, order :
        See `within_by_tables`; tables for all steps.
    n_probes : (n_steps,) float64, lists that each step looks into
    budget : float, lists and items that may be looked at
    indices : (n_queries, k) int64, written in order of (distance, index)
    distances : (n_queries, k) int32, written
    found : (n_queries,) bool, written: False where the budget or the steps did not suffice
    """
    k = indices.shape[1]
    n_steps = n_probes.size
    keys = np.empty(64, np.uint64)
    counts = np.empty(n_steps, np.int64)
    for q in range(queries.shape[0]):
        size, n_within, work = 0, 0, 0.0
        counts[:] = 0
        found[q] = False
        for step in range(n_steps):
            work += n_probes[step]
            if work > budget:
                break
            old = size
            keys, size, looked_at = _probe(
                step, queries[q], codes, starts, lengths, offsets, order, n_steps - 1, keys, size
            )
            work += looked_at
            for i in range(old, size):
                counts[np.int64(keys[i] >> _SHIFT)] += 1
            n_within += counts[step]
            if n_within >= k:
                found[q] = True
                keys[:size].sort()
                unpack_keys(keys, indices[q], distances[q])
                break
