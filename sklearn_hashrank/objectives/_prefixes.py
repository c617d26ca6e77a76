"""The mean of an objective over the prefixes of codes."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from .._utils.parameters import is_int
from ._base import BaseObjective
from ._objective_checks import check_objective


class Prefixes(BaseObjective):
    """Mean of an objective over the first bits of the codes, for several numbers of first bits.

    Codes that are learned with it are good codes already in their first bits.

    Parameters
    ----------
    objective : object with ``value_and_gradient(scores, level, levels)``
        The objective of each prefix.
    prefixes : tuple of int
        Numbers of first bits, different ones. Include the number of all bits.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_hashrank.objectives import Prefixes, AveragePrecision
    >>> objective = Prefixes(AveragePrecision(), (1, 2))
    >>> scores = np.array([[1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
    >>> level = np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]], dtype=np.uint8)
    >>> levels = np.array([0.0, 1.0])
    >>> value, gradient = objective.value_and_gradient(scores, level, levels)
    >>> each = [
    ...     AveragePrecision().value_and_gradient(scores[:, :n].copy(), level, levels)[0]
    ...     for n in (1, 2)
    ... ]
    >>> bool(np.isclose(value, np.mean(each)))
    True
    """

    def __init__(self, objective: Any, prefixes: Sequence[int]):
        self.objective = objective
        self.prefixes = prefixes

    def value_and_gradient(
        self, scores: np.ndarray, level: np.ndarray, levels: np.ndarray
    ) -> tuple[float, np.ndarray]:
        """Evaluate the objective of each prefix, and return the mean.

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
        check_objective(self.objective)
        return self._mean(
            scores, lambda first: self.objective.value_and_gradient(first, level, levels)
        )

    def _mean(self, scores, evaluate):
        prefixes = check_prefixes(self.prefixes, scores.shape[1])
        total, gradient = 0.0, np.zeros_like(scores)
        for n in prefixes:
            value, of_first = evaluate(np.ascontiguousarray(scores[:, :n]))
            total += value / len(prefixes)
            gradient[:, :n] += of_first / scores.dtype.type(len(prefixes))
        return total, gradient

    def bind(self, affinity: Any, y: Any) -> Callable[..., tuple[float, np.ndarray]] | None:
        """Return the mean of the objective of rows, where it learns from these.

        Parameters
        ----------
        affinity : affinity object
            Fitted on the training rows.
        y : array-like with n_rows rows
            What it compares, of all training rows.

        Returns
        -------
        evaluate : callable ``(scores, rows) -> (value, gradient)`` or None
        """
        check_objective(self.objective)
        bind = getattr(self.objective, "bind", None)
        evaluate = None if bind is None else bind(affinity, y)
        if evaluate is None:
            return None
        return lambda scores, rows: self._mean(scores, lambda first: evaluate(first, rows))

    @property
    def learning_rates(self) -> Mapping[str, float]:  # type: ignore[override]
        """Those of the objective."""
        return getattr(self.objective, "learning_rates", {})

    @property
    def measure(self) -> str | None:  # type: ignore[override]
        """The measure of the objective, which early stopping takes of all bits."""
        return getattr(self.objective, "measure", None)

    def anneal(self, progress: float) -> None:
        """Let the objective change with the training.

        Parameters
        ----------
        progress : float
            Share of the training that is done, from 0 to 1.
        """
        if hasattr(self.objective, "anneal"):
            self.objective.anneal(progress)

    def check_affinity(self, affinity: Any, guessed: bool) -> None:
        """Raise a ValueError where the objective cannot learn from an affinity.

        Parameters
        ----------
        affinity : affinity object
            Fitted on the training rows.
        guessed : bool
            Whether it was chosen by the form of `y`, as ``affinity="auto"`` does.
        """
        if hasattr(self.objective, "check_affinity"):
            self.objective.check_affinity(affinity, guessed)

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
        gain = getattr(self.objective, "level_gain", None)
        return None if gain is None else gain(levels)


def check_prefixes(prefixes: Any, n_bits: int | None = None) -> tuple[int, ...]:
    """Return the numbers of first bits, ascending, or say what is wrong with them.

    Parameters
    ----------
    prefixes : sequence of int
        What the user gave.
    n_bits : int or None, default=None
        Length of the codes, if it is known already.

    Returns
    -------
    prefixes : tuple of int
    """
    numbers = list(prefixes) if isinstance(prefixes, (list, tuple, np.ndarray)) else None
    if (
        not numbers
        or not all(is_int(number, 1) for number in numbers)
        or len(set(numbers)) < len(numbers)
        or (n_bits is not None and max(numbers) > n_bits)
    ):
        accepted = "at least 1" if n_bits is None else f"from 1 to n_bits = {n_bits}"
        raise ValueError(
            f"prefixes must be distinct lengths of prefixes, {accepted}. Got {prefixes!r}."
        )
    return tuple(sorted(int(number) for number in numbers))
