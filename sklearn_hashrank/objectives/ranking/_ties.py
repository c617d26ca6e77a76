"""Soft ties of queries, and what they contribute to an objective."""

from typing import NamedTuple

import numpy as np


class SoftTies(NamedTuple):
    """The ties of M queries in soft histograms, the nearest bin first.

    They are what :class:`sklearn_hashrank.metrics.Ties` are to measures, under the same names,
    with real counts in the precision of the scores and with gains in place of relevant items.

    Parameters
    ----------
    gain, gain_before : ndarray of shape (M, n_bins + 1)
        Gain of the items in the bin, and of those in all nearer bins.
    total, before : ndarray of shape (M, n_bins + 1)
        Number of items in the bin, and in all nearer bins.

    Examples
    --------
    A relevant item in each of two bins, and an irrelevant one in the second:

    >>> import numpy as np
    >>> from sklearn_hashrank.objectives import AveragePrecision, SoftTies
    >>> ties = SoftTies(*np.array([[[1.0, 1.0]], [[0.0, 1.0]], [[1.0, 2.0]], [[0.0, 1.0]]]))
    >>> AveragePrecision().tie(ties).value
    array([[1. , 0.8]])
    """

    gain: np.ndarray
    gain_before: np.ndarray
    total: np.ndarray
    before: np.ndarray


class TieValues(NamedTuple):
    """The contribution of each tie, and its derivative by each field of `SoftTies`.

    Parameters
    ----------
    value : ndarray of shape (M, n_bins + 1)
        The contributions.
    gain, gain_before, total, before : ndarray of shape (M, n_bins + 1) or None
        Their derivatives; ``None`` stands for zero everywhere.

    Examples
    --------
    An objective of the share of relevant items, whatever the order:

    >>> import numpy as np
    >>> from sklearn_hashrank.objectives import TieValues
    >>> gain = np.array([[1.0, 2.0]])
    >>> TieValues(gain, np.ones_like(gain), None, None, None).gain
    array([[1., 1.]])
    """

    value: np.ndarray
    gain: np.ndarray | None
    gain_before: np.ndarray | None
    total: np.ndarray | None
    before: np.ndarray | None
