"""Displays: pictures of one retrieval run or of several, in scikit-learn's manner."""

from ._bits import BitsCurveDisplay
from ._curves import PrecisionRecallDisplay, RecallAtKDisplay
from ._tie_range import TieRangeDisplay
from ._usage import CodeUsageDisplay

__all__ = [
    "BitsCurveDisplay",
    "CodeUsageDisplay",
    "PrecisionRecallDisplay",
    "RecallAtKDisplay",
    "TieRangeDisplay",
]
