"""Losses of pairs of relaxed codes: city-block distances, and hinges at the ends of a zone.

The loops run along a row of pairs with the bits outside, so that nothing is summed within a loop
and LLVM vectorizes all of them. Codes come transposed, (n_bits, M).
"""

import numpy as np

from ._jit import inlined, kernel, larger, lean_kernel, smaller
from ._vectors import TILE, add_transposed_tile


@lean_kernel
def add_transposed(matrix, start, stop):
    """Add its transpose to a square matrix, in place.

    The rows from `start`, a multiple of `TILE`, to `stop`, with the columns from `start` on and
    what mirrors them. Tile by tile, because a column of a large matrix does not fit into the cache.
    """
    n_rows = matrix.shape[0]
    whole = n_rows - n_rows % TILE
    for row in range(start, smaller(stop, whole), TILE):
        for column in range(row, whole, TILE):
            add_transposed_tile(matrix, row, column)
    for row in range(start, stop):
        for column in range(larger(row, whole), n_rows):
            total = matrix[row, column] + matrix[column, row]
            matrix[row, column] = total
            matrix[column, row] = total


@inlined
def _add_distances(code, codes, row):
    for i in range(row.shape[0]):
        row[i] += abs(codes[i] - code)


@lean_kernel
def city_block_distances(codes, distances, start, stop):
    """Add the sum over bits of |u_q - u_i| to the pairs (M, M) of the rows from start to stop.

    Codes are (n_bits, M).
    """
    for q in range(start, stop):
        for k in range(codes.shape[0]):
            _add_distances(codes[k, q], codes[k], distances[q])


@inlined
def _add_signs(code, codes, slope, row):
    zero = row.dtype.type(0)
    for i in range(row.shape[0]):
        ahead = slope[i] if codes[i] > code else zero
        behind = slope[i] if codes[i] < code else zero
        row[i] += ahead - behind


@lean_kernel
def pull_back_city_block(codes, slope, gradient, start, stop):
    """Add the gradient to the codes (n_bits, M) from symmetric slopes of the pairs (M, M).

    For the items from `start` to `stop` alone, whose gradient is (n_bits, stop - start). Where two
    codes agree in a bit, that bit's slope is zero, the mean of those of the two sides.
    """
    n_bits, n_rows = codes.shape
    for q in range(n_rows):
        row = slope[q, start:stop]
        for k in range(n_bits):
            _add_signs(codes[k, q], codes[k, start:stop], row, gradient[k])


@inlined
def _leave_zone(distance, level, low, high, slope, loss):
    number = distance.dtype.type
    half, quarter, zero = number(0.5), number(0.25), number(0)
    for i in range(distance.shape[0]):
        below = low[level[i]] - distance[i]
        above = distance[i] - high[level[i]]
        loss[i] += half * (max(below, zero) + max(above, zero))
        farther = (quarter if above > zero else zero) + (quarter if above >= zero else zero)
        nearer = (quarter if below > zero else zero) + (quarter if below >= zero else zero)
        slope[i] += farther - nearer


@kernel
def leave_zones(distances, level, low, high, losses, start, stop):
    """Overwrite distances (M, M) with the slopes of their losses, and sum the losses of each row.

    Rows from `start` to `stop` alone.

    For each zone z, a pair of level v costs half of what its distance lacks to ``low[z, v]`` or
    exceeds ``high[z, v]`` by; at the ends of a zone the slope is the mean of those of the two
    sides. Nobody is paired with itself.
    """
    loss = np.empty(distances.shape[0], distances.dtype)
    slope = np.empty(distances.shape[0], distances.dtype)
    for q in range(start, stop):
        loss[:] = 0
        slope[:] = 0
        for z in range(low.shape[0]):
            _leave_zone(distances[q], level[q], low[z], high[z], slope, loss)
        loss[q] = 0
        slope[q] = 0
        distances[q] = slope
        losses[q] = loss.sum()
