"""What a measure is, and the registry that finds it by any of its names."""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, fields
from numbers import Integral
from types import MappingProxyType
from typing import Any, NoReturn, TypeVar, overload

from ._ties import Array

Function = Callable[..., Array]
_F = TypeVar("_F", bound=Function)

_OF_EVERY_MEASURE = ("k", "radius", "ties", "zero_division")
_LARGEST = 2**62

_package: dict[str, "Measure"] = {}
_registered: dict[str, "Measure"] = {}


@dataclass(frozen=True, repr=False)
class Measure:
    """A measure of retrieval: a function of :class:`Ties` with its names, options and range.

    :func:`register_measure` makes one and makes it known by name; it describes the parameters.
    Where a name is accepted, the object is as well. A measure of the package is pickled by name,
    another one by value, so that processes that did not register it can evaluate it.

    Parameters
    ----------
    name : str
        The method of the histogram and the argument of :meth:`RetrievalHistogram.measure`.
    function : callable
        The expectation for each query: ``function(ties, k, **options)``.
    short_name : str, default=""
        The name of scorers, columns and the command line; `name` where it is empty.
    label : str, default=""
        The name in pictures; `name` with spaces where it is empty.
    options : mapping of str to sequence of str, default={}
        The values of each option, its default first.
    bound : callable, default=None
        The largest or smallest value: ``bound(ties, k, best_first, **options)``.
    is_share : bool, default=True
        Whether values lie in [0, 1].
    radius : int, default=None
        The default radius, None for measures of the ranking.
    needs_codes : bool, default=False
        Whether the function asks for ``ties.peaks``.
    function_name : str, default=None
        The function of :mod:`sklearn_hashrank.metrics` that belongs to a measure of the package.

    Examples
    --------
    >>> from sklearn_hashrank.measures import get_measure
    >>> measure = get_measure("ap")
    >>> measure.name, measure.short_name, measure.label
    ('average_precision', 'ap', 'AP')
    >>> measure.parameters
    ('k', 'ties', 'zero_division', 'normalize')
    """

    name: str
    function: Function
    _: KW_ONLY
    short_name: str = ""
    label: str = ""
    options: Mapping[str, Sequence[str]] = field(default_factory=dict, hash=False)
    bound: Function | None = None
    is_share: bool = True
    radius: int | None = None
    needs_codes: bool = False
    function_name: str | None = None

    def __post_init__(self) -> None:
        _check_name("name", self.name)
        set_ = object.__setattr__
        set_(self, "short_name", self.short_name or self.name)
        _check_name("short_name", self.short_name)
        set_(self, "label", self.label or self.name.replace("_", " "))
        if not isinstance(self.label, str):
            refuse("label", self.name, "a str", self.label)
        set_(self, "options", _checked_options(self.name, self.options))
        for parameter, given in (("is_share", self.is_share), ("needs_codes", self.needs_codes)):
            if not isinstance(given, bool):
                refuse(parameter, self.name, "True or False", given)
        if self.radius is not None and not is_int(self.radius, minimum=0):
            refuse("radius", self.name, "an int >= 0 or None", self.radius)
        if self.needs_codes and self.radius is None:
            refuse("radius", self.name, "an int >= 0 where needs_codes is True", None)
        if self.bound is not None and self.radius is not None:
            refuse("bound", self.name, "None where it has a radius: no order matters", self.bound)
        self._check_function("function", self.function, self.cut)
        if self.bound is not None:
            self._check_function("bound", self.bound, self.cut, "best_first")

    def _check_function(self, parameter: str, function: object, *positional: str) -> None:
        form = ", ".join(["ties", *positional, *(f"{option}=..." for option in self.options)])
        accepted = f"callable as {parameter}({form})"
        if not callable(function):
            refuse(parameter, self.name, accepted, function)
        try:
            signature = inspect.signature(function)
        except ValueError:  # some compiled functions have none
            return
        try:
            signature.bind(None, *positional, **{name: v[0] for name, v in self.options.items()})
        except TypeError:
            refuse(parameter, self.name, accepted, f"{parameter}{signature}")

    @property
    def cut(self) -> str:
        """The parameter that says how far to look: ``"k"`` or ``"radius"``."""
        return "k" if self.radius is None else "radius"

    @property
    def parameters(self) -> tuple[str, ...]:
        """The keywords that evaluation accepts."""
        return (self.cut, "ties", "zero_division", *self.options)

    @property
    def names(self) -> tuple[str, ...]:
        """Every name that finds the measure."""
        names = [self.name, self.short_name]
        if self.function_name is not None:
            names.append(self.function_name)
            if self.radius is None:
                names.append(f"tie_aware_{self.short_name}")
        return tuple(dict.fromkeys(names))

    def __reduce__(self) -> tuple[Callable[..., "Measure"], tuple[Any, ...]]:
        if _package.get(self.name) is self:
            return get_measure, (self.name,)
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        return _rebuilt, (values | {"options": dict(self.options)},)

    def __repr__(self) -> str:
        return f"Measure({self.name!r}, short_name={self.short_name!r}, label={self.label!r})"


def _rebuilt(values: dict[str, Any]) -> Measure:
    return Measure(**values)


def _check_name(parameter: str, name: object) -> None:
    if not isinstance(name, str) or not name.isidentifier():
        refuse(parameter, "a measure", "an identifier, such as 'hit_rate'", name)


def _checked_options(name: str, options: object) -> Mapping[str, Sequence[str]]:
    accepted = "a mapping from identifiers to their values, each a str, the default first"
    if not isinstance(options, Mapping):
        refuse("options", name, accepted, options)
    for option, values in options.items():
        is_known = isinstance(option, str) and option.isidentifier()
        are_many = isinstance(values, Sequence) and not isinstance(values, str)
        if not is_known or not are_many or not values or len(set(values)) < len(values):
            refuse("options", name, accepted, options)
        if not all(isinstance(value, str) for value in values):
            refuse("options", name, accepted, options)
        if option in _OF_EVERY_MEASURE:
            raise ValueError(f"{option!r} cannot be an option of {name}: every measure has it.")
    return MappingProxyType({option: tuple(values) for option, values in options.items()})


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
        add_measure(measure, _package)
    return MappingProxyType(_package)


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
    return [*_package.values(), *_registered.values()]


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


def refuse(parameter: str, owner: str, accepted: str, given: object) -> NoReturn:
    """Raise an error that says what was given and what is accepted."""
    raise ValueError(
        f"The {parameter!r} parameter of {owner} must be {accepted}. Got {given!r} instead."
    )


def among(values: Iterable[str]) -> str:
    """List the accepted values."""
    return "a str among {" + ", ".join(repr(value) for value in values) + "}"


def is_int(value: object, minimum: int) -> bool:
    """Whether a value is an int, numpy's included, of a size that floats and kernels take."""
    if not isinstance(value, Integral) or isinstance(value, bool):
        return False
    return minimum <= int(value) <= _LARGEST
