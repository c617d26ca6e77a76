"""Learning linear projections from minibatches; the caller says what is maximised."""

from collections.abc import Callable
from typing import Any

import numpy as np

from .._linear import CenteredRows, FeatureSpace, Moments, leading_directions
from ..persistence import storable
from ..solvers.rotation import itq_rotation

_ROWS_TO_START_FROM, _ITERATIONS_OF_THE_START = 5000, 20
_AVERAGING = 0.99
_DOUBT = 10  # rows that the unit variance of a random direction counts as


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
        Draws the start: principal directions, rotated towards codes, and random directions beyond
        their number; each scaled to projections of unit variance.
    start : tuple (components, intercept), default=None
        Projections to start from instead.
    """

    def __init__(
        self,
        X: Any,
        n_bits: int,
        solver: Any,
        random_state: np.random.RandomState,
        start: tuple[np.ndarray, np.ndarray] | None = None,
    ):
        self.n_bits, self.solver = n_bits, solver
        self._moments = Moments.of(X)
        self._space = FeatureSpace.of(self._moments)
        if start is None:
            few = random_state.permutation(X.shape[0])[:_ROWS_TO_START_FROM]
            rows = self._space.transform(X[few], np.float32)
            weights = _directions(rows, n_bits, random_state)
            offsets = np.zeros(n_bits)
        else:
            weights, offsets = self._space.unfold(*start)
        self.weights = (
            np.ascontiguousarray(weights, dtype=np.float32),
            offsets.astype(np.float32),
        )
        self.n_steps = 0
        self.restart_average()

    def see(self, X: Any) -> None:
        """Let means and scales follow some more rows."""
        self._moments += Moments.of(X)
        self._space = FeatureSpace.of(self._moments)

    def step(
        self,
        X: Any,
        value_and_gradient: Callable[[np.ndarray], tuple[float, np.ndarray]],
        factor: float,
    ) -> float:
        """Move uphill on a batch of rows, given the value and the gradient of its projections.

        `factor` is that of the schedule, for the length of the step.
        """
        weights, offsets = self.weights
        rows = self._space.transform(X, np.float32)
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


def _directions(rows, n_bits, random_state):
    """Start on standardised rows, (n_features, n_bits)."""
    weights = random_state.standard_normal((rows.shape[1], n_bits)).astype(np.float32)
    n_principal = min(n_bits, rows.shape[1], rows.shape[0] - 1)
    centred = CenteredRows(rows, rows.mean(axis=0, dtype=np.float64))
    seed = random_state.randint(np.iinfo(np.int32).max)  # drawn whether it is needed or not
    _, directions = leading_directions(centred, n_principal, np.random.RandomState(seed))
    directions = directions.astype(np.float32)
    rotation, _ = itq_rotation(rows @ directions, _ITERATIONS_OF_THE_START, random_state)
    weights[:, :n_principal] = directions @ rotation
    variance = np.mean((rows @ weights) ** 2, axis=0)
    # What few rows say of a random direction is little: features may vary that did not in them.
    expected = (weights[:, n_principal:] ** 2).sum(axis=0)
    share = _DOUBT / (len(rows) + _DOUBT)
    variance[n_principal:] += share * (expected - variance[n_principal:])
    return weights / np.sqrt(np.where(variance > 0, variance, 1))
