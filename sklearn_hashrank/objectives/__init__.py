"""Objectives of learning: smooth functions of soft histograms, with their gradients."""

from sklearn_hashrank.objectives._average_precision import ArxivAP, CvprAP, ExactAP, SimplifiedAP
from sklearn_hashrank.objectives._base import Objective, Ties, TieValues
from sklearn_hashrank.objectives._batch import BatchObjective
from sklearn_hashrank.objectives._floor import FLOOR
from sklearn_hashrank.objectives._ndcg import ArxivNDCG, CvprNDCG, ExactNDCG, SimplifiedNDCG
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

__all__ = [
    "FLOOR",
    "OBJECTIVES",
    "BatchObjective",
    "Objective",
    "SoftHistogram",
    "TieValues",
    "Ties",
]
