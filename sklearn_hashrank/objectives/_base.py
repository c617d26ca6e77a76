"""What an objective may say of itself beside its value: rates, affinities, annealing, a measure."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from .._utils.documentation import HasPage


class BaseObjective(HasPage, BaseEstimator, ABC):
    """Base class of objectives: the one method they must have, and what else they may declare.

    Hashers, networks and losses learn from any object with :meth:`value_and_gradient`. Everything
    else here is optional, for objects of other classes as well: a learner looks whether the object
    has it, and otherwise does what this class does. A method ``level_gain(levels)``, as ranking
    objectives have, lets the size of minibatches depend on how much of the gain few items hold.

    Attributes
    ----------
    learning_rates : mapping of str to float
        The learning rate that ``learning_rate="auto"`` of linear hashers stands for, by the name of
        the solver. Solvers that are left out have the rates of the hasher. Networks have their own.
    measure : str or None
        The measure that early stopping looks at: "ap", "ndcg" or another registered one that needs
        no codes. None: the objective itself, as it is at the end of the training.

    Examples
    --------
    The variance of the scores, which needs no relevance at all, and shorter steps of ``"sgd"``:

    >>> import numpy as np
    >>> from sklearn_hashrank.objectives import BaseObjective
    >>> class Variance(BaseObjective):
    ...     learning_rates = {"sgd": 0.1}
    ...
    ...     def value_and_gradient(self, scores, level, levels):
    ...         centered = scores - scores.mean(axis=0)
    ...         return float(np.mean(centered**2)), 2 * centered / centered.size
    >>> value, gradient = Variance().value_and_gradient(np.array([[1.0], [-1.0]]), None, None)
    >>> value
    1.0
    """

    learning_rates: Mapping[str, float] = {}
    measure: str | None = None

    @abstractmethod
    def value_and_gradient(
        self, scores: np.ndarray, level: np.ndarray, levels: np.ndarray
    ) -> tuple[float, np.ndarray]:
        """Evaluate the objective of a batch and its gradient.

        Parameters
        ----------
        scores : ndarray of shape (M, n_bits)
            The real projections, float32 or float64.
        level : ndarray of shape (M, M), unsigned
            Index into `levels` for query q (row) and item i (column). The diagonal is ignored.
        levels : ndarray of shape (n_levels,)
            The affinity levels, ascending from 0. Relevant means level > 0.

        Returns
        -------
        value : float
            To be maximized.
        gradient : ndarray of shape (M, n_bits)
            Its derivative by the scores.
        """

    def anneal(self, progress: float) -> None:
        """Change with the training: called before every step of `fit`, on a copy of the objective.

        Parameters
        ----------
        progress : float
            Share of the training that is done, from 0 to 1.
        """

    def check_affinity(self, affinity: Any, guessed: bool) -> None:
        """Raise a ValueError where the objective cannot learn from an affinity.

        Parameters
        ----------
        affinity : affinity object
            Fitted on the training rows.
        guessed : bool
            Whether it was chosen by the form of `y`, as ``affinity="auto"`` does.
        """

    def bind(self, affinity: Any, y: Any) -> Callable[..., tuple[float, np.ndarray]] | None:
        """Look at the relevance of all training rows, before learning starts.

        An objective to which levels of pairs do not say enough returns a function of rows. Called
        on a copy of the objective if it has a method `anneal`.

        Parameters
        ----------
        affinity : affinity object
            Fitted on the training rows.
        y : array-like with n_rows rows
            What it compares, of all training rows.

        Returns
        -------
        evaluate : callable ``(scores, rows) -> (value, gradient)`` or None
            Takes the scores of a batch (M, n_bits) and the numbers of its rows (M,), in place of
            :meth:`value_and_gradient`, and is called with each batch. None: levels of pairs do.
        """
        return None
