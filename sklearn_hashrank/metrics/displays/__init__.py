"""Displays: pictures of one retrieval run or of several, in scikit-learn's manner."""

from ._bits_display import BitsCurveDisplay
from ._curve_displays import PrecisionRecallDisplay, RecallAtKDisplay
from ._drawing import COLORS
from ._drawing import style as style_of
from ._grid_display import RetrievalGridDisplay, RetrievedItems
from ._tie_range_display import TieRangeDisplay
from ._training_display import TrainingCurveDisplay
from ._usage_display import CodeUsageDisplay

__all__ = [
    "COLORS",
    "BitsCurveDisplay",
    "CodeUsageDisplay",
    "PrecisionRecallDisplay",
    "RecallAtKDisplay",
    "RetrievalGridDisplay",
    "RetrievedItems",
    "TieRangeDisplay",
    "TrainingCurveDisplay",
    "style_of",
]
