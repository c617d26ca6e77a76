"""Affinities by name, for the command line, which cannot write Python."""

from argparse import ArgumentParser, ArgumentTypeError
from typing import Any

from .._utils.notation import split_notation
from ..affinity._euclidean import EuclideanAffinity
from ..affinity._labels import HierarchicalAffinity, LabelAffinity, SharedLabelAffinity

AFFINITIES = {
    "labels": LabelAffinity,
    "shared-labels": SharedLabelAffinity,
    "hierarchical": HierarchicalAffinity,
    "euclidean": EuclideanAffinity,
}
"""Affinities that ``--affinity`` names; nearest rows have options of their own."""


def add_affinity(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--affinity",
        type=affinity_from_name,
        default="auto",
        metavar="NAME",
        help=f"relevance of two items: {', '.join(AFFINITIES)}, each with :parameter=value "
        "(default: by the labels)",
    )


def affinity_from_name(notation: str) -> Any:
    """Return the affinity that a name, with any ``:parameter=value``, stands for."""
    try:
        name, parameters = split_notation(notation, "affinity", "euclidean:max_samples=1000")
        if name == "auto" and not parameters:
            return name
        if name not in AFFINITIES:
            raise ValueError(
                f"affinity must be one of auto, {', '.join(AFFINITIES)}. Got {name!r}."
            )
        return AFFINITIES[name]().set_params(**parameters)
    except ValueError as error:
        raise ArgumentTypeError(str(error)) from error


def name_affinity(affinity: Any) -> str:
    """Write an affinity as `affinity_from_name` reads it."""
    name = next(name for name, kind in AFFINITIES.items() if kind is type(affinity))
    defaults = AFFINITIES[name]().get_params()
    changed = {key: value for key, value in affinity.get_params().items() if value != defaults[key]}
    return ":".join([name, *(f"{key}={value!r}" for key, value in changed.items())])
