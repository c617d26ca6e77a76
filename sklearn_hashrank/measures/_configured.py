"""A measure with its options: checked once, here, and then evaluated."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from ._registry import Function, Measure, among, get_measure, is_int, refuse
from ._ties import Array, Ties

TieOrder = Literal["expected", "optimistic", "pessimistic"]

TIE_ORDERS: tuple[TieOrder, ...] = get_args(TieOrder)

NEEDS_CODES = (
    "needs to know how many items share a code, which the counts of a histogram do not tell. Make "
    "the histogram, or every part of a sum, with retrieval_histogram(..., keep_codes=True)."
)

_CHUNK = 2**17  # counts evaluated at a time; temporaries take about a hundred bytes for each
_ROUNDING = 1e-6  # far above the error of any share, far below what is no share


@dataclass(frozen=True, eq=False)
class ConfiguredMeasure:
    """A measure with options that :func:`configure_measure` has checked.

    Parameters
    ----------
    measure : Measure
        What is evaluated.
    cut : int or None
        The first `cut` places count, or the ties within this radius.
    ties : {"expected", "optimistic", "pessimistic"}
        The mean, the maximum or the minimum over all orders of tied items.
    zero_division : float
        The value of a query that nothing is relevant to.
    options : mapping of str to str
        All further options of the measure.
    given : mapping of str to object
        All keywords as they were given.
    """

    measure: Measure
    cut: int | None
    ties: TieOrder
    zero_division: float
    options: Mapping[str, str]
    given: Mapping[str, Any]

    def evaluate(
        self, counts: NDArray[Any], levels: Array, peaks: NDArray[Any] | None = None
    ) -> Array:
        """Evaluate the measure of each query.

        Parameters
        ----------
        counts : ndarray of shape (n_queries, n_levels, n_ties)
            What `validate_counts` accepts.
        levels : ndarray of shape (n_levels,)
            The levels of the counts.
        peaks : ndarray of shape (n_queries, n_ties), default=None
            The largest number of items of each tie that share one code, for measures that need
            it; no more than the ties within the radius.

        Returns
        -------
        values : ndarray of shape (n_queries,)
        """
        if self.measure.needs_codes and peaks is None:
            raise ValueError(f"{self.measure.name} {NEEDS_CODES}")
        per_query = counts[:1].size * (1 if self.ties == "expected" else len(levels))
        step = max(1, _CHUNK // max(1, per_query))
        values = np.empty(len(counts))
        for start in range(0, len(counts), step):
            part = slice(start, start + step)
            chunk = Ties(counts[part], levels, None if peaks is None else peaks[part])
            values[part] = self._of_chunk(chunk)
        return values

    def _of_chunk(self, chunk: Ties) -> Array:
        value = self._call(self.measure.function, chunk, self.cut)
        if self.ties != "expected" and self.measure.radius is None:
            best_first = self.ties == "optimistic"
            if self.measure.bound is not None:
                bound = self._call(self.measure.bound, chunk, self.cut, best_first)
            else:
                bound = self._call(self.measure.function, chunk.split(best_first), self.cut)
            # Where no order matters the two are one number, which rounding must not take apart.
            value = np.maximum(value, bound) if best_first else np.minimum(value, bound)
        defined = chunk.n_relevant > 0
        value = np.where(defined, value, 0.0)
        self._check_range(value)
        if self.measure.is_share:
            value = np.clip(value, 0, 1)
        return np.where(defined, value, self.zero_division)

    def _call(self, function: Function, chunk: Ties, *arguments: Any) -> Array:
        value = np.asarray(function(chunk, *arguments, **self.options))
        shape = (len(chunk.counts),)
        if value.shape != shape or value.dtype.kind not in "fiub":
            raise ValueError(
                f"The function of measure {self.measure.name!r} must return one number for each "
                f"query, shape {shape}. Got shape {value.shape} of {value.dtype} instead."
            )
        return value

    def _check_range(self, value: Array) -> None:
        lowest, highest = value.min(initial=0), value.max(initial=0)
        if math.isnan(lowest) or math.isnan(highest):
            raise ValueError(
                f"The function of measure {self.measure.name!r} returned nan for a query with "
                "relevant items."
            )
        if self.measure.is_share and not (lowest >= -_ROUNDING and highest <= 1 + _ROUNDING):
            raise ValueError(
                f"Values of measure {self.measure.name!r} must lie in [0, 1], unless it is "
                f"registered with is_share=False. Got {highest if highest > 1 else lowest}."
            )


def configure_measure(
    measure: str | Function | Measure | ConfiguredMeasure, **options: Any
) -> ConfiguredMeasure:
    """Find a measure and check its options. Every evaluation passes here, once.

    Parameters
    ----------
    measure : str, callable, Measure or ConfiguredMeasure
        What `get_measure` finds. A measure that has its options takes no others.
    **options : int, float or str
        `k` or `radius`, `ties`, `zero_division`, and further options of the measure.

    Returns
    -------
    configured : ConfiguredMeasure

    Raises
    ------
    ValueError
        If a value, or the name of the measure, is not accepted.
    TypeError
        If the measure has no option of a given name.
    """
    if isinstance(measure, ConfiguredMeasure):
        if options:
            raise TypeError(f"{measure.measure.name} has its options already. Got {options}.")
        return measure
    measure, given = get_measure(measure), dict(options)
    cut = options.pop(measure.cut, measure.radius)
    ties = options.pop("ties", "expected")
    zero_division = options.pop("zero_division", np.nan)
    if measure.radius is not None:
        if not is_int(cut, minimum=0):
            refuse("radius", measure.name, "an int >= 0", cut)
    elif cut is not None and not is_int(cut, minimum=1):
        refuse("k", measure.name, "an int >= 1 or None", cut)
    if not isinstance(ties, str) or ties not in TIE_ORDERS:
        refuse("ties", measure.name, among(TIE_ORDERS), ties)
    is_real = isinstance(zero_division, Real) and not isinstance(zero_division, bool)
    if not is_real or not (math.isnan(zero_division) or 0 <= zero_division <= 1):
        refuse("zero_division", measure.name, "a float in the range [0, 1] or nan", zero_division)
    for option, value in options.items():
        if option not in measure.options:
            accepted = ", ".join(map(repr, measure.parameters))
            raise TypeError(f"{measure.name} has no parameter {option!r}. It accepts {accepted}.")
        if not isinstance(value, str) or value not in measure.options[option]:
            refuse(option, measure.name, among(measure.options[option]), value)
    cut = None if cut is None else int(cut)
    options = {option: values[0] for option, values in measure.options.items()} | options
    return ConfiguredMeasure(measure, cut, ties, float(zero_division), options, given)


def validate_counts(counts: NDArray[Any], levels: Array) -> None:
    """Raise a clear error unless counts and levels make a histogram."""
    if counts.ndim != 3 or 0 in counts.shape[1:] or levels.shape != (counts.shape[1],):
        raise ValueError(
            "counts must have shape (n_queries, n_levels, n_ties), and levels (n_levels,). "
            f"Got shapes {counts.shape} and {levels.shape} instead."
        )
    whole = counts.dtype.kind in "iu" or (counts.dtype.kind == "f" and (counts % 1 == 0).all())
    if not whole or (counts < 0).any():
        raise ValueError("counts must be whole numbers >= 0.")
    if not np.isfinite(levels).all() or levels[0] < 0 or np.any(np.diff(levels) <= 0):
        raise ValueError(f"levels must be finite, >= 0 and ascending. Got {levels} instead.")
