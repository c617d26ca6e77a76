"""Projections of single rows, always added up in the same order."""

import numpy as np

from ._jit import inlined, kernel, lean_kernel


@inlined
def _dot(x, y):
    """Inner product in eight lanes: the order depends on the number of columns alone."""
    s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = 0.0
    n = x.size
    whole = n - n % 8
    for k in range(0, whole, 8):
        s0 += x[k] * y[k]
        s1 += x[k + 1] * y[k + 1]
        s2 += x[k + 2] * y[k + 2]
        s3 += x[k + 3] * y[k + 3]
        s4 += x[k + 4] * y[k + 4]
        s5 += x[k + 5] * y[k + 5]
        s6 += x[k + 6] * y[k + 6]
        s7 += x[k + 7] * y[k + 7]
    for k in range(whole, n):
        s0 += x[k] * y[k]
    return ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7))


@lean_kernel
def count_uncertain(scores, of_rows, slopes, offsets, counts):
    """Count scores that are not farther from zero than ``of_rows[:, None] * slopes + offsets``.

    Parameters
    ----------
    scores : (n_rows, n_bits) float
    of_rows : (n_rows,) float
    slopes, offsets : (n_bits,) float
    counts : (n_rows,) intp, written: how many each row has
    """
    for i in range(scores.shape[0]):
        count = 0
        for j in range(scores.shape[1]):
            count += not abs(scores[i, j]) > of_rows[i] * slopes[j] + offsets[j]
        counts[i] = count


@kernel
def project_alone(rows, which, bits, components, intercept, tolerance):
    """Projections of single rows; those within rounding of zero are zero.

    Parameters
    ----------
    rows : (n_rows, n_features) float64
    which, bits : (n,) intp, a row and a bit for each projection
    components : (n_bits, n_features) float64
    intercept : (n_bits,) float64
    tolerance : float, of a projection relative to the root of the sum of its squared terms

    Returns
    -------
    projections : (n,) float64
    """
    projections = np.empty(which.size)
    for i in range(which.size):
        x, w, offset = rows[which[i]], components[bits[i]], intercept[bits[i]]
        projection = _dot(x, w) + offset
        largest = abs(offset)
        for k in range(x.size):
            largest = max(largest, abs(x[k] * w[k]))
        if largest > 0 and abs(projection) <= tolerance * largest * np.sqrt(x.size + 1.0):
            root = (offset / largest) ** 2  # relative to the largest, or squares overflow
            for k in range(x.size):
                root += (x[k] * w[k] / largest) ** 2
            if abs(projection) <= tolerance * largest * np.sqrt(root):
                projection = 0.0
        projections[i] = projection
    return projections
