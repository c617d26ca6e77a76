"""Count Hamming distances by relevance level, and find equal rows.

A block of the database is word-major, (n_words, n), so that the loop over items reads
contiguous memory. Its items are ordered so that, for one query, runs of them share a level;
``stops[r]`` is where run r ends and ``levels[r]`` the index of its level.
"""

import numpy as np

from ._jit import inlined, kernel, popcount

_SLICE = 2048  # items whose bins wait in the level-1 cache
_TILE = 16384  # items that stay in the level-2 cache while all queries pass
_TILE_OF_PAIRS = 32768  # items, where pairs are counted: half as many tables to fold
_LANES = 8  # sub-histograms: neighbouring items rarely wait for each other's store
_LANES_UP_TO = 2048  # bins; larger histograms collide too rarely to need lanes
_GLANCE = 256  # distances of which the smallest tells whether to look at them one by one


@inlined
def find_distances(query, words, start, stop, distances):
    """Set the distances of a query (n_words,) to the items from `start` to `stop`."""
    first = words[0, start:stop]
    for i in range(first.size):
        distances[i] = popcount(query[0] ^ first[i])
    for w in range(1, query.size):
        word, row = query[w], words[w, start:stop]
        for i in range(row.size):
            distances[i] += popcount(word ^ row[i])


@inlined
def _find_cells(query, words, start, n_distances, cells):
    """Set the cell of each pair of items, of those from `start` on, in a table of distances."""
    middle, stop = start + cells.size, start + 2 * cells.size
    left, right = words[0, start:middle], words[0, middle:stop]
    for i in range(cells.size):
        row = np.uint16(np.uint16(popcount(query[0] ^ left[i])) * n_distances)
        cells[i] = row + np.uint16(popcount(query[0] ^ right[i]))
    for w in range(1, query.size):
        word, left, right = query[w], words[w, start:middle], words[w, middle:stop]
        for i in range(cells.size):
            row = np.uint16(np.uint16(popcount(word ^ left[i])) * n_distances)
            cells[i] += np.uint16(row + np.uint16(popcount(word ^ right[i])))


@inlined
def _tally_pairs(cells, tables, stride):
    """Add one per cell, to two tables in turn: equal cells in a row wait for each other's store."""
    n_unrolled = cells.size - cells.size % 8
    for start in range(0, n_unrolled, 8):
        for i in range(start, start + 8, 2):
            tables[cells[i]] += 1
            tables[stride + cells[i + 1]] += 1
    for i in range(n_unrolled, cells.size):
        tables[cells[i]] += 1


@inlined
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


@inlined
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
        part = cells[: min(cells.size, (last - start) // 2)]
        _find_cells(query, words, start, n_distances, part)
        _tally_pairs(part, tables, stride)
    _fold(tables, sums, histogram)


@inlined
def _shift(bins, offset):
    for i in range(bins.size):
        bins[i] += offset


@inlined
def _tally(bins, histogram, stride):
    """Add one per bin to `histogram`: `stride` apart for each of the lanes (0: no lanes)."""
    n_unrolled = bins.size - bins.size % _LANES
    for start in range(0, n_unrolled, _LANES):
        for lane in range(_LANES):
            histogram[np.uint64(lane) * stride + bins[start + lane]] += 1
    for i in range(n_unrolled, bins.size):
        histogram[bins[i]] += 1


@inlined
def _tally_weighted(bins, weights, histogram):
    for i in range(bins.size):
        histogram[bins[i]] += weights[i]


@inlined
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
    n = words.shape[1]
    n_queries, n_levels, n_distances = counts.shape
    n_bins = n_levels * n_distances
    bins = np.empty(_SLICE, dtype=np.uint32)
    use_lanes = weights.size == 0 and n_bins <= _LANES_UP_TO
    stride = np.uint64(n_bins)
    no_stride = np.uint64(0)
    lanes = np.empty(_LANES * n_bins if use_lanes else 0, dtype=np.int64)
    lanes[:] = 0
    n_cells = n_distances * n_distances
    long_run = max(_SLICE, n_cells)  # from here on, folding costs less than pairs save
    use_pairs = weights.size == 0 and long_run <= min(n, _TILE_OF_PAIRS)
    tile_size = _TILE_OF_PAIRS if use_pairs else _TILE
    cells = np.empty(_SLICE if use_pairs else 0, dtype=np.uint16)
    tables = np.empty(2 * n_cells if use_pairs else 0, dtype=np.uint16)
    tables[:] = 0
    sums = np.empty(n_distances, dtype=np.uint16)
    cursors = np.empty(n_queries, dtype=np.int64)
    cursors[:] = 0

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
                find_distances(queries[q], words, start, stop, part)
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


@inlined
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
    n = words.shape[1]
    n_distances = peaks.shape[1]
    distances = np.empty(_SLICE, dtype=np.uint32)
    for tile in range(0, n, _TILE):
        tile_stop = min(n, tile + _TILE)
        for q in range(queries.shape[0]):
            for start in range(tile, tile_stop, _SLICE):
                stop = min(tile_stop, start + _SLICE)
                part = distances[: stop - start]
                find_distances(queries[q], words, start, stop, part)
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


@inlined
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
    table = np.empty(size, dtype=np.int32)
    table[:] = -1
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
