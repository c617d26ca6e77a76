"""The relevance of the pairs of a batch."""

from typing import Any

import numpy as np

from ..affinity._auto import auto_affinity, fit_affinity, is_auto
from ..affinity._labels import LabelAffinity, SharedLabelAffinity
from ..affinity._level_checks import check_level_indices
from ..affinity._protocol import BaseAffinity

_MOST_LEVELS = 256  # of a matrix; their indices are uint8


def is_precomputed(affinity: Any) -> bool:
    """Whether `y` is the matrix of relevance itself."""
    return isinstance(affinity, str) and affinity == "precomputed"


def level_indices(affinity: Any, y: Any, n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the index of the level of every pair (M, M), unsigned, and the levels, ascending."""
    if is_precomputed(affinity):
        return _levels_of_matrix(y, n_rows)
    fitted = fit_affinity(affinity, y)
    rows = fitted.validate(y)
    levels = fitted.levels_[: fitted.n_reachable_levels(rows)]
    judge, queries = fitted.of_queries(rows, are_database=fitted is not affinity)
    indices = judge.level_indices(queries, rows)
    indices = check_level_indices(judge, indices, (n_rows, n_rows), len(levels))
    return indices.astype(np.min_scalar_type(len(levels)), copy=False), levels


class BatchAffinity:
    """The affinity of all batches of a loss.

    Where it is "auto", the first batch with several columns decides for all further ones: a batch
    of vectors or label paths may happen to hold nothing but 0 and 1.
    """

    def __init__(self, given: Any):
        self.given = given
        self._chosen: BaseAffinity | None = None

    def of(self, y: Any) -> Any:
        """Return the affinity of a batch, or refuse one that contradicts what was decided."""
        if not is_auto(self.given):
            return self.given
        found = auto_affinity(y)
        if isinstance(found, LabelAffinity):
            return found
        if self._chosen is None:
            self._chosen = found
        if isinstance(self._chosen, SharedLabelAffinity) and type(found) is not type(self._chosen):
            raise ValueError(
                "an earlier batch held only 0 and 1, so that y was taken for label sets; this "
                "batch holds other values. Pass affinity=HierarchicalAffinity() for label paths, "
                "or a fitted EuclideanAffinity for vectors."
            )
        return self._chosen


def _levels_of_matrix(matrix, n_rows):
    if matrix.shape != (n_rows, n_rows):
        raise ValueError(
            'with affinity="precomputed", y must be the relevance of each pair of rows, of shape '
            f"{(n_rows, n_rows)}. Got shape {matrix.shape}."
        )
    if matrix.dtype.kind not in "buif":
        raise ValueError(f"y must hold levels of relevance, numbers. Got dtype {matrix.dtype}.")
    levels, index = np.unique(matrix.astype(np.float64), return_inverse=True)
    if not np.isfinite(levels).all() or levels[0] < 0:
        raise ValueError(
            "y must hold levels of relevance, finite and not negative. "
            f"Got values from {levels[0]} to {levels[-1]}."
        )
    if levels[-1] < _MOST_LEVELS and not np.any(levels % 1):
        return matrix.astype(np.uint8), np.arange(levels[-1] + 1)
    if levels[0] > 0:
        levels, index = np.concatenate([[0.0], levels]), index + 1
    if len(levels) > _MOST_LEVELS:
        raise ValueError(
            f"y must hold at most {_MOST_LEVELS} distinct levels of relevance. Got {len(levels)}; "
            "round it, or threshold it into a few levels."
        )
    return index.reshape(matrix.shape).astype(np.uint8), levels
