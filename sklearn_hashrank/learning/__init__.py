"""Training over minibatches, for hashers of any kind of model.

``_trainer``
    Passes over batches, early stopping and reports, composed of callables; and `LinearLearner`, the
    model of linear hashers.
``_relevance``
    What the rows of a batch are to each other, what size batches have and how they are made, and
    how rows kept for validation are judged.
``_neighborhoods``
    The same where nearest rows are relevant.
"""

from ._neighborhoods import NeighborRelevance
from ._relevance import (
    BatchRelevance,
    check_two_rows,
    choose_batch_size,
    learned_relevance,
    make_batches,
    split_for_validation,
    takes_groups,
    validation_of,
)
from ._trainer import EarlyStopping, History, LinearLearner, Report, Trainer

__all__ = [
    "BatchRelevance",
    "EarlyStopping",
    "History",
    "LinearLearner",
    "NeighborRelevance",
    "Report",
    "Trainer",
    "check_two_rows",
    "choose_batch_size",
    "learned_relevance",
    "make_batches",
    "split_for_validation",
    "takes_groups",
    "validation_of",
]
