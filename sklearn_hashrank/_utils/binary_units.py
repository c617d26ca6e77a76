"""Units that are powers of two, in which numbers of any size have squares and products."""

import numpy as np


def binary_units(rows: np.ndarray) -> np.ndarray:
    """Power of two for each row, float64, next above its largest number; 1 where all are zero.

    To divide by it is exact, except for numbers that are too small beside the largest to count.
    """
    exponents = np.frexp(np.abs(rows).max(axis=1))[1].astype(np.int64)
    return np.ldexp(1.0, np.clip(exponents, -1022, 1023))
