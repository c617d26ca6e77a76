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

    A method that the object does not have is that of :class:`BaseObjective`. An object that anneals
    is copied, so learning does not change it. The form of values and gradients is checked in every
    batch, and that they are finite in the first.
    """

    def __init__(self, objective: Any):
        check_objective(objective)
        for name in ("anneal", "bind", "check_affinity", "level_gain"):
            declared = getattr(objective, name, None)
            if not (declared is None or callable(declared)):
                _refuse_declared(objective, name, "a method", declared)
        self._anneals = callable(getattr(objective, "anneal", None))
        self.objective = copy.deepcopy(objective) if self._anneals else objective
        self.measure = getattr(objective, "measure", None)
        if self.measure is not None and not _validates(self.measure):
            wanted = "None or the name of a measure that needs no codes"
            _refuse_declared(objective, "measure", wanted, self.measure)
        self.learning_rates = getattr(objective, "learning_rates", {})
        if not isinstance(self.learning_rates, Mapping) or not set(self.learning_rates) <= set(
            SOLVERS
        ):
            wanted = f"a mapping of solvers, among {', '.join(map(repr, SOLVERS))}, to rates"
            _refuse_declared(objective, "learning_rates", wanted, self.learning_rates)
        for solver, rate in self.learning_rates.items():
            if not is_real(rate) or not 0 < rate < math.inf:
                name, wanted = f"learning_rates[{solver!r}]", "a finite float above 0"
                _refuse_declared(objective, name, wanted, rate)
        self._levels = np.empty(0)
        self._is_checked = False
        self._relevance: Any = None
        self._of_rows: Callable[..., Any] | None = None

    def anneal(self, progress: float) -> None:
        """Tell the objective how much of the training is done, from 0 to 1."""
        if self._anneals:
            self.objective.anneal(progress)

    def at_end(self) -> "CheckedObjective":
        """Return the objective as it is at the end of the training; this one stays as it is."""
        if not self._anneals:
            return self
        at_end = type(self)(self.objective)
        at_end.anneal(1.0)
        if self._relevance is not None:
            at_end.bind(self._relevance)
        return at_end

    def check_affinity(self, affinity: Any, guessed: bool) -> None:
        check = getattr(self.objective, "check_affinity", None)
        if check is not None:
            check(affinity, guessed)

    def level_gain(self, levels: np.ndarray) -> np.ndarray | None:
        """Return what an item of each level gains; None if the objective does not say so."""
        declared = getattr(self.objective, "level_gain", None)
        gain = None if declared is None else declared(np.asarray(levels, dtype=np.float64))
        if gain is None:
            return None
        gain = np.asarray(gain)
        is_gain = gain.shape == np.shape(levels) and gain.dtype.kind in "biuf"
        if not is_gain or not np.isfinite(gain).all():
            wanted = f"{len(levels)} finite numbers, one for each level"
            _refuse_declared(self.objective, "level_gain(levels)", wanted, gain)
        return gain

    def bind(self, relevance: Any) -> None:
        """Learn from the rows of a fit from here on; :meth:`of` then evaluates batches of them."""
        self._relevance, self._of_rows = relevance, None
        bind = getattr(self.objective, "bind", None)
        evaluate = None if bind is None else bind(relevance.affinity, relevance.y)
        if not (evaluate is None or callable(evaluate)):
            _refuse_declared(self.objective, "bind(affinity, y)", "callable", evaluate)
        self._of_rows = evaluate

    @property
    def needs_all_rows(self) -> bool:
        """Whether it learns from the rows themselves, and has to know all of them."""
        return self._of_rows is not None

    def value(self, scores: np.ndarray, rows: np.ndarray) -> float:
        return CheckedObjective.of(self, rows)(scores)[0]

    def of(self, rows: np.ndarray) -> Callable[[Any], Any]:
        """Return the objective of some rows, given by their numbers, as a function of scores."""
        of_rows = self._of_rows
        if of_rows is None:
            relevance = self._relevance
            return lambda scores: self(scores, relevance.level_indices(rows), relevance.levels)

        def evaluate(scores):
            _check_scores(scores, rows)
            called = "bind(affinity, y)(scores, rows)"
            return self._checked(of_rows(scores, rows), scores, called)

        return evaluate

    def __call__(
        self, scores: np.ndarray, level: np.ndarray, levels: ArrayLike
    ) -> tuple[float, np.ndarray]:
        """Return value and gradient of a batch, the gradient in the precision of the scores.

        The objective gets a copy of the levels that it cannot change.
        """
        if not np.array_equal(levels, self._levels):
            self._levels = np.array(levels, dtype=np.float64)
            self._levels.setflags(write=False)
        _check_scores(scores, level)
        result = self.objective.value_and_gradient(scores, level, self._levels)
        return self._checked(result, scores, "value_and_gradient")

    def _checked(self, result, scores, called):
        def refuse(what):
            raise ValueError(
                f"{type(self.objective).__name__}.{called} must return a finite float and a "
                f"finite array like scores, here of shape {scores.shape}. Got {what} instead."
            )

        if not isinstance(result, (tuple, list)) or len(result) != 2:
            length = f" of length {len(result)}" if isinstance(result, (tuple, list)) else ""
            refuse(f"an object of type {type(result).__name__}{length}")
        value, gradient = result
        if isinstance(value, np.ndarray) and value.ndim == 0:
            value = value[()]
        if not isinstance(value, Real):
            shape = f" of shape {value.shape}" if isinstance(value, np.ndarray) else ""
            refuse(f"a value of type {type(value).__name__}{shape}")
        gradient = np.asarray(gradient)
        if gradient.shape != scores.shape:
            refuse(f"a gradient of shape {gradient.shape}")
        if gradient.dtype.kind not in "iuf":
            refuse(f"a gradient of dtype {gradient.dtype}")
        if not self._is_checked:
            if not math.isfinite(value):
                refuse(f"a value of {float(value)}")
            if not np.isfinite(gradient).all():
                refuse("a gradient that holds NaN or infinity")
            self._is_checked = True
        return float(value), gradient.astype(scores.dtype, copy=False)


def _refuse_declared(objective, name, wanted, got):
    raise ValueError(f"{type(objective).__name__}.{name} must be {wanted}. Got {got!r}.")


def _validates(measure):
    """Whether early stopping can use a measure: by its name, of the counts of a histogram."""
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
    """Raise an error if an object is not an objective, or has parameters that are not valid."""
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
