"""Classes of rows, read from any form of `y`."""

from typing import Any

import numpy as np
from scipy import sparse

from ..affinity import EuclideanAffinity, SharedLabelAffinity, auto_affinity


def class_numbers(y: Any) -> np.ndarray | None:
    """Number the class, or the label path, of each row; None for label sets and for targets."""
    affinity = auto_affinity(y)
    if isinstance(affinity, SharedLabelAffinity) or _is_target(y):
        return None
    rows = affinity.fit(y).validate(y)
    axis = 0 if rows.shape[1] > 1 else None
    return np.unique(rows, axis=axis, return_inverse=True)[1].ravel()


def class_members(y: Any) -> sparse.csc_array | None:
    """Indicator of the classes or labels of each row, (n, n_classes); None for targets."""
    if _is_target(y):
        return None
    numbers = class_numbers(y)
    if numbers is not None:
        ones = np.ones(len(numbers), dtype=bool)
        return sparse.csc_array((ones, (np.arange(len(numbers)), numbers)))
    SharedLabelAffinity().fit(y)  # or it says which values are wrong
    indicator = sparse.csc_array(y if sparse.issparse(y) else np.asarray(y), dtype=bool)
    indicator.eliminate_zeros()
    return indicator


def _is_target(y: Any) -> bool:
    """Whether relevance can only mean distance: float vectors, or numbers with a fraction."""
    if isinstance(auto_affinity(y), EuclideanAffinity):
        return True
    values = y.data if sparse.issparse(y) else np.asarray(y)
    return values.dtype.kind == "f" and bool((values != values.round()).any())
