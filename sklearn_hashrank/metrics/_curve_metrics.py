"""Curves of precision and recall against the rank, averaged over the queries."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._utils.types import Target
from ._evaluation import mean_over_queries
from ._measure import TieOrder
from ._metric_arguments import RetrievalRun


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
    points inside ties, as many as asked for, so that curves of different codes are comparable.

    Parameters
    ----------
    y_true : array-like with n_queries rows
        What `affinity` compares: class labels, label sets, label paths or vectors.
    codes : array-like of shape (n_queries, n_columns)
        Codes of the queries: bits in {0, 1}, signs in {-1, +1}, or packed bytes.
    database : tuple (y_database, database_codes), default=None
        The items to retrieve. None: every row is a query against all other rows, itself left out
        by its position.
    n_bits : int, default=None
        Length of a code; needed for packed codes.
    affinity : "auto" or affinity object, default="auto"
        A fitted object is used as it is, an unfitted one is fitted on the database rows; "auto"
        chooses by the form of `y`. An item is relevant when its level is above 0.
    k : array-like of int, default=None
        The ranks of the curve, each at least 1. None: about 100, from 1 to the number of items,
        evenly spaced on a logarithmic scale.
    ties : {"expected", "optimistic", "pessimistic"}, default="expected"
        The mean over all orders of tied items, the best order, or the worst.
    average : bool, default=True
        Whether to return the mean over the queries, or one value for each.
    zero_division : float in [0, 1] or nan, default=nan
        The value of a query that nothing in the database is relevant to. NaN is left out of the
        mean, with one :class:`~sklearn.exceptions.UndefinedMetricWarning`.
    n_jobs : int, default=None
        Threads. None means 1 unless in a :obj:`joblib.parallel_config` context, -1 means all
        processors.

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
    run = RetrievalRun(y_true, codes, database, n_bits, affinity, n_jobs)
    return _curves(run, average, k, ties, zero_division)


def recall_at_k_curve(
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
) -> tuple[np.ndarray, np.ndarray]:
    """Recall at many ranks, averaged over all orders of tied items.

    Parameters
    ----------
    y_true : array-like with n_queries rows
        What `affinity` compares: class labels, label sets, label paths or vectors.
    codes : array-like of shape (n_queries, n_columns)
        Codes of the queries: bits in {0, 1}, signs in {-1, +1}, or packed bytes.
    database : tuple (y_database, database_codes), default=None
        The items to retrieve. None: every row is a query against all other rows, itself left out
        by its position.
    n_bits : int, default=None
        Length of a code; needed for packed codes.
    affinity : "auto" or affinity object, default="auto"
        A fitted object is used as it is, an unfitted one is fitted on the database rows; "auto"
        chooses by the form of `y`. An item is relevant when its level is above 0.
    k : array-like of int, default=None
        The ranks of the curve, each at least 1. None: about 100, from 1 to the number of items,
        evenly spaced on a logarithmic scale.
    ties : {"expected", "optimistic", "pessimistic"}, default="expected"
        The mean over all orders of tied items, the best order, or the worst.
    average : bool, default=True
        Whether to return the mean over the queries, or one value for each.
    zero_division : float in [0, 1] or nan, default=nan
        The value of a query that nothing in the database is relevant to. NaN is left out of the
        mean, with one :class:`~sklearn.exceptions.UndefinedMetricWarning`.
    n_jobs : int, default=None
        Threads. None means 1 unless in a :obj:`joblib.parallel_config` context, -1 means all
        processors.

    Returns
    -------
    recall : ndarray of shape (n_ranks,), or (n_queries, n_ranks) with ``average=False``
    k : ndarray of shape (n_ranks,)

    Examples
    --------
    >>> from sklearn_hashrank.metrics import recall_at_k_curve
    >>> y, codes = [1, 1, 0, 0, 1], [[0, 0], [0, 1], [1, 0], [1, 1], [1, 1]]
    >>> recall_at_k_curve(y[:1], codes[:1], database=(y[1:], codes[1:]), k=[1, 2, 4])
    (array([0.25, 0.5 , 1.  ]), array([1, 2, 4]))
    """
    run = RetrievalRun(y_true, codes, database, n_bits, affinity, n_jobs)
    return _curves(run, average, k, ties, zero_division)[1:]


def _curves(
    run: RetrievalRun,
    average: bool,
    k: ArrayLike | None,
    ties: TieOrder,
    zero_division: float,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    precision, recall, k = run.histogram(average).precision_recall_curve(
        k=k, ties=ties, zero_division=zero_division
    )
    if average:
        both = np.stack([precision, recall], axis=1)
        precision, recall = mean_over_queries(both, stacklevel=4)
    return precision, recall, k
