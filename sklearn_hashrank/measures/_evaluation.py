"""Evaluate a measure for each query, and average over the queries."""

import math
import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import UndefinedMetricWarning

from ._configured import ConfiguredMeasure
from ._measure import Function, Measure
from ._tied_items import Array, Ties

NEEDS_CODES = (
    "needs to know how many items share a code, which the counts of a histogram do not tell. Make "
    "the histogram, or every part of a sum, with retrieval_histogram(..., keep_codes=True)."
)

_CHUNK = 2**17  # counts evaluated at a time; temporaries take about a hundred bytes for each
_ROUNDING = 1e-6  # far above the error of any share, far below what is no share


def evaluate(
    configured: ConfiguredMeasure,
    counts: NDArray[Any],
    levels: Array,
    peaks: NDArray[Any] | None = None,
) -> Array:
    """Evaluate a measure of each query.

    Parameters
    ----------
    configured : ConfiguredMeasure
        The measure, with options that are checked.
    counts : ndarray of shape (n_queries, n_levels, n_ties)
        How many items of each level lie in each tie; ties in the order of retrieval.
    levels : ndarray of shape (n_levels,)
        The levels, ascending; an item is relevant when its level is above 0.
    peaks : ndarray of shape (n_queries, n_ties), default=None
        The largest number of items of each tie that share one code, for measures that need it;
        no more than the ties within the radius.

    Returns
    -------
    values : ndarray of shape (n_queries,)
    """
    if configured.measure.needs_codes and peaks is None:
        raise ValueError(f"{configured.measure.name} {NEEDS_CODES}")
    per_query = counts[:1].size * (1 if configured.ties == "expected" else len(levels))
    step = max(1, _CHUNK // max(1, per_query))
    values = np.empty(len(counts))
    for start in range(0, len(counts), step):
        part = slice(start, start + step)
        chunk = Ties(counts[part], levels, None if peaks is None else peaks[part])
        values[part] = _of_chunk(configured, chunk)
    return values


def _of_chunk(configured: ConfiguredMeasure, chunk: Ties) -> Array:
    measure = configured.measure
    value = _call(configured, measure.function, chunk, configured.cut)
    if configured.ties != "expected" and measure.radius is None:
        best_first = configured.ties == "optimistic"
        if measure.bound is not None:
            bound = _call(configured, measure.bound, chunk, configured.cut, best_first)
        else:
            bound = _call(configured, measure.function, chunk.split(best_first), configured.cut)
        # Where no order matters the two are one number, which rounding must not take apart.
        value = np.maximum(value, bound) if best_first else np.minimum(value, bound)
    defined = chunk.n_relevant > 0
    value = np.where(defined, value, 0.0)
    _check_range(measure, value)
    if measure.is_share:
        value = np.clip(value, 0, 1)
    return np.where(defined, value, configured.zero_division)


def _call(configured: ConfiguredMeasure, function: Function, chunk: Ties, *arguments: Any) -> Array:
    value = np.asarray(function(chunk, *arguments, **configured.options))
    shape = (len(chunk.counts),)
    if value.shape != shape or value.dtype.kind not in "fiub":
        raise ValueError(
            f"The function of measure {configured.measure.name!r} must return one number for each "
            f"query, shape {shape}. Got shape {value.shape} of {value.dtype} instead."
        )
    return value


def _check_range(measure: Measure, value: Array) -> None:
    lowest, highest = value.min(initial=0), value.max(initial=0)
    if math.isnan(lowest) or math.isnan(highest):
        raise ValueError(
            f"The function of measure {measure.name!r} returned nan for a query with "
            "relevant items."
        )
    if measure.is_share and not (lowest >= -_ROUNDING and highest <= 1 + _ROUNDING):
        raise ValueError(
            f"Values of measure {measure.name!r} must lie in [0, 1], unless it is "
            f"registered with is_share=False. Got {highest if highest > 1 else lowest}."
        )


def mean_value(values: ArrayLike, stacklevel: int = 2) -> float:
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
        NaN when every value is.
    """
    return float(mean_over_queries(values, stacklevel + 1))


def mean_over_queries(values: ArrayLike, stacklevel: int = 2) -> Array:
    """Average values or curves of queries, leaving out undefined ones as `mean_value` does."""
    values = np.asarray(values, dtype=np.float64)
    undefined = np.isnan(values).any(axis=tuple(range(1, values.ndim)))
    if undefined.any():
        warnings.warn(
            f"{undefined.sum()} of {len(values)} queries have no relevant item: their "
            "values are undefined and left out of the mean. The `zero_division` parameter of "
            "the metrics gives them a value.",
            UndefinedMetricWarning,
            stacklevel=stacklevel,
        )
    if undefined.all():
        return np.full(values.shape[1:], np.nan)
    return values[~undefined].mean(axis=0)
