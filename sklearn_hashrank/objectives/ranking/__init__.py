"""Functions of soft histograms: relaxations of tie-aware AP and NDCG."""

from ._average_precision import ArxivAP, CvprAP, ExactAP, SimplifiedAP
from ._base import Objective
from ._floor import FLOOR
from ._ndcg import ArxivNDCG, CvprNDCG, ExactNDCG, SimplifiedNDCG
from ._soft_histogram import SoftHistogram
from ._ties import SoftTies, TieValues

__all__ = [
    "FLOOR",
    "ArxivAP",
    "ArxivNDCG",
    "CvprAP",
    "CvprNDCG",
    "ExactAP",
    "ExactNDCG",
    "Objective",
    "SimplifiedAP",
    "SimplifiedNDCG",
    "SoftHistogram",
    "SoftTies",
    "TieValues",
]
