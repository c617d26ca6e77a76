"""Recall of an approximate index against an exact one."""

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_array

from .._features.tensors import as_numpy


def index_recall_score(distances: ArrayLike, exact_distances: ArrayLike) -> float:
    """Recall of an approximate index, in which items tied with the k-th place count as found.

    Codes have many ties, and an index that returns other items at the same distance has lost
    nothing. The recall of ids punishes it: it compares which of the tied items came back.

    Parameters
    ----------
    distances : array-like of shape (n_queries, k)
        What the approximate index returned. A missing result, inf or a negative number, is not
        found.
    exact_distances : array-like of shape (n_queries, k)
        Distances of the exact k nearest.

    Returns
    -------
    recall : float
        Mean over queries of the share of returned distances that are at most the exact k-th.

    Examples
    --------
    The index returned another item at distance 1, and missed the nearest:

    >>> import numpy as np
    >>> from sklearn_hashrank.metrics import index_recall_score
    >>> exact_ids, exact = np.array([[7, 3], [5, 2]]), np.array([[0, 1], [2, 2]])
    >>> ids, distances = np.array([[7, 4], [2, 9]]), np.array([[0, 1], [2, 3]])
    >>> index_recall_score(distances, exact)
    0.75
    >>> float(np.mean([np.isin(*row).mean() for row in zip(ids, exact_ids)]))
    0.5
    """
    found = check_array(
        as_numpy(distances, "distances"), ensure_all_finite=False, input_name="distances"
    )
    exact = check_array(as_numpy(exact_distances, "exact_distances"), input_name="exact_distances")
    if np.isnan(found).any():
        raise ValueError("distances must not be NaN. Pass inf or -1 for a missing result.")
    if found.shape != exact.shape:
        raise ValueError(
            "distances and exact_distances must have the same shape (n_queries, k). "
            f"Got {found.shape} and {exact.shape}."
        )
    if (exact < 0).any():
        raise ValueError("exact_distances must be >= 0: an exact search misses nothing.")
    is_found = (found >= 0) & (found <= exact.max(axis=1, keepdims=True))
    return float(is_found.mean())
