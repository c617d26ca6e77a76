"""The names of objectives: what they stand for, and which parameters belong to them.

Every estimator and loss with a parameter `objective` has one :class:`ObjectiveParameter`, which
turns a name and the parameters beside it into an object, and refuses parameters that would be
ignored.
"""

import inspect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from inspect import isabstract
from types import MappingProxyType, ModuleType
from typing import Any, TypeVar

import numpy as np
from sklearn.utils._param_validation import InvalidParameterError

from . import pairwise, ranking, triplet
from ._base import BaseObjective
from ._objective_checks import SIGNATURE, check_objective
from .pairwise._margin_losses import PairwiseObjective
from .ranking._base import Objective

_Base = TypeVar("_Base")


def _classes(module: ModuleType, base: type[_Base]) -> Iterator[type[_Base]]:
    for name in module.__all__:
        thing = getattr(module, name)
        if isinstance(thing, type) and issubclass(thing, base) and not isabstract(thing):
            yield thing


OBJECTIVES: dict[tuple[str, str], type[Objective]] = {
    (objective.name, objective.relaxation): objective
    for objective in _classes(ranking, Objective)  # type: ignore[type-abstract]
}
"""Ranking objectives by name and relaxation."""

PAIRWISE_OBJECTIVES: dict[str, type[PairwiseObjective]] = {
    objective.name: objective
    for objective in _classes(pairwise, PairwiseObjective)  # type: ignore[type-abstract]
}
"""Pairwise objectives, zones of distances, by name."""

LIKELIHOODS: dict[str, Any] = {
    objective.name: objective
    for module in (pairwise, triplet)
    for objective in _classes(module, BaseObjective)  # type: ignore[type-abstract]
    if not issubclass(objective, PairwiseObjective)
}
"""Likelihoods of pairs and of triplets, by name."""

RANKING_OPTIONS: Mapping[str, Any] = MappingProxyType(
    {
        "relaxation": "auto",
        **{
            name: parameter.default
            for name, parameter in inspect.signature(Objective).parameters.items()
            if name != "n_jobs"
        },
    }
)
"""Parameters beside the names of ranking objectives, with their defaults."""


@dataclass(frozen=True)
class ObjectiveParameter:
    """What the parameter `objective` of an estimator or a loss may be.

    Parameters
    ----------
    owner : str
        Name of the class that has the parameter, for messages.
    takes_ranking, takes_zones, takes_likelihoods : bool, default=False
        Which names it knows: those of `OBJECTIVES`, `PAIRWISE_OBJECTIVES` and `LIKELIHOODS`.
    takes_auto : bool, default=False
        Whether ``"auto"`` is a name: ``"ap"`` or ``"ndcg"``, by the levels of the affinity.
    options : mapping of str to object, default={}
        The parameters of the owner that belong to names of ranking objectives or of zones, with
        their defaults. ``"auto"`` stands for the default of the objective.
    also : str, default=""
        What else the parameter may be, for messages.
    """

    owner: str
    takes_ranking: bool = False
    takes_zones: bool = False
    takes_likelihoods: bool = False
    takes_auto: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)
    also: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """The names that it knows, in alphabetical order."""
        names = {"auto"} if self.takes_auto else set()
        names |= set(self._with_options())
        return tuple(sorted(names | set(LIKELIHOODS if self.takes_likelihoods else ())))

    def check(self, objective: Any, options: Mapping[str, Any] = MappingProxyType({})) -> None:
        """Raise an error for what is neither a name nor an objective, or has ignored parameters.

        Parameters
        ----------
        objective : str or object
            What the user gave.
        options : mapping of str to object, default={}
            The parameters beside it; those that are left out have their defaults.
        """
        given = [
            f"{name}={value!r}" for name, value in options.items() if self._is_set(name, value)
        ]
        if not isinstance(objective, str):
            check_objective(objective)
            got = (
                f"an objective of type {type(objective).__name__}, which has parameters of its own"
            )
        elif objective not in self.names:
            self._refuse_name("objective", objective, self.names)
        elif objective in ("auto", *self._with_options()):
            return
        else:
            kind = LIKELIHOODS[objective].__name__
            got = f"objective={objective!r}; pass objective={kind}(...) to set its parameters"
        if given:
            raise ValueError(
                f"{', '.join(self.options)} belong to objectives given by name, to "
                f"{', '.join(map(repr, self._with_options()))}, and would be ignored. "
                f"Got {', '.join(given)} and {got}."
            )

    def resolve(
        self,
        objective: Any,
        options: Mapping[str, Any] = MappingProxyType({}),
        *,
        levels: Any = None,
        n_jobs: int | None = None,
    ) -> Any:
        """Return the object that is meant.

        Parameters
        ----------
        objective : str or object
            What the user gave.
        options : mapping of str to object, default={}
            The parameters beside it; those that are left out have their defaults.
        levels : ndarray of shape (n_levels,), default=None
            All levels of the affinity, which ``"auto"`` looks at.
        n_jobs : int or None, default=None
            Threads of an objective that was named. An object has its own.

        Returns
        -------
        objective : object with ``value_and_gradient(scores, level, levels)``
        """
        self.check(objective, options)
        if not isinstance(objective, str):
            return objective
        if objective == "auto":
            objective = "ap" if np.count_nonzero(levels > 0) <= 1 else "ndcg"
        if objective in LIKELIHOODS:
            return LIKELIHOODS[objective](n_jobs=n_jobs)
        options = {**self.options, **options}
        if self.takes_zones and objective in PAIRWISE_OBJECTIVES:
            make: type = PAIRWISE_OBJECTIVES[objective]
        else:
            make = self._find_relaxation(objective, options.pop("relaxation", "auto"))
        chosen = {name: value for name, value in options.items() if not _is_auto(value)}
        return make(**chosen, n_jobs=n_jobs)

    def _find_relaxation(self, name, relaxation):
        relaxations = {how: kind for of, how, kind in _ranking() if of == name}
        if relaxation == "auto":
            best = [how for how, kind in relaxations.items() if kind.is_best_relaxation]
            relaxation = best[0] if best else min(relaxations)
        if relaxation not in relaxations:
            self._refuse_name("relaxation", relaxation, {"auto", *relaxations})
        return relaxations[relaxation]

    def _with_options(self):
        """Names that the options belong to."""
        names = {name for name, _, _ in _ranking()} if self.takes_ranking else set()
        return sorted(names | set(PAIRWISE_OBJECTIVES if self.takes_zones else ()))

    def _is_set(self, name, value):
        return value != self.options[name]

    def _refuse_name(self, parameter, given, accepted):
        options = ", ".join(repr(name) for name in sorted(accepted))
        also = ""
        if parameter == "objective":
            also = f" or an object with {SIGNATURE}{self.also}"
        raise InvalidParameterError(
            f"The {parameter!r} parameter of {self.owner} must be a str among {{{options}}}{also}. "
            f"Got {given!r} instead."
        )


def _ranking():
    return [(name, relaxation, kind) for (name, relaxation), kind in OBJECTIVES.items()]


def _is_auto(value):
    return isinstance(value, str) and value == "auto"
