"""Cut rows into blocks that are compared with all anchors at a time."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

# Numbers of a block: few enough for the caches, many enough for products of matrices.
_BLOCK_NUMBERS = 1 << 20
_FEWEST_ROWS, _MOST_ROWS = 64, 4096


def block_slices(n_rows: int, n_columns: int) -> Iterator[slice]:
    """Slices of rows that become `n_columns` numbers each. They do not depend on threads."""
    size = int(np.clip(_BLOCK_NUMBERS // max(1, n_columns), _FEWEST_ROWS, _MOST_ROWS))
    for start in range(0, n_rows, size):
        yield slice(start, min(n_rows, start + size))


def map_blocks(
    function: Callable[[Any], np.ndarray], X: Any, n_columns: int, shape: tuple, dtype: Any
) -> np.ndarray:
    """Apply a function to blocks of rows, and put the results below each other.

    A row becomes `n_columns` numbers inside of the function, and an array of the given shape and
    dtype in the result.
    """
    result = np.empty((X.shape[0], *shape), dtype)
    for rows in block_slices(X.shape[0], n_columns):
        result[rows] = function(X[rows])
    return result
