"""What a measure is: a function of ties with its names, options and range."""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, fields
from numbers import Integral
from types import MappingProxyType
from typing import Any, NoReturn

from ._ties import Array

Function = Callable[..., Array]

PACKAGE: dict[str, "Measure"] = {}
"""The measures of the package by name, which are pickled by name."""

_OF_EVERY_MEASURE = ("k", "radius", "ties", "zero_division")
_LARGEST = 2**62


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

    Attributes
    ----------
    cut : str
        The parameter that says how far to look: ``"k"`` or ``"radius"``.
    names : tuple of str
        Every name that finds the measure.

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
    cut: str = field(init=False)
    names: tuple[str, ...] = field(init=False)

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
        set_(self, "cut", "k" if self.radius is None else "radius")
        set_(self, "names", self._all_names())
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
    def parameters(self) -> tuple[str, ...]:
        """The keywords that evaluation accepts."""
        return (self.cut, "ties", "zero_division", *self.options)

    def _all_names(self) -> tuple[str, ...]:
        names = [self.name, self.short_name]
        if self.function_name is not None:
            names.append(self.function_name)
            if self.radius is None:
                names.append(f"tie_aware_{self.short_name}")
        return tuple(dict.fromkeys(names))

    def __reduce__(self) -> tuple[Callable[..., "Measure"], tuple[Any, ...]]:
        if PACKAGE.get(self.name) is self:
            return _of_package, (self.name,)
        values = {each.name: getattr(self, each.name) for each in fields(self) if each.init}
        return _rebuilt, (values | {"options": dict(self.options)},)

    def __repr__(self) -> str:
        return f"Measure({self.name!r}, short_name={self.short_name!r}, label={self.label!r})"


def _of_package(name: str) -> Measure:
    return PACKAGE[name]


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
