"""Find the class or the labels of each row in any form of `y`, so that splits can count them."""

from typing import Any

import numpy as np
from scipy import sparse

from ..affinity._auto import auto_affinity
from ..affinity._coercion import as_labels, as_rows
from ..affinity._euclidean import EuclideanAffinity
from ..affinity._labels import HierarchicalAffinity, SharedLabelAffinity
from ..affinity._protocol import BaseAffinity


def class_numbers(y: Any) -> np.ndarray | None:
    """Number the class, or the label path, of each row; None for label sets and for targets."""
    if isinstance(_affinity_of(y), SharedLabelAffinity) or _is_target(y):
        return None
    rows = as_labels(y, "y")
    axis = 0 if rows.ndim == 2 and rows.shape[1] > 1 else None
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


def describe_class(y: Any, number: int) -> str:
    """Name a class by its label, a label path by its labels, and a label by its column.

    Parameters
    ----------
    y : array-like
        Class labels, label paths or a multilabel indicator.
    number : int
        A class as :func:`class_members` numbers it.
    """
    numbers = class_numbers(y)
    if numbers is None:
        names = getattr(y, "columns", None)
        return f"that of column {number}" if names is None else f"label {names[number]!r}"
    rows = y.toarray() if sparse.issparse(y) else as_rows(y, "y")
    row = np.atleast_1d(rows[int(np.argmax(numbers == number))]).tolist()
    return f"class {row[0]!r}" if len(row) == 1 else f"label path {' / '.join(map(str, row))}"


def _affinity_of(y: Any) -> BaseAffinity:
    """Affinity that `y` has the form of; strings in several columns can only be label paths."""
    if not sparse.issparse(y):
        rows = as_rows(y, "y")
        if rows.ndim == 2 and rows.shape[1] > 1 and rows.dtype.kind in "OUS":
            return HierarchicalAffinity()
    return auto_affinity(y)


def _is_target(y: Any) -> bool:
    """Whether relevance can only mean distance: float vectors, or numbers with a fraction."""
    if isinstance(_affinity_of(y), EuclideanAffinity):
        return True
    values = y.data if sparse.issparse(y) else np.asarray(y)
    return values.dtype.kind == "f" and bool((values != values.round()).any())
