"""Soft histograms of relaxed Hamming distances, forward and backward, in O(M^2).

A pair with similarity s = <u_q, u_i> lies at x = (b - s) / (2 w) bin widths. With j = floor(x) and
f = x - j, a triangular bin of half width delta reaches it from the bins j + r, j + r + 1 for r in
1 - reach, 3 - reach, .., reach - 1, where reach = ceil(delta): two neighboring bins when
delta <= 1. Each such two bins are one pass over a row of pairs. Tables have reach - 1 more bins on
either side of those of a level, so that no bin lies outside.

The loops are split so that everything but the scatter is vectorized: `_locate`, `_weigh` and
`_slope` have no memory dependence from pair to pair, `_scatter` has nothing else.
"""

import numpy as np

from ._jit import inlined, larger, lean_kernel, smaller
from ._vectors import add_two

# Queries at a time, and tables of each that its pairs take in turns. The pairs of a query fill few
# cells: in one table, most sums would wait for the one before. More tables take longer to add up.
_QUERIES, _TURNS = 2, 2


@inlined
def _rounded_up(delta):
    whole = np.int64(delta)
    return whole + np.int64(whole < delta)


@inlined
def _locate(similarity, level, n_bits, n_bins, width, of_odd, cell, offset):
    """Find the first bin that each pair adds to; `of_odd` is added where it is odd."""
    number = offset.dtype.type
    middle = number(n_bins / 2)
    bins_per_similarity = number(n_bins / (2 * n_bits))
    last = np.int32(n_bins - 1)
    for i in range(similarity.shape[0]):
        position = larger(middle - similarity[i] * bins_per_similarity, number(0))
        j = smaller(np.int32(position), last)
        offset[i] = smaller(position - number(j), number(1))
        # Narrowed at every step, because numba widens integers, of which half as many are a vector.
        bin_ = np.int32(np.int32(level[i]) * np.int32(width) + j)
        is_odd = np.int32(bin_ & np.int32(1))
        cell[i] = bin_ + np.int32(is_odd * np.int32(of_odd))


@inlined
def _weigh(offset, shift, delta, shares):
    number = offset.dtype.type
    slope = number(1 / delta)
    for i in range(offset.shape[0]):
        z = offset[i] - number(shift)
        shares[2 * i] = larger(number(1) - abs(z) * slope, number(0))
        shares[2 * i + 1] = larger(number(1) - abs(z - number(1)) * slope, number(0))


@inlined
def _scatter(cell, shares, first, tables):
    """Add the shares of each pair of the queries to its two bins, in one of their tables."""
    size = np.uintp(tables.shape[0] // (_QUERIES * _TURNS))
    for i in range(0, cell.shape[1], _TURNS):
        start = np.uintp(first)
        for turn in range(_TURNS):
            for r in range(_QUERIES):
                low = start + np.uintp(cell[r, i + turn])
                add_two(tables, low, shares[r], np.uintp(2 * (i + turn)))
                start += size


@inlined
def _collect(tables, r, width, margin, mass, counts):
    """Sum the tables of a query into its counts."""
    size = np.uintp(tables.shape[0] // (2 * _QUERIES * _TURNS))
    of_turn = size * np.uintp(2 * _QUERIES)
    for v in range(counts.shape[0]):
        for d in range(counts.shape[1]):
            at = np.uintp(2 * r) * size + np.uintp(v * width + margin + d)
            total = counts.dtype.type(0)
            for _ in range(_TURNS):
                total += tables[at] + tables[at + size]
                at += of_turn
            counts[v, d] = total * mass


def room_to_accumulate(counts, delta):
    """Scratch arrays of `accumulate`."""
    n_rows, n_levels, n_bins = counts.shape
    reach = int(np.ceil(delta))
    n_turns = -(-n_rows // _TURNS)
    n_cells = n_levels * (n_bins + 2 * reach - 2)
    # Spare cells behind the others take nothing but a query itself, and what fills the last turn.
    return (
        np.full((_QUERIES, n_turns * _TURNS), n_cells, np.int32),
        np.empty((_QUERIES, n_rows), counts.dtype),
        np.zeros((_QUERIES, 2 * n_turns * _TURNS), counts.dtype),
        np.empty(2 * _QUERIES * _TURNS * (n_cells + 2 * reach), counts.dtype),
    )


@lean_kernel
def accumulate(similarity, level, counts, start, stop, n_bits, delta, cell, offset, shares, tables):
    """Set the soft counts of the rows from `start` to `stop` against all the others.

    `similarity` (M, M) is u u^T, `level` (M, M) the index of the affinity level of each pair.
    `counts` is (M, n_levels, n_bins + 1); the last four are scratch, see `room_to_accumulate`.
    """
    number = similarity.dtype.type
    n_levels, n_bins = counts.shape[1], counts.shape[2] - 1
    reach = _rounded_up(delta)
    width = n_bins + 2 * reach - 1
    n_cells = n_levels * width
    # Bins of odd cells lie in tables of their own: what is stored is loaded again as a whole.
    size = n_cells + 2 * reach
    mass = number(1 / larger(delta, 1.0))
    for first in range(start, stop, _QUERIES):
        for i in range(tables.size):
            tables[i] = number(0)
        for r in range(_QUERIES):
            q = smaller(first + r, stop - 1)  # the last one twice where it is alone
            _locate(similarity[q], level[q], n_bits, n_bins, width, size, cell[r], offset[r])
            cell[r, q] = n_cells
        for step in range(reach):
            for r in range(_QUERIES):
                _weigh(offset[r], 2 * step + 1 - reach, delta, shares[r])
            _scatter(cell, shares, 2 * step, tables)
        for r in range(_QUERIES):
            _collect(tables, r, width, reach - 1, mass, counts[smaller(first + r, stop - 1)])


@inlined
def _slope(table, cell, offset, shift, delta, row):
    number = offset.dtype.type
    one = number(1)
    steepness = number(1 / delta)
    for i in range(cell.shape[0]):
        at = np.uintp(cell[i])
        z = offset[i] - number(shift)
        y = z - one
        near = table[at]  # loaded whether it counts or not: no branch, so that LLVM can gather
        far = table[at + np.uintp(1)]
        near = near if z < number(0) else -near
        far = far if y <= number(0) else -far
        row[i] += (near if abs(z) * steepness < one else number(0)) + (
            far if abs(y) * steepness < one else number(0)
        )


def room_to_pull_back(gradient, delta):
    """Scratch arrays of `pull_back` and of `pull_back_wide`."""
    n_rows, n_levels, n_bins = gradient.shape
    width = n_bins + 2 * int(np.ceil(delta)) - 2
    return (
        np.empty(n_rows, np.int32),
        np.empty(n_rows, gradient.dtype),
        np.zeros(n_levels * width, gradient.dtype),
    )


@lean_kernel
def pull_back(similarity, level, gradient, start, stop, n_bits, cell, offset, table):
    """Overwrite `similarity` with T, T_qi = dO / d(distance of i to q), from dO / d(soft counts).

    For delta = 1. Rows from `start` to `stop` alone. The last three arrays are scratch, see
    `room_to_pull_back`.

    On a kink the slope is taken from one side. The diagonal is zero. In place, because fresh memory
    for M x M numbers costs as much as the work.
    """
    number = similarity.dtype.type
    n_levels, n_bins = gradient.shape[1], gradient.shape[2] - 1
    width = n_bins + 1
    scale = number(n_bins / n_bits)
    for q in range(start, stop):
        slopes = similarity[q]
        _locate(slopes, level[q], n_bits, n_bins, width, 0, cell, offset)
        for v in range(n_levels):
            for d in range(n_bins):
                difference = gradient[q, v, d + 1] - gradient[q, v, d]
                table[v * width + d] = difference * scale
        for i in range(slopes.size):
            slopes[i] = table[np.uintp(cell[i])]
        slopes[q] = number(0)


@lean_kernel
def pull_back_wide(similarity, level, gradient, start, stop, n_bits, delta, cell, offset, table):
    """Do what `pull_back` does, for any delta."""
    number = similarity.dtype.type
    n_levels, n_bins = gradient.shape[1], gradient.shape[2] - 1
    reach = _rounded_up(delta)
    width = n_bins + 2 * reach - 1
    scale = number(n_bins / (n_bits * delta * larger(delta, 1.0)))
    for q in range(start, stop):
        slopes = similarity[q]
        _locate(slopes, level[q], n_bits, n_bins, width, 0, cell, offset)
        for v in range(n_levels):
            for d in range(n_bins + 1):
                table[v * width + reach - 1 + d] = gradient[q, v, d] * scale
        for i in range(slopes.size):
            slopes[i] = number(0)
        for step in range(reach):
            shift = 2 * step + 1 - reach
            _slope(table[2 * step :], cell, offset, shift, delta, slopes)
        slopes[q] = number(0)


@lean_kernel
def count_levels(level, counts, start, stop):
    """Count how many other items of each level (M, n_levels) the rows from start to stop have."""
    for q in range(start, stop):
        row = level[q]
        n_others = np.int64(row.shape[0])
        for v in range(1, counts.shape[1]):
            found = np.int32(0)
            for i in range(row.shape[0]):
                found += np.int32(row[i] == v)
            counts[q, v] = found
            n_others -= found
        counts[q, 0] = n_others
        counts[q, row[q]] -= 1
