"""Learning linear projections from minibatches; what is climbed is the hasher's business."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.preprocessing import StandardScaler

from ..affinity import BaseAffinity
from ..base import inverse_deviations
from ..persistence import storable
from ..solvers.rotation import itq_rotation, principal_directions

_ROWS_TO_START_FROM, _ITERATIONS_OF_THE_START = 5000, 20
_LARGEST_TABLE = 8192
_AVERAGING = 0.99
_DOUBT = 10  # rows that the unit variance of a random direction counts as


class BatchRelevance:
    """Level indices of the pairs of a minibatch.

    Parameters
    ----------
    affinity : affinity object
        Fitted.
    y : array-like
        Its rows.
    """

    def __init__(self, affinity: BaseAffinity, y: Any):
        self.affinity = affinity
        self._rows = affinity.validate(y)
        self.levels = affinity.levels_[: affinity.n_reachable_levels(self._rows)]
        groups, index = affinity.group(self._rows)
        n_groups = groups.shape[0]
        self._table = None
        if n_groups <= _LARGEST_TABLE:
            self._index = np.arange(n_groups) if index is None else index
            self._table = np.empty((n_groups, n_groups), dtype=np.min_scalar_type(len(self.levels)))
            for start in range(0, n_groups, 256):
                part = slice(start, start + 256)
                self._table[part] = affinity.level_indices(groups[part], groups)

    def level_indices(self, batch: np.ndarray) -> np.ndarray:
        """Index into `levels` of every pair of rows of a batch, (M, M) unsigned."""
        if self._table is None:
            rows = self._rows[batch]
            return self.affinity.level_indices(rows, rows)
        index = self._index[batch]
        return np.take(self._table[index], index, axis=1)

    def level_shares(self, random_state: np.random.RandomState, n_rows: int = 1000) -> np.ndarray:
        """Estimate the share of each level among all pairs of different rows."""
        batch = random_state.permutation(self._rows.shape[0])[:n_rows]
        indices = self.level_indices(batch)[~np.eye(len(batch), dtype=bool)]
        return np.bincount(indices, minlength=len(self.levels)) / indices.size


storable(StandardScaler)


@storable
class LinearLearner:
    """Weights over standardised features, as they climb.

    Features are centred and scaled to unit variance batch by batch, so that neither their offset
    nor their scale matters, sparse rows stay sparse outside of a batch, and nothing is copied. A
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
        self.n_bits, self.solver, self._dtype = n_bits, solver, X.dtype.name
        self._scaler = StandardScaler(with_mean=False)
        self.see(X)
        if start is None:
            few = random_state.permutation(X.shape[0])[:_ROWS_TO_START_FROM]
            weights = _directions(self._standardised(X[few]), n_bits, random_state)
            offsets = np.zeros(n_bits, dtype=np.float32)
        else:
            components, intercept = start
            offsets = (intercept + components @ self._mean).astype(np.float32)
            weights = np.ascontiguousarray((components * self._deviation).T, dtype=np.float32)
        self.weights = (weights, offsets)
        self.n_steps = 0
        self.restart_average()

    def see(self, X: Any) -> None:
        """Let means and scales follow some more rows."""
        if sparse.issparse(X) and not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()  # the scaler takes each entry for a value
        self._dtype = np.result_type(self._dtype, X.dtype).name  # a name goes into any file
        self._scaler.partial_fit(X)
        self._mean = self._scaler.mean_.astype(np.float64)
        self._deviation = np.sqrt(self._scaler.var_.astype(np.float64))
        self._scale = inverse_deviations(self._mean, self._deviation, X.dtype)

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
        rows = self._standardised(X)
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
        components = weights.T * self._scale
        intercept = (offsets - components @ self._mean).astype(self._dtype)
        components = components.astype(self._dtype)
        _check_finite(components)
        _check_finite(intercept)
        return {"components_": components, "intercept_": intercept}

    def _standardised(self, X):
        rows = X.toarray() if sparse.issparse(X) else X
        rows = rows - self._mean.astype(rows.dtype)
        rows *= self._scale.astype(rows.dtype)
        return rows.astype(np.float32, copy=False)


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
    directions = principal_directions(rows, n_principal, random_state).T
    rotation, _ = itq_rotation(rows @ directions, _ITERATIONS_OF_THE_START, random_state)
    weights[:, :n_principal] = directions @ rotation
    variance = np.mean((rows @ weights) ** 2, axis=0)
    # What few rows say of a random direction is little: features may vary that did not in them.
    expected = (weights[:, n_principal:] ** 2).sum(axis=0)
    share = _DOUBT / (len(rows) + _DOUBT)
    variance[n_principal:] += share * (expected - variance[n_principal:])
    return weights / np.sqrt(np.where(variance > 0, variance, 1))


def minibatches(
    rows: np.ndarray, size: int, random_state: np.random.RandomState
) -> Iterator[np.ndarray]:
    """Shuffle rows into batches of about `size`, none of them less than half of it."""
    n_batches = max(1, round(len(rows) / size))
    yield from np.array_split(random_state.permutation(rows), n_batches)
