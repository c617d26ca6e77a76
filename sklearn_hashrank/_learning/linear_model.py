"""The weights of a linear hasher, and how a step moves them."""

from collections.abc import Callable
from typing import Any

import numpy as np

from .._features.moments import Moments
from .._features.space import FeatureSpace
from .._files.storable import storable
from ..base import project
from .dropout_mask import RandomMask
from .minibatch_learning import BaseModel
from .start import start_directions

_ROWS_TO_START_FROM = 5000
_AVERAGING = 0.99


@storable
class LinearLearner:
    """Weights over centred and scaled features, which gradient ascent moves.

    Rows go into the feature space batch by batch, so that neither the offset nor the scale of the
    features matters, sparse rows stay sparse outside of a batch, and nothing is copied. A
    constant feature has weight zero.

    Parameters
    ----------
    X : {ndarray, sparse matrix} of shape (n_samples, n_features)
        Rows that set means and scales.
    n_bits : int
        Number of projections.
    solver : Adam or SGD
        Moves the weights.
    random_state : RandomState instance
        Samples the start: principal directions, rotated towards codes, and random directions beyond
        their number; each scaled to projections of unit variance.
    start : tuple (components, intercept), default=None
        Projections to start from instead.
    dropout : float, default=0.0
        Share of the features of each row that a step leaves at their mean.
    one_scale : bool, default=False
        Whether one common factor scales all features, which keeps distances between rows, instead
        of :func:`feature_scales`.
    """

    def __init__(
        self,
        X: Any,
        n_bits: int,
        solver: Any,
        random_state: np.random.RandomState,
        start: tuple[np.ndarray, np.ndarray] | None = None,
        *,
        dropout: float = 0.0,
        one_scale: bool = False,
    ):
        self.n_bits, self.solver, self._one_scale = n_bits, solver, one_scale
        self._moments = Moments.of(X)
        self._space = FeatureSpace.of(self._moments, one_scale)
        if start is None:
            few = random_state.permutation(X.shape[0])[:_ROWS_TO_START_FROM]
            rows = self._space.transform(X[few], np.float32)
            weights = start_directions(rows, n_bits, random_state)
            offsets = np.zeros(n_bits)
        else:
            weights, offsets = self._space.unfold(*start)
        self.weights = (
            np.ascontiguousarray(weights, dtype=np.float32),
            offsets.astype(np.float32),
        )
        self._mask = RandomMask.of_share(dropout, random_state) if dropout else None
        self.n_steps = 0
        self.restart_average()

    def see(self, X: Any) -> None:
        """Let means and scales follow some more rows."""
        self._moments += Moments.of(X)
        self._space = FeatureSpace.of(self._moments, self._one_scale)

    def step(
        self,
        X: Any,
        value_and_gradient: Callable[[np.ndarray], tuple[float, np.ndarray]],
        factor: float,
    ) -> float:
        """Take a step on a batch of rows, given the value and the gradient of its projections.

        `factor` is that of the schedule, for the length of the step.
        """
        weights, offsets = self.weights
        rows = self._space.transform(X, np.float32)
        if self._mask:
            self._mask.apply(rows, self.n_steps)
        scores = rows @ weights
        scores += offsets
        _check_finite(scores)
        value, gradient = value_and_gradient(scores)
        _check_finite(value)
        self.solver.step(self.weights, (rows.T @ gradient, gradient.sum(axis=0)), factor)
        self.n_steps += 1
        self._n_averaged += 1
        # A running mean over the last steps; over all of them while they are few.
        share = np.float32(max(1 - _AVERAGING, 1 / self._n_averaged))
        for average, weight in zip(self._averages, self.weights):
            average += share * (weight - average)
        return value

    def restart_average(self) -> None:
        """Let the running mean of the weights start anew from where they are."""
        self._averages = [weight.copy() for weight in self.weights]
        self._n_averaged = 0

    def fold(self, average: bool = False) -> dict[str, np.ndarray]:
        """Projections of raw features: ``components_`` and ``intercept_``, float32 as the rows."""
        weights, offsets = self._averages if average else self.weights
        hyperplanes = self._space.fold(weights, offsets, self._moments.dtype)
        for numbers in hyperplanes:
            _check_finite(numbers)
        return hyperplanes._asdict()


def _check_finite(numbers):
    if not np.isfinite(numbers).all():
        raise ValueError(
            "learning diverged: projections, weights or the objective are no longer finite. "
            "Lower learning_rate."
        )


class LinearModel(BaseModel):
    """A linear learner on the rows of a fit.

    Parameters
    ----------
    learner : LinearLearner
        The weights.
    X : {ndarray, sparse matrix} of shape (n_samples, n_features)
        The rows, training and validation.

    Attributes
    ----------
    learning_rate : float
        Length of a step of factor 1.
    """

    def __init__(self, learner: LinearLearner, X: Any):
        self._learner, self._X = learner, X
        self.learning_rate = learner.solver.learning_rate

    def step(self, batch: np.ndarray, evaluate: Callable[[Any], Any], factor: float) -> float:
        """Move the weights on the rows of a batch; return the objective before the move."""
        return self._learner.step(self._X[batch], evaluate, factor)

    def projections(self, rows: np.ndarray) -> np.ndarray:
        """Return the projections of rows."""
        folded = self._learner.fold()
        return project(self._X[rows], folded["components_"], folded["intercept_"])

    def get_state(self) -> tuple[np.ndarray, ...]:
        """Return a copy of the weights."""
        return tuple(weight.copy() for weight in self._learner.weights)

    def set_state(self, state: Any) -> None:
        """Take weights back."""
        self._learner.weights = state

    def attributes(self) -> dict[str, np.ndarray]:
        """Return the projections of raw features."""
        return self._learner.fold()
