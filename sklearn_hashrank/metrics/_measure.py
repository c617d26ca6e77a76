"""The record of a measure: its function, names, parameters and range."""

import inspect
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, fields
from functools import cached_property
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, NoReturn, get_args

from .._utils.parameters import is_finite, is_int, is_real
from ._ties import Array

Function = Callable[..., Array]
TieOrder = Literal["expected", "optimistic", "pessimistic", "docid"]

TIE_ORDERS: tuple[TieOrder, ...] = ("expected", "optimistic", "pessimistic")
"""The orders of tied items that counts determine; ``"docid"`` needs the items' names."""

MEASURES: dict[str, "Measure"] = {}
"""The measures of the package by name; those of users are not among them."""

_LARGEST = 2**62  # floats and kernels take integers of this size


class Parameter(NamedTuple):
    """A keyword of a measure: its default, and what it accepts, in words and as a test."""

    default: Any
    accepted: str
    accepts: Callable[[Any], bool]


def refuse(parameter: str, owner: str, accepted: str, given: object) -> NoReturn:
    """Raise an error that says what was given and what is accepted."""
    raise ValueError(
        f"The {parameter!r} parameter of {owner} must be {accepted}. Got {given!r} instead."
    )


def among(values: Iterable[str]) -> str:
    """List accepted values for the text of an error."""
    return "a str among {" + ", ".join(repr(value) for value in values) + "}"


def _one_of(values: Sequence[str]) -> Parameter:
    return Parameter(values[0], among(values), lambda v: isinstance(v, str) and v in values)


def _between(default: float) -> Parameter:
    return Parameter(default, "a float between 0 and 1", lambda v: is_finite(v) and 0 < v < 1)


def _of_option(values: "Sequence[str] | float") -> Parameter:
    return _between(values) if isinstance(values, float) else _one_of(values)


def _is_rank(value: Any, minimum: int) -> bool:
    return is_int(value, minimum) and int(value) <= _LARGEST


def _is_share_or_nan(value: object) -> bool:
    return is_real(value) and (math.isnan(value) or 0 <= value <= 1)


_CUTS = {
    "k": Parameter(None, "an int >= 1 or None", lambda v: v is None or _is_rank(v, 1)),
    "radius": Parameter(None, "an int >= 0", lambda v: _is_rank(v, 0)),
}
_LEVEL = Parameter(
    None, "a number above 0 or None", lambda v: v is None or (is_finite(v) and v > 0)
)
_OF_EVERY_MEASURE = {
    "ties": _one_of(get_args(TieOrder)),
    "zero_division": Parameter(math.nan, "a float in the range [0, 1] or nan", _is_share_or_nan),
}
COMMON_PARAMETERS = tuple(_OF_EVERY_MEASURE)
"""The parameters that every measure has, with the same meaning for each."""


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
    options : mapping of str to sequence of str or float, default={}
        The values of each option, its default first. A float is the default of an option that
        takes any number between 0 and 1.
    bound : callable, default=None
        The largest or smallest value: ``bound(ties, k, best_first, **options)``.
    is_share : bool, default=True
        Whether values lie in [0, 1].
    radius : int, default=None
        The default radius, None for measures of the ranking.
    needs_codes : bool, default=False
        Whether the function asks for ``ties.peaks``.
    is_graded : bool, default=False
        Whether levels above 0 differ. If not, `level` chooses which are relevant.
    takes_k : bool, default=True
        Whether `k` may be given. A function that looks at as many places as there are relevant
        items is called with None.
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
    >>> from sklearn_hashrank.metrics import get_measure
    >>> measure = get_measure("ap")
    >>> measure.name, measure.short_name, measure.label
    ('average_precision', 'ap', 'AP')
    >>> measure.parameters
    ('k', 'ties', 'zero_division', 'level', 'normalize')
    """

    name: str
    function: Function
    _: KW_ONLY
    short_name: str = ""
    label: str = ""
    options: Mapping[str, Sequence[str] | float] = field(default_factory=dict, hash=False)
    bound: Function | None = None
    is_share: bool = True
    radius: int | None = None
    needs_codes: bool = False
    is_graded: bool = False
    takes_k: bool = True
    function_name: str | None = None

    def __post_init__(self) -> None:
        for parameter, given in (("name", self.name), ("short_name", self.short_name or self.name)):
            if not isinstance(given, str) or not given.isidentifier():
                refuse(parameter, "a measure", "an identifier, such as 'hit_rate'", given)
        for parameter, accepted, is_accepted in (
            ("label", "a str", isinstance(self.label, str)),
            ("is_share", "True or False", isinstance(self.is_share, bool)),
            ("needs_codes", "True or False", isinstance(self.needs_codes, bool)),
            ("is_graded", "True or False", isinstance(self.is_graded, bool)),
            ("takes_k", "True or False", isinstance(self.takes_k, bool)),
            ("radius", "an int >= 0 or None", self.radius is None or _is_rank(self.radius, 0)),
            (
                "radius",
                "an int >= 0 where needs_codes is True",
                self.radius is not None or not self.needs_codes,
            ),
            (
                "bound",
                "None where it has a radius: no order matters",
                self.bound is None or self.radius is None,
            ),
        ):
            if not is_accepted:
                refuse(parameter, self.name, accepted, getattr(self, parameter))
        completed = {
            "short_name": self.short_name or self.name,
            "label": self.label or self.name.replace("_", " "),
            "options": _checked_options(self.name, self.options),
        }
        for attribute, value in completed.items():
            object.__setattr__(self, attribute, value)
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
            defaults = {name: _of_option(v).default for name, v in self.options.items()}
            signature.bind(None, *positional, **defaults)
        except TypeError:
            refuse(parameter, self.name, accepted, f"{parameter}{signature}")

    @property
    def cut(self) -> str:
        """The parameter that says how far to look: ``"k"`` or ``"radius"``."""
        return "k" if self.radius is None else "radius"

    @cached_property
    def keywords(self) -> Mapping[str, Parameter]:
        """What evaluation accepts, by name."""
        cut = {self.cut: _CUTS[self.cut]._replace(default=self.radius)} if self.takes_k else {}
        level = {} if self.is_graded else {"level": _LEVEL}
        options = {name: _of_option(values) for name, values in self.options.items()}
        return cut | _OF_EVERY_MEASURE | level | options

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of the keywords that evaluation accepts."""
        return tuple(self.keywords)

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
        if MEASURES.get(self.name) is self:
            return _of_package, (self.name,)
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        return _rebuilt, (values | {"options": dict(self.options)},)

    def __repr__(self) -> str:
        return f"Measure({self.name!r}, short_name={self.short_name!r}, label={self.label!r})"


def _of_package(name: str) -> Measure:
    return MEASURES[name]


def _rebuilt(values: dict[str, Any]) -> Measure:
    return Measure(**values)


def _checked_options(name: str, options: object) -> Mapping[str, Sequence[str] | float]:
    accepted = (
        "a mapping from identifiers to a float between 0 and 1, or to their values, each a str, "
        "the default first"
    )
    if not isinstance(options, Mapping):
        refuse("options", name, accepted, options)
    for option, values in options.items():
        is_known = isinstance(option, str) and option.isidentifier()
        if is_known and isinstance(values, float) and 0 < values < 1:
            continue
        are_many = isinstance(values, Sequence) and not isinstance(values, str)
        if not is_known or not are_many or not values or len(set(values)) < len(values):
            refuse("options", name, accepted, options)
        if not all(isinstance(value, str) for value in values):
            refuse("options", name, accepted, options)
    for option in options:
        if option in {*_CUTS, *_OF_EVERY_MEASURE, "level"}:
            raise ValueError(f"{option!r} cannot be an option of {name}: every measure has it.")
    return MappingProxyType(
        {o: values if isinstance(values, float) else tuple(values) for o, values in options.items()}
    )
