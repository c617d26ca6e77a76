"""Passes over minibatches, composed of callables.

`Trainer` knows neither hashers nor affinities, and of a model only its step. ::

    for every pass                        progress.iterations()
        for every batch                   batches
            listeners(progress)           before_step
            step(batch, factor)           step, schedule
        listeners(history), maybe stop    after_pass
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from .._utils.callbacks import Progress
from .batches import Batches

History = dict[str, list[float]]
"""For each pass the mean ``"objective"``, the ``"learning_rate"``, and what listeners add."""


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
