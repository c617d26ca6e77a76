"""Objectives of learning, with gradients: functions of soft histograms, and sums over pairs."""

from sklearn_hashrank.objectives._average_precision import ArxivAP, CvprAP, ExactAP, SimplifiedAP
from sklearn_hashrank.objectives._base import Objective, Ties, TieValues
from sklearn_hashrank.objectives._batch import BatchObjective
from sklearn_hashrank.objectives._floor import FLOOR
from sklearn_hashrank.objectives._ndcg import ArxivNDCG, CvprNDCG, ExactNDCG, SimplifiedNDCG
from sklearn_hashrank.objectives._pairwise import (
    DSH,
    CityBlock,
    Dispersed,
    Hierarchical,
    PairwiseObjective,
    SquaredEuclidean,
)
from sklearn_hashrank.objectives._soft_histogram import SoftHistogram

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
