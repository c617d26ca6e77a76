"""How good projections are on rows that were kept out of the training."""

from collections.abc import Callable

import numpy as np

from ..base import pack_signs
from ..histogram import retrieval_histogram
from ..measures import configure_measure
from ..objectives import CheckedObjective
from ._relevance import BatchRelevance

_ROWS_AT_A_TIME = 2048

Projections = Callable[[np.ndarray], np.ndarray]
"""The projections of the rows with the given numbers, by what has been learned so far."""


def validate_by_measure(
    measure: str,
    projections: Projections,
    relevance: BatchRelevance,
    train: np.ndarray,
    validation: np.ndarray,
) -> Callable[[], float]:
    """Return a callable: the mean measure of the validation rows retrieving the training rows."""
    configured = configure_measure(measure, zero_division=0.0)

    def validate() -> float:
        queries, database = projections(validation), projections(train)
        histogram = retrieval_histogram(
            pack_signs(queries),
            pack_signs(database),
            relevance.y[validation],
            relevance.y[train],
            affinity=relevance.affinity,
            n_bits=queries.shape[1],
        )
        values = histogram.measure(configured)
        return float(values.mean())

    return validate


def validate_by_objective(
    objective: CheckedObjective,
    projections: Projections,
    relevance: BatchRelevance,
    validation: np.ndarray,
) -> Callable[[], float]:
    """Return a callable: the mean objective of the validation rows among themselves."""
    blocks = np.array_split(validation, -(-len(validation) // _ROWS_AT_A_TIME))

    def validate() -> float:
        values = [objective(projections(rows), relevance.level_indices(rows))[0] for rows in blocks]
        return float(np.mean(values))

    return validate
