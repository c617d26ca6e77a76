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

_CHUNK = 2**17  # counts evaluated at a time; temporaries take about a hundred bytes for each


@dataclass(frozen=True)
class Measure:
    """A registered measure.

    Parameters
    ----------
    function : callable
        ``function(ties, k, **options)``: the expectation for each query, (n_queries,).
    short_name : str
        What scorers call it.
    options : mapping of str to tuple of str
        The values each option may take, its default first.
    bound : callable, optional
        ``bound(ties, k, best_first, **options)``: the largest or smallest value. Needed only
        where sorting the levels inside every tie does not give it.
    is_share : bool, default=True
        Whether values lie in [0, 1].
    needs_codes : bool, default=False
        Whether it asks for more than the counts tell.
    """

    function: Callable[..., Array]
    short_name: str
    options: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    bound: Callable[..., Array] | None = None
    is_share: bool = True
    needs_codes: bool = False


_GAINS = {"gain": ("exponential", "linear"), "discount": ("log2p1", "log2")}

MEASURES = {
    "average_precision": Measure(
        average_precision,
        "tie_aware_ap",
        {"normalize": ("relevant", "min", "retrieved")},
        bound=average_precision_bound,
    ),
    "ndcg": Measure(ndcg, "tie_aware_ndcg", _GAINS),
    "dcg": Measure(dcg, "tie_aware_dcg", _GAINS, is_share=False),
    "precision": Measure(precision, "tie_aware_precision"),
    "recall": Measure(recall, "tie_aware_recall"),
    "f1": Measure(f1, "tie_aware_f1"),
    "reciprocal_rank": Measure(reciprocal_rank, "tie_aware_rr"),
}


def score_name(name: str) -> str:
    """Return what `sklearn_hashrank.metrics` calls the function of a measure."""
    return f"tie_aware_{name}_score"


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
    k: int | None = None,
    ties: str = "expected",
    zero_division: float = np.nan,
    **options: str,
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
    if k is not None and (
        isinstance(k, bool) or not isinstance(k, Integral) or not 1 <= k <= 2**62
    ):
        _refuse("k", name, "an int >= 1 or None", k)
    if not isinstance(ties, str) or ties not in TIE_ORDERS:
        _refuse("ties", name, _among(TIE_ORDERS), ties)
    is_real = isinstance(zero_division, Real) and not isinstance(zero_division, bool)
    if not is_real or not (math.isnan(zero_division) or 0 <= zero_division <= 1):
        _refuse("zero_division", name, "a float in the range [0, 1] or nan", zero_division)
    accepted = MEASURES[name].options
    for option, value in options.items():
        if option not in accepted:
            known = ", ".join(repr(known) for known in ("k", "ties", "zero_division", *accepted))
            raise TypeError(f"{name} has no parameter {option!r}. It accepts {known}.")
        if not isinstance(value, str) or value not in accepted[option]:
            _refuse(option, name, _among(accepted[option]), value)


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
    k: int | None = None,
    ties: str = "expected",
    zero_division: float = np.nan,
    **options: str,
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
    k : int, default=None
        Only the first `k` places count; None: the whole list.
    ties : {"expected", "optimistic", "pessimistic"}, default="expected"
        The mean, the maximum or the minimum over all orders of tied items.
    zero_division : float, default=nan
        The value of a query for which nothing is relevant.
    **options : str
        Further options of the measure, such as ``normalize`` or ``gain``.

    Returns
    -------
    values : ndarray of shape (n_queries,)

    Examples
    --------
    Two tied items, one of them relevant, then another relevant one:

    >>> from sklearn_hashrank._measures import evaluate
    >>> counts = [[[1, 0], [1, 1]]]
    >>> for ties in ("pessimistic", "expected", "optimistic"):
    ...     print(evaluate("average_precision", counts, [0, 1], ties=ties).round(3))
    [0.583]
    [0.708]
    [0.833]
    """
    validate_options(name, k=k, ties=ties, zero_division=zero_division, **options)
    counts, levels = np.asarray(counts), np.asarray(levels, dtype=np.float64)
    validate_counts(counts, levels)
    per_query = counts[:1].size * (1 if ties == "expected" else len(levels))
    step = max(1, _CHUNK // max(1, per_query))
    values = np.empty(len(counts))
    for start in range(0, len(counts), step):
        chunk = Ties(counts[start : start + step], levels)
        value = _value(MEASURES[name], chunk, k, ties, options)
        if MEASURES[name].is_share:
            value = np.clip(value, 0, 1)  # not beyond by rounding
        values[start : start + step] = np.where(chunk.n_relevant > 0, value, zero_division)
    return values


def _value(
    measure: Measure, chunk: Ties, k: int | None, ties: str, options: Mapping[str, str]
) -> Array:
    value = measure.function(chunk, k, **options)
    if ties == "expected":
        return value
    best_first = ties == "optimistic"
    if measure.bound is not None:
        bound = measure.bound(chunk, k, best_first, **options)
    else:
        bound = measure.function(chunk.split(best_first), k, **options)
    # Where no order matters the two are one number, which rounding must not take apart.
    return np.maximum(value, bound) if best_first else np.minimum(value, bound)


def describe(name: str) -> tuple[str, inspect.Signature]:
    """Docstring and signature of the histogram's method for a measure."""
    options = MEASURES[name].options
    defaults = {"k": None, "ties": "expected", "zero_division": np.nan}
    defaults |= {option: values[0] for option, values in options.items()}
    lines = [inspect.getdoc(MEASURES[name].function), "", "Parameters", "----------"]
    lines += ["k : int, default=None", "    Only the first k places count; None: all."]
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
        nan when every value is.
    """
    values = np.asarray(values, dtype=np.float64)
    defined = values[~np.isnan(values)]
    if defined.size < values.size:
        warnings.warn(
            f"{values.size - defined.size} of {values.size} queries have no relevant item: their "
            "scores are undefined and left out of the mean. The `zero_division` parameter of "
            "the metrics gives them a value.",
            UndefinedMetricWarning,
            stacklevel=stacklevel,
        )
    return float(defined.mean()) if defined.size else math.nan
