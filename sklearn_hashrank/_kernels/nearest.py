"""Find the nearest codes by scanning all of them.

A tile of the database stays in the cache while a group of queries passes. Items are compared in
blocks of 64, in registers. Only where one of them is nearer than a bound, the block is looked at
again, and its hits are kept as keys, ``distance << 40 | index``. Keys are in order of their index,
so that a stable counting sort by distance orders ties by lowest index.
"""

import numpy as np

from ._jit import drop_lowest, inlined, kernel, larger, lean_kernel, lowest_bit, popcount, smaller
from ._words import (
    BLOCK,
    INDEX_BITS,
    LENGTHS_OF_ROWS,
    LINE,
    aligned_words,
    append_near,
    fetch,
    find_near,
    find_near_in_rows,
    split_words,
    word_of,
)

_WORDS_OF_A_TILE = 4096  # 32 KB, in the level-1 cache; of one word, a tile has 64 blocks
_FEW_QUERIES = 2  # look at codes as they are: to put a tile word by word takes as long
_FIRST_TILE = 256  # items, from which a first bound comes; the next ones are four times as large
_GROUP = 64  # queries that share a tile, at most
_KEYS = 1 << 21  # keys that a group holds, where it can; 16 MB
_COUNTS = 1 << 18  # distances that are counted for a group, where they can be; 8 MB
_LANES = 4  # of counts: neighboring hits, often of one distance, rarely wait for each other
_SHIFT = np.uint64(INDEX_BITS)
_INDEX = np.uint64((1 << INDEX_BITS) - 1)
_ONE = np.uint64(1)


def tile_size(n_words):
    """Items of a tile; a multiple of BLOCK."""
    return max(4 * BLOCK, _WORDS_OF_A_TILE // n_words // BLOCK * BLOCK)


def room_for_tile(n_words):
    """Scratch of a tile: its words."""
    return aligned_words(n_words, tile_size(n_words) + BLOCK).reshape(-1)


def count_before_line(codes):
    """How many codes lie before the first one at the beginning of a line of the cache."""
    return -codes.ctypes.data % LINE // codes.itemsize if codes.shape[1] == 1 else 0


def room_for_keys(n_queries, k, n, n_words, farthest):
    """Shape of the room for the keys of a group of queries."""
    capacity = min(2 * k, n) + 2 * tile_size(n_words)
    largest = min(n_queries, _GROUP, max(4, min(_KEYS // capacity, _COUNTS // (farthest + 1))))
    n_groups = -(-n_queries // largest)
    return -(-n_queries // n_groups), capacity


def room_to_count(group, farthest):
    """Counts of `nearest`."""
    return np.empty((group, farthest + 1, _LANES), np.int64)


@inlined
def _load_tile(codes, start, stop, n_words, words):
    """Put the codes of a tile word by word."""
    first, n_items, stride = start * n_words, stop - start, words.size // n_words
    if not split_words(codes, first, n_items, n_words, words, stride):
        for w in range(np.uintp(n_words)):
            for i in range(np.uintp(n_items)):
                words[w * np.uintp(stride) + i] = codes[np.uintp(first) + i * np.uintp(n_words) + w]


@inlined
def _passing(passes, start):
    """Word of the block of items from `start` that may count."""
    if start + BLOCK <= passes.size:
        return word_of(passes, start)
    word = np.uint64(0)
    for i in range(start, passes.size):
        word |= np.uint64(passes[i]) << np.uint64(i - start)
    return word


@inlined
def _none_pass(passes, start, stop):
    """Whether no item of a tile may count; ends with the first block that has one."""
    for block in range(start, stop, BLOCK):
        if _passing(passes, block):  # what is behind `stop` belongs to the next tile
            return False
    return True


@inlined
def _collect(
    query,
    source,
    at,
    stride,
    in_rows,
    room,
    first,
    stop,
    bound,
    is_dense,
    base,
    passing,
    row,
    keys,
    size,
    counts,
):
    """Append the keys of the items of a tile that are nearer than `bound`; return the new size.

    The tile is that of the items from `first` to `stop`, whose words lie in `source` from `at` on:
    word by word, or else `in_rows`, from where a block that holds a near item goes to `room`.
    `base` is added to the keys. Where hits are dense, every block is taken for one that holds some.
    """
    near, n_blocks = np.uint64(0), (stop - first + BLOCK - 1) // BLOCK
    if is_dense:
        near = ~near >> np.uint64(64 - n_blocks)
    elif in_rows:
        near = find_near_in_rows(query, source, at, n_blocks, bound)
    else:
        near = find_near(query, source, at, n_blocks, stride, bound)
    old = np.uint64(size)
    end, allowed = old, ~np.uint64(0)
    while near:
        block = lowest_bit(near) * BLOCK
        near = drop_lowest(near)
        if passing is not None:
            if passing.shape[0]:
                allowed = _passing(passing[row], first + block)
        key = base + np.uint64(first + block)
        if in_rows:
            n_words, start = query.shape[0], first + block
            _load_tile(source, start, start + BLOCK, n_words, room[: n_words * BLOCK])
            end += append_near(query, room, 0, BLOCK, bound, allowed, key, keys, end)
        else:
            end += append_near(query, source, at + block, stride, bound, allowed, key, keys, end)
    while end > old and (keys[end - _ONE] & _INDEX) >= np.uint64(stop):  # of the next tile
        end -= _ONE
    for i in range(old, end):
        counts[keys[i] >> _SHIFT, i % _LANES] += 1
    return np.int64(end)


@inlined
def _count_at(counts, distance):
    n_here = counts[distance, 0]
    for lane in range(1, _LANES):
        n_here += counts[distance, lane]
    return n_here


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
    """Write keys in order of (distance, index), and what there is no room for into the last place.

    A counting sort, whose counts become positions. The room is used again and again and stays in
    the cache, where rows of results would not.
    """
    before = 0
    for d in range(counts.shape[0]):
        n_here = _count_at(counts, d)
        counts[d, 0] = before
        before += n_here
    for i in range(size):
        distance = keys[i] >> _SHIFT
        position = counts[distance, 0]
        counts[distance, 0] += 1
        ordered[smaller(position, ordered.size - 1)] = keys[i]


@inlined
def unpack_keys(keys, indices, distances):
    for i in range(indices.size):
        indices[i] = np.int64(keys[i] & _INDEX)
        distances[i] = np.int32(keys[i] >> _SHIFT)


@lean_kernel
def nearest(
    queries,
    codes,
    k,
    is_dense,
    lead,
    passing,
    words,
    keys,
    ordered,
    counts,
    size,
    top,
    until,
    n_found,
    indices,
    distances,
):
    """Find the `k` nearest items of each query of a group, ties by lowest index.

    Parameters
    ----------
    queries : (group, n_words) uint64; or (group, n_words, 1 + PLANES), where behind each word are
        the bits of the weights of its bits, and the distance is the sum of those that differ
    codes : (n * n_words,) uint64, one after the other
    k : int, at most n
    is_dense : bool, whether most blocks hold an item within the limit
    lead : int, items before the first one at the beginning of a line of the cache
    passing : (n_masks, n) bool, one mask for all queries or one for each; None: all items pass
    words : scratch, see `room_for_tile`
    keys : (group, capacity) uint64, scratch, see `room_for_keys`
    ordered : (k + 1,) uint64, scratch
    counts : (group, largest distance + 1, _LANES) int64, zeros; overwritten
    size : (group,) int64, zeros; overwritten
    top : (group,) int64, largest distance of an item to be looked at; overwritten
        by the k-th smallest distance
    until : (group,) int64, items at the distance `top` need not be looked at from this tile on
    n_found : (group,) int64, zeros; written: items within the limit, at most k; where it is less,
        the limit was too small, and the rows of `indices` and `distances` are incomplete
    indices : (group, k) int64, written in order of (distance, index)
    distances : (group, k) int32, written
    """
    n_words = queries.shape[1]
    n = codes.size // n_words
    largest_tile = words.size // n_words - BLOCK
    are_few = queries.shape[0] <= _FEW_QUERIES and n_words in LENGTHS_OF_ROWS and not is_dense
    stop = 0
    tile = smaller(largest_tile, _FIRST_TILE + lead)
    while stop < n:
        start = stop
        stop = smaller(n, start + tile)
        # Short tiles first, as the bound falls fast: what a tile holds within the old one is kept.
        tile = smaller(largest_tile, 4 * _FIRST_TILE if start == 0 else 4 * tile)
        if passing is not None:
            if passing.shape[0] == 1 and _none_pass(passing[0], start, stop):
                continue
        source, at, stride = codes, start * n_words, 0
        in_rows = are_few and queries.ndim == 2 and n - start >= largest_tile + BLOCK
        if not in_rows and (n_words > 1 or n - start < largest_tile + BLOCK):
            _load_tile(codes, start, stop, n_words, words)
            source, at, stride = words, 0, largest_tile + BLOCK
        # Each query asks for a share of the next tile, which is there when the last one is done.
        share = (tile * n_words // queries.shape[0] + LINE // 8) // (LINE // 8) * (LINE // 8)
        for g in range(queries.shape[0]):
            if not in_rows:  # of codes that are read as they are, the processor knows what is next
                fetch(codes, stop * n_words + g * share, share)
            n_within, farthest, of_distances = n_found[g], top[g], counts[g]
            # A later item at the k-th distance loses the tie, and is not looked at.
            bound = farthest if n_within >= k or start > until[g] else farthest + 1
            if bound == 0:
                continue
            row = 0
            if passing is not None:
                if passing.shape[0] > 1:
                    row = g
                    if _none_pass(passing[row], start, stop):
                        continue
            old = size[g]
            new = _collect(
                queries[g],
                source,
                at,
                stride,
                in_rows,
                words,
                start,
                stop,
                np.uint64(bound),
                is_dense,
                np.uint64(0),
                passing,
                row,
                keys[g],
                old,
                of_distances,
            )
            n_within += new - old
            n_farthest = _count_at(of_distances, farthest)
            while n_within - n_farthest >= k:
                n_within -= n_farthest
                farthest -= 1
                n_farthest = _count_at(of_distances, farthest)
            if new + largest_tile > keys.shape[1]:
                n_farthest -= larger(0, n_within - k)
                new = _drop_far(keys[g], new, farthest, n_farthest)
                for d in range(farthest, of_distances.shape[0]):
                    for lane in range(_LANES):
                        of_distances[d, lane] = 0
                of_distances[farthest, 0] = n_farthest
                n_within = smaller(n_within, k)
            size[g], top[g], n_found[g] = new, farthest, n_within
    for g in range(queries.shape[0]):
        n_found[g] = smaller(n_found[g], k)
        _sort(keys[g], size[g], counts[g], ordered)
        unpack_keys(ordered, indices[g], distances[g])


@inlined
def room(array, size, more):
    """Return the array, or a larger copy of its first `size` elements where `more` do not fit."""
    if size + more <= array.size:
        return array
    copy = np.empty(max(2 * array.size, size + more), array.dtype)
    for i in range(size):
        copy[i] = array[i]
    return copy


@kernel
def within(queries, codes, radius, by_distance, passing, words):
    """Find all items within `radius` of each query.

    Parameters
    ----------
    queries : (n_queries, n_words) uint64
    codes : (n * n_words,) uint64, one after the other
    radius : int, at most n_bits
    by_distance : bool, order by (distance, index) instead of by index
    passing : (n_masks, n) bool, as for `nearest`; without rows where all items pass
    words : scratch, see `room_for_tile`

    Returns
    -------
    n_found : (n_queries,) int64
    indices : (n_found.sum(),) int64, query after query
    distances : (n_found.sum(),) int32
    """
    n_queries, n_words = queries.shape
    n, tile = codes.size // n_words, words.size // n_words - BLOCK
    keys = np.empty(4 * tile, np.uint64)
    n_found = np.zeros(n_queries, np.int64)
    indices = np.empty(0, np.int64)
    distances = np.empty(0, np.int32)
    n_written = 0
    n_bins = radius + 1
    for first in range(0, n_queries, _GROUP):
        # A key starts with the query's place in the group times n_bins plus the distance, so that
        # one sort serves the whole group.
        n_group = min(_GROUP, n_queries - first)
        counts = np.zeros((n_group * n_bins, _LANES), np.int64)
        size = 0
        for start in range(0, n, tile):
            stop = min(n, start + tile)
            _load_tile(codes, start, stop, n_words, words)
            for g in range(n_group):
                keys = room(keys, size, tile)
                size = _collect(
                    queries[first + g],
                    words,
                    0,
                    tile + BLOCK,
                    False,
                    words,
                    start,
                    stop,
                    np.uint64(n_bins),
                    False,
                    np.uint64(g * n_bins) << _SHIFT,
                    passing,
                    first + g if passing.shape[0] > 1 else 0,
                    keys,
                    size,
                    counts,
                )
        indices = room(indices, n_written, size)
        distances = room(distances, n_written, size)
        before = n_written
        for g in range(n_group):
            start = before
            for place in range(g * n_bins, (g + 1) * n_bins):
                n_here = _count_at(counts, place)
                counts[place, 0] = before
                before += n_here
            n_found[first + g] = before - start
        for i in range(size):
            bin_of_query = np.int64(keys[i] >> _SHIFT)
            distance = bin_of_query % n_bins
            if not by_distance:  # keys of a query are in order of their index
                bin_of_query -= distance
            position = counts[bin_of_query, 0]
            counts[bin_of_query, 0] += 1
            indices[position] = np.int64(keys[i] & _INDEX)
            distances[position] = np.int32(distance)
        n_written = before
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
