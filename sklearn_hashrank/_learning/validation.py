"""Rows kept for validation, and how good the model is on them."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..codes._formats import pack_signs
from ..metrics._configured import configure_measure
from ..metrics._counting import retrieval_histogram

_ROWS_TO_VALIDATE = 2048  # at a time: an objective compares all pairs of them

Projections = Callable[[np.ndarray], np.ndarray]
"""The projections of the rows with the given numbers, by what has been learned so far."""


def split_for_validation(
    rows: np.ndarray, fraction: float, random_state: np.random.RandomState
) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows to train on, and a random fraction of them to validate on."""
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
    objective: Any, relevance: Any, train: np.ndarray, validation: np.ndarray
) -> Callable[[Projections], float]:
    """Return a function that says how good projections are, by rows kept for validation.

    If the objective names a tie-aware measure, that is the mean measure of these rows as queries
    for the training rows. Otherwise it is the mean objective of the rows among themselves, always
    the objective of the end of the training, so that passes of one that anneals can be compared.
    """
    if objective.measure is not None:
        measure = configure_measure(objective.measure, zero_division=0.0)
    else:
        at_end = objective.at_end()
        blocks = np.array_split(validation, -(-len(validation) // _ROWS_TO_VALIDATE))

    def validate(projections: Projections) -> float:
        if objective.measure is None:
            value = float(np.mean([at_end.value(projections(rows), rows) for rows in blocks]))
        else:
            queries = projections(validation)
            histogram = retrieval_histogram(
                pack_signs(queries),
                pack_signs(projections(train)),
                relevance.y[validation],
                relevance.y[train],
                affinity=relevance.affinity.without_database(),
                n_bits=queries.shape[1],
            )
            value = float(histogram.measure(measure).mean())
        if not np.isfinite(value):
            raise ValueError(
                f"validation must give a finite float. Got {value} instead. If learning diverged, "
                "lower learning_rate."
            )
        return value

    return validate
