"""Turn soft counts into soft ties, and derivatives by ties back into those by counts.

One bin follows the other, because each sums up those before it. The loop over levels is inside: few
levels fill no vectors.
"""

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
        nearer_gain = nearer = number(0)
        for d in range(np.uintp(n_bins)):
            gain_here = here = number(0)
            for v in range(np.uintp(n_levels)):
                here += counts[q, v, d]
                gain_here += gains[v] * counts[q, v, d]
            gain_before[q, d] = nearer_gain
            before[q, d] = nearer
            gain[q, d] = gain_here
            total[q, d] = here
            nearer_gain += gain_here
            nearer += here


@lean_kernel
def pull_back_ties(by_gain, by_gain_before, by_total, by_before, gains, scale, gradient):
    """Set the derivatives by the counts (M, n_levels, n_bins + 1), given those by the ties.

    An item moves its own tie and all that are farther away. `scale` multiplies each row.
    """
    number = gradient.dtype.type
    n_rows, n_levels, n_bins = gradient.shape
    for q in range(np.uintp(n_rows)):
        farther_gain = farther = number(0)
        for step in range(np.uintp(n_bins)):
            d = np.uintp(n_bins - 1) - step
            of_gain = farther_gain + by_gain[q, d]
            of_item = farther + by_total[q, d]
            for v in range(np.uintp(n_levels)):
                gradient[q, v, d] = scale[q] * (of_item + gains[v] * of_gain)
            farther_gain += by_gain_before[q, d]
            farther += by_before[q, d]
