"""Classes of rows, read from any form of `y`."""

from typing import Any

import numpy as np
from scipy import sparse

from ..affinity import EuclideanAffinity, SharedLabelAffinity, auto_affinity


def class_numbers(y: Any) -> np.ndarray | None:
    """Number the class, or the label path, of each row; None for label sets and for vectors."""
    affinity = auto_affinity(y)
    if isinstance(affinity, (EuclideanAffinity, SharedLabelAffinity)):
        return None
    rows = affinity.fit(y).validate(y)
    axis = 0 if rows.shape[1] > 1 else None
    return np.unique(rows, axis=axis, return_inverse=True)[1].ravel()


def class_members(y: Any) -> sparse.csc_array | None:
    """Indicator of the classes or labels of each row, (n, n_classes); None for vectors."""
    numbers = class_numbers(y)
    if numbers is not None:
        ones = np.ones(len(numbers), dtype=bool)
        return sparse.csc_array((ones, (np.arange(len(numbers)), numbers)))
    if isinstance(auto_affinity(y), EuclideanAffinity):
        return None
    SharedLabelAffinity().fit(y)  # or it says which values are wrong
    indicator = sparse.csc_array(y if sparse.issparse(y) else np.asarray(y), dtype=bool)
    indicator.eliminate_zeros()
    return indicator
