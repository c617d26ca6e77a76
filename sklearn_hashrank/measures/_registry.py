"""The registry: finds a measure by any of its names, and checks its options."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from types import MappingProxyType
from typing import Any, Literal, TypeVar, get_args, overload

import numpy as np

from ._measure import PACKAGE, Function, Measure, among, is_int, refuse

TieOrder = Literal["expected", "optimistic", "pessimistic"]

TIE_ORDERS: tuple[TieOrder, ...] = get_args(TieOrder)

_F = TypeVar("_F", bound=Function)

_registered: dict[str, Measure] = {}


@overload
def register_measure(
    name: str,
    function: Function,
    *,
    short_name: str | None = ...,
    label: str | None = ...,
    options: Mapping[str, Sequence[str]] | None = ...,
    bound: Function | None = ...,
    is_share: bool = ...,
    radius: int | None = ...,
    needs_codes: bool = ...,
) -> Measure: ...


@overload
def register_measure(
    name: str,
    function: None = ...,
    *,
    short_name: str | None = ...,
    label: str | None = ...,
    options: Mapping[str, Sequence[str]] | None = ...,
    bound: Function | None = ...,
    is_share: bool = ...,
    radius: int | None = ...,
    needs_codes: bool = ...,
) -> Callable[[_F], _F]: ...


def register_measure(
    name: str,
    function: Function | None = None,
    *,
    short_name: str | None = None,
    label: str | None = None,
    options: Mapping[str, Sequence[str]] | None = None,
    bound: Function | None = None,
    is_share: bool = True,
    radius: int | None = None,
    needs_codes: bool = False,
) -> Measure | Callable[[_F], _F]:
    """Make a function of :class:`Ties` a measure that histograms and scorers know by name.

    Then ``histogram.measure(name)`` evaluates it, with bounds over tie orders and the treatment
    of undefined queries, and the name is accepted wherever that of a measure of the package is.

    Parameters
    ----------
    name : str
        An identifier that no other measure has.
    function : callable, default=None
        ``function(ties, k, **options)``: the expectation over all orders of tied items for each
        query, an array of shape (n_queries,). A measure of what lies within a radius takes
        `radius` in place of `k`. Values of queries that nothing is relevant to are not used.
        None: return a decorator.
    short_name : str, default=None
        What scorers, columns and the command line call it, an identifier. None: `name`.
    label : str, default=None
        What pictures call it. None: `name` with spaces.
    options : mapping of str to sequence of str, default=None
        Further keywords of `function`, and the values each may take, its default first.
    bound : callable, default=None
        ``bound(ties, k, best_first, **options)``: the largest or smallest value over all orders
        of tied items. None: `function` of the ties split by level, the best or the worst first.
    is_share : bool, default=True
        Whether values lie in [0, 1].
    radius : int, default=None
        The default radius of a measure of what lies within one: tie t is at distance t, and no
        order of tied items matters. None: a measure of the ranking, cut at `k`.
    needs_codes : bool, default=False
        Whether `function` asks for ``ties.peaks``. Such a measure has a radius.

    Returns
    -------
    measure : Measure or callable
        The measure; without `function` a decorator, which returns the function as it is.

    See Also
    --------
    unregister_measure : Forget a measure.

    Examples
    --------
    >>> from sklearn_hashrank import RetrievalHistogram
    >>> from sklearn_hashrank.measures import register_measure, unregister_measure
    >>> def hits(ties, k=None):
    ...     return ties.hits(k)
    >>> register_measure("hits", hits, is_share=False)
    Measure('hits', short_name='hits', label='hits')
    >>> RetrievalHistogram([[[0, 3], [2, 1]]], [0, 1]).measure("hits", k=3)
    array([2.25])
    >>> unregister_measure("hits")
    """

    def register(function: Function) -> Measure:
        measure = Measure(
            name,
            function,
            short_name=short_name or "",
            label=label or "",
            options=options or {},
            bound=bound,
            is_share=is_share,
            radius=radius,
            needs_codes=needs_codes,
        )
        return add_measure(measure, _registered)

    def decorate(function: _F) -> _F:
        register(function)
        return function

    return decorate if function is None else register(function)


def add_measure(measure: Measure, registry: dict[str, Measure]) -> Measure:
    """Register a measure unless one of its names belongs to another measure."""
    if registry.get(measure.name) == measure:
        return registry[measure.name]
    taken = {name: other for other in list_measures() for name in other.names}
    for name in measure.names:
        if name in taken:
            owner = taken[name].name
            way_out = f", or call unregister_measure({owner!r}) first" * (owner in _registered)
            raise ValueError(
                f"{name!r} already names another measure, {owner}. Choose another name{way_out}."
            )
    registry[measure.name] = measure
    return measure


def declare_measures(measures: Iterable[Measure]) -> Mapping[str, Measure]:
    """Register the measures of the package; return them by name."""
    for measure in measures:
        add_measure(measure, PACKAGE)
    return MappingProxyType(PACKAGE)


def unregister_measure(name: str) -> None:
    """Forget a measure that :func:`register_measure` made known.

    Parameters
    ----------
    name : str
        Its name. Measures of the package cannot be forgotten.

    Examples
    --------
    >>> from sklearn_hashrank.measures import get_measure, register_measure, unregister_measure
    >>> measure = register_measure("hits", lambda ties, k=None: ties.hits(k), is_share=False)
    >>> get_measure("hits") is measure
    True
    >>> unregister_measure("hits")
    """
    if name not in _registered:
        known = f"one of {sorted(_registered)}" if _registered else "registered; none is"
        raise ValueError(f"name must be that of a measure you registered, {known}. Got {name!r}.")
    del _registered[name]


def list_measures() -> list[Measure]:
    """Return all measures, those of the package first.

    Returns
    -------
    measures : list of Measure

    Examples
    --------
    >>> from sklearn_hashrank.measures import list_measures
    >>> [measure.short_name for measure in list_measures()][:3]
    ['ap', 'ndcg', 'dcg']
    """
    return [*PACKAGE.values(), *_registered.values()]


def get_measure(measure: str | Function | Measure) -> Measure:
    """Find a measure.

    Parameters
    ----------
    measure : str, callable or Measure
        Its name, its short name, the function of :mod:`sklearn_hashrank.metrics` that belongs to
        it or the name of that function, or the function it was registered with. A `Measure` is
        returned as it is, registered or not.

    Returns
    -------
    measure : Measure

    Examples
    --------
    >>> from sklearn_hashrank.measures import get_measure
    >>> from sklearn_hashrank.metrics import tie_aware_ndcg_score
    >>> get_measure("ndcg") is get_measure(tie_aware_ndcg_score)
    True
    """
    if isinstance(measure, Measure):
        return measure
    for known in list_measures():
        if isinstance(measure, str):
            found = measure in known.names
        else:
            found = measure is known.function or _is_public_function(measure, known)
        if found:
            return known
    raise ValueError(
        "a measure must be a function of sklearn_hashrank.metrics with one value for each query, "
        f"a Measure, or {among(known.short_name for known in list_measures())}. "
        f"Got {measure!r} instead."
    )


def _is_public_function(function: object, measure: Measure) -> bool:
    """Tell a function of the metrics, which this folder does not know, by its names."""
    module = str(getattr(function, "__module__", None))
    is_ours = module.split(".")[:2] == [__name__.split(".")[0], "metrics"]
    return is_ours and getattr(function, "__name__", None) == measure.function_name


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
