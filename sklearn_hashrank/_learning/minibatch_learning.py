"""The one algorithm by which hashers learn from minibatches, whatever model is moved.

::

    relevance of the training rows            learned_relevance(...)
    rows for training and for validation    |
    size of a batch, batches                | MinibatchLearning(...)
        a model, which knows them             the hasher
    passes over batches                     |
    validation, early stopping, report      | MinibatchLearning.run(model, ...)
    the best state again, history           |
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from .._solvers.stochastic import SCHEDULES
from .._utils.callbacks import Progress
from .callbacks import EarlyStopping, Report
from .relevance import Relevance, size_of_batches
from .trainer import History, Trainer
from .validation import split_for_validation, validation_of


class BaseModel(ABC):
    """What learns: it gives rows projections, and moves on a batch.

    Attributes
    ----------
    learning_rate : float
        Length of a step of factor 1, for the history.

    Examples
    --------
    Weights that follow the gradient, without momentum; :ref:`add_a_model` shows a perceptron:

    >>> import numpy as np
    >>> from sklearn_hashrank._learning.minibatch_learning import BaseModel
    >>> class Weights(BaseModel):
    ...     learning_rate = 1.0
    ...
    ...     def __init__(self, X, n_bits):
    ...         self.X = X
    ...         self.weights = np.random.default_rng(0).normal(size=(X.shape[1], n_bits))
    ...
    ...     def step(self, batch, evaluate, factor):
    ...         value, gradient = evaluate(self.X[batch] @ self.weights)
    ...         self.weights = self.weights + factor * self.X[batch].T @ gradient
    ...         return value
    ...
    ...     def projections(self, rows):
    ...         return self.X[rows] @ self.weights
    ...
    ...     def get_state(self):
    ...         return self.weights
    ...
    ...     def set_state(self, state):
    ...         self.weights = state
    >>> Weights(np.eye(3), 2).projections(np.arange(2)).shape
    (2, 2)
    """

    learning_rate: float

    @abstractmethod
    def step(self, batch: np.ndarray, evaluate: Callable[[Any], Any], factor: float) -> float:
        """Move on the rows of a batch, and return the objective before the move.

        Parameters
        ----------
        batch : ndarray of shape (M,)
            Numbers of the rows.
        evaluate : callable
            The objective of this batch: ``(scores) -> (value, gradient)`` of arrays (M, n_bits), to
            be maximised; for networks ``(scores) -> loss``, a tensor that is minimised.
        factor : float
            That of the schedule, for the length of the step.

        Returns
        -------
        value : float
        """

    @abstractmethod
    def projections(self, rows: np.ndarray) -> np.ndarray:
        """Return the projections of rows by what has been learned so far.

        Parameters
        ----------
        rows : ndarray of shape (n_rows,)
            Numbers of the rows.

        Returns
        -------
        projections : ndarray of shape (n_rows, n_bits)
        """

    @abstractmethod
    def get_state(self) -> Any:
        """Return a copy of what has been learned.

        Returns
        -------
        state : object
        """

    @abstractmethod
    def set_state(self, state: Any) -> None:
        """Take back what had been learned.

        Parameters
        ----------
        state : object
            What :meth:`get_state` returned.
        """

    def attributes(self) -> dict[str, Any]:
        """Return the fitted attributes of an estimator that has learned so far, for callbacks.

        Returns
        -------
        attributes : dict of str to object
        """
        return {}

    def end_pass(self, history: History) -> None:  # noqa: B027, models may leave it out
        """Take notice that a pass is over.

        Parameters
        ----------
        history : dict of list
            The figures of the passes so far.
        """


class MinibatchLearning:
    """Learning from minibatches: what is the same for linear hashers, kernels and networks.

    Parameters
    ----------
    objective : ObjectiveOfRows
        What is maximised. Or an object with its methods.
    relevance : Relevance
        Of the training rows.
    batch_size : int or "auto", default="auto"
        Rows of a batch, at most all of them.
    validation_fraction : float or None, default=None
        Share of the rows kept for validation. None: no early stopping.
    random_state : int or RandomState instance
        Samples the validation rows and the batches.

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

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_hashrank import LabelAffinity
    >>> from sklearn_hashrank._learning.minibatch_learning import MinibatchLearning
    >>> from sklearn_hashrank._learning.objective_of_rows import ObjectiveOfRows
    >>> from sklearn_hashrank._learning.pair_relevance import PairRelevance
    >>> from sklearn_hashrank.objectives import SimplifiedAP
    >>> y = np.arange(1000) % 10
    >>> relevance = PairRelevance(LabelAffinity().fit(y), y)
    >>> learning = MinibatchLearning(
    ...     ObjectiveOfRows(SimplifiedAP(), relevance),
    ...     relevance,
    ...     validation_fraction=0.1,
    ...     random_state=0,
    ... )
    >>> len(learning.train), len(learning.validation), learning.batch_size
    (900, 100, 256)
    """

    def __init__(
        self,
        objective: Any,
        relevance: Relevance,
        *,
        batch_size: int | str = "auto",
        validation_fraction: float | None = None,
        random_state: int | np.random.RandomState,
    ):
        sampler = check_random_state(random_state)
        self._objective, self._relevance = objective, relevance
        self.train = relevance.members
        self.validation = self.train[:0]
        if validation_fraction is not None:
            self.train, self.validation = split_for_validation(
                self.train, validation_fraction, sampler
            )
        size = size_of_batches(batch_size, objective, relevance, sampler)
        self.batch_size = min(len(self.train), size)
        self.in_groups = batch_size == "auto" and relevance.takes_groups(self.batch_size)
        self._batches = relevance.batches(self.train, self.batch_size, self.in_groups, sampler)
        self.group_size = getattr(self._batches, "group_size", None)

    def run(
        self,
        model: BaseModel,
        max_iter: int,
        *,
        schedule: str = "cosine",
        n_iter_no_change: int = 10,
        verbose: int = 0,
        estimator: Any = None,
        X: Any = None,
        y: Any = None,
    ) -> History:
        """Let a model learn. With validation rows it ends in its best state.

        Parameters
        ----------
        model : BaseModel
            What is moved.
        max_iter : int
            Most passes over the training rows.
        schedule : {"constant", "step", "cosine"}, default="cosine"
            How the length of a step falls.
        n_iter_no_change : int, default=10
            Passes to wait for a better validation.
        verbose : int, default=0
            Print a line every `verbose` passes.
        estimator : estimator, default=None
            Whose callbacks are called.
        X, y : array-like, default=None
            Its training data, which callbacks are given.

        Returns
        -------
        history : dict of list
            For each pass the mean ``"objective"``, the ``"learning_rate"`` at its end, and the
            ``"validation"`` where there are rows for it.
        """
        if schedule not in SCHEDULES:
            raise ValueError(f"schedule must be one of {sorted(SCHEDULES)}. Got {schedule!r}.")
        objective, stopping = self._objective, None
        if self.validation.size:
            validate = validation_of(
                objective, model.projections, self._relevance, self.train, self.validation
            )
            stopping = EarlyStopping(validate, model.get_state, model.set_state, n_iter_no_change)
        name = type(model if estimator is None else estimator).__name__
        report = verbose and Report(name, max_iter, int(verbose))
        history = Trainer(
            lambda batch, factor: model.step(batch, objective.of(batch), factor),
            self._batches,
            SCHEDULES[schedule],
            model.learning_rate,
            [objective.anneal],
            [listener for listener in (model.end_pass, stopping, report) if listener],
        ).run(Progress(estimator, X, y, max_iter, model.attributes))
        if stopping:
            stopping.restore()
        return history
