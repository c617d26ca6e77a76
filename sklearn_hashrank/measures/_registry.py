"""The registry of measures, and their evaluation."""

import inspect
import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import UndefinedMetricWarning

from ._lookup import (
    average_cumulative_gain,
    local_group_average_precision,
    lookup_precision,
    lookup_recall,
)
from ._ranking import (
    average_precision,
    average_precision_bound,
    dcg,
    f1,
    ndcg,
    precision,
    recall,
    reciprocal_rank,
)
from ._ties import Array, Ties

TIE_ORDERS = ("expected", "optimistic", "pessimistic")

NEEDS_CODES = (
    "needs to know how many items share a code, which the counts of a histogram do not tell. Make "
    "the histogram, or every part of a sum, with retrieval_histogram(..., keep_codes=True)."
)

_CHUNK = 2**17  # counts evaluated at a time; temporaries take about a hundred bytes for each


@dataclass(frozen=True)
class Measure:
    """A registered measure.

    Parameters
    ----------
    function : callable
        ``function(ties, k, **options)``: the expectation for each query, (n_queries,). A measure
        of what lies within a radius takes `radius` in place of `k`.
    short_name : str
        What scorers call it.
    label : str
        What a picture calls it.
    options : mapping of str to tuple of str
        The values each option may take, its default first.
    bound : callable, optional
        ``bound(ties, k, best_first, **options)``: the largest or smallest value. Needed only
        where sorting the levels inside every tie does not give it.
    is_share : bool, default=True
        Whether values lie in [0, 1].
    radius : int, default=None
        The default radius of a measure of what lies within one: tie t is at distance t, and no
        order of tied items matters. None: a measure of the ranking, cut at `k`.
    needs_codes : bool, default=False
        Whether the function asks for `Ties.peaks`, which the counts do not tell.
    """

    function: Callable[..., Array]
    short_name: str
    label: str
    options: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    bound: Callable[..., Array] | None = None
    is_share: bool = True
    radius: int | None = None
    needs_codes: bool = False

    @property
    def cut(self) -> str:
        """The name of the parameter that says how far to look."""
        return "k" if self.radius is None else "radius"


_GAINS = {"gain": ("exponential", "linear"), "discount": ("log2p1", "log2")}

MEASURES = {
    "average_precision": Measure(
        average_precision,
        "tie_aware_ap",
        "AP",
        {"normalize": ("relevant", "min", "retrieved")},
        bound=average_precision_bound,
    ),
    "ndcg": Measure(ndcg, "tie_aware_ndcg", "NDCG", _GAINS),
    "dcg": Measure(dcg, "tie_aware_dcg", "DCG", _GAINS, is_share=False),
    "precision": Measure(precision, "tie_aware_precision", "precision"),
    "recall": Measure(recall, "tie_aware_recall", "recall"),
    "f1": Measure(f1, "tie_aware_f1", "F1"),
    "reciprocal_rank": Measure(reciprocal_rank, "tie_aware_rr", "reciprocal rank"),
    "lookup_precision": Measure(
        lookup_precision, "lookup_precision", "precision within radius", radius=2
    ),
    "lookup_recall": Measure(lookup_recall, "lookup_recall", "recall within radius", radius=2),
    "average_cumulative_gain": Measure(
        average_cumulative_gain, "acg", "ACG", radius=3, is_share=False
    ),
    "local_group_average_precision": Measure(
        local_group_average_precision, "mlgap", "LGAP", radius=2, needs_codes=True
    ),
}


def score_name(name: str) -> str:
    """Return what `sklearn_hashrank.metrics` calls the function of a measure."""
    return f"tie_aware_{name}_score" if MEASURES[name].radius is None else f"{name}_score"


def find_measure(metric: str | Callable) -> str:
    """Return the registered name of a measure.

    Parameters
    ----------
    metric : str or callable
        The name of the measure, its short name, or the public function or its name.
    """
    wanted = metric if isinstance(metric, str) else getattr(metric, "__name__", None)
    for name, measure in MEASURES.items():
        if wanted in (name, measure.short_name, score_name(name)):
            return name
    short_names = _among(measure.short_name for measure in MEASURES.values())
    raise ValueError(
        "a measure must be a function of sklearn_hashrank.metrics with one value for each query, "
        f"or {short_names}. Got {metric!r} instead."
    )


def _refuse(parameter: str, owner: str, accepted: str, given: object) -> None:
    raise ValueError(
        f"The {parameter!r} parameter of {owner} must be {accepted}. Got {given!r} instead."
    )


def _among(values: Any) -> str:
    return "a str among {" + ", ".join(repr(value) for value in values) + "}"


def validate_options(
    name: str,
    *,
    ties: str = "expected",
    zero_division: float = np.nan,
    **options: Any,
) -> None:
    """Raise a clear error unless the measure `name` accepts these options.

    Raises
    ------
    ValueError
        If a value, or the name of the measure, is not accepted.
    TypeError
        If the measure has no option of a given name.
    """
    if name not in MEASURES:
        _refuse("name", "a measure", _among(MEASURES), name)
    measure = MEASURES[name]
    cut = options.pop(measure.cut, measure.radius)
    if measure.radius is not None:
        if not _is_int(cut, minimum=0):
            _refuse("radius", name, "an int >= 0", cut)
    elif cut is not None and not _is_int(cut, minimum=1):
        _refuse("k", name, "an int >= 1 or None", cut)
    if not isinstance(ties, str) or ties not in TIE_ORDERS:
        _refuse("ties", name, _among(TIE_ORDERS), ties)
    is_real = isinstance(zero_division, Real) and not isinstance(zero_division, bool)
    if not is_real or not (math.isnan(zero_division) or 0 <= zero_division <= 1):
        _refuse("zero_division", name, "a float in the range [0, 1] or nan", zero_division)
    for option, value in options.items():
        if option not in measure.options:
            known = (measure.cut, "ties", "zero_division", *measure.options)
            accepted = ", ".join(map(repr, known))
            raise TypeError(f"{name} has no parameter {option!r}. It accepts {accepted}.")
        if not isinstance(value, str) or value not in measure.options[option]:
            _refuse(option, name, _among(measure.options[option]), value)


def _is_int(value: object, minimum: int) -> bool:
    is_int = isinstance(value, Integral) and not isinstance(value, bool)
    return is_int and minimum <= value <= 2**62  # type: ignore[operator]


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


def evaluate(
    name: str,
    counts: ArrayLike,
    levels: ArrayLike,
    *,
    peaks: ArrayLike | None = None,
    ties: str = "expected",
    zero_division: float = np.nan,
    **options: Any,
) -> Array:
    """Evaluate a registered measure of each query.

    Parameters
    ----------
    name : str
        A key of `MEASURES`.
    counts : array-like of shape (n_queries, n_levels, n_ties)
        How many items of each level lie in each tie; ties in the order of retrieval.
    levels : array-like of shape (n_levels,)
        The levels, ascending; an item is relevant when its level is above 0.
    peaks : array-like of shape (n_queries, n_ties), default=None
        The largest number of items of each tie that share one code, for measures that need it;
        with a radius, no more than the ties within it.
    ties : {"expected", "optimistic", "pessimistic"}, default="expected"
        The mean, the maximum or the minimum over all orders of tied items.
    zero_division : float, default=nan
        The value of a query for which nothing is relevant.
    **options : int or str
        ``k`` or ``radius``, and further options of the measure, such as ``normalize`` or ``gain``.

    Returns
    -------
    values : ndarray of shape (n_queries,)

    Examples
    --------
    Two tied items, one of them relevant, then another relevant one:

    >>> from sklearn_hashrank.measures import evaluate
    >>> counts = [[[1, 0], [1, 1]]]
    >>> for ties in ("pessimistic", "expected", "optimistic"):
    ...     print(evaluate("average_precision", counts, [0, 1], ties=ties).round(3))
    [0.583]
    [0.708]
    [0.833]
    """
    validate_options(name, ties=ties, zero_division=zero_division, **options)
    counts, levels = np.asarray(counts), np.asarray(levels, dtype=np.float64)
    validate_counts(counts, levels)
    measure = MEASURES[name]
    if measure.needs_codes and peaks is None:
        raise ValueError(f"{name} {NEEDS_CODES}")
    cut = options.pop(measure.cut, measure.radius)
    cut = None if cut is None else int(cut)
    peaks = None if peaks is None else np.asarray(peaks)
    per_query = counts[:1].size * (1 if ties == "expected" else len(levels))
    step = max(1, _CHUNK // max(1, per_query))
    values = np.empty(len(counts))
    for start in range(0, len(counts), step):
        part = slice(start, start + step)
        chunk = Ties(counts[part], levels, None if peaks is None else peaks[part])
        value = _value(measure, chunk, cut, ties, options)
        if measure.is_share:
            value = np.clip(value, 0, 1)  # not beyond by rounding
        values[part] = np.where(chunk.n_relevant > 0, value, zero_division)
    return values


def _value(
    measure: Measure, chunk: Ties, cut: int | None, ties: str, options: Mapping[str, str]
) -> Array:
    value = measure.function(chunk, cut, **options)
    if ties == "expected" or measure.radius is not None:
        return value
    best_first = ties == "optimistic"
    if measure.bound is not None:
        bound = measure.bound(chunk, cut, best_first, **options)
    else:
        bound = measure.function(chunk.split(best_first), cut, **options)
    # Where no order matters the two are one number, which rounding must not take apart.
    return np.maximum(value, bound) if best_first else np.minimum(value, bound)


def describe(name: str) -> tuple[str, inspect.Signature]:
    """Docstring and signature of the histogram's method for a measure."""
    measure = MEASURES[name]
    options = measure.options
    defaults = {measure.cut: measure.radius, "ties": "expected", "zero_division": np.nan}
    defaults |= {option: values[0] for option, values in options.items()}
    lines = [inspect.getdoc(measure.function), "", "Parameters", "----------"]
    if measure.radius is None:
        lines += ["k : int, default=None", "    Only the first k places count; None: all."]
    else:
        lines += [f"radius : int, default={measure.radius}", "    Largest Hamming distance."]
    lines += [f"ties : {_among(TIE_ORDERS)}", "    The mean over all orders of ties, or a bound."]
    lines += ["zero_division : float, default=nan", "    Value of a query without relevant items."]
    for option, values in options.items():
        lines += [f"{option} : {_among(values)}", "    See above."]
    lines += ["", "Returns", "-------", "values : ndarray of shape (n_queries,)"]
    keyword, itself = inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = [inspect.Parameter("self", itself)]
    parameters += [inspect.Parameter(n, keyword, default=d) for n, d in defaults.items()]
    return "\n".join(map(str, lines)), inspect.Signature(parameters)


def mean_score(values: ArrayLike, stacklevel: int = 2) -> float:
    """Return the mean of the queries' values, leaving out nan, with one warning where there is any.

    Parameters
    ----------
    values : array-like of shape (n_queries,)
        What `evaluate` returns.
    stacklevel : int, default=2
        Whom the warning points at: 2 is the caller.

    Returns
    -------
    mean : float
        The mean, nan when every value is nan.
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
