"""Find the nearest codes by scanning all of them.

A tile of the database stays in the cache while a group of queries passes. The distances of a
query to the tile are one vectorised loop; a second one compares them to a bound, 64 at a time, and
gives a word of hits, so that an item that is too far costs nothing else. Hits are kept as keys,
``distance << 40 | index``, in order of their index, so that a stable counting sort by distance
orders ties by lowest index.
"""

import numpy as np

from ._jit import drop_lowest, inlined, kernel, lowest_bit, mask_below, popcount
from .hamming import find_distances

TILE = 4096  # items; a multiple of 64
_GROUP = 64  # queries that share a tile, at most
_KEYS = 1 << 20  # keys that a group holds, where it can
INDEX_BITS = 40
_SHIFT = np.uint64(INDEX_BITS)
_INDEX = np.uint64((1 << INDEX_BITS) - 1)
_ONE = np.uint64(1)


@inlined
def _load_tile(codes, start, stop, words):
    n_words = codes.shape[1]
    part = codes[start:stop].reshape(-1)
    if n_words == 1:
        for i in range(part.size):  # contiguous: four times faster
            words[0, i] = part[i]
        return
    for w in range(n_words):
        for i in range(stop - start):
            words[w, i] = part[i * n_words + w]


@inlined
def _collect(
    query, words, n_items, first, bound, base, passing, distances, hits, keys, size, counts
):
    """Append the keys of the items of a tile that are nearer than `bound`; return the new size.

    Items whose bit in `passing`, of the whole database, is 0 are left out; it may be empty.
    `counts` (one more than there are distances) is added to. Keys of nothing may be written behind
    the last one, up to the size of a tile.
    """
    find_distances(query, words, 0, n_items, distances)
    n_blocks = np.int64(0)
    for block in range(0, n_items, 64):
        found = mask_below(distances, block, bound)
        if n_items - block < 64:
            found &= (_ONE << np.uint64(n_items - block)) - _ONE
        hits[0, n_blocks] = np.uint64(block)
        hits[1, n_blocks] = found
        n_blocks += np.int64(found != 0)
    nothing = np.uint64(counts.size - 1)
    for i in range(n_blocks):
        first_at, found = np.int64(hits[0, i]), hits[1, i]
        if passing.size:
            found &= passing[(first + first_at) >> 6]
        n_found = np.int64(popcount(found))
        done = 0
        while done < n_found:  # four at a time: a branch for each would be guessed wrong too often
            for j in range(done, done + 4):
                at = (first_at + lowest_bit(found)) % TILE
                found = drop_lowest(found)
                distance = base + np.uint64(distances[at])
                keys[size + j] = distance << _SHIFT | np.uint64(first + at)
                counts[distance if j < n_found else nothing] += 1
            done += 4
        size += n_found
    return size


@inlined
def _none_pass(passing, start, n_items):
    """Whether there is no bit for an item of a tile. Of no bits at all, all pass."""
    some = np.uint64(passing.size == 0)
    for block in range(start // 64, min(passing.size, (start + n_items + 63) // 64)):
        some |= passing[block]
    return some == 0


@inlined
def _drop_far(keys, size, top, n_at_top):
    """Keep keys of distances below `top` and the first `n_at_top` at it; return their number."""
    kept = np.int64(0)
    for i in range(size):
        distance = np.int64(keys[i] >> _SHIFT)
        n_at_top -= np.int64(distance == top)
        keys[kept] = keys[i]  # no branch: which keys stay cannot be predicted
        kept += np.int64(distance < top) | (np.int64(distance == top) & np.int64(n_at_top >= 0))
    return kept


@inlined
def _sort(keys, size, counts, ordered):
    """Write keys in order of (distance, index), from their counts by distance.

    A counting sort. The last of the counts is that of nothing.
    """
    position = np.empty(counts.size, np.int64)
    before = 0
    for d in range(counts.size - 1):
        position[d] = before
        before += counts[d]
    for i in range(size):
        distance = np.int64(keys[i] >> _SHIFT)
        ordered[position[distance]] = keys[i]
        position[distance] += 1


@inlined
def unpack_keys(keys, indices, distances):
    for i in range(indices.size):
        indices[i] = np.int64(keys[i] & _INDEX)
        distances[i] = np.int32(keys[i] >> _SHIFT)


def key_shape(n_queries, k, n):
    """Shape of the room for the keys of a group of queries."""
    capacity = min(2 * k, n) + 2 * TILE
    largest = min(n_queries, _GROUP, max(4, _KEYS // capacity))
    n_groups = -(-n_queries // largest)
    return -(-n_queries // n_groups), capacity


@kernel
def nearest(queries, codes, k, n_bits, limits, passing, buffer, keys, indices, distances, n_found):
    """Find the `k` nearest items of each query, ties by lowest index.

    Parameters
    ----------
    queries : (n_queries, n_words) uint64
    codes : (n, n_words) uint64
    k : int, at most n
    n_bits : int
    limits : (n_queries,) int64, largest distance of an item to be looked at, at most n_bits
    passing : (n_masks, n_blocks) uint64, a bit for each item, the first the lowest; one mask for
        all queries or one for each, and (1, 0) where all items pass
    buffer : (TILE,) unsigned integers that can hold n_bits + 1
    keys : (group, capacity) uint64, scratch for a group of queries, see `key_shape`
    indices : (n_queries, k) int64, written in order of (distance, index)
    distances : (n_queries, k) int32, written
    n_found : (n_queries,) int64, written: items within the limit, at most k; where it is less, the
        limit was too small, and the rows of `indices` and `distances` are incomplete
    """
    n_queries, n_words = queries.shape
    n = codes.shape[0]
    group, capacity = keys.shape
    words = np.empty((n_words, TILE), np.uint64)
    ordered = np.empty(capacity, np.uint64)
    size = np.empty(group, np.int64)
    inside = np.empty(group, np.int64)  # how many of them count: those within `top`
    top = np.empty(group, np.int64)  # the k-th smallest distance so far, or the limit
    counts = np.empty((group, n_bits + 2), np.int64)
    hits = np.empty((2, TILE // 64 + 1), np.uint64)
    for first in range(0, n_queries, group):
        n_group = min(group, n_queries - first)
        size[:] = 0
        inside[:] = 0
        counts[:] = 0
        for g in range(n_group):  # an assignment of a slice would compile its error's message
            top[g] = limits[first + g]
        for start in range(0, n, TILE):
            n_items = min(TILE, n - start)
            if passing.shape[0] == 1 and _none_pass(passing[0], start, n_items):
                continue
            _load_tile(codes, start, start + n_items, words)
            for g in range(n_group):
                own = passing[first + g if passing.shape[0] > 1 else 0]
                # A later item at the k-th distance loses the tie, and is not looked at.
                bound = top[g] if inside[g] >= k else top[g] + 1
                if bound == 0 or (passing.shape[0] > 1 and _none_pass(own, start, n_items)):
                    continue
                old = size[g]
                size[g] = _collect(
                    queries[first + g],
                    words,
                    n_items,
                    start,
                    bound,
                    np.uint64(0),
                    own,
                    buffer,
                    hits,
                    keys[g],
                    old,
                    counts[g],
                )
                inside[g] += size[g] - old
                while inside[g] - counts[g, top[g]] >= k:
                    inside[g] -= counts[g, top[g]]
                    top[g] -= 1
                if size[g] + TILE > capacity:
                    n_at_top = counts[g, top[g]] - max(0, inside[g] - k)
                    size[g] = _drop_far(keys[g], size[g], top[g], n_at_top)
                    counts[g, top[g]] = n_at_top
                    counts[g, top[g] + 1 :] = 0
                    inside[g] = min(inside[g], k)
        for g in range(n_group):
            n_found[first + g] = min(inside[g], k)
            _sort(keys[g], size[g], counts[g], ordered)
            unpack_keys(ordered, indices[first + g], distances[first + g])


@kernel
def distance_quantiles(queries, sample, rank, buffer, counts, quantiles):
    """Write the distance that the `rank` nearest of a sample lie within, for each query.

    Parameters
    ----------
    queries : (n_queries, n_words) uint64
    sample : (n_words, n) uint64, word-major
    rank : int
    buffer : (n,) unsigned integers that can hold n_bits
    counts : (n_bits + 1,) int64, scratch
    quantiles : (n_queries,) int64, written: n_bits where there are fewer than `rank`
    """
    for q in range(queries.shape[0]):
        find_distances(queries[q], sample, 0, sample.shape[1], buffer)
        counts[:] = 0
        for i in range(buffer.size):
            counts[buffer[i]] += 1
        within, d = counts[0], 0
        while within < rank and d < counts.size - 1:
            d += 1
            within += counts[d]
        quantiles[q] = d


@inlined
def room(array, size, more):
    """Return the array, or a larger copy of its first `size` elements where `more` do not fit."""
    if size + more <= array.size:
        return array
    larger = np.empty(max(2 * array.size, size + more), array.dtype)
    for i in range(size):
        larger[i] = array[i]
    return larger


@kernel
def within(queries, codes, radius, by_distance, passing, buffer):
    """Find all items within `radius` of each query.

    Parameters
    ----------
    queries : (n_queries, n_words) uint64
    codes : (n, n_words) uint64
    radius : int, at most n_bits
    by_distance : bool, order by (distance, index) instead of by index
    passing : (n_masks, n_blocks) uint64, as for `nearest`
    buffer : (TILE,) unsigned integers that can hold n_bits + 1

    Returns
    -------
    n_found : (n_queries,) int64
    indices : (n_found.sum(),) int64, query after query
    distances : (n_found.sum(),) int32
    """
    n_queries, n_words = queries.shape
    n = codes.shape[0]
    words = np.empty((n_words, TILE), np.uint64)
    keys = np.empty(4 * TILE, np.uint64)
    hits = np.empty((2, TILE // 64 + 1), np.uint64)
    ordered = np.empty(0, np.uint64)
    n_found = np.zeros(n_queries, np.int64)
    indices = np.empty(0, np.int64)
    distances = np.empty(0, np.int32)
    n_written = 0
    n_bins = radius + 1
    for first in range(0, n_queries, _GROUP):
        # A key starts with the query's place in the group times n_bins plus the distance, so that
        # one sort serves the whole group.
        n_group = min(_GROUP, n_queries - first)
        counts = np.zeros(n_group * n_bins + 1, np.int64)
        size = 0
        for start in range(0, n, TILE):
            n_items = min(TILE, n - start)
            _load_tile(codes, start, start + n_items, words)
            for g in range(n_group):
                keys = room(keys, size, TILE)
                size = _collect(
                    queries[first + g],
                    words,
                    n_items,
                    start,
                    n_bins,
                    np.uint64(g * n_bins),
                    passing[first + g if passing.shape[0] > 1 else 0],
                    buffer,
                    hits,
                    keys,
                    size,
                    counts,
                )
        ordered = room(ordered, 0, size)
        _sort(keys, size, counts, ordered)
        indices = room(indices, n_written, size)
        distances = room(distances, n_written, size)
        unpack_keys(ordered, indices[n_written : n_written + size], distances[n_written:])
        for g in range(n_group):
            for d in range(n_bins):
                n_found[first + g] += counts[g * n_bins + d]
            stop = n_written + n_found[first + g]
            for i in range(n_written, stop):
                distances[i] -= np.int32(g * n_bins)
            if not by_distance:
                order = np.argsort(indices[n_written:stop])
                indices[n_written:stop] = indices[n_written:stop][order]
                distances[n_written:stop] = distances[n_written:stop][order]
            n_written = stop
    return n_found, indices[:n_written], distances[:n_written]


@kernel
def put_distances_before(queries, codes, places, keys):
    """Make keys of indices: put the distance of each candidate before its index.

    Parameters
    ----------
    queries : (n_queries, n_words) uint64
    codes : (n, n_words) uint64
    places : (n_queries, n_candidates) int64, rows of `codes`
    keys : (n_queries, n_candidates) uint64, indices on entry; written
    """
    for q in range(places.shape[0]):
        for c in range(places.shape[1]):
            distance = np.uint64(0)
            for w in range(queries.shape[1]):
                distance += np.uint64(popcount(queries[q, w] ^ codes[places[q, c], w]))
            keys[q, c] |= distance << _SHIFT


@kernel
def split_keys(keys, indices, distances):
    """Write what keys (n_queries, k) consist of."""
    for q in range(keys.shape[0]):
        unpack_keys(keys[q], indices[q], distances[q])
