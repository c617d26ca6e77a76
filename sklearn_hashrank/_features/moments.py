"""Mean and variance of every feature, which add up over blocks of rows."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from .._files.storable import storable
from .block_rows import RowSource
from .centered_rows import CenteredRows, column_means

# Deviations relative to the mean. A float has 1e-7 and a double 1e-16, of which sums lose some.
_ROUNDING = {"float32": 1e-6, "float64": 1e-10}
# Relative to the largest. Principal components of rows that span fewer directions than there are
# features have deviations of about 1e-15, which are rounding; no unit of a feature is as small.
_SMALLEST_DEVIATION = 1e-13
# Of float32 relative to the median: the numbers of a row that one computation made have errors of
# this share of each other. Embeddings have dimensions that are nothing else. More than a tenth of
# the features are another unit instead.
_ERROR_OF_FLOAT32, _SHARE_OF_ERRORS = 1e-7, 0.1


@storable
class Moments(NamedTuple):
    """Mean and variance of every feature in float64; moments of other rows are added by ``+``.

    `dtype` is that of the rows; of blocks of both precisions the wider one. A deviation that is at
    most the share `rounding` of the mean is rounding error.
    """

    n_rows: int
    mean: np.ndarray
    variance: np.ndarray
    dtype: str
    rounding: float

    @classmethod
    def of(cls, X: Any) -> "Moments":
        mean = column_means(X)
        return cls.around(mean, CenteredRows(X, mean), X.dtype)

    @classmethod
    def around(cls, mean: np.ndarray, rows: CenteredRows, dtype: Any) -> "Moments":
        """Moments of rows that are centered at a mean already, for instance that of more rows.

        `dtype` is that of the rows before they were centered.
        """
        name = np.dtype(dtype).name
        return cls(rows.shape[0], mean, rows.variances(), name, _ROUNDING[name])

    def __add__(self, other: Any) -> "Moments":
        n = self.n_rows + other.n_rows
        share = other.n_rows / n
        between = share * (1 - share) * (other.mean - self.mean) ** 2
        return Moments(
            n,
            combine_means(self.mean, other.mean, share),
            self.variance + share * (other.variance - self.variance) + between,
            np.result_type(self.dtype, other.dtype).name,
            max(self.rounding, other.rounding),
        )

    @property
    def varies(self) -> np.ndarray:
        """Which features vary by more than rounding, (n_features,) bool."""
        deviations = np.sqrt(self.variance)
        varies = deviations > self.rounding * np.abs(self.mean)
        varies &= deviations > _SMALLEST_DEVIATION * deviations.max(initial=0)
        if self.dtype == "float32" and varies.any():
            errors = varies & (deviations < _ERROR_OF_FLOAT32 * np.median(deviations[varies]))
            if errors.sum() <= max(1, int(_SHARE_OF_ERRORS * varies.sum())):
                varies &= ~errors
        return varies


def combine_means(mean: np.ndarray, other: np.ndarray, share: float) -> np.ndarray:
    """Mean of two sets of rows, of which the other one holds a share of all."""
    return mean + share * (other - mean)


class RowSums(NamedTuple):
    """Moments of rows, and covariance where it is wanted; those of others are added by ``+``."""

    moments: Moments
    covariance: np.ndarray | None

    def __add__(self, other: Any) -> "RowSums":
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
    """Add up all rows of a source without y, of which `check` makes arrays of floats."""
    total: RowSums = rows.sum(partial(_sums_of_block, check, with_covariance))
    return total


def _sums_of_block(check, with_covariance, X, y, start):
    X = check(X)
    mean = column_means(X)
    centered = CenteredRows(X, mean)
    moments = Moments.around(mean, centered, X.dtype)
    return RowSums(moments, centered.covariance() if with_covariance else None)
