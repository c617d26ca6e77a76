"""Hashers that learn from minibatches; what is climbed is the subclass's business."""

from abc import abstractmethod
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import validate_data

from .._utils.callbacks import CallbackSupportMixin, Progress
from ..affinity import BaseAffinity
from ..base import LinearHasher
from ..solvers.stochastic import SCHEDULES, SOLVERS
from ._learning import BatchRelevance, LinearLearner, minibatches

_WANTED_RELEVANT, _SMALLEST_BATCH, _LARGEST_BATCH = 10, 256, 2048
RAREST = 1e-9

BatchValue = Callable[[np.ndarray, np.ndarray, float], tuple[float, np.ndarray]]
"""Value and gradient of the projections of a batch, (M, n_bits), given the level indices of its
pairs, (M, M), and the progress of the fit, 0 at the start and 1 at the end."""


class MinibatchHasher(CallbackSupportMixin, LinearHasher):
    """Base class of linear hashers that climb an objective of minibatches.

    A subclass makes the objective (`_new_objective`) and says what early stopping looks at
    (`_validate`). Its parameters are those of `_parameter_constraints` and its own.
    """

    _parameter_constraints: dict = {
        **LinearHasher._parameter_constraints,
        "affinity": [StrOptions({"auto"}), BaseAffinity],
        "solver": [StrOptions(set(SOLVERS))],
        "batch_size": [StrOptions({"auto"}), Interval(Integral, 2, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "learning_rate": [StrOptions({"auto"}), Interval(Real, 0, None, closed="neither")],
        "schedule": [StrOptions(set(SCHEDULES))],
        "weight_decay": [StrOptions({"auto"}), Interval(Real, 0, 1, closed="left")],
        "momentum": [Interval(Real, 0, 1, closed="left")],
        "early_stopping": ["boolean"],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
        "n_iter_no_change": [Interval(Integral, 1, None, closed="left")],
        "warm_start": ["boolean"],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the hyperplanes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows.
        y : array-like with n_samples rows, default=None
            What `affinity` compares; None: `X` itself.

        Returns
        -------
        self : hasher
        """
        start = None
        if self.warm_start and hasattr(self, "components_"):
            start = self.components_, self.intercept_
            self._check_n_bits(self.n_bits_)
            validate_data(self, X, reset=False, skip_check_array=True)
        X, y = self._validate_training_data(X, y)
        relevance = self._fit_relevance(X, y)
        objective = self._new_objective(relevance)
        random_state = check_random_state(self.random_state)
        train, validation = self._split(X.shape[0], random_state)
        self.batch_size_ = min(len(train), self._choose_batch_size(relevance, random_state))
        rows = X[train] if validation.size else X
        learner = self._new_learner(rows, len(train), random_state, start)
        history: dict[str, list[float]] = {"objective": [], "learning_rate": []}
        best_value, best_weights, best_epoch = -np.inf, learner.weights, 0

        progress = Progress(self, X, y, self.max_iter, learner.fold)
        for epoch in progress.iterations():
            values: list[float] = []
            for batch in minibatches(train, self.batch_size_, random_state):
                done = (epoch + len(values) * self.batch_size_ / len(train)) / self.max_iter
                factor = SCHEDULES[self.schedule](done)
                values.append(self._step(learner, objective, relevance, X, batch, factor, done))
            history["objective"].append(float(np.mean(values)))
            history["learning_rate"].append(factor * learner.solver.learning_rate)
            if validation.size:
                self.__dict__.update(learner.fold())
                value = self._validate(X, y, relevance, train, validation)
                history.setdefault("validation", []).append(value)
                if value > best_value:
                    best_value, best_epoch = value, epoch
                    best_weights = tuple(weight.copy() for weight in learner.weights)
            self._report(epoch, history)
            if validation.size and epoch - best_epoch >= self.n_iter_no_change:
                progress.stop()
        if validation.size:
            learner.weights = best_weights
        learner.restart_average()
        self.__dict__.update(learner.fold())
        self.history_, self.n_iter_ = history, len(history["objective"])
        self._learner = learner
        self._keep_database(X, y)
        return self

    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Take one pass over some rows, in minibatches of about `batch_size` rows.

        The first call fits the affinity. Means and scales of the features follow all rows seen so
        far. As the end is not known, `schedule` has no meaning here: the length of step k falls as
        ``1 / sqrt(1 + k / 100)``, and the result is the running mean of the weights over about
        a hundred steps. Blocks smaller than `batch_size` are batches of their own, and teach less.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows, at least two.
        y : array-like with n_samples rows, default=None
            What `affinity` compares; None: `X` itself.

        Returns
        -------
        self : hasher
        """
        first = not hasattr(self, "_learner")
        if not first:
            self._check_n_bits(self._learner.n_bits)
        X, y = self._validate_training_data(X, y, reset=first)
        relevance = self._fit_relevance(X, y)
        objective = self._new_objective(relevance)
        random_state = check_random_state(self.random_state)
        if first:
            self.batch_size_ = self._choose_batch_size(relevance, random_state)
            self._learner = self._new_learner(X, None, random_state)
        else:
            self._learner.see(X)
        for batch in minibatches(np.arange(X.shape[0]), self.batch_size_, random_state):
            factor = 1 / np.sqrt(1 + self._learner.n_steps / 100)
            self._step(self._learner, objective, relevance, X, batch, factor, 0.0)
        self.__dict__.update(self._learner.fold(average=True))
        for name in ("codes_", "y_", "history_", "n_iter_"):
            self.__dict__.pop(name, None)
        return self

    def _fit_relevance(self, X, y):
        if X.shape[0] < 2:
            raise ValueError(
                f"{type(self).__name__} needs at least two rows to rank. Got n_samples = 1."
            )
        if not hasattr(self, "affinity_"):
            self.affinity_ = self._fit_affinity(X, y)
        return BatchRelevance(self.affinity_, X if y is None else y)

    def _check_n_bits(self, learned):
        if self.n_bits != learned:
            raise ValueError(
                f"learning goes on from codes of {learned} bits. Got n_bits={self.n_bits}, which "
                "takes a new fit, with warm_start=False."
            )

    def _split(self, n, random_state):
        n_validation = round(self.validation_fraction * n) if self.early_stopping else 0
        if self.early_stopping and not 2 <= n_validation <= n - 2:
            raise ValueError(
                f"validation_fraction={self.validation_fraction} of n_samples = {n} leaves "
                f"{n_validation} rows for validation and {n - n_validation} for training. "
                "At least two of each are needed."
            )
        order = random_state.permutation(n) if n_validation else np.arange(n)
        return order[n_validation:], order[:n_validation]

    def _choose_batch_size(self, relevance, random_state):
        if self.batch_size != "auto":
            return self.batch_size
        wanted = self._wanted_batch_size(relevance.levels, relevance.level_shares(random_state))
        return int(np.clip(wanted, _SMALLEST_BATCH, _LARGEST_BATCH))

    def _wanted_batch_size(self, levels, shares):
        """Rows of a batch in which a query finds about ten relevant ones."""
        return _WANTED_RELEVANT / max(shares[levels > 0].sum(), RAREST)

    def _new_learner(self, X, n_rows, random_state, start=None):
        decay = self.weight_decay
        if decay == "auto":
            decay = 0.15 * np.sqrt(min(1, X.shape[1] / n_rows)) if n_rows else 0.05
        rate = self._auto_learning_rate() if self.learning_rate == "auto" else self.learning_rate
        options: dict[str, Any] = {"learning_rate": rate, "weight_decay": (decay, 0.0)}
        if self.solver == "sgd":
            options["momentum"] = self.momentum
        solver = SOLVERS[self.solver](**options)
        return LinearLearner(X, self.n_bits, solver, random_state, start)

    def _auto_learning_rate(self):
        return {"adam": 0.01, "sgd": 1.0}[self.solver]

    def _step(self, learner, objective, relevance, X, batch, factor, done):
        level = relevance.level_indices(batch)
        return learner.step(X[batch], lambda scores: objective(scores, level, done), factor)

    @abstractmethod
    def _new_objective(self, relevance: BatchRelevance) -> BatchValue:
        """Return what the steps climb."""

    @abstractmethod
    def _validate(
        self, X: Any, y: Any, relevance: BatchRelevance, train: np.ndarray, validation: np.ndarray
    ) -> float:
        """Return how good the hyperplanes at hand are on the validation rows; more is better."""

    def _report(self, epoch, history):
        if self.verbose and (epoch + 1) % int(self.verbose) == 0:
            figures = ", ".join(f"{name} {values[-1]:.4f}" for name, values in history.items())
            print(f"[{type(self).__name__}] pass {epoch + 1}/{self.max_iter}: {figures}")
