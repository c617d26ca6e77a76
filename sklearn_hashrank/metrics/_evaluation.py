"""Evaluate a measure for each query, and average over the queries."""

import math
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import UndefinedMetricWarning

from .._utils.threads import map_in_threads
from ._configured import ConfiguredMeasure
from ._measure import Function, TieOrder
from ._ties import Array, Ties

if TYPE_CHECKING:
    from ._tie_tables import TieTable

NEEDS_CODES = (
    "needs to know how many items share a code, which the counts of a histogram do not tell. Make "
    "the histogram, or every part of a sum, with retrieval_histogram(..., keep_codes=True)."
)

NEEDS_IDS = (
    "ties='docid' is the order of trec_eval, by score and then by the ids of the items. Only "
    "RetrievalHistogram.from_run, and from_scores with item_ids, know them."
)

_CHUNK = 2**17  # counts evaluated at a time; temporaries take about a hundred bytes for each
_ROUNDING = 1e-6  # far above the error of any share, far below what is no share


def evaluate(configured: ConfiguredMeasure, table: "TieTable", n_jobs: int | None = 1) -> Array:
    """Evaluate a measure of each query, in threads over chunks of queries."""
    values = np.empty(table.n_queries)

    def fill(numbered: tuple[Any, Ties]) -> None:
        part, chunk = numbered
        values[part] = _of_chunk(configured, chunk)

    for _ in map_in_threads(fill, chunks_of(table, configured.ties), n_jobs):
        pass
    return values


def chunks_of(table: "TieTable", ties: TieOrder) -> Iterator[tuple[Any, Ties]]:
    """Yield chunks of queries, numbers or a slice and their ties, in the order of ids if asked."""
    if ties != "docid":
        return table.chunks(_CHUNK if ties == "expected" else _CHUNK // table.n_levels)
    ordered = table.by_id
    if ordered is None:
        raise ValueError(NEEDS_IDS)
    return ordered.chunks(_CHUNK)


def _of_chunk(configured: ConfiguredMeasure, chunk: Ties) -> Array:
    measure = configured.measure
    if measure.needs_codes and chunk.peaks is None:
        raise ValueError(f"{measure.name} {NEEDS_CODES}")
    if configured.min_relevance is not None:
        chunk = chunk.from_level(configured.min_relevance)
    value = _call(configured, measure.function, chunk, configured.cut)
    if configured.ties in ("optimistic", "pessimistic") and measure.radius is None:
        best_first = configured.ties == "optimistic"
        if measure.bound is not None:
            bound = _call(configured, measure.bound, chunk, configured.cut, best_first)
        else:
            bound = _call(configured, measure.function, chunk.split(best_first), configured.cut)
        # Where no order matters the two are one number, which rounding must not take apart.
        value = np.maximum(value, bound) if best_first else np.minimum(value, bound)
    defined = chunk.n_relevant > 0
    value = np.where(defined, value, 0.0)
    lowest, highest = value.min(initial=0), value.max(initial=0)
    if math.isnan(lowest) or math.isnan(highest):
        raise ValueError(
            f"The function of measure {measure.name!r} returned nan for a query with "
            "relevant items."
        )
    if measure.bounded:
        if lowest < -_ROUNDING or highest > 1 + _ROUNDING:
            raise ValueError(
                f"Values of measure {measure.name!r} must lie in [0, 1], unless it is "
                f"registered with bounded=False. Got {highest if highest > 1 else lowest}."
            )
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


def mean_value(values: ArrayLike, stacklevel: int = 2) -> float:
    """Return the mean of the queries' values, as `mean_over_queries` does."""
    return float(mean_over_queries(values, stacklevel + 1))


def mean_over_queries(values: ArrayLike, stacklevel: int = 2) -> Array:
    """Average values or curves of queries; undefined ones, nan, are left out with one warning.

    `stacklevel` says whom the warning points at: 2 is the caller. Nothing defined gives nan.
    """
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
