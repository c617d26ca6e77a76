"""An objective as learners use it: what it needs is read, and what it returns is checked."""

import copy
import math
from collections.abc import Callable, Mapping
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils._param_validation import InvalidParameterError

from .._solvers.stochastic import SOLVERS
from .._utils.parameters import is_real
from ..metrics._registry import get_measure

SIGNATURE = "value_and_gradient(scores, level, levels)"


class CheckedObjective:
    """An objective of the package or of a user, with everything that it may declare.

    What :class:`BaseObjective` has, and the object has not, is as it is there. An object that
    anneals is copied, so that learning does not change it. What it declares is checked.
    The form of values and gradients is checked in every batch, that they are finite in the first.

    Parameters
    ----------
    objective : object with ``value_and_gradient(scores, level, levels)``
        Of the package or of a user.

    Attributes
    ----------
    objective : object
        The one that was given, or its copy.
    measure : str or None
        The measure that early stopping looks at.
    """

    def __init__(self, objective: Any):
        check_objective(objective)
        for name in ("anneal", "check_affinity", "level_gain", "of_rows"):
            declared = getattr(objective, name, None)
            if not (declared is None or callable(declared)):
                self._refuse_declared(objective, name, "a method", declared)
        anneals = callable(getattr(objective, "anneal", None))
        self.objective = copy.deepcopy(objective) if anneals else objective
        self._anneals = anneals
        self.measure = getattr(objective, "measure", None)
        if self.measure is not None and not _validates(self.measure):
            wanted = "None or the name of a measure that needs no codes"
            self._refuse_declared(objective, "measure", wanted, self.measure)
        self._rates = getattr(objective, "learning_rates", {})
        if not isinstance(self._rates, Mapping) or not set(self._rates) <= set(SOLVERS):
            wanted = f"a mapping of solvers, among {', '.join(map(repr, SOLVERS))}, to rates"
            self._refuse_declared(objective, "learning_rates", wanted, self._rates)
        for solver, rate in self._rates.items():
            if not is_real(rate) or not 0 < rate < math.inf:
                name, wanted = f"learning_rates[{solver!r}]", "a finite float above 0"
                self._refuse_declared(objective, name, wanted, rate)
        self._levels = np.empty(0)
        self._is_checked = False
        self._called = "value_and_gradient"

    def anneal(self, progress: float) -> None:
        """Tell the objective how much of the training is done.

        Parameters
        ----------
        progress : float
            From 0 to 1.
        """
        if self._anneals:
            self.objective.anneal(progress)

    def at_end(self) -> "CheckedObjective":
        """Return the objective as it is at the end of the training; this one stays as it is.

        Returns
        -------
        objective : CheckedObjective
            This one, where it does not anneal.
        """
        if not self._anneals:
            return self
        at_end = CheckedObjective(self.objective)
        at_end.anneal(1.0)
        return at_end

    def check_affinity(self, affinity: Any, guessed: bool) -> None:
        """Raise a ValueError where the objective cannot learn from an affinity.

        Parameters
        ----------
        affinity : affinity object
            Fitted on the training rows.
        guessed : bool
            Whether it was chosen by the form of `y`.
        """
        check = getattr(self.objective, "check_affinity", None)
        if check is not None:
            check(affinity, guessed)

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
        rate = self._rates.get(solver)
        return None if rate is None else float(rate)

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
        declared = getattr(self.objective, "level_gain", None)
        gain = None if declared is None else declared(np.asarray(levels, dtype=np.float64))
        if gain is None:
            return None
        gain = np.asarray(gain)
        is_gain = gain.shape == np.shape(levels) and gain.dtype.kind in "biuf"
        if not is_gain or not np.isfinite(gain).all():
            wanted = f"{len(levels)} finite numbers, one for each level"
            self._refuse_declared(self.objective, "level_gain(levels)", wanted, gain)
        return gain

    def __call__(
        self, scores: np.ndarray, level: np.ndarray, levels: ArrayLike
    ) -> tuple[float, np.ndarray]:
        """Return value and gradient of a batch.

        Parameters
        ----------
        scores : ndarray of shape (M, n_bits)
            The real projections.
        level : ndarray of shape (M, M), unsigned
            Index of the level of every pair.
        levels : array-like of shape (n_levels,)
            The ascending affinity levels. The objective gets a copy that it cannot change.

        Returns
        -------
        value : float
        gradient : ndarray of shape (M, n_bits)
            In the precision of the scores.
        """
        if not np.array_equal(levels, self._levels):
            self._levels = np.array(levels, dtype=np.float64)
            self._levels.setflags(write=False)
        _check_scores(scores, level)
        return self._checked(self.objective.value_and_gradient(scores, level, self._levels), scores)

    def of_rows(
        self, affinity: Any, y: Any
    ) -> Callable[[np.ndarray, np.ndarray], tuple[float, np.ndarray]] | None:
        """Return the objective of rows by their numbers; None where it learns from levels of pairs.

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
        declared = getattr(self.objective, "of_rows", None)
        evaluate = None if declared is None else declared(affinity, y)
        if evaluate is None:
            return None
        if not callable(evaluate):
            self._refuse_declared(self.objective, "of_rows(affinity, y)", "callable", evaluate)

        def checked(scores: np.ndarray, rows: np.ndarray) -> tuple[float, np.ndarray]:
            _check_scores(scores, rows)
            self._called = "of_rows(affinity, y)(scores, rows)"
            return self._checked(evaluate(scores, rows), scores)

        return checked

    def _checked(self, result: Any, scores: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = self._check_form(result, scores)
        if not self._is_checked:
            if not math.isfinite(value):
                self._refuse(f"a value of {float(value)}", scores)
            if not np.isfinite(gradient).all():
                self._refuse("a gradient that holds NaN or infinity", scores)
            self._is_checked = True
        return float(value), gradient.astype(scores.dtype, copy=False)

    def _check_form(self, result, scores):
        if not isinstance(result, (tuple, list)) or len(result) != 2:
            what = type(result).__name__
            length = f" of length {len(result)}" if isinstance(result, (tuple, list)) else ""
            self._refuse(f"an object of type {what}{length}", scores)
        value, gradient = result
        if isinstance(value, np.ndarray) and value.ndim == 0:
            value = value[()]
        if not isinstance(value, Real):
            shape = f" of shape {value.shape}" if isinstance(value, np.ndarray) else ""
            self._refuse(f"a value of type {type(value).__name__}{shape}", scores)
        gradient = np.asarray(gradient)
        if gradient.shape != scores.shape:
            self._refuse(f"a gradient of shape {gradient.shape}", scores)
        if gradient.dtype.kind not in "iuf":
            self._refuse(f"a gradient of dtype {gradient.dtype}", scores)
        return value, gradient

    def _refuse(self, what, scores):
        raise ValueError(
            f"{type(self.objective).__name__}.{self._called} must return a finite float and a "
            f"finite array like scores, here of shape {scores.shape}. Got {what} instead."
        )

    @staticmethod
    def _refuse_declared(objective, name, wanted, got):
        raise ValueError(f"{type(objective).__name__}.{name} must be {wanted}. Got {got!r}.")


def _validates(measure):
    """Whether early stopping can look at a measure: by its name, of the counts of a histogram."""
    if not isinstance(measure, str):
        return False
    try:
        return not get_measure(measure).needs_codes
    except ValueError:
        return False


def _check_scores(scores, level):
    """Refuse scores of a user's model that no gradient can be taken by, or of other rows."""
    is_array = isinstance(scores, np.ndarray) and scores.dtype.name in ("float32", "float64")
    if not is_array or scores.ndim != 2 or len(scores) != len(level):
        what = f"an object of type {type(scores).__name__}"
        if isinstance(scores, np.ndarray):
            what = f"{scores.dtype} of shape {scores.shape}"
        raise ValueError(
            f"scores must be an array of float32 or float64 of shape ({len(level)}, n_bits), a row "
            f"for each row of the batch. Got {what}."
        )


def check_objective(objective: Any) -> None:
    """Raise an error where an object is no objective, or has parameters that are not valid.

    Parameters
    ----------
    objective : object
        What a user gives.
    """
    if isinstance(objective, type):
        raise TypeError(
            f"objective must be an object with {SIGNATURE}. "
            f"Got the class {objective.__name__}; pass {objective.__name__}(...)."
        )
    if not callable(getattr(objective, "value_and_gradient", None)):
        raise InvalidParameterError(
            f"objective must be a name or an object with {SIGNATURE}. Got {objective!r} instead."
        )
    if hasattr(objective, "_parameter_constraints"):
        objective._validate_params()
