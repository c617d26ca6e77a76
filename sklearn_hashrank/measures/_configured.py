"""A measure with its options: from keywords, or from one word such as ``ndcg@100:gain=linear``."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .._utils.notation import split_notation
from ._measure import Function, Measure, TieOrder, refuse
from ._registry import get_measure

_EXAMPLE = "ndcg@100:gain=linear"


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
    measure = get_measure(measure)
    for name, value in options.items():
        if name not in measure.keywords:
            accepted = ", ".join(map(repr, measure.parameters))
            raise TypeError(f"{measure.name} has no parameter {name!r}. It accepts {accepted}.")
        if not measure.keywords[name].accepts(value):
            refuse(name, measure.name, measure.keywords[name].accepted, value)
    values = {name: keyword.default for name, keyword in measure.keywords.items()} | options
    cut, ties = values.pop(measure.cut), values.pop("ties")
    zero_division = float(values.pop("zero_division"))
    cut = None if cut is None else int(cut)
    return ConfiguredMeasure(measure, cut, ties, zero_division, values, options)


def parse_measure(notation: str) -> tuple[Measure, dict[str, Any]]:
    """Return the measure and the options that ``"ap@5000:normalize=retrieved"`` stands for.

    Parameters
    ----------
    notation : str
        A name of the measure; ``@`` and an int, where only the first `k` places or a Hamming
        `radius` count; and ``:option=value`` for each further option.

    Returns
    -------
    measure : Measure
    options : dict of str to object
        For `configure_measure`, which checks them.
    """
    name, options = split_notation(notation, "measure", _EXAMPLE)
    name, at, cut = (part.strip() for part in name.partition("@"))
    measure = get_measure(name)
    if at:
        if not cut.isascii() or not cut.isdecimal():
            raise ValueError(
                f"measure {notation!r}: an int must follow the @, as in {_EXAMPLE}. Got {cut!r}."
            )
        if measure.cut in options:
            raise ValueError(
                f"measure {notation!r} gives {measure.cut} twice, by @ and by {measure.cut}=."
            )
        options = {measure.cut: int(cut)} | options
    return measure, options
