"""Turn soft counts into soft ties, and derivatives by ties back into those by counts."""

import numpy as np

from ._jit import lean_kernel


@lean_kernel
def sum_counts(counts, gains, gain, gain_before, total, before):
    """Set gain and number of the items of each bin, and of all nearer bins, (M, n_bins + 1).

    `counts` is (M, n_levels, n_bins + 1), `gains` the gain of an item of each level.
    """
    number = gain.dtype.type
    n_rows, n_levels, n_bins = counts.shape
    for q in range(np.uintp(n_rows)):
        for d in range(np.uintp(n_bins)):
            total[q, d] = number(0)
            gain[q, d] = number(0)
        for v in range(np.uintp(n_levels)):
            for d in range(np.uintp(n_bins)):
                count = number(counts[q, v, d])
                total[q, d] += count
                gain[q, d] += gains[v] * count
        nearer_gain = nearer = number(0)
        for d in range(np.uintp(n_bins)):
            gain_before[q, d] = nearer_gain
            before[q, d] = nearer
            nearer_gain += gain[q, d]
            nearer += total[q, d]


@lean_kernel
def pull_back_ties(by_gain, by_gain_before, by_total, by_before, gains, scale, gradient, ties):
    """Set the derivatives by the counts (M, n_levels, n_bins + 1), given those by the ties.

    An item moves its own tie and all that are farther away. `scale` multiplies each row; `ties`
    (2, n_bins + 1), of the type of the derivatives, is scratch.
    """
    number = by_gain.dtype.type
    n_rows, n_levels, n_bins = gradient.shape
    of_gain, of_item = ties[0], ties[1]
    for q in range(np.uintp(n_rows)):
        farther_gain = farther = number(0)
        for d in range(n_bins - 1, -1, -1):
            of_gain[d] = farther_gain + by_gain[q, d]
            of_item[d] = farther + by_total[q, d]
            farther_gain += by_gain_before[q, d]
            farther += by_before[q, d]
        for v in range(np.uintp(n_levels)):
            for d in range(np.uintp(n_bins)):
                gradient[q, v, d] = scale[q] * (of_item[d] + gains[v] * of_gain[d])
