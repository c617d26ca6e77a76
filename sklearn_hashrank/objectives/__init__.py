"""Objectives of learning: functions of the scores and relevance levels of a batch.

An objective is an object with ``value_and_gradient(scores, level, levels)``, to be maximised.
`scores` (M, n_bits) are the real projections of a batch of rows, `level` (M, M) unsigned indices
into `levels` (n_levels,), the ascending affinity levels. It returns a float and the gradient by the
scores. It leaves the pairs of a row with itself out.

Ranking objectives (`Objective`) see only soft histograms, pairwise objectives (`PairwiseObjective`)
the distances of pairs; `DPSH`, `HashNet` and `DTSH` are likelihoods of pairs and triplets. A new
one is a class and its line in ``__all__``; with its `name`, and `relaxation` if it is a ranking
objective, hashers and tests find it.
"""

from collections.abc import Iterator
from inspect import isabstract
from typing import TypeVar

from ._checked import CheckedObjective
from .pairwise import (
    DPSH,
    DSH,
    CityBlock,
    Dispersed,
    HashNet,
    Hierarchical,
    Nested,
    PairwiseObjective,
    SquaredEuclidean,
)
from .ranking import (
    FLOOR,
    ArxivAP,
    ArxivNDCG,
    CvprAP,
    CvprNDCG,
    ExactAP,
    ExactNDCG,
    MutualInformation,
    Objective,
    SimplifiedAP,
    SimplifiedNDCG,
    SoftHistogram,
    SoftTies,
    TieValues,
)
from .triplet import DTSH

__all__ = [
    "BEST_RELAXATION",
    "DPSH",
    "DSH",
    "DTSH",
    "FLOOR",
    "OBJECTIVES",
    "PAIRWISE_OBJECTIVES",
    "ArxivAP",
    "ArxivNDCG",
    "CheckedObjective",
    "CityBlock",
    "CvprAP",
    "CvprNDCG",
    "Dispersed",
    "ExactAP",
    "ExactNDCG",
    "HashNet",
    "Hierarchical",
    "MutualInformation",
    "Nested",
    "Objective",
    "PairwiseObjective",
    "SimplifiedAP",
    "SimplifiedNDCG",
    "SoftHistogram",
    "SoftTies",
    "SquaredEuclidean",
    "TieValues",
]

_Base = TypeVar("_Base")


def _public_subclasses(base: type[_Base]) -> Iterator[type[_Base]]:
    for name in __all__:
        thing = globals().get(name)
        if isinstance(thing, type) and issubclass(thing, base) and not isabstract(thing):
            yield thing


OBJECTIVES: dict[tuple[str, str], type[Objective]] = {
    (objective.name, objective.relaxation): objective
    for objective in _public_subclasses(Objective)  # type: ignore[type-abstract]
}
"""Ranking objectives by name and relaxation."""

BEST_RELAXATION = {"ap": "simplified", "ndcg": "exact", "mi": "exact"}
"""The relaxation that ``"auto"`` stands for; all of AP do equally well."""

PAIRWISE_OBJECTIVES: dict[str, type[PairwiseObjective]] = {
    objective.name: objective
    for objective in _public_subclasses(PairwiseObjective)  # type: ignore[type-abstract]
}
"""Pairwise objectives by name."""
