"""How well features tell classes apart, which decides how batches are made of groups."""

from typing import Any

import numpy as np

from .._features.moments import Moments
from .._features.nearest_rows import half_squares, nearest_rows
from .._features.row_slices import block_slices
from .._features.space import FeatureSpace

_QUERIES = 256  # with which a share of .1 has a standard error of .02


def share_with_own_nearest(X: Any, class_of: np.ndarray) -> float:
    """Return the share of rows whose nearest other row is of their class.

    Rows are compared as linear learners see them, centered and scaled. The 256 rows whose nearest
    ones are looked for are sampled by a seed of their own; they are compared with all rows.
    """
    n_rows, n_features = X.shape
    space = FeatureSpace.of(Moments.of(X))
    sampled = np.sort(np.random.RandomState(0).permutation(n_rows)[:_QUERIES])
    queries = space.transform(X[sampled], np.float32)
    blocks = (space.transform(X[block], np.float32) for block in block_slices(n_rows, n_features))
    pairs = ((rows, half_squares(rows)) for rows in blocks)
    nearest, _ = nearest_rows(queries, pairs, 1, own=sampled)
    return float(np.mean(class_of[nearest[:, 0]] == class_of[sampled]))
