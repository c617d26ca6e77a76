"""What happens after each pass of a training: early stopping, and lines that report progress."""

from collections.abc import Callable
from typing import Any

import numpy as np

from .trainer import History


class EarlyStopping:
    """Listener that validates every pass, keeps the best state, and stops without improvement.

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
