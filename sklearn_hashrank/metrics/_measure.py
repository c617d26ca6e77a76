"""The record of a measure: its function, names, options and range."""

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
"""The table of measures: those of the package by name. Those of users are not among them."""

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


def _of_option(values: "Sequence[str] | float") -> Parameter:
    if isinstance(values, float):
        return Parameter(values, "a float between 0 and 1", lambda v: is_finite(v) and 0 < v < 1)
    return _one_of(values)


def _is_rank(value: Any, minimum: int) -> bool:
    return is_int(value, minimum) and int(value) <= _LARGEST


_CUTS = {
    "k": Parameter(None, "an int >= 1 or None", lambda v: v is None or _is_rank(v, 1)),
    "radius": Parameter(None, "an int >= 0", lambda v: _is_rank(v, 0)),
}
_OF_EVERY_MEASURE = {
    "ties": _one_of(get_args(TieOrder)),
    "zero_division": Parameter(
        math.nan,
        "a float in the range [0, 1] or nan",
        lambda v: is_real(v) and (math.isnan(v) or 0 <= v <= 1),
    ),
}
COMMON_PARAMETERS = tuple(_OF_EVERY_MEASURE)
"""The parameters that every measure has, with the same meaning for each."""

_MIN_RELEVANCE = Parameter(
    None, "a number above 0 or None", lambda v: v is None or (is_finite(v) and v > 0)
)


@dataclass(frozen=True, repr=False)
class Measure:
    """A measure of retrieval: a function of :class:`Ties` with its names, options and range.

    :func:`register_measure` makes one and makes it known by name; it describes the parameters.
    Where a name is accepted, the object is as well. A measure of the package is pickled by name,
    another one by value, so processes that did not register it can evaluate it.

    Parameters
    ----------
    name : str
        The method of the histogram and the argument of :meth:`RetrievalHistogram.measure`.
    function : callable
        The expectation for each query: ``function(ties, k, **options)``.
    short_name : str, default=""
        The name of scorers, columns and the command line. Empty: `name`.
    label : str, default=""
        The name in pictures. Empty: `name` with spaces.
    options : mapping of str to sequence of str or float, default={}
        The values of each option, its default first. A float is the default of an option that
        accepts any number between 0 and 1.
    bound : callable, default=None
        The largest or smallest value: ``bound(ties, k, best_first, **options)``.
    bounded : bool, default=True
        Whether values lie in [0, 1].
    radius : int, default=None
        The default radius. None for measures of the ranking.
    needs_codes : bool, default=False
        Whether the function asks for ``ties.peaks``.
    is_graded : bool, default=False
        Whether levels above 0 differ. If not, `min_relevance` chooses which are relevant.
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
    meaning : str
        One sentence: the first paragraph of the docstring of the function.

    Examples
    --------
    >>> from sklearn_hashrank.metrics import list_measures
    >>> measure = list_measures()[0]
    >>> measure.name, measure.short_name, measure.label
    ('average_precision', 'ap', 'AP')
    >>> measure.parameters
    ('k', 'normalize', 'ties', 'zero_division', 'min_relevance')
    """

    name: str
    function: Function
    _: KW_ONLY
    short_name: str = ""
    label: str = ""
    options: Mapping[str, Sequence[str] | float] = field(default_factory=dict, hash=False)
    bound: Function | None = None
    bounded: bool = True
    radius: int | None = None
    needs_codes: bool = False
    is_graded: bool = False
    takes_k: bool = True
    function_name: str | None = None

    def __post_init__(self) -> None:
        for parameter, given in (("name", self.name), ("short_name", self.short_name or self.name)):
            if not isinstance(given, str) or not given.isidentifier():
                refuse(parameter, "a measure", "an identifier, such as 'hit_rate'", given)
        if self.radius is not None and not _is_rank(self.radius, 0):
            refuse("radius", self.name, "an int >= 0 or None", self.radius)
        if self.needs_codes and self.radius is None:
            refuse("radius", self.name, "an int >= 0 if needs_codes is True", None)
        if self.bound is not None and self.radius is not None:
            refuse("bound", self.name, "None with a radius, where no order matters", self.bound)
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
        cut = {"k": "the rank cutoff or None", "radius": "the Hamming radius"}[self.cut]
        accepted = f"callable as {parameter}({form}), where {self.cut} is {cut}"
        if not callable(function):
            refuse(parameter, self.name, accepted, function)
        try:
            signature = inspect.signature(function)
        except ValueError:  # some compiled functions have none
            return
        try:
            signature.bind(None, *positional, **self.options)
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
        options = {name: _of_option(values) for name, values in self.options.items()}
        relevance = {} if self.is_graded else {"min_relevance": _MIN_RELEVANCE}
        return cut | options | _OF_EVERY_MEASURE | relevance

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

    @property
    def meaning(self) -> str:
        """One sentence: the first paragraph of the docstring of the function."""
        text = (inspect.getdoc(self.function) or f"{self.label}.").partition("\n\n")[0]
        return " ".join(text.split())

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
    found: dict[str, Sequence[str] | float] = {}
    for option, values in options.items():
        if not isinstance(option, str) or not option.isidentifier():
            refuse("options", name, accepted, options)
        if option in {*_CUTS, *_OF_EVERY_MEASURE, "min_relevance"}:
            raise ValueError(f"{option!r} cannot be an option of {name}: every measure has it.")
        if isinstance(values, float) and 0 < values < 1:
            found[option] = values
        elif isinstance(values, (list, tuple)) and all(isinstance(v, str) for v in values):
            found[option] = tuple(values)
            if not values or len(set(values)) < len(values):
                refuse("options", name, accepted, options)
        else:
            refuse("options", name, accepted, options)
    return MappingProxyType(found)
