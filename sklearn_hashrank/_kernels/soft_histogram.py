"""Soft histograms of relaxed Hamming distances, forward and backward, in O(M^2).

A pair with similarity s = <u_q, u_i> lies at x = (b - s) / (2 w) bin widths. With j = floor(x) and
f = x - j, a triangular bin of half width delta reaches it from the bins j + r, j + r + 1 for r in
1 - reach, 3 - reach, .., reach - 1, where reach = ceil(delta): one couple of neighbouring bins when
delta <= 1. Each couple is one pass over a row of pairs. The cell of the pair, its row of the small
table of couples, is the same in every pass.

The loops are split so that everything but the scatter is vectorised: `_locate`, `_weigh` and
`_slope` have no memory dependence from pair to pair, `_scatter` has nothing else.
"""

import numpy as np

from ._jit import kernel


@kernel
def _locate(similarity, level, n_bits, n_bins, cell, offset):
    number = offset.dtype.type
    middle = number(n_bins / 2)
    bins_per_similarity = number(n_bins / (2 * n_bits))
    last = np.int32(n_bins - 1)
    for i in range(similarity.shape[0]):
        position = max(middle - similarity[i] * bins_per_similarity, number(0))
        j = min(np.int32(position), last)
        offset[i] = min(position - number(j), number(1))
        cell[i] = np.int32(level[i]) * np.int32(n_bins) + j


@kernel
def _weigh(offset, shift, delta, near, far):
    number = offset.dtype.type
    slope = number(1 / delta)
    for i in range(offset.shape[0]):
        z = offset[i] - number(shift)
        near[i] = max(number(1) - abs(z) * slope, number(0))
        far[i] = max(number(1) - abs(z - number(1)) * slope, number(0))


@kernel
def _scatter(cell, near, far, tables):
    """Add each pair to its cell in one of four tables of near ones, and of four of far ones.

    Pairs of one query fill few cells. In one table a sum would wait for the last one of its cell.
    """
    size = np.uintp(tables.shape[0] // 8)
    to_far = size * np.uintp(4)
    n_pairs = cell.shape[0]
    whole = n_pairs - n_pairs % 4
    for i in range(0, whole, 4):
        first = np.uintp(cell[i])
        second = np.uintp(cell[i + 1]) + size
        third = np.uintp(cell[i + 2]) + size + size
        fourth = np.uintp(cell[i + 3]) + size + size + size
        tables[first] += near[i]
        tables[second] += near[i + 1]
        tables[third] += near[i + 2]
        tables[fourth] += near[i + 3]
        tables[first + to_far] += far[i]
        tables[second + to_far] += far[i + 1]
        tables[third + to_far] += far[i + 2]
        tables[fourth + to_far] += far[i + 3]
    for i in range(whole, n_pairs):
        tables[np.uintp(cell[i])] += near[i]
        tables[np.uintp(cell[i]) + to_far] += far[i]


@kernel
def _collect(tables, shift, counts):
    """Add the couples (j + shift, j + shift + 1) of the cells to the bins; drop those outside."""
    n_levels, n_bins = counts.shape[0], counts.shape[1] - 1
    size = np.uintp(tables.shape[0] // 8)
    for side in range(2):
        start = max(0, -shift - side)
        n = np.uintp(max(0, min(n_bins, n_bins + 1 - shift - side) - start))
        for v in range(n_levels):
            at = np.uintp(4 * side) * size + np.uintp(v * n_bins + start)
            to = np.uintp(start + shift + side)
            for j in range(n):
                of_cell = (tables[at + j] + tables[at + size + j]) + (
                    tables[at + size + size + j] + tables[at + size + size + size + j]
                )
                counts[v, to + j] += of_cell


@kernel
def accumulate(similarity, level, counts, start, stop, n_bits, delta):
    """Add the soft counts of the rows from `start` to `stop` against all the others.

    `similarity` (M, M) is u u^T, `level` (M, M) the index of the affinity level of each pair, and
    `counts` (M, n_levels, n_bins + 1) is zero before.
    """
    number = similarity.dtype.type
    n_rows = similarity.shape[0]
    n_bins = counts.shape[2] - 1
    n_cells = counts.shape[1] * n_bins
    reach = int(np.ceil(delta))
    mass = number(1 / max(delta, 1.0))
    cell = np.empty(n_rows, np.int32)
    offset = np.empty(n_rows, similarity.dtype)
    near = np.empty(n_rows, similarity.dtype)
    far = np.empty(n_rows, similarity.dtype)
    tables = np.empty(8 * (n_cells + 1), similarity.dtype)
    for q in range(start, stop):
        _locate(similarity[q], level[q], n_bits, n_bins, cell, offset)
        cell[q] = n_cells  # a spare cell, so that nobody retrieves itself
        for r in range(1 - reach, reach, 2):
            tables[:] = number(0)
            _weigh(offset, r, delta, near, far)
            _scatter(cell, near, far, tables)
            _collect(tables, r, counts[q])
        if reach > 1:
            counts[q] *= mass


@kernel
def _slope(table, cell, offset, shift, delta, row):
    number = offset.dtype.type
    one = number(1)
    steepness = number(1 / delta)
    for i in range(cell.shape[0]):
        at = np.uintp(cell[i]) << np.uintp(1)
        z = offset[i] - number(shift)
        y = z - one
        near = table[at]  # loaded whether it counts or not: no branch, so that LLVM can gather
        far = table[at + np.uintp(1)]
        near = near if z < number(0) else -near
        far = far if y <= number(0) else -far
        row[i] += (near if abs(z) * steepness < one else number(0)) + (
            far if abs(y) * steepness < one else number(0)
        )


@kernel
def _gather(table, cell, row):
    for i in range(cell.shape[0]):
        row[i] = table[np.uintp(cell[i])]


@kernel
def pull_back(similarity, level, gradient, start, stop, n_bits, delta):
    """Overwrite `similarity` with T, T_qi = dO / d(distance of i to q), from dO / d(soft counts).

    Rows from `start` to `stop` alone.

    On a kink the slope is taken from one side. The diagonal is zero. In place, because fresh memory
    for M x M numbers costs as much as the work.
    """
    number = similarity.dtype.type
    n_rows = similarity.shape[0]
    n_levels = gradient.shape[1]
    n_bins = gradient.shape[2] - 1
    reach = int(np.ceil(delta))
    scale = number(n_bins / (n_bits * delta * max(delta, 1.0)))
    cell = np.empty(n_rows, np.int32)
    offset = np.empty(n_rows, similarity.dtype)
    table = np.empty(2 * n_levels * n_bins, similarity.dtype)
    for q in range(start, stop):
        slopes = similarity[q]
        _locate(slopes, level[q], n_bits, n_bins, cell, offset)
        if delta == 1.0:
            for v in range(n_levels):
                bins = gradient[q, v]
                for j in range(n_bins):
                    table[v * n_bins + j] = (bins[j + 1] - bins[j]) * scale
            _gather(table, cell, slopes)
        else:
            slopes[:] = number(0)
            for r in range(1 - reach, reach, 2):
                for v in range(n_levels):
                    for j in range(n_bins):
                        for side in range(2):
                            at = j + r + side
                            inside = 0 <= at <= n_bins
                            value = gradient[q, v, at] * scale if inside else number(0)
                            table[2 * (v * n_bins + j) + side] = value
                _slope(table, cell, offset, r, delta, slopes)
        slopes[q] = number(0)


@kernel
def count_levels(level, counts, start, stop):
    """Count how many other items of each level (M, n_levels) the rows from start to stop have."""
    n_rows = level.shape[0]
    for q in range(start, stop):
        row = level[q]
        for v in range(counts.shape[1]):
            found = np.int32(0)
            for i in range(n_rows):
                found += np.int32(row[i] == v)
            counts[q, v] = found
        counts[q, row[q]] -= 1
