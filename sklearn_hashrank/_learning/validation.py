"""Rows kept for validation, and how good the model is on them."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ..codes._formats import pack_signs
from ..metrics._configured import configure_measure
from ..metrics._counting import retrieval_histogram

_ROWS_TO_VALIDATE = 2048  # at a time: an objective compares all pairs of them
_ROWS_TO_REPORT = 1000  # a measure of so many rows among themselves takes a tenth of a second

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
    if objective.measure is None:
        at_end = objective.at_end()
        blocks = np.array_split(validation, -(-len(validation) // _ROWS_TO_VALIDATE))

    def validate(projections: Projections) -> float:
        if objective.measure is None:
            value = float(np.mean([at_end.value(projections(rows), rows) for rows in blocks]))
        else:
            value = _measure(objective.measure, relevance, projections, validation, train)
        if not np.isfinite(value):
            raise ValueError(
                f"validation must give a finite float. Got {value} instead. If learning diverged, "
                "lower learning_rate."
            )
        return value

    return validate


def report_of(
    objective: Any, relevance: Any, train: np.ndarray
) -> tuple[str, Callable[[Projections], float]]:
    """Return what a line of progress says of training rows, and a function that computes it.

    It is the measure that the objective names, or average precision, of some of the training rows
    retrieved among themselves. They are sampled by a seed of their own: a report changes no result.
    """
    rows = train[np.random.RandomState(0).permutation(len(train))[:_ROWS_TO_REPORT]]
    name = objective.measure or "ap"
    return f"{name} of {len(rows)} training rows", partial(
        _measure, name, relevance, queries=rows, database=None
    )


def _measure(name, relevance, projections, queries, database):
    """Mean measure of rows as queries for others, or for themselves where there are none."""
    scores = projections(queries)
    among_themselves = database is None
    histogram = retrieval_histogram(
        pack_signs(scores),
        pack_signs(scores if among_themselves else projections(database)),
        relevance.y[queries],
        relevance.y[queries if among_themselves else database],
        affinity=relevance.affinity.without_database(),
        n_bits=scores.shape[1],
        exclude_self=among_themselves,
    )
    return float(histogram.measure(configure_measure(name, zero_division=0.0)).mean())
