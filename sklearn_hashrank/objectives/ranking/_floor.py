"""The constant that keeps the printed relaxations away from their poles."""

import numpy as np

FLOOR = 0.5
"""Smallest number of items that is divided by or taken the logarithm of."""


def floored(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return max(x, FLOOR) and its derivative."""
    return np.maximum(x, x.dtype.type(FLOOR)), (x > FLOOR).astype(x.dtype)
