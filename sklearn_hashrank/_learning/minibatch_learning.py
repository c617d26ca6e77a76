"""The one loop by which hashers learn from minibatches, whatever model is moved.

::

    relevance of the training rows            PairRelevance or NeighborRelevance
    rows for training and for validation    |
    size of a batch, batches                | MinibatchLearning(...)
        a model, which knows them             the hasher
    passes over batches                     |
    validation, early stopping, lines       | MinibatchLearning.run(model, X, ...)
    the best state again, history           |
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from .._solvers.stochastic import SCHEDULES
from .._utils.callbacks import Progress
from .relevance import Relevance
from .validation import report_of, split_for_validation, validation_of

History = dict[str, list[float]]
"""Of each pass the mean ``"objective"``, the last ``"learning_rate"`` and the ``"validation"``."""


def check_n_bits(n_bits: int, learned: int) -> None:
    """Refuse to go on, from a model of codes of another length."""
    if n_bits != learned:
        raise ValueError(
            f"learning goes on from codes of {learned} bits. Got n_bits={n_bits}, which takes a "
            "new fit, with warm_start=False."
        )


class BaseModel(ABC):
    """What learns: weights that give rows projections, and move on a batch."""

    learning_rate: float
    """Length of a step of factor 1, for the history."""

    @abstractmethod
    def step(
        self, X: Any, batch: np.ndarray, evaluate: Callable[[Any], Any], factor: float
    ) -> float:
        """Move on some rows of X, and return the objective before the move.

        `evaluate` is the objective of this batch: ``(scores) -> (value, gradient)``, to be
        maximized; for networks ``(scores) -> loss``, a tensor that is minimized. `factor` is that
        of the schedule, for the length of the step.
        """

    @abstractmethod
    def projections(self, X: Any, rows: np.ndarray) -> np.ndarray:
        """Return the projections of some rows of X, (n_rows, n_bits)."""

    @abstractmethod
    def get_state(self) -> Any:
        """Return a copy of what has been learned."""

    @abstractmethod
    def set_state(self, state: Any) -> None:
        """Take a state back."""

    @abstractmethod
    def attributes(self) -> dict[str, Any]:
        """Return the fitted attributes of an estimator that has learned so far, for callbacks."""


class MinibatchLearning:
    """Learning from minibatches: what is the same for linear hashers, kernels and networks.

    Attributes
    ----------
    train, validation : ndarray of shape (n_rows,)
        Numbers of the rows to learn from and to validate by.
    batch_size : int
        Rows of a batch.
    in_groups : bool
        Whether batches are made of groups of a class.
    group_size : int or None
        Rows of such a group, about; None where batches are not made of groups.
    """

    def __init__(
        self,
        objective: Any,
        relevance: Relevance,
        *,
        batch_size: int | str = "auto",
        validation_fraction: float | None = None,
        random_state: np.random.RandomState,
    ):
        self._objective, self._relevance = objective, relevance
        self.train, self.validation = relevance.members, relevance.members[:0]
        if validation_fraction is not None:
            self.train, self.validation = split_for_validation(
                self.train, validation_fraction, random_state
            )
        size = batch_size
        if isinstance(size, str):
            size = relevance.batch_size(objective, random_state)
        self.batch_size = min(len(self.train), int(size))
        self.in_groups = batch_size == "auto" and relevance.takes_groups(self.batch_size)
        self._batches = relevance.batches(self.train, self.batch_size, self.in_groups, random_state)
        self.group_size = getattr(self._batches, "group_size", None)

    def run(
        self,
        model: BaseModel,
        X: Any,
        max_iter: int,
        *,
        schedule: str = "cosine",
        n_iter_no_change: int = 10,
        verbose: int = 0,
        estimator: Any = None,
        told: tuple[Any, Any] = (None, None),
    ) -> History:
        """Let a model learn from rows. With validation rows it ends in its best state.

        Callbacks of the estimator are told the X and y that its `fit` was given.
        """
        objective, batches = self._objective, self._batches
        factor_at, validate = SCHEDULES[schedule], None
        if self.validation.size:
            validate = validation_of(objective, self._relevance, self.train, self.validation)
        elif verbose:
            reported, report = report_of(objective, self._relevance, self.train)
        history: History = {"objective": [], "learning_rate": []}
        best_value, best_pass, best_state = -np.inf, 0, None
        passes = Progress(estimator, *told, max_iter, model.attributes)
        for number in passes.iterations():
            values: list[float] = []
            for batch in batches:
                n_seen = len(values) * batches.size
                progress = (number + n_seen / len(batches.rows)) / max_iter
                objective.anneal(progress)
                factor = factor_at(progress)
                values.append(model.step(X, batch, objective.of(batch), factor))
            history["objective"].append(float(np.mean(values)))
            history["learning_rate"].append(factor * model.learning_rate)
            if validate is not None:
                value = validate(lambda rows: model.projections(X, rows))
                history.setdefault("validation", []).append(value)
                if value > best_value:
                    best_value, best_pass, best_state = value, number, model.get_state()
                if number - best_pass >= n_iter_no_change:
                    passes.stop()
            if verbose and (number + 1) % int(verbose) == 0:
                name = type(model if estimator is None else estimator).__name__
                said = {what: of[-1] for what, of in history.items()}
                if validate is None:
                    said[reported] = report(lambda rows: model.projections(X, rows))
                elif objective.measure is not None:
                    said[f"validation ({objective.measure})"] = said.pop("validation")
                figures = ", ".join(f"{what} {value:.4f}" for what, value in said.items())
                print(f"[{name}] pass {number + 1}/{max_iter}: {figures}")
        if validate is not None:
            model.set_state(best_state)
        return history
