"""What any objective must be, and what it must return, whoever wrote it."""

import math
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike


class CheckedObjective:
    """An objective over the levels of a fit, whose results are checked.

    Values and gradients are checked in the first batch, the shape of the gradient in every batch.

    Parameters
    ----------
    objective : object with ``value_and_gradient(scores, level, levels)``
        Of the package or of a user.
    levels : array-like of shape (n_levels,)
        The ascending affinity levels.
    """

    def __init__(self, objective: Any, levels: ArrayLike):
        if isinstance(objective, type):
            raise TypeError(
                "objective must be an object with value_and_gradient(scores, level, levels). "
                f"Got the class {objective.__name__}; pass {objective.__name__}(...)."
            )
        if hasattr(objective, "_parameter_constraints"):
            objective._validate_params()
        self.objective = objective
        self._levels = np.array(levels, dtype=np.float64)
        self._levels.setflags(write=False)
        self._is_checked = False

    def __call__(self, scores: np.ndarray, level: np.ndarray) -> tuple[float, np.ndarray]:
        """Return value and gradient of a batch.

        Parameters
        ----------
        scores : ndarray of shape (M, n_bits)
            The real projections.
        level : ndarray of shape (M, M), unsigned
            Index of the level of every pair.

        Returns
        -------
        value : float
        gradient : ndarray of shape (M, n_bits)
            In the precision of the scores.
        """
        result = self.objective.value_and_gradient(scores, level, self._levels)
        if not self._is_checked:
            self._check(result, scores)
            self._is_checked = True
        value, gradient = result
        gradient = np.asarray(gradient, dtype=scores.dtype)
        if gradient.shape != scores.shape:
            self._refuse(f"a gradient of shape {gradient.shape}", scores)
        return float(value), gradient

    def _check(self, result, scores):
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
        if not math.isfinite(value):
            self._refuse(f"a value of {float(value)}", scores)
        gradient = np.asarray(gradient)
        if gradient.shape != scores.shape:
            self._refuse(f"a gradient of shape {gradient.shape}", scores)
        if gradient.dtype.kind not in "iuf":
            self._refuse(f"a gradient of dtype {gradient.dtype}", scores)
        if not np.isfinite(gradient).all():
            self._refuse("a gradient that holds NaN or infinity", scores)

    def _refuse(self, what, scores):
        raise ValueError(
            f"{type(self.objective).__name__}.value_and_gradient must return a finite float and a "
            f"finite array like scores, here of shape {scores.shape}. Got {what} instead."
        )
