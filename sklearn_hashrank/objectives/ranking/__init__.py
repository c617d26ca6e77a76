"""Functions of soft histograms: relaxations of tie-aware AP and NDCG, mutual information."""

from ._average_precision import ArxivAP, CvprAP, ExactAP, SimplifiedAP
from ._base import Objective
from ._floor import FLOOR
from ._mutual_information import MutualInformation
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
    "MutualInformation",
    "Objective",
    "SimplifiedAP",
    "SimplifiedNDCG",
    "SoftHistogram",
    "SoftTies",
    "TieValues",
]
