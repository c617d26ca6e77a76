"""Queries that are real projections: rounded for a scan of all codes, exact for what it finds.

The asymmetric distance of a code is the sum of the absolute projections of the bits that differ. A
scan takes each projection as four bits: its sign, and a weight of three bits. The distance is then
a sum of counts of bits, as the Hamming distance is: of those that differ and whose weights have
the first, the second or the third bit.
"""

import numpy as np

from ..codes._formats import bytes_to_words

N_PLANES = 3
LARGEST_WEIGHT = (1 << N_PLANES) - 1
LONGEST_WEIGHTED = 64 * ((1 << 16) // (64 * LARGEST_WEIGHT))
"""Bits of a code, so that the kernel can hold every distance in two bytes."""


def weighted_queries(projections: np.ndarray) -> np.ndarray:
    """Words of queries, (n_queries, n_words, 1 + N_PLANES): signs, then planes of the weights.

    The largest projection of a query has the largest weight.
    """
    sizes = np.abs(projections)
    largest = sizes.max(axis=1, keepdims=True)
    shares = np.divide(sizes, largest, out=np.zeros_like(sizes), where=largest > 0)
    weights = np.rint(LARGEST_WEIGHT * shares).astype(np.uint8)
    planes = [projections > 0, *((weights >> plane & 1) > 0 for plane in range(N_PLANES))]
    words = [bytes_to_words(np.packbits(plane, axis=1)) for plane in planes]
    return np.stack(words, axis=2)
