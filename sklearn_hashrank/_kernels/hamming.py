"""Count Hamming distances by relevance level, and find equal rows.

A block of the database is word-major, (n_words, n), so that the loop over items reads
contiguous memory. Its items are ordered so that, for one query, runs of them share a level;
``stops[r]`` is where run r ends and ``levels[r]`` the index of its level.
"""

import numpy as np

from ._jit import kernel, popcount

_SLICE = 2048  # items whose bins wait in the level-1 cache
_TILE = 16384  # items that stay in the level-2 cache while all queries pass
_TILE_OF_PAIRS = 32768  # items, where pairs are counted: half as many tables to fold
_LANES = 8  # sub-histograms: neighbouring items rarely wait for each other's store
_LANES_UP_TO = 2048  # bins; larger histograms collide too rarely to need lanes
_GLANCE = 256  # distances of which the smallest tells whether to look at them one by one


@kernel
def first_word(query, words, bins):
    for i in range(words.size):
        bins[i] = popcount(query ^ words[i])


@kernel
def next_word(query, words, bins):
    for i in range(words.size):
        bins[i] += popcount(query ^ words[i])


@kernel
def _first_word_of_pairs(query, left, right, n_distances, cells):
    for i in range(cells.size):
        row = np.uint16(np.uint16(popcount(query ^ left[i])) * n_distances)
        cells[i] = row + np.uint16(popcount(query ^ right[i]))


@kernel
def _next_word_of_pairs(query, left, right, n_distances, cells):
    for i in range(cells.size):
        row = np.uint16(np.uint16(popcount(query ^ left[i])) * n_distances)
        cells[i] += np.uint16(row + np.uint16(popcount(query ^ right[i])))


@kernel
def _tally_pairs(cells, tables, stride):
    """Add one per cell, to two tables in turn: equal cells in a row wait for each other's store."""
    n_unrolled = cells.size - cells.size % 8
    for i in range(0, n_unrolled, 8):
        tables[cells[i]] += 1
        tables[stride + cells[i + 1]] += 1
        tables[cells[i + 2]] += 1
        tables[stride + cells[i + 3]] += 1
        tables[cells[i + 4]] += 1
        tables[stride + cells[i + 5]] += 1
        tables[cells[i + 6]] += 1
        tables[stride + cells[i + 7]] += 1
    for i in range(n_unrolled, cells.size):
        tables[cells[i]] += 1


@kernel
def _fold(tables, sums, histogram):
    """Add the rows and the columns of the sum of both tables to `histogram`, and clear them."""
    n = sums.size
    sums[:] = 0
    for row in range(n):
        first = tables[row * n : (row + 1) * n]
        second = tables[(n + row) * n : (n + row + 1) * n]
        of_row = np.uint16(0)
        for i in range(n):
            count = np.uint16(first[i] + second[i])
            of_row = np.uint16(of_row + count)
            sums[i] += count
        histogram[row] += of_row
        first[:] = 0
        second[:] = 0
    for i in range(n):
        histogram[i] += sums[i]


@kernel
def _count_run(query, words, first, last, cells, tables, sums, histogram):
    """Count items `first` to `last`, of one level and at most a tile, two by one increment.

    A cell of a table stands for the distances of two items. No cell, and no sum of cells, exceeds
    the number of pairs in a tile, so that 16 bits hold it.
    """
    n_words = query.size
    n_distances = np.uint16(histogram.size)
    stride = np.uint64(histogram.size * histogram.size)
    if (last - first) % 2:
        last -= 1
        distance = np.uint64(0)
        for w in range(n_words):
            distance += popcount(query[w] ^ words[w, last])
        histogram[distance] += 1
    for start in range(first, last, 2 * cells.size):
        half = min(cells.size, (last - start) // 2)
        middle, stop = start + half, start + 2 * half
        part = cells[:half]
        left, right = words[0, start:middle], words[0, middle:stop]
        _first_word_of_pairs(query[0], left, right, n_distances, part)
        for w in range(1, n_words):
            left, right = words[w, start:middle], words[w, middle:stop]
            _next_word_of_pairs(query[w], left, right, n_distances, part)
        _tally_pairs(part, tables, stride)
    _fold(tables, sums, histogram)


@kernel
def _shift(bins, offset):
    for i in range(bins.size):
        bins[i] += offset


@kernel
def _tally(bins, histogram, stride):
    """Add one per bin to `histogram`: `stride` apart for each of 8 lanes (0: no lanes)."""
    n_unrolled = bins.size - bins.size % 8
    for i in range(0, n_unrolled, 8):
        histogram[bins[i]] += 1
        histogram[stride + bins[i + 1]] += 1
        histogram[2 * stride + bins[i + 2]] += 1
        histogram[3 * stride + bins[i + 3]] += 1
        histogram[4 * stride + bins[i + 4]] += 1
        histogram[5 * stride + bins[i + 5]] += 1
        histogram[6 * stride + bins[i + 6]] += 1
        histogram[7 * stride + bins[i + 7]] += 1
    for i in range(n_unrolled, bins.size):
        histogram[bins[i]] += 1


@kernel
def _tally_weighted(bins, weights, histogram):
    for i in range(bins.size):
        histogram[bins[i]] += weights[i]


@kernel
def _merge_lanes(lanes, histogram):
    """Add the lanes to `histogram`, and clear them."""
    for lane in range(_LANES):
        part = lanes[lane * histogram.size : (lane + 1) * histogram.size]
        for i in range(histogram.size):
            histogram[i] += part[i]
        part[:] = 0


@kernel
def count_runs(queries, words, weights, kinds, stops, levels, counts):
    """Add to `counts` how many items of each level lie at each distance of each query.

    What is long of a run in a tile is counted two items at a time. Short runs are counted a slice
    at a time, one item after the other.

    Parameters
    ----------
    queries : (n_queries, n_words) uint64
    words : (n_words, n) uint64
    weights : (n,) int64, how often each item occurs; empty: every item once
    kinds : (n_queries,) int64, which row of `stops` and `levels` a query has
    stops : (n_kinds or 1, n_runs) int64; a single row serves all kinds
    levels : (n_kinds or 1, n_runs) uint16; likewise
    counts : (n_queries, n_levels, n_bits + 1) int64, added to in place
    """
    n_words, n = words.shape
    n_queries, n_levels, n_distances = counts.shape
    n_bins = n_levels * n_distances
    bins = np.empty(_SLICE, dtype=np.uint32)
    use_lanes = weights.size == 0 and n_bins <= _LANES_UP_TO
    stride = np.uint64(n_bins)
    no_stride = np.uint64(0)
    lanes = np.zeros(_LANES * n_bins if use_lanes else 0, dtype=np.int64)
    n_cells = n_distances * n_distances
    long_run = max(_SLICE, n_cells)  # from here on, folding costs less than pairs save
    use_pairs = weights.size == 0 and long_run <= min(n, _TILE_OF_PAIRS)
    tile_size = _TILE_OF_PAIRS if use_pairs else _TILE
    cells = np.empty(_SLICE if use_pairs else 0, dtype=np.uint16)
    tables = np.zeros(2 * n_cells if use_pairs else 0, dtype=np.uint16)
    sums = np.empty(n_distances, dtype=np.uint16)
    cursors = np.zeros(n_queries, dtype=np.int64)

    for tile in range(0, n, tile_size):
        tile_stop = min(n, tile + tile_size)
        for q in range(n_queries):
            histogram = counts[q].reshape(-1)
            q_stops = stops[min(kinds[q], stops.shape[0] - 1)]
            q_levels = levels[min(kinds[q], levels.shape[0] - 1)]
            run = cursors[q]
            lanes_in_use = False
            start = tile
            while start < tile_stop:
                while q_stops[run] <= start:
                    run += 1
                stop = min(q_stops[run], tile_stop)
                if use_pairs and stop - start >= long_run:
                    of_level = counts[q, q_levels[run]]
                    _count_run(queries[q], words, start, stop, cells, tables, sums, of_level)
                    start = stop
                    continue
                stop = min(tile_stop, start + _SLICE)
                part = bins[: stop - start]
                first_word(queries[q, 0], words[0, start:stop], part)
                for w in range(1, n_words):
                    next_word(queries[q, w], words[w, start:stop], part)
                position = start
                while position < stop:
                    run_stop = min(q_stops[run], stop)
                    if q_levels[run] and run_stop > position:
                        offset = np.uint32(q_levels[run] * n_distances)
                        _shift(part[position - start : run_stop - start], offset)
                    position = max(position, run_stop)
                    if position >= q_stops[run]:
                        run += 1
                if use_lanes:
                    _tally(part, lanes, stride)
                    lanes_in_use = True
                elif weights.size:
                    _tally_weighted(part, weights[start:stop], histogram)
                else:
                    _tally(part, histogram, no_stride)
                start = stop
            cursors[q] = run
            if lanes_in_use:
                _merge_lanes(lanes, histogram)


@kernel
def _smallest(distances):
    smallest = distances[0]
    for i in range(1, distances.size):
        smallest = min(smallest, distances[i])
    return smallest


@kernel
def largest_weights(queries, words, weights, peaks):
    """Raise `peaks` to the largest weight of an item at each distance of each query.

    Parameters
    ----------
    queries : (n_queries, n_words) uint64
    words : (n_words, n) uint64
    weights : (n,) int64
    peaks : (n_queries, n_distances) int64, raised in place; items farther away do not count
    """
    n_words, n = words.shape
    n_distances = peaks.shape[1]
    distances = np.empty(_SLICE, dtype=np.uint32)
    for tile in range(0, n, _TILE):
        tile_stop = min(n, tile + _TILE)
        for q in range(queries.shape[0]):
            for start in range(tile, tile_stop, _SLICE):
                stop = min(tile_stop, start + _SLICE)
                part = distances[: stop - start]
                first_word(queries[q, 0], words[0, start:stop], part)
                for w in range(1, n_words):
                    next_word(queries[q, w], words[w, start:stop], part)
                for glance in range(0, part.size, _GLANCE):
                    glance_stop = min(part.size, glance + _GLANCE)
                    if _smallest(part[glance:glance_stop]) < n_distances:
                        for i in range(glance, glance_stop):
                            d = part[i]
                            if d < n_distances:
                                peaks[q, d] = max(peaks[q, d], weights[start + i])


@kernel
def group_rows(rows, groups, offsets, grouped):
    """Copy (n, n_words) `rows` into word-major `grouped`, ordered by group (a counting sort)."""
    n, n_words = rows.shape
    position = offsets.copy()
    for i in range(n):
        target = position[groups[i]]
        position[groups[i]] += 1
        for w in range(n_words):
            grouped[w, target] = rows[i, w]


@kernel
def _mix(word):
    # 32 x 32 -> 64 bit products cannot overflow, so that this also runs as plain Python.
    low = word & np.uint64(0xFFFFFFFF)
    high = word >> np.uint64(32)
    word = (low * np.uint64(0x9E3779B1)) ^ (high * np.uint64(0x85EBCA77))
    return word ^ (word >> np.uint64(31))


@kernel
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
    index : (n,) int32, the number of each row's pair
    """
    n, n_words = rows.shape
    size = 64
    while size < 2 * max_distinct:
        size *= 2
    mask = np.uint64(size - 1)
    table = np.full(size, -1, dtype=np.int32)
    firsts = np.empty(max_distinct, dtype=np.int64)
    repeats = np.empty(max_distinct, dtype=np.int64)
    index = np.empty(n, dtype=np.int32)
    n_distinct = 0
    for i in range(n):
        key = np.uint64(groups[i])
        for w in range(n_words):
            key = _mix(key ^ rows[i, w])
        slot = _mix(key) & mask
        while True:
            entry = table[slot]
            if entry < 0:
                if n_distinct == max_distinct:
                    return firsts[:0], repeats[:0], index[:0]
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
    return firsts[:n_distinct], repeats[:n_distinct], index
