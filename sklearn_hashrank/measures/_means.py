"""Means over queries, which leave out those that are undefined."""

import warnings

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import UndefinedMetricWarning

from ._ties import Array


def mean_score(values: ArrayLike, stacklevel: int = 2) -> float:
    """Return the mean of the queries' values, leaving out nan, with one warning where there is any.

    Parameters
    ----------
    values : array-like of shape (n_queries,)
        Values of a measure.
    stacklevel : int, default=2
        Whom the warning points at: 2 is the caller.

    Returns
    -------
    mean : float
        nan when every value is.
    """
    return float(mean_over_queries(values, stacklevel + 1))


def mean_over_queries(values: ArrayLike, stacklevel: int = 2) -> Array:
    """Like `mean_score`, of one value or one curve for each query."""
    values = np.asarray(values, dtype=np.float64)
    undefined = np.isnan(values).any(axis=tuple(range(1, values.ndim)))
    if undefined.any():
        warnings.warn(
            f"{undefined.sum()} of {len(values)} queries have no relevant item: their "
            "scores are undefined and left out of the mean. The `zero_division` parameter of "
            "the metrics gives them a value.",
            UndefinedMetricWarning,
            stacklevel=stacklevel,
        )
    if undefined.all():
        return np.full(values.shape[1:], np.nan)
    return values[~undefined].mean(axis=0)
