"""Find the nearest codes by scanning all of them.

A tile of the database stays in the cache while a group of queries passes. A block of 64 items is
compared to a bound within registers, which gives a word of blocks, so that an item that is too far
costs nothing else. Hits are kept as keys, ``distance << 40 | index``, in order of their index, so
that a stable counting sort by distance orders ties by lowest index.
"""

import numpy as np

from ._jit import drop_lowest, inlined, kernel, lowest_bit, mask_below, popcount
from ._words import BLOCK, LINE, aligned_words, any_near, find_near, put_distances

TILE = BLOCK * BLOCK  # items: as many blocks as a word has bits
_GROUP = 64  # queries that share a tile, at most
_KEYS = 1 << 20  # keys that a group holds, where it can
INDEX_BITS = 40
_SHIFT = np.uint64(INDEX_BITS)
_INDEX = np.uint64((1 << INDEX_BITS) - 1)
_ONE = np.uint64(1)
_LAST = np.uint64(BLOCK - 1)
_SPARE = 4  # keys of nothing that may be written behind the last one
_LANES = 4  # parts of the keys that are sorted in turns: equal distances wait for each other


@inlined
def _load_tile(codes, start, n_items, tile):
    """Copy codes of a tile word by word."""
    n_words = codes.shape[1]
    part = codes[start : start + n_items].reshape(-1)
    for w in range(n_words):
        for i in range(n_items):
            tile[w, i] = part[i * n_words + w]


@inlined
def _collect(query, words, start, stride, n_items, first, bound, base, blocks, near, keys, size):
    """Append the keys of the items of a tile that are nearer than `bound`; return the new size.

    The words of the tile begin at `start`, its items are numbered from `first` on. Keys of nothing
    may be written behind the last one. No branch depends on a block, as it would be guessed wrong
    once for each block that has such an item. Where many have one, none is looked at twice.
    """
    of_blocks = ~np.uint64(0) >> np.uint64((TILE - n_items) // BLOCK)
    if size * BLOCK <= first:
        blocks[:] = 0
        for block in range(0, n_items, BLOCK):
            blocks[block // BLOCK] = any_near(query, words, start + block, stride, bound)
        of_blocks = ~mask_below(blocks, 0, 1)
    for _ in range(popcount(of_blocks)):
        block = BLOCK * lowest_bit(of_blocks)
        of_blocks = drop_lowest(of_blocks)
        found = find_near(query, words, start + block, stride, bound, near)
        if n_items - block < BLOCK:
            found &= (_ONE << np.uint64(n_items - block)) - _ONE
        n_found = np.int64(popcount(found))
        for done in range(0, n_found, _SPARE):
            for j in range(done, done + _SPARE):
                at = np.uint64(lowest_bit(found)) & _LAST
                found = drop_lowest(found)
                distance = base + np.uint64(near[at])
                keys[size + j] = distance << _SHIFT | (np.uint64(first + block) + at)
        size += n_found
    return size


@inlined
def _sort(keys, size, counts, places, ordered):
    """Write keys in order of (distance, index); set `counts` to the number of each distance.

    A counting sort of parts that follow each other, one key of each in turn.
    """
    n_bins = counts.size
    length = np.uint64(-(-size // _LANES))
    for i in range(size, _LANES * length):
        keys[i] = np.uint64(n_bins) << _SHIFT  # nothing, behind all others
    places[:] = 0
    for i in range(length):
        for lane in range(_LANES):
            places[lane, keys[np.uint64(lane) * length + i] >> _SHIFT] += _ONE
    before = np.uint64(0)
    for d in range(n_bins + 1):
        start = before
        for lane in range(_LANES):
            n = places[lane, d]
            places[lane, d] = before
            before += n
        if d < n_bins:
            counts[d] = before - start
    for i in range(length):
        for lane in range(_LANES):
            key = keys[np.uint64(lane) * length + i]
            ordered[places[lane, key >> _SHIFT]] = key
            places[lane, key >> _SHIFT] += _ONE


@inlined
def unpack_keys(keys, indices, distances):
    for i in range(indices.size):
        indices[i] = np.int64(keys[i] & _INDEX)
        distances[i] = np.int32(keys[i] >> _SHIFT)


def key_shape(n_queries, k, n):
    """Shape of the room for the keys of a group of queries."""
    capacity = min(k + max(k, 64), n) + TILE + _SPARE
    largest = min(n_queries, _GROUP, max(4, _KEYS // capacity))
    n_groups = -(-n_queries // largest)
    return -(-n_queries // n_groups), capacity


def items_before_line(codes):
    """How many codes of one word lie before the first line of the cache that starts with one.

    Where blocks begin with a line, comparing them takes half the time.
    """
    return min(
        len(codes), -codes.ctypes.data % LINE // codes.itemsize if codes.shape[1] == 1 else 0
    )


def room_to_search(n_words, n_bits, capacity):
    """Scratch arrays of `nearest`, beside its keys."""
    return (
        aligned_words(n_words, max(4 * BLOCK, TILE // n_words // BLOCK * BLOCK)),
        np.empty(TILE // BLOCK, np.uint8),
        np.empty(BLOCK, np.uint32),
        np.empty(n_bits + 1, np.int64),
        np.empty((_LANES, n_bits + 2), np.uint64),
        np.empty(capacity, np.uint64),
        np.empty(_GROUP, np.int64),
    )


@kernel
def nearest(
    queries,
    codes,
    n_before,
    limits,
    indices,
    distances,
    n_found,
    keys,
    tile,
    blocks,
    near,
    counts,
    places,
    ordered,
    sizes,
):
    """Find the `k` nearest items of each query, ties by lowest index.

    Parameters
    ----------
    queries : (n_queries, n_words) uint64
    codes : (n, n_words) uint64
    n_before : int, items before a line of the cache begins, at most n: see `items_before_line`
    limits : (n_queries,) int64, largest distance of an item to be looked at; lowered in place
    indices : (n_queries, k) int64, written in order of (distance, index); k is at most n
    distances : (n_queries, k) int32, written
    n_found : (n_queries,) int64, written: items within the limit, at most k; where it is less, the
        limit was too small, and the rows of `indices` and `distances` are incomplete
    keys : (group, capacity) uint64, scratch for a group of queries, see `key_shape`
    tile, blocks, near, counts, places, ordered, sizes : scratch, see `room_to_search`
    """
    n_queries, n_words = queries.shape
    n, k = codes.shape[0], indices.shape[1]
    group, capacity = keys.shape
    for first in range(0, n_queries, group):
        n_group = min(group, n_queries - first)
        for g in range(n_group):
            sizes[g] = 0
        stop = 0
        while stop < n:
            start = stop
            stop = n_before if start < n_before else min(start + tile.shape[1], n)
            in_place = n_words == 1 and stop - start == tile.shape[1]
            if not in_place:
                _load_tile(codes, start, stop - start, tile)
            words, at = (codes, start) if in_place else (tile, 0)
            for g in range(n_group):
                q = first + g
                size = sizes[g]
                if limits[q] >= 0:
                    size = _collect(
                        queries[q],
                        words,
                        at,
                        tile.shape[1],
                        stop - start,
                        start,
                        np.uint64(limits[q] + 1),
                        np.uint64(0),
                        blocks,
                        near,
                        keys[g],
                        size,
                    )
                if stop == n or size + TILE + _SPARE > capacity:
                    _sort(keys[g], size, counts, places, ordered)
                    size = min(size, k)
                    if stop == n:
                        n_found[q] = size
                        unpack_keys(ordered, indices[q], distances[q])
                    elif size == k:
                        # A later item at the k-th distance loses the tie, and is not looked at.
                        limits[q] = np.int64(ordered[k - 1] >> _SHIFT) - 1
                        for i in range(k):
                            keys[g, i] = ordered[i]
                sizes[g] = size


@kernel
def distance_quantiles(queries, sample, rank, n_bits, distances, quantiles):
    """Write the distance that the `rank` nearest of a sample lie within, for each query.

    Parameters
    ----------
    queries : (n_queries, n_words) uint64
    sample : (n_words, n) uint64, word-major, n a multiple of BLOCK
    rank : int
    n_bits : int
    distances : (n,) unsigned integers that can hold n_bits + 1, scratch
    quantiles : (n_queries,) int64, written: n_bits where there are fewer than `rank`
    """
    n = sample.shape[1]
    for q in range(queries.shape[0]):
        for start in range(0, n, BLOCK):
            put_distances(queries[q], sample, start, n, distances, start)
        low, high = 0, n_bits
        while low < high:
            middle = (low + high) // 2
            within = np.uint64(0)
            for start in range(0, n, BLOCK):
                within += popcount(mask_below(distances, start, middle + 1))
            if within < rank:
                low = middle + 1
            else:
                high = middle
        quantiles[q] = low


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
def within(queries, codes, radius, by_distance):
    """Find all items within `radius` of each query.

    Parameters
    ----------
    queries : (n_queries, n_words) uint64
    codes : (n, n_words) uint64
    radius : int, at most n_bits
    by_distance : bool, order by (distance, index) instead of by index

    Returns
    -------
    n_found : (n_queries,) int64
    indices : (n_found.sum(),) int64, query after query
    distances : (n_found.sum(),) int32
    """
    n_queries, n_words = queries.shape
    n = codes.shape[0]
    tile = np.empty((n_words, TILE), np.uint64)
    keys = np.empty(4 * TILE, np.uint64)
    blocks = np.empty(TILE // BLOCK, np.uint8)
    near = np.empty(BLOCK, np.uint32)
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
        counts = np.empty(n_group * n_bins, np.int64)
        places = np.empty((_LANES, counts.size + 1), np.uint64)
        size = 0
        for start in range(0, n, TILE):
            n_items = min(TILE, n - start)
            _load_tile(codes, start, n_items, tile)
            for g in range(n_group):
                keys = room(keys, size, TILE + _SPARE)
                size = _collect(
                    queries[first + g],
                    tile,
                    0,
                    TILE,
                    n_items,
                    start,
                    np.uint64(n_bins),
                    np.uint64(g * n_bins),
                    blocks,
                    near,
                    keys,
                    size,
                )
        ordered = room(ordered, 0, size + _SPARE)
        _sort(keys, size, counts, places, ordered)
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
