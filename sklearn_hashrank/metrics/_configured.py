"""A measure with its options: from keywords, or from one word such as ``ndcg@100:gain=linear``."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from .._utils.notation import split_cut, split_notation
from ._measure import Function, Measure, TieOrder, refuse
from ._registry import get_measure

_EXAMPLE = "ndcg@100:gain=linear"

# Papers on hashing divide AP@k by the relevant items that were found.
_ALIASES: dict[str, tuple[str, dict[str, Any]]] = {"map": ("ap", {"normalize": "retrieved"})}


@dataclass(frozen=True, eq=False)
class ConfiguredMeasure:
    """A measure with options that :func:`configure_measure` has checked.

    Parameters
    ----------
    measure : Measure
        What is evaluated.
    cut : int or None
        The first `cut` places count, or the ties within this radius.
    ties : {"expected", "optimistic", "pessimistic", "docid"}
        The mean, the maximum or the minimum over all orders of tied items, or their order by id.
    zero_division : float
        The value of a query without relevant items.
    min_relevance : float or None
        The lowest level that is relevant. None: every level above 0.
    options : mapping of str to str or float
        All further options of the measure.
    given : mapping of str to object
        All keywords as they were given.
    """

    measure: Measure
    cut: int | None
    ties: TieOrder
    zero_division: float
    min_relevance: float | None
    options: Mapping[str, str | float]
    given: Mapping[str, Any]

    def with_ties(self, ties: TieOrder) -> "ConfiguredMeasure":
        """Return the same measure with another treatment of ties."""
        return replace(self, ties=ties)


def configure_measure(
    measure: str | Function | Measure | ConfiguredMeasure, **options: Any
) -> ConfiguredMeasure:
    """Find a measure and check its options. Every evaluation passes here, once.

    Parameters
    ----------
    measure : str, callable, Measure or ConfiguredMeasure
        What `get_measure` finds, or a notation with options. A measure that has its options
        accepts no others.
    **options : int, float or str
        `k` or `radius`, `ties`, `zero_division`, `min_relevance`, and further options of the
        measure.

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
    found, own = parse_measure(measure)
    for name in own.keys() & options.keys():
        raise TypeError(f"measure {measure!r} has {name} already. Got {options}.")
    options = {**own, **options}
    for name, value in options.items():
        if name not in found.keywords:
            accepted = ", ".join(map(repr, found.parameters))
            raise TypeError(f"{found.name} has no parameter {name!r}. It accepts {accepted}.")
        if not found.keywords[name].accepts(value):
            refuse(name, found.name, found.keywords[name].accepted, value)
    values = {name: keyword.default for name, keyword in found.keywords.items()} | options
    cut, least = values.pop(found.cut, None), values.pop("min_relevance", None)
    return ConfiguredMeasure(
        found,
        None if cut is None else int(cut),
        values.pop("ties"),
        float(values.pop("zero_division")),
        None if least is None else float(least),
        values,
        options,
    )


def parse_measure(measure: str | Function | Measure) -> tuple[Measure, dict[str, Any]]:
    """Return a measure and the options that its notation gives.

    Parameters
    ----------
    measure : str, callable or Measure
        What `get_measure` finds; or its name followed by ``@`` and an int, the first `k` places or
        the Hamming `radius` that count, and by ``:option=value`` for each further option:
        ``"ap@5000:normalize=retrieved"``, for which ``"map@5000"`` is short.

    Returns
    -------
    measure : Measure
    options : dict of str to object
        For `configure_measure`, which checks them.
    """
    if not isinstance(measure, str):
        return get_measure(measure), {}
    name, options = split_notation(measure, "measure", _EXAMPLE)
    name, cut = split_cut(name, measure, "measure", _EXAMPLE)
    name, implied = _ALIASES.get(name, (name, {}))
    found = get_measure(name)
    if cut is not None:
        if found.cut in options:
            raise ValueError(
                f"measure {measure!r} gives {found.cut} twice, by @ and by {found.cut}=."
            )
        options = {found.cut: cut} | options
    return found, {**implied, **options}
