"""Rows kept for validation, and what they say of the projections."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..base import pack_signs
from ..metrics._configured import configure_measure
from ..metrics._counting import retrieval_histogram

_ROWS_TO_VALIDATE = 2048  # at a time

Projections = Callable[[np.ndarray], np.ndarray]
"""The projections of the rows with the given numbers, by what has been learned so far."""


def split_for_validation(
    rows: np.ndarray, fraction: float, random_state: np.random.RandomState
) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of the rows to train on, and of a random fraction of them to validate on.

    Parameters
    ----------
    rows : ndarray of shape (n_rows,)
        Numbers of the rows.
    fraction : float
        Of the rows to validate on.
    random_state : RandomState instance
        Samples the validation rows.

    Returns
    -------
    train, validation : ndarray
    """
    n = len(rows)
    n_validation = round(fraction * n)
    if not 2 <= n_validation <= n - 2:
        raise ValueError(
            f"validation_fraction={fraction} of n_samples = {n} leaves "
            f"{n_validation} rows for validation and {n - n_validation} for training. "
            "At least two of each are needed."
        )
    order = random_state.permutation(rows)
    return order[n_validation:], order[:n_validation]


def validation_of(
    objective: Any,
    projections: Projections,
    relevance: Any,
    train: np.ndarray,
    validation: np.ndarray,
) -> Callable[[], float]:
    """Return a callable that says how good the projections are, by rows kept for validation.

    Where the objective names a tie-aware measure, that is the mean measure of these rows as queries
    for the training rows; otherwise it is the mean objective of the rows among themselves, always
    that of the end of the training, so that passes can be compared where the objective anneals.

    Parameters
    ----------
    objective : ObjectiveOfRows
        What is learned from.
    projections : callable ``(numbers of rows) -> ndarray of shape (n_rows, n_bits)``
        By what has been learned so far.
    relevance : Relevance
        Of the training rows.
    train, validation : ndarray of shape (n_rows,)
        Numbers of rows.

    Returns
    -------
    validate : callable ``() -> float``
    """
    if objective.measure is not None:
        return _validate_by_measure(objective.measure, projections, relevance, train, validation)
    blocks = np.array_split(validation, -(-len(validation) // _ROWS_TO_VALIDATE))
    at_end = objective.at_end()

    def validate() -> float:
        return float(np.mean([at_end.value(projections(rows), rows) for rows in blocks]))

    return validate


def _validate_by_measure(
    measure: str,
    projections: Projections,
    relevance: Any,
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
            affinity=relevance.affinity.without_database(),
            n_bits=queries.shape[1],
        )
        values = histogram.measure(configured)
        return float(values.mean())

    return validate
