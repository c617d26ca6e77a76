"""Count Hamming distances by relevance level, and find equal rows.

A block of the database is word-major, so that the loop over items reads contiguous memory; see
`room_for_words`. Its items are ordered so that, for one query, runs of them share a level;
``stops[r]`` is where run r ends and ``levels[r]`` the index of its level.
"""

import numpy as np

from ._jit import inlined, kernel, larger, lean_kernel, smaller
from ._words import BLOCK, PAIRS, aligned_words, put_cells, put_distances

_SLICE = 2048  # items whose bins wait in the level-1 cache; a multiple of BLOCK
_TILE = 16384  # items that stay in the level-2 cache while all queries pass
_PROBES_OF_A_ROW = 64  # of a hash table, half of which is empty: a row needs two, on average
_TOO_MANY_PROBES = -2
_TILE_OF_PAIRS = 32768  # items, where pairs are counted: half as many tables to fold
_LANES = 8  # sub-histograms: neighboring items rarely wait for each other's store
_LANES_UP_TO = 2048  # bins; larger histograms collide too rarely to need lanes
_GLANCE = 256  # distances of which the smallest tells whether to look at them one by one


def room_for_words(n_words, n):
    """Room for `n` codes, word by word, and a block behind them, which is read but not counted."""
    words = aligned_words(n_words, n + BLOCK)
    words[:, n:] = 0
    return words


@inlined
def _find_by_blocks(query, words, start, n, distances):
    """Set the distances of a query (n_words,) to `n` items, and to what follows in their block."""
    for first in range(0, n, BLOCK):
        put_distances(query, words, start + first, words.shape[1], distances, first)


@inlined
def _tally_pairs(cells, n, tables, stride):
    """Add one per cell, to two tables in turn: equal cells in a row wait for each other's store."""
    n_unrolled = n - n % 8
    for start in range(0, n_unrolled, 8):
        for i in range(start, start + 8, 2):
            tables[cells[i]] += 1
            tables[stride + cells[i + 1]] += 1
    for i in range(n_unrolled, n):
        tables[cells[i]] += 1


@inlined
def _fold(tables, sums, histogram, of_level):
    """Add the rows and the columns of both tables to a level of a histogram, and clear them."""
    n = sums.size
    for i in range(n):
        sums[i] = 0
    for row in range(n):
        first, second = row * n, (n + row) * n
        of_row = np.uint16(0)
        for i in range(n):
            count = np.uint16(tables[first + i] + tables[second + i])
            of_row = np.uint16(of_row + count)
            sums[i] += count
        histogram[of_level + row] += of_row
    for i in range(n):
        histogram[of_level + i] += sums[i]
    for i in range(tables.size):
        tables[i] = 0


@inlined
def _count_run(query, words, first, last, cells, tables, sums, histogram, of_level):
    """Count items `first` to `last`, of one level and at most a tile, two by one increment.

    A cell of a table stands for the distances of two items. No cell, and no sum of cells, exceeds
    the number of pairs in a tile, so that 16 bits hold it.
    """
    n_distances = np.uint64(sums.size)
    for start in range(first, last, 2 * cells.size):
        n_items = smaller(2 * cells.size, last - start)
        n = (n_items + 1) // 2
        for pair in range(0, n, PAIRS):
            starts = start + pair, start + n + pair
            put_cells(query, words, starts, words.shape[1], n_distances, cells, pair)
        if n_items % 2:  # what the last item is paired with is behind the run
            n -= 1
            histogram[np.uint64(of_level) + cells[n] // n_distances] += 1
        _tally_pairs(cells, n, tables, n_distances * n_distances)
    _fold(tables, sums, histogram, of_level)


@inlined
def _tally(bins, n, histogram, stride):
    """Add one per bin to `histogram`: `stride` apart for each of the lanes (0: no lanes)."""
    n_unrolled = n - n % _LANES
    for start in range(0, n_unrolled, _LANES):
        for lane in range(_LANES):
            histogram[np.uint64(lane) * stride + bins[start + lane]] += 1
    for i in range(n_unrolled, n):
        histogram[bins[i]] += 1


def room_to_count(n_queries, n, n_levels, n_distances, is_weighted):
    """Scratch arrays of `count_runs`; None for a way of counting that is not used."""
    n_bins, n_cells = n_levels * n_distances, n_distances * n_distances
    use_lanes = not is_weighted and n_bins <= _LANES_UP_TO
    use_pairs = not is_weighted and max(_SLICE, n_cells) <= min(n, _TILE_OF_PAIRS)
    return (
        np.zeros(n_queries, dtype=np.int64),
        np.empty(_SLICE, dtype=np.uint32),
        np.zeros(_LANES * n_bins if use_lanes else 0, dtype=np.int64),
        np.empty(_SLICE, dtype=np.uint16) if use_pairs else None,
        np.zeros(2 * n_cells, dtype=np.uint16) if use_pairs else None,
        np.empty(n_distances, dtype=np.uint16),
    )


@lean_kernel
def count_runs(
    queries, words, weights, kinds, stops, levels, counts, run_of, bins, lanes, cells, tables, sums
):
    """Add to `counts` how many items of each level lie at each distance of each query.

    What is long of a run in a tile is counted two items at a time. Short runs are counted a slice
    at a time, one item after the other.

    Parameters
    ----------
    queries : (n_queries, n_words) uint64
    words : (n_words, n + BLOCK) uint64, see `room_for_words`
    weights : (n,) int64, how often each item occurs; None: every item once
    kinds : (n_queries,) int64, which row of `stops` and `levels` a query has
    stops : (n_kinds or 1, n_runs) int64; a single row serves all kinds
    levels : (n_kinds or 1, n_runs) uint16; likewise
    counts : (n_queries, n_levels * (n_bits + 1)) int64, added to in place
    run_of, bins, lanes, cells, tables, sums : scratch, see `room_to_count`
    """
    n = words.shape[1] - BLOCK
    n_distances = sums.size
    n_bins = counts.shape[1]
    long_run = larger(
        _SLICE, n_distances * n_distances
    )  # from here on, pairs save more than folding
    tile_size = _TILE
    if tables is not None:
        tile_size = _TILE_OF_PAIRS
    for tile in range(0, n, tile_size):
        tile_stop = smaller(n, tile + tile_size)
        for q in range(queries.shape[0]):
            query, histogram = queries[q], counts[q]
            of_stops, of_levels = (
                smaller(kinds[q], len(stops) - 1),
                smaller(kinds[q], len(levels) - 1),
            )
            run = run_of[q]
            lanes_in_use = False
            start = tile
            while start < tile_stop:
                while stops[of_stops, run] <= start:
                    run += 1
                stop = smaller(stops[of_stops, run], tile_stop)
                if tables is not None:
                    if stop - start >= long_run:
                        at = np.int64(levels[of_levels, run]) * n_distances
                        _count_run(query, words, start, stop, cells, tables, sums, histogram, at)
                        start = stop
                        continue
                stop = smaller(tile_stop, start + _SLICE)
                _find_by_blocks(query, words, start, stop - start, bins)
                position = start
                while position < stop:
                    run_stop = smaller(stops[of_stops, run], stop)
                    of_level = np.int64(levels[of_levels, run]) * n_distances
                    if of_level:
                        for i in range(position - start, run_stop - start):
                            bins[i] += np.uint32(of_level)
                    position = larger(position, run_stop)
                    if position >= stops[of_stops, run]:
                        run += 1
                if weights is not None:
                    for i in range(stop - start):
                        histogram[bins[i]] += weights[start + i]
                else:
                    lanes_in_use = lanes.size > 0
                    target = lanes if lanes_in_use else histogram
                    stride = np.uint64(n_bins if lanes_in_use else 0)
                    _tally(bins, stop - start, target, stride)
                start = stop
            run_of[q] = run
            if weights is None:
                if lanes_in_use:
                    for lane in range(_LANES):
                        for i in range(n_bins):
                            histogram[i] += lanes[lane * n_bins + i]
                            lanes[lane * n_bins + i] = 0


@inlined
def _smallest(distances, start, stop):
    smallest = distances[start]
    for i in range(start + 1, stop):
        smallest = min(smallest, distances[i])
    return smallest


@kernel
def largest_weights(queries, words, weights, peaks):
    """Raise `peaks` to the largest weight of an item at each distance of each query.

    Parameters
    ----------
    queries : (n_queries, n_words) uint64
    words : (n_words, n + BLOCK) uint64, see `room_for_words`
    weights : (n,) int64
    peaks : (n_queries, n_distances) int64, raised in place; items farther away do not count
    """
    n = words.shape[1] - BLOCK
    n_distances = peaks.shape[1]
    distances = np.empty(_SLICE, dtype=np.uint32)
    for tile in range(0, n, _TILE):
        tile_stop = min(n, tile + _TILE)
        for q in range(queries.shape[0]):
            for start in range(tile, tile_stop, _SLICE):
                stop = min(tile_stop, start + _SLICE)
                _find_by_blocks(queries[q], words, start, stop - start, distances)
                for glance in range(0, stop - start, _GLANCE):
                    glance_stop = min(stop - start, glance + _GLANCE)
                    if _smallest(distances, glance, glance_stop) < n_distances:
                        for i in range(glance, glance_stop):
                            d = distances[i]
                            if d < n_distances:
                                peaks[q, d] = max(peaks[q, d], weights[start + i])


@lean_kernel
def group_rows(rows, groups, position, grouped):
    """Copy (n, n_words) `rows` into word-major `grouped`, ordered by group (a counting sort).

    `position`, where the rows of each group start, becomes where they stop.
    """
    n, n_words = rows.shape
    for i in range(n):
        target = position[groups[i]]
        position[groups[i]] += 1
        for w in range(n_words):
            grouped[w, target] = rows[i, w]


@inlined
def _mix(word):
    # 32 x 32 -> 64 bit products cannot overflow, so that this also runs as plain Python.
    low = word & np.uint64(0xFFFFFFFF)
    high = word >> np.uint64(32)
    word = (low * np.uint64(0x9E3779B1)) ^ (high * np.uint64(0x85EBCA77))
    return word ^ (word >> np.uint64(31))


def find_equal_rows(rows, groups, max_distinct):
    """Number the distinct (row, group) pairs in order of appearance, by a hash table.

    Parameters
    ----------
    rows : (n, n_words) uint64, at least one row
    groups : (n,) int32
    max_distinct : int, give up beyond

    Returns
    -------
    firsts : (n_distinct,) int64, the first row of each pair; empty after giving up
    repeats : (n_distinct,) int64, how often each pair occurs
    index : (n,) int32, the number of each row's pair; empty after giving up
    """
    size = max(64, 1 << (2 * max_distinct - 1).bit_length())
    table = np.full(size, -1, dtype=np.int32)
    firsts, repeats = np.empty((2, max_distinct), dtype=np.int64)
    index = np.empty(len(rows), dtype=np.int32)
    n_distinct = number_equal_rows(rows, groups, table, firsts, repeats, index)
    if n_distinct == _TOO_MANY_PROBES:
        n_distinct = _number_by_sorting(rows, groups, firsts, repeats, index)
    if n_distinct < 0:
        return firsts[:0], repeats[:0], index[:0]
    return firsts[:n_distinct], repeats[:n_distinct], index


def _number_by_sorting(rows, groups, firsts, repeats, index):
    """Fill the arrays of `find_equal_rows` without a hash; return the number of pairs, or -1."""
    keys = np.column_stack([rows, groups.astype(np.uint64)])
    _, first, inverse, counts = np.unique(
        keys, axis=0, return_index=True, return_inverse=True, return_counts=True
    )
    n_distinct = len(first)
    if n_distinct > len(firsts):
        return -1
    order = np.argsort(first)  # of appearance
    firsts[:n_distinct], repeats[:n_distinct] = first[order], counts[order]
    number = np.empty(n_distinct, np.int32)
    number[order] = np.arange(n_distinct)
    index[:] = number[inverse.reshape(-1)]
    return n_distinct


@lean_kernel
def number_equal_rows(rows, groups, table, firsts, repeats, index):
    """Fill the arrays of `find_equal_rows`; return the number of pairs, -1 after giving up.

    Rows that were made to collide would take a time that grows with the square of their number:
    after more probes than other rows ever need, _TOO_MANY_PROBES is returned.
    `table` holds -1 in a power of two of places, at least twice as many as `firsts` has.
    """
    n, n_words = rows.shape
    mask = np.uint64(table.size - 1)
    n_distinct = 0
    probes_left = _PROBES_OF_A_ROW * n
    for i in range(n):
        key = np.uint64(groups[i])
        for w in range(n_words):
            key = _mix(key ^ rows[i, w])
        slot = _mix(key) & mask
        while True:
            probes_left -= 1
            if probes_left < 0:
                return _TOO_MANY_PROBES
            entry = table[slot]
            if entry < 0:
                if n_distinct == firsts.size:
                    return -1
                entry = np.int32(n_distinct)
                table[slot] = entry
                firsts[entry] = i
                repeats[entry] = 0
                n_distinct += 1
                break
            first = firsts[entry]
            same = groups[first] == groups[i]
            for w in range(n_words):
                same &= rows[first, w] == rows[i, w]
            if same:
                break
            slot = (slot + np.uint64(1)) & mask
        repeats[entry] += 1
        index[i] = entry
    return n_distinct
