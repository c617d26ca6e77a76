"""Gradient ascent over minibatches, composed of arrays and callables.

`Trainer` knows neither hashers nor affinities, and of a model only what callables do with it.
`LinearLearner` is the model that linear hashers train. ::

    for every pass                        progress.iterations()
        for every batch                   batches
            listeners(progress)           before_step
            step(batch, factor)           step, schedule
        listeners(history), maybe stop    after_pass
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from .._utils.callbacks import Progress
from ..features import CenteredRows, FeatureSpace, Moments, leading_directions
from ..persistence import storable
from ..solvers.rotation import itq_rotation

_ROWS_TO_START_FROM, _ITERATIONS_OF_THE_START = 5000, 20
_AVERAGING = 0.99
_DOUBT = 10  # rows that the unit variance of a random direction counts as

History = dict[str, list[float]]
"""For each pass the mean ``"objective"``, the ``"learning_rate"``, and what listeners add."""


class Batches(Protocol):
    """Batches of rows, given by their numbers; every iteration is a pass.

    Attributes
    ----------
    rows : ndarray
        Numbers of the rows of a pass.
    size : int or float
        Rows of a batch, about.
    """

    rows: np.ndarray

    @property
    def size(self) -> float:
        """Rows of a batch, about."""

    def __iter__(self) -> Iterator[np.ndarray]:
        """Give the batches of a pass."""


class Minibatches:
    """Rows shuffled into batches of about `size`, none of them less than half of it or than two.

    Each iteration is another shuffle.

    Parameters
    ----------
    rows : ndarray of shape (n_rows,)
        Numbers of the rows.
    size : int
        Rows of a batch.
    random_state : RandomState instance
        Shuffles.
    """

    def __init__(self, rows: np.ndarray, size: int, random_state: np.random.RandomState):
        self.rows, self.size, self._random_state = rows, size, random_state

    def __iter__(self) -> Iterator[np.ndarray]:
        n_batches = max(1, min(round(len(self.rows) / self.size), len(self.rows) // 2))
        yield from np.array_split(self._random_state.permutation(self.rows), n_batches)


class GroupBatches:
    """Rows shuffled into batches of groups, each of a few rows of one class.

    The rows of a class are cut into groups of about `group_size`; those of a small class are one
    group. A row of a batch then finds relevant ones in it, however many classes there are. Each
    iteration is another shuffle, and takes every row once.

    Parameters
    ----------
    rows : ndarray of shape (n_rows,)
        Numbers of the rows.
    class_of : ndarray of shape (n_rows,)
        The class of each of them, an index.
    size : int
        Rows of a batch, about.
    group_size : int
        Rows of a group, about.
    random_state : RandomState instance
        Shuffles.
    """

    def __init__(
        self,
        rows: np.ndarray,
        class_of: np.ndarray,
        size: int,
        group_size: int,
        random_state: np.random.RandomState,
    ):
        self.rows, self.size, self.group_size = rows, size, group_size
        self._class_of, self._random_state = class_of, random_state

    def __iter__(self) -> Iterator[np.ndarray]:
        shuffled = self._random_state.permutation(len(self.rows))
        shuffled = shuffled[np.argsort(self._class_of[shuffled], kind="stable")]
        firsts = np.flatnonzero(np.diff(self._class_of[shuffled])) + 1
        groups = [
            group
            for members in np.split(self.rows[shuffled], firsts)
            for group in np.array_split(members, max(1, round(len(members) / self.group_size)))
        ]
        order = self._random_state.permutation(len(groups))
        n_batches = min(max(1, round(len(self.rows) / self.size)), len(groups))
        for some in np.array_split(order, n_batches):
            yield np.concatenate([groups[number] for number in some])


@dataclass
class Trainer:
    """Passes over minibatches, each of which moves a model by gradient ascent.

    Parameters
    ----------
    step : callable ``(batch, factor) -> float``
        Moves the model on the rows of a batch, given by their numbers, and returns the objective
        before the move. `factor` scales the length of the step.
    batches : Batches
        The batches of every pass.
    schedule : callable ``(progress) -> float``
        The factor, given the progress of the training from 0 to 1.
    learning_rate : float
        Length of a step of factor 1, for the history.
    before_step : iterable of callables ``(progress)``, default=()
        Called before every step.
    after_pass : iterable of callables ``(history) -> bool or None``, default=()
        Called after every pass, in this order. They may add to the history. Training stops when one
        of them returns True.
    """

    step: Callable[[np.ndarray, float], float]
    batches: Batches
    schedule: Callable[[float], float]
    learning_rate: float
    before_step: Iterable[Callable[[float], None]] = ()
    after_pass: Iterable[Callable[[History], bool | None]] = ()

    def run(self, passes: Progress) -> History:
        """Take up to ``passes.max_iter`` passes, and return their history."""
        history: History = {"objective": [], "learning_rate": []}
        for number in passes.iterations():
            values: list[float] = []
            for batch in self.batches:
                n_seen = len(values) * self.batches.size
                progress = (number + n_seen / len(self.batches.rows)) / passes.max_iter
                for listener in self.before_step:
                    listener(progress)
                factor = self.schedule(progress)
                values.append(self.step(batch, factor))
            history["objective"].append(float(np.mean(values)))
            history["learning_rate"].append(factor * self.learning_rate)
            wishes = [listener(history) for listener in self.after_pass]
            if any(wishes):
                passes.stop()
        return history


class EarlyStopping:
    """Listener that validates every pass, keeps the best state, and asks to stop without a better.

    Parameters
    ----------
    validate : callable ``() -> float``
        How good the model is as it stands; more is better.
    get_state : callable ``() -> state``
        Copies what the model has learned.
    set_state : callable ``(state)``
        Gives it back.
    n_iter_no_change : int
        Passes to wait for a better value.
    """

    def __init__(
        self,
        validate: Callable[[], float],
        get_state: Callable[[], Any],
        set_state: Callable[[Any], None],
        n_iter_no_change: int,
    ):
        self._validate, self._get_state, self._set_state = validate, get_state, set_state
        self._n_iter_no_change = n_iter_no_change
        self._best_value, self._best_pass, self._best_state = -np.inf, 0, None

    def __call__(self, history: History) -> bool:
        """Validate the pass at hand."""
        value, values = self._validate(), history.setdefault("validation", [])
        if not np.isfinite(value):
            raise ValueError(
                f"validation must give a finite float. Got {value} instead. If learning diverged, "
                "lower learning_rate."
            )
        if value > self._best_value:
            self._best_value, self._best_pass = value, len(values)
            self._best_state = self._get_state()
        values.append(value)
        return len(values) - 1 - self._best_pass >= self._n_iter_no_change

    def restore(self) -> None:
        """Give the model its best state back."""
        self._set_state(self._best_state)


class Report:
    """Listener that prints a line every so many passes.

    Parameters
    ----------
    name : str
        Who learns.
    max_iter : int
        Most passes there can be.
    every : int
        Passes from one line to the next.
    """

    def __init__(self, name: str, max_iter: int, every: int):
        self._name, self._max_iter, self._every = name, max_iter, every

    def __call__(self, history: History) -> None:
        """Print the last figures of the history."""
        n_passes = len(history["objective"])
        if n_passes % self._every == 0:
            figures = ", ".join(f"{name} {values[-1]:.4f}" for name, values in history.items())
            print(f"[{self._name}] pass {n_passes}/{self._max_iter}: {figures}")


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
            weights = _directions(rows, n_bits, random_state)
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


@storable
class RandomMask(NamedTuple):
    """Sets random numbers of a matrix to zero, others at every step.

    Attributes
    ----------
    n_dropped : int
        How many of 256 numbers are set to zero, in the mean.
    seed : int
        Together with the number of a step it gives them, so that no generator has to be kept.
    """

    n_dropped: int
    seed: int

    @classmethod
    def of_share(cls, share: float, random_state: np.random.RandomState) -> "RandomMask":
        """Mask of a share of the numbers, to the nearest 1/256, with a seed of its own."""
        return cls(min(255, round(256 * share)), random_state.randint(np.iinfo(np.int32).max))

    def apply(self, rows: np.ndarray, step: int) -> None:
        """Zero the numbers in place; the others grow, so that sums stay as they are in the mean."""
        words = np.random.PCG64((self.seed, step)).random_raw(-(-rows.size // 8))
        random_bytes = words.astype("<u8", copy=False).view(np.uint8)[: rows.size]
        keep = random_bytes.reshape(rows.shape) >= self.n_dropped
        rows *= keep
        rows *= np.float32(256 / (256 - self.n_dropped))


def _check_finite(numbers):
    if not np.isfinite(numbers).all():
        raise ValueError(
            "learning diverged: projections, weights or the objective are no longer finite. "
            "Lower learning_rate."
        )


def _directions(rows, n_bits, random_state):
    """Start on scaled rows, (n_features, n_bits)."""
    weights = random_state.standard_normal((rows.shape[1], n_bits)).astype(np.float32)
    n_principal = min(n_bits, rows.shape[1], rows.shape[0] - 1)
    centred = CenteredRows(rows, rows.mean(axis=0, dtype=np.float64))
    seed = random_state.randint(np.iinfo(np.int32).max)  # taken whether it is needed or not
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
