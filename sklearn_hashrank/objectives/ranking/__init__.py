"""Functions of soft histograms: relaxations of tie-aware AP and NDCG."""

from ._average_precision import ArxivAP, CvprAP, ExactAP, SimplifiedAP
from ._base import Objective, Ties, TieValues
from ._batch import BatchObjective
from ._floor import FLOOR
from ._ndcg import ArxivNDCG, CvprNDCG, ExactNDCG, SimplifiedNDCG
from ._soft_histogram import SoftHistogram

__all__ = [
    "FLOOR",
    "ArxivAP",
    "ArxivNDCG",
    "BatchObjective",
    "CvprAP",
    "CvprNDCG",
    "ExactAP",
    "ExactNDCG",
    "Objective",
    "SimplifiedAP",
    "SimplifiedNDCG",
    "SoftHistogram",
    "TieValues",
    "Ties",
]
