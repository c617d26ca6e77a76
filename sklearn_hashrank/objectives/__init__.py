"""Objectives of learning, with gradients: functions of soft histograms, and sums over pairs."""

from .pairwise import DSH, CityBlock, Dispersed, Hierarchical, PairwiseObjective, SquaredEuclidean
from .ranking import (
    FLOOR,
    ArxivAP,
    ArxivNDCG,
    BatchObjective,
    CvprAP,
    CvprNDCG,
    ExactAP,
    ExactNDCG,
    Objective,
    SimplifiedAP,
    SimplifiedNDCG,
    SoftHistogram,
    Ties,
    TieValues,
)

OBJECTIVES: dict[tuple[str, str], type[Objective]] = {
    (objective.measure, objective.relaxation): objective
    for objective in (
        SimplifiedAP,
        ArxivAP,
        CvprAP,
        ExactAP,
        SimplifiedNDCG,
        ArxivNDCG,
        CvprNDCG,
        ExactNDCG,
    )
}
"""Every objective by measure and relaxation: one line here, and the tests find it."""

PAIRWISE_OBJECTIVES: dict[str, type[PairwiseObjective]] = {
    objective.name: objective for objective in (DSH, Dispersed, Hierarchical)
}
"""Every objective of pairs by name: one line here, and the tests find it."""

__all__ = [
    "FLOOR",
    "OBJECTIVES",
    "PAIRWISE_OBJECTIVES",
    "BatchObjective",
    "CityBlock",
    "Objective",
    "PairwiseObjective",
    "SoftHistogram",
    "SquaredEuclidean",
    "TieValues",
    "Ties",
]
