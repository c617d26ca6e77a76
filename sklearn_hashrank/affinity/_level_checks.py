"""Checks of the levels that an affinity gives.

Anyone can write an affinity, and compiled loops write to the places that its indices name.
"""

from typing import Any

import numpy as np

_MOST_LEVELS = 1 << 16  # their indices are uint16


def check_level_indices(affinity: Any, indices: Any, shape: tuple, n_levels: int) -> np.ndarray:
    """Return level indices that an affinity gave, or say what is wrong with them.

    Kernels write to the places that indices name, and anyone can write an affinity.
    """
    indices, name = np.asarray(indices), type(affinity).__name__
    if indices.shape != shape or indices.dtype.kind not in "bui":
        raise ValueError(
            f"{name} must give level indices of shape {shape} and dtype uint16. "
            f"Got shape {indices.shape} and dtype {indices.dtype} instead."
        )
    extremes = [indices.max(initial=0)] + [indices.min(initial=0)] * (indices.dtype.kind == "i")
    for extreme in extremes:
        if not 0 <= extreme < n_levels:
            raise ValueError(
                f"{name} gave level index {extreme}, but has {n_levels} levels for these rows."
            )
    return indices.astype(np.uint16, copy=False)


def check_levels(affinity: Any) -> None:
    """Raise a clear error unless the levels of a fitted affinity ascend from 0."""
    levels: Any = getattr(affinity, "levels_", None)
    is_array = isinstance(levels, np.ndarray) and levels.ndim == 1 and levels.dtype.kind in "uif"
    if (
        not is_array
        or not 0 < levels.size <= _MOST_LEVELS
        or levels[0] != 0
        or not (levels[1:] > levels[:-1]).all()
        or np.isinf(levels[-1])
    ):
        raise ValueError(
            f"levels_ of {type(affinity).__name__} must be an array of finite numbers that ascend "
            f"from 0, irrelevant, at most {_MOST_LEVELS:,} of them. Got {levels!r} instead."
        )
