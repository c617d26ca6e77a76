"""An objective on the rows of a fit: from the numbers of a batch to a function of its scores."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..objectives._objective_checks import CheckedObjective


class ObjectiveOfRows:
    """An objective together with the relevance of the training rows.

    Parameters
    ----------
    objective : object with ``value_and_gradient(scores, level, levels)``
        What is maximised. One that anneals is copied.
    relevance : Relevance
        Of the training rows.

    Attributes
    ----------
    measure : str or None
        The measure that early stopping looks at.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_hashrank import LabelAffinity
    >>> from sklearn_hashrank._learning.objective_of_rows import ObjectiveOfRows
    >>> from sklearn_hashrank._learning.pair_relevance import PairRelevance
    >>> from sklearn_hashrank.objectives import DSH
    >>> y = np.array([0, 0, 1])
    >>> objective = ObjectiveOfRows(DSH(), PairRelevance(LabelAffinity().fit(y), y))
    >>> value, gradient = objective.of(np.array([0, 1]))(np.array([[1.0, 1.0], [1.0, -1.0]]))
    >>> value  # a pair at the squared distance 4, half of which counts
    -2.0
    """

    def __init__(self, objective: Any, relevance: Any):
        if not isinstance(objective, CheckedObjective):
            objective = CheckedObjective(objective)
        self._objective, self._relevance = objective, relevance
        self._by_rows = objective.of_rows(relevance.affinity, relevance.y)
        self.measure = objective.measure

    @property
    def needs_all_rows(self) -> bool:
        """Whether it learns from the rows themselves, and has to know all of them."""
        return self._by_rows is not None

    def anneal(self, progress: float) -> None:
        """Tell the objective how much of the training is done.

        Parameters
        ----------
        progress : float
            From 0 to 1.
        """
        self._objective.anneal(progress)

    def at_end(self) -> "ObjectiveOfRows":
        """Return the objective as it is at the end of the training, by which rows are validated.

        Returns
        -------
        objective : ObjectiveOfRows
        """
        return ObjectiveOfRows(self._objective.at_end(), self._relevance)

    def learning_rate(self, solver: str) -> float | None:
        """Return the rate that the objective declares for a solver; None where it does not.

        Parameters
        ----------
        solver : str
            Its name.

        Returns
        -------
        learning_rate : float or None
        """
        return self._objective.learning_rate(solver)

    def level_gain(self, levels: np.ndarray) -> np.ndarray | None:
        """Return what an item of each level gains; None where the objective does not say so.

        Parameters
        ----------
        levels : ndarray of shape (n_levels,)
            The ascending affinity levels.

        Returns
        -------
        gain : ndarray of shape (n_levels,) or None
        """
        return self._objective.level_gain(levels)

    def of(self, rows: np.ndarray) -> Callable[[Any], Any]:
        """Return the objective of some rows as a function of their scores.

        Parameters
        ----------
        rows : ndarray of shape (M,)
            Numbers of the rows.

        Returns
        -------
        evaluate : callable ``(scores) -> (value, gradient)``
        """

        def evaluate(scores: np.ndarray) -> tuple[float, np.ndarray]:
            if self._by_rows is not None:
                return self._by_rows(scores, rows)
            level = self._relevance.level_indices(rows)
            return self._objective(scores, level, self._relevance.levels)

        return evaluate

    def value(self, scores: np.ndarray, rows: np.ndarray) -> float:
        """Return the value for scores of some rows.

        Parameters
        ----------
        scores : ndarray of shape (M, n_bits)
            Their projections.
        rows : ndarray of shape (M,)
            Numbers of the rows.

        Returns
        -------
        value : float
        """
        return self.of(rows)(scores)[0]
