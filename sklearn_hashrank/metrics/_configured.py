"""A measure with its options: from keywords, or from one word such as ``ndcg@100:gain=linear``."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from .._utils.notation import split_cut, split_notation
from ._measure import Function, Measure, TieOrder, refuse
from ._registry import get_measure

_EXAMPLE = "ndcg@100:gain=linear"

# Papers on hashing divide AP@k by the relevant items that were found.
_ALIASES: dict[str, tuple[str, dict[str, Any]]] = {
    name: ("ap", {"normalize": "retrieved"}) for name in ("map", "mAP", "MAP")
}


@dataclass(frozen=True, eq=False)
class ConfiguredMeasure:
    """A measure with options that :func:`configure_measure` has checked."""

    measure: Measure
    cut: int | None  # the first `cut` places count, or the ties within this radius
    ties: TieOrder
    zero_division: float
    min_relevance: float | None
    options: Mapping[str, str | float]  # all further options of the measure
    given: Mapping[str, Any]  # all keywords as they were given

    def with_ties(self, ties: TieOrder) -> "ConfiguredMeasure":
        """Return the same measure with another treatment of ties."""
        return replace(self, ties=ties)


def configure_measure(
    measure: str | Function | Measure | ConfiguredMeasure, **options: Any
) -> ConfiguredMeasure:
    """Find a measure and check its options. Every evaluation passes here, once.

    `options` are `k` or `radius`, `ties`, `zero_division`, `min_relevance` and further ones of the
    measure. A measure that is configured accepts no others. A value that is not accepted is a
    ValueError, an option that the measure does not have a TypeError.
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


def parse_measure(measure: Any) -> tuple[Measure, dict[str, Any]]:
    """Return a measure and the options that come with it, which are not checked yet.

    A name may be followed by ``@`` and an int, the first `k` places or the Hamming `radius` that
    count, and by ``:option=value`` for each further option: ``"ap@5000:normalize=retrieved"``, for
    which ``"map@5000"`` and ``"mAP@5000"`` are short. A partial of a function has its keywords.
    """
    if isinstance(measure, ConfiguredMeasure):
        return measure.measure, dict(measure.given)
    if isinstance(measure, partial) and not measure.args:
        return get_measure(measure.func), measure.keywords
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
