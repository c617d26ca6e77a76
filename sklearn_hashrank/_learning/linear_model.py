"""The weights of a linear hasher, and how a step moves them."""

from collections.abc import Callable
from typing import Any

import numpy as np

from .._features.moments import Moments
from .._features.sign_rounding import project
from .._features.space import FeatureSpace
from .._files.storable import storable
from .minibatch_learning import BaseModel
from .start import start_directions

_ROWS_TO_START_FROM = 5000  # of which principal directions are found, and rotated in a second
_AVERAGING = 0.99  # a mean over about a hundred steps, by which partial_fit smooths its steps


@storable
class LinearModel(BaseModel):
    """Weights over centered and scaled features, which gradient ascent moves.

    Rows go into the feature space batch by batch, so that neither the offset nor the scale of the
    features matters, sparse rows stay sparse outside of a batch, and nothing is copied. A
    constant feature has weight zero.

    The weights start at `start`, a pair of components and intercept, or else at principal
    directions of `X`, rotated towards codes, and at random directions beyond their number. With
    `one_scale` one common factor scales all features, which keeps distances between rows.
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
        self.learning_rate = solver.learning_rate
        self._moments = Moments.of(X)
        self._space = FeatureSpace.of(self._moments, one_scale)
        if start is None:
            few = random_state.permutation(X.shape[0])[:_ROWS_TO_START_FROM]
            rows = self._space.transform(X[few], np.float32)
            weights = start_directions(rows, n_bits, random_state)
            offsets = np.zeros(n_bits)
        else:
            weights, offsets = self._space.unfold(*start)
        self._weights = (
            np.ascontiguousarray(weights, dtype=np.float32),
            offsets.astype(np.float32),
        )
        self._n_dropped = min(255, round(256 * dropout))  # of 256 numbers of the rows
        self._dropout_seed = random_state.randint(np.iinfo(np.int32).max) if dropout else 0
        self._averages: list[np.ndarray] | None = None
        self._n_averaged = 0

    def see(self, X: Any) -> None:
        """Let means and scales follow some more rows."""
        self._moments += Moments.of(X)
        self._space = FeatureSpace.of(self._moments, self._one_scale)

    def step(
        self, X: Any, batch: np.ndarray, evaluate: Callable[[Any], Any], factor: float
    ) -> float:
        weights, offsets = self._weights
        rows = self._space.transform(X[batch], np.float32)
        if self._n_dropped:
            drop(rows, self._n_dropped, (self._dropout_seed, self.solver.n_steps))
        scores = rows @ weights
        scores += offsets
        _check_finite(scores)
        value, gradient = evaluate(scores)
        _check_finite(value)
        self.solver.step(self._weights, (rows.T @ gradient, gradient.sum(axis=0)), factor)
        return value

    def average_step(
        self, X: Any, batch: np.ndarray, evaluate: Callable[[Any], Any], factor: float
    ) -> None:
        """Take a step, and let the running mean of the weights follow."""
        if self._averages is None:
            self._averages = [weight.copy() for weight in self._weights]
        self.step(X, batch, evaluate, factor)
        self._n_averaged += 1
        # A running mean over the last steps; over all of them while they are few.
        share = np.float32(max(1 - _AVERAGING, 1 / self._n_averaged))
        for average, weight in zip(self._averages, self._weights):
            average += share * (weight - average)

    def fold(self, average: bool = False) -> tuple[np.ndarray, np.ndarray]:
        """Return components and intercept for raw features, float32 as the rows."""
        weights, offsets = self._averages if average and self._averages else self._weights
        folded = self._space.fold(weights, offsets, self._moments.dtype)
        for numbers in folded:
            _check_finite(numbers)
        return folded.components_, folded.intercept_

    def projections(self, X: Any, rows: np.ndarray) -> np.ndarray:
        return project(X[rows], *self.fold())

    def get_state(self) -> tuple[np.ndarray, ...]:
        return tuple(weight.copy() for weight in self._weights)

    def set_state(self, state: Any) -> None:
        self._weights = state

    def attributes(self) -> dict[str, np.ndarray]:
        components, intercept = self.fold()
        return {"components_": components, "intercept_": intercept}


def drop(rows: np.ndarray, n_dropped: int, seed: tuple[int, int]) -> None:
    """Zero about `n_dropped` of 256 numbers; the others grow, so that mean sums stay as they are.

    The seed, which has the number of the step in it, decides which, so that no generator is kept.
    """
    words = np.random.PCG64(seed).random_raw(-(-rows.size // 8))
    random_bytes = words.astype("<u8", copy=False).view(np.uint8)[: rows.size]
    rows *= random_bytes.reshape(rows.shape) >= n_dropped
    rows *= np.float32(256 / (256 - n_dropped))


def _check_finite(numbers):
    if not np.isfinite(numbers).all():
        raise ValueError(
            "learning diverged: projections, weights or the objective are no longer finite. "
            "Lower learning_rate."
        )
