"""Moments and covariance of rows that come in blocks, in memory or on many machines."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from .centered_rows import CenteredRows, column_means
from .moments import Moments
from .row_source import RowSource


class RowSums(NamedTuple):
    """Moments of rows, and covariance where it is wanted; those of others are added by ``+``."""

    moments: Moments
    covariance: np.ndarray | None

    def __add__(self, other: Any) -> "RowSums":
        """Sums of the rows of both."""
        moments = self.moments + other.moments
        if self.covariance is None:
            return RowSums(moments, None)
        share = other.moments.n_rows / moments.n_rows
        apart = other.moments.mean - self.moments.mean
        covariance = self.covariance + share * (other.covariance - self.covariance)
        covariance += share * (1 - share) * np.outer(apart, apart)
        return RowSums(moments, covariance)


def sum_rows(
    rows: RowSource, check: Callable[[Any], Any], with_covariance: bool = False
) -> RowSums:
    """Add up all rows of a source.

    Parameters
    ----------
    rows : RowSource
        Rows without y.
    check : callable
        Returns a block as an array of float32 or float64, or a sparse matrix.
    with_covariance : bool, default=False
        Whether the covariance is wanted, (n_features, n_features).

    Returns
    -------
    sums : RowSums
    """
    total: RowSums = rows.sum(partial(_sums_of_block, check, with_covariance))
    return total


def _sums_of_block(check, with_covariance, X, y, start):
    X = check(X)
    mean = column_means(X)
    centred = CenteredRows(X, mean)
    moments = Moments.around(mean, centred, X.dtype)
    return RowSums(moments, centred.covariance() if with_covariance else None)
