"""Find the codes of the highest scores, which are sums of tables looked up by parts of the codes.

Tables of nibbles are rounded down to bytes, whose sums are found for a block of codes at a time
(`_shuffles`). With the largest error they bound the score from above. Only a code whose bound is
above the k-th best score so far is scored in float32, so that the result is that of a scan that
scores all. Tables of bytes do not fit into registers, and are added as they are.
"""

import numpy as np

from ._jit import inlined, kernel
from .simd_lookup import BLOCK, ENTRIES, MOST_OF_ENTRY, MOST_OF_SUM, put_sums

INNER_PRODUCT, COSINE, EUCLIDEAN = 0, 1, 2
"""What is made of a product: itself, divided by the length of the item, less its square."""

_TILE = 1 << 17  # bytes of codes that stay in the level-2 cache while queries pass
_EPS = np.finfo(np.float32).eps
_LEAST = np.finfo(np.float32).smallest_subnormal


@inlined
def _look_up(tables, blocks, item):
    """Sum of the tables at the parts of a code, always in the same order."""
    block, lane = item // BLOCK, item % BLOCK
    a = b = c = d = np.float32(0)
    n_bytes = blocks.shape[1]
    if tables.shape[1] != ENTRIES:
        for byte in range(n_bytes):
            a += tables[byte, blocks[block, byte, lane]]
        return a
    for byte in range(0, n_bytes - 1, 2):
        one, two = blocks[block, byte, lane], blocks[block, byte + 1, lane]
        a += tables[2 * byte, one >> 4]
        b += tables[2 * byte + 1, one & 15]
        c += tables[2 * byte + 2, two >> 4]
        d += tables[2 * byte + 3, two & 15]
    if n_bytes % 2:
        one = blocks[block, n_bytes - 1, lane]
        a += tables[2 * n_bytes - 2, one >> 4]
        b += tables[2 * n_bytes - 1, one & 15]
    return (a + b) + (c + d)


@inlined
def _score(tables, offset, blocks, lengths, kind, item):
    product = _look_up(tables, blocks, item) + offset
    length = lengths[item]
    if kind == COSINE:
        return product / length if length > 0 else np.float32(0)
    if kind == EUCLIDEAN:
        return product - length * length
    return product


@inlined
def _round_down(tables, offset, small):
    """Round tables to bytes; return the step, and what bounds products by ``top + step * sum``."""
    widest = total = size = 0.0
    for nibble in range(tables.shape[0]):
        least = most = np.float64(tables[nibble, 0])
        for value in range(1, ENTRIES):
            least = min(least, np.float64(tables[nibble, value]))
            most = max(most, np.float64(tables[nibble, value]))
        widest = max(widest, most - least)
        total += most - least
        size += max(abs(least), abs(most))
    step = np.float64(np.float32(max(widest / MOST_OF_ENTRY, total / MOST_OF_SUM)))
    top = np.float64(offset)
    for nibble in range(tables.shape[0]):
        least = np.float64(tables[nibble, 0])
        for value in range(1, ENTRIES):
            least = min(least, np.float64(tables[nibble, value]))
        largest = 0.0
        for value in range(ENTRIES):
            above = np.float64(tables[nibble, value]) - least
            steps = min(np.floor(above / step), MOST_OF_ENTRY) if step > 0 else 0.0
            small[ENTRIES * nibble + value] = np.uint8(steps)
            largest = max(largest, above - steps * step)
        top += least + largest
    # What float32 loses: an eps for each addition in the sum of the tables, and 16 for the bound
    # itself, which takes fewer operations.
    top += (tables.shape[0] + 16) * _EPS * (size + abs(offset))
    return np.float32(top), np.float32(step)


@inlined
def _is_worse(score, place, other, other_place):
    return score < other or (score == other and place > other_place)


@inlined
def _sink(scores, places, size, score, place):
    """Put an item into a heap in the place of its worst one."""
    at = 0
    while 2 * at + 1 < size:
        child = 2 * at + 1
        if child + 1 < size and _is_worse(
            scores[child + 1], places[child + 1], scores[child], places[child]
        ):
            child += 1
        if not _is_worse(scores[child], places[child], score, place):
            break
        scores[at], places[at] = scores[child], places[child]
        at = child
    scores[at], places[at] = score, place


@inlined
def _rise(scores, places, at, score, place):
    """Add an item to the end of a heap."""
    while at > 0:
        parent = (at - 1) // 2
        if not _is_worse(score, place, scores[parent], places[parent]):
            break
        scores[at], places[at] = scores[parent], places[parent]
        at = parent
    scores[at], places[at] = score, place


@inlined
def _enter(scores, places, size, score, place):
    """Offer an item, later than those before it, to the heap; return the new size."""
    if size < scores.size:
        _rise(scores, places, size, score, place)
        return size + 1
    if score > scores[0]:
        _sink(scores, places, size, score, place)
    return size


@inlined
def _sort(scores, places):
    """Bring a heap into the order of (score, place), the best first."""
    for last in range(scores.size - 1, 0, -1):
        score, place = scores[last], places[last]
        scores[last], places[last] = scores[0], places[0]
        _sink(scores, places, last, score, place)


@inlined
def _add_bytes(tables, offset, codes, bounds):
    """Set the bounds of a block, (n_bytes, BLOCK), to the products: tables of bytes, added."""
    for i in range(BLOCK):
        bounds[i] = 0
    for byte in range(codes.shape[0]):
        table, values = tables[byte], codes[byte]
        for i in range(BLOCK):
            bounds[i] += table[values[i]]
    for i in range(BLOCK):
        bounds[i] += offset


@inlined
def _may_enter(bound, length, kind, worst, worst_cosine):
    """Whether an item whose product is at most `bound` may score above the worst that is kept."""
    if kind == COSINE:
        return (bound > worst_cosine * length - _LEAST) | (length == 0)
    if kind == EUCLIDEAN:
        return bound - length * length > worst
    return bound > worst


@kernel
def nearest(tables, offsets, blocks, lengths, n, kind, places, scores):
    """Find the items of the highest scores for each query.

    Parameters
    ----------
    tables : (n_queries, n_parts, n_values) float32, of the nibbles or the bytes of the codes: what
        each value of the part adds to the product
    offsets : (n_queries,) float32, added to the sums of the tables
    blocks : (n_blocks, n_bytes, BLOCK) uint8, bytes of the codes
    lengths : (n_blocks * BLOCK,) float32
    n : int, number of items
    kind : INNER_PRODUCT, COSINE or EUCLIDEAN
    places : (n_queries, k) int64, written in order of (score, place)
    scores : (n_queries, k) float32, written
    """
    n_blocks, n_bytes, _ = blocks.shape
    n_queries, n_parts, n_values = tables.shape
    is_bounded = n_values == ENTRIES
    flat = blocks.reshape(-1)
    small = np.empty((n_queries if is_bounded else 0, n_parts * ENTRIES), np.uint8)
    tops, steps = np.empty(n_queries, np.float32), np.empty(n_queries, np.float32)
    sizes = np.zeros(n_queries, np.int64)
    sums, bounds = np.empty(BLOCK, np.uint16), np.empty(BLOCK, np.float32)
    blocks_of_tile = max(1, _TILE // (BLOCK * n_bytes))
    if is_bounded:
        for q in range(n_queries):
            tops[q], steps[q] = _round_down(tables[q], offsets[q], small[q])
    for start in range(0, n_blocks, blocks_of_tile):
        for q in range(n_queries):
            own, kept, table = scores[q], places[q], tables[q]
            offset, top, step, size = offsets[q], tops[q], steps[q], sizes[q]
            for block in range(start, min(n_blocks, start + blocks_of_tile)):
                item = block * BLOCK
                of_block = lengths[item : item + BLOCK]  # by a place that is not negative
                if is_bounded:
                    put_sums(small[q], flat, item * n_bytes, n_bytes, sums)
                    for i in range(BLOCK):
                        bounds[i] = top + step * np.float32(sums[i])
                else:
                    _add_bytes(table, offset, blocks[block], bounds)
                worst = own[0] if size == own.size else np.float32(-np.inf)
                # Cosines are compared without a division. Its few operations lose less than eight
                # eps, and numbers next to zero more than a share of themselves: so too many may
                # pass, never too few.
                worst_cosine = worst - np.float32(8 * _EPS) * abs(worst) - _LEAST
                found = False
                for i in range(BLOCK):
                    found |= _may_enter(bounds[i], of_block[i], kind, worst, worst_cosine)
                if not found:
                    continue
                for i in range(min(n - item, BLOCK)):
                    if size < own.size or _may_enter(
                        bounds[i], of_block[i], kind, worst, worst_cosine
                    ):
                        score = _score(table, offset, blocks, lengths, kind, item + i)
                        size = _enter(own, kept, size, score, item + i)
            sizes[q] = size
    for q in range(n_queries):
        _sort(scores[q], places[q])


@kernel
def nearest_candidates(tables, offsets, blocks, lengths, n, candidates, kind, places, scores):
    """Find the items of the highest scores among candidates of each query.

    Parameters
    ----------
    tables, offsets, blocks, lengths, n, kind, places, scores
        As for `nearest`. Where fewer than k candidates are known, the last places and scores of
        the query stay as they are.
    candidates : (n_queries, n_candidates) int64, ascending; those that are missing are `n`
    """
    for q in range(places.shape[0]):
        size = 0
        for item in candidates[q]:
            if item == n:
                break
            score = _score(tables[q], offsets[q], blocks, lengths, kind, item)
            size = _enter(scores[q], places[q], size, score, item)
        _sort(scores[q, :size], places[q, :size])
