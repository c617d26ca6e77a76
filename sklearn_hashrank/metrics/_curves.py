"""Precision and recall as functions of the rank, averaged over the queries."""

from typing import Any

import numpy as np

from ..measures import TieOrder, mean_over_queries
from ._common import Retrieval, documented


@documented
def precision_recall_curve(
    y_true: Any,
    codes: Any,
    *,
    database: Any = None,
    n_bits: int | None = None,
    affinity: Any = "auto",
    k: Any = None,
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
    {parameters}
    {ranks}
    {curve options}

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
    retrieval = Retrieval(y_true, codes, database, n_bits, affinity, n_jobs)
    return _curves(retrieval, average, k, ties, zero_division)


@documented
def recall_at_k_curve(
    y_true: Any,
    codes: Any,
    *,
    database: Any = None,
    n_bits: int | None = None,
    affinity: Any = "auto",
    k: Any = None,
    ties: TieOrder = "expected",
    average: bool = True,
    zero_division: float = np.nan,
    n_jobs: int | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Recall at many ranks, averaged over all orders of tied items.

    Parameters
    ----------
    {parameters}
    {ranks}
    {curve options}

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
    retrieval = Retrieval(y_true, codes, database, n_bits, affinity, n_jobs)
    return _curves(retrieval, average, k, ties, zero_division)[1:]


def _curves(
    retrieval: Retrieval,
    average: bool,
    k: Any,
    ties: TieOrder,
    zero_division: float,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    precision, recall, k = retrieval.histogram(average).precision_recall_curve(
        k=k, ties=ties, zero_division=zero_division
    )
    if average:
        both = np.stack([precision, recall], axis=1)
        precision, recall = mean_over_queries(both, stacklevel=4)
    return precision, recall, k
