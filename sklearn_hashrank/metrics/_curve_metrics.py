"""Curves of precision and recall against the rank, averaged over the queries."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._utils.types import Target
from ._measure import TieOrder
from ._metric_arguments import curves_of_codes

__all__ = ["precision_recall_curve"]


def precision_recall_curve(
    y_true: Target,
    codes: ArrayLike,
    *,
    database: tuple[Target, ArrayLike] | None = None,
    n_bits: int | None = None,
    affinity: Any = "auto",
    k: ArrayLike | None = None,
    ties: TieOrder = "expected",
    average: bool = True,
    zero_division: float = np.nan,
    n_jobs: int | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Precision and recall at many ranks, each averaged over all orders of tied items.

    The curve of the hashing literature: precision at k against recall at k, both averaged over
    the queries at the same rank. Unlike :func:`sklearn.metrics.precision_recall_curve` it has
    points inside ties, as many as asked for, so curves of different codes are comparable.

    Parameters
    ----------
    y_true : array-like with n_queries rows
        What `affinity` compares: class labels, label sets, label paths or vectors.
    codes : array-like of shape (n_queries, n_columns)
        Query codes: bits in {0, 1}, signs in {-1, +1}, or packed bytes.
    database : tuple (y_database, database_codes), default=None
        Items to retrieve. None: each row retrieves all other rows.
    n_bits : int, default=None
        Code length, required for packed codes.
    affinity : "auto" or affinity object, default="auto"
        Relevance rule; "auto": by the form of `y`. If not fitted, it is fitted on the database.
    k : array-like of int, default=None
        Ranks of the curve. None: about 100, evenly spaced on a logarithmic scale.
    ties : {"expected", "optimistic", "pessimistic"}, default="expected"
        Mean, maximum or minimum over all orders of tied items.
    average : bool, default=True
        Whether to return the mean over the queries, or one value per query.
    zero_division : float in [0, 1] or nan, default=nan
        Value of a query without relevant items; the mean leaves nan out, with one warning.
    n_jobs : int, default=None
        Number of threads; -1: all processors, None: 1 or as :obj:`joblib.parallel_config` says.

    Returns
    -------
    precision, recall : ndarray of shape (n_ranks,), or (n_queries, n_ranks) with ``average=False``
    k : ndarray of shape (n_ranks,)

    Examples
    --------
    >>> from sklearn_hashrank.metrics import precision_recall_curve
    >>> y, codes = [1, 1, 0, 0, 1], [[0, 0], [0, 1], [1, 0], [1, 1], [1, 1]]
    >>> precision, recall, k = precision_recall_curve(
    ...     y[:1], codes[:1], database=(y[1:], codes[1:])
    ... )
    >>> precision, recall, k
    (array([0.5, 0.5, 0.5, 0.5]), array([0.25, 0.5 , 0.75, 1.  ]), array([1, 2, 3, 4]))
    """
    return curves_of_codes(locals())
