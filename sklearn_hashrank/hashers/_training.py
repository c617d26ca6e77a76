"""Gradient ascent over minibatches, composed of arrays and callables.

The trainer knows neither hashers nor affinities, and of a model only what callables do with it. ::

    for every pass                        progress.iterations()
        for every batch                   batches
            listeners(progress)           before_step
            step(batch, factor)           step, schedule
        listeners(history), maybe stop    after_pass
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._utils.callbacks import Progress

History = dict[str, list[float]]
"""For each pass the mean ``"objective"``, the ``"learning_rate"``, and what listeners add."""


class Minibatches:
    """Rows shuffled into batches of about `size`, none of them less than half of it.

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
        n_batches = max(1, round(len(self.rows) / self.size))
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
    """Passes over minibatches that move a model uphill.

    Parameters
    ----------
    step : callable ``(batch, factor) -> float``
        Moves the model on the rows of a batch, given by their numbers, and returns the objective
        before the move. `factor` scales the length of the step.
    batches : Minibatches
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
    batches: Minibatches
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
