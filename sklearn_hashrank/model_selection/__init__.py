"""Splits into training rows, queries and database, and cross-validation of retrieval."""

from ._chosen_split import choose_retrieval_split
from ._folds import RetrievalKFold
from ._splits import PerClassRetrievalSplit, RandomRetrievalSplit, RetrievalSplit
from ._unseen import UnseenClassesSplit
from ._validation import cross_validate_retrieval

__all__ = [
    "PerClassRetrievalSplit",
    "RandomRetrievalSplit",
    "RetrievalKFold",
    "RetrievalSplit",
    "UnseenClassesSplit",
    "choose_retrieval_split",
    "cross_validate_retrieval",
]
