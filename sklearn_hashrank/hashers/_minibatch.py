"""Linear hashers that maximise an objective by gradient ascent over minibatches."""

from abc import abstractmethod
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import validate_data

from .._utils.callbacks import CallbackSupportMixin, Progress
from .._utils.threads import one_blas_thread
from ..affinity import BaseAffinity, is_auto
from ..base import LinearHasher, project
from ..learning import (
    EarlyStopping,
    History,
    LinearLearner,
    NeighborRelevance,
    Report,
    Trainer,
    check_two_rows,
    choose_batch_size,
    learned_relevance,
    make_batches,
    split_for_validation,
    takes_groups,
    validation_of,
)
from ..objectives import CheckedObjective
from ..solvers.stochastic import SCHEDULES, SOLVERS

_RATE_OF_NEIGHBORS = 0.003  # the start is good already: longer steps lose it on pixels


class MinibatchHasher(CallbackSupportMixin, LinearHasher):
    """Base class of linear hashers that maximise an objective of minibatches.

    A subclass says which objective (`_choose_objective`). Its parameters are those of
    `_parameter_constraints` and its own.
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
        "n_jobs": [None, Integral],
        "verbose": ["verbose"],
    }

    _learner: LinearLearner

    @_fit_context(prefer_skip_nested_validation=True)
    @one_blas_thread()
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
        start = self._check_start(X)
        X, y = self._validate_training_data(X, y)
        relevance = self._fit_relevance(X, y)
        objective = self._checked_objective(relevance)
        gain = objective.level_gain(relevance.levels)
        self._check_can_learn(y, graded=gain is None or len(np.unique(gain)) > 2)
        self._train(objective, relevance, X, y, start)
        self._keep_database(X, y)
        return self

    @_fit_context(prefer_skip_nested_validation=True)
    @one_blas_thread()
    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Take one pass over some rows, in minibatches of about `batch_size` rows.

        The first call fits the affinity. Means and scales of the features follow all rows seen so
        far. As the end is not known, `schedule` has no meaning here: the length of step k falls as
        ``1 / sqrt(1 + k / 100)``, and the result is the running mean of the weights over about
        a hundred steps. Blocks smaller than `batch_size` are batches of their own, and teach less.
        Nearest rows are the nearest of the block.

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
        objective = self._checked_objective(relevance)
        random_state = check_random_state(self.random_state)
        if first:
            self.batch_size_ = choose_batch_size(
                self.batch_size, objective, relevance, random_state
            )
            self._learner = self._new_learner(objective, relevance, X, None, random_state)
        else:
            self._learner.see(X)
        step = _stepper(self._learner, objective, relevance, X)
        for batch in self._new_batches(relevance.members, relevance, random_state):
            step(batch, 1 / np.sqrt(1 + self._learner.n_steps / 100))
        self._set_projections(self._learner.fold(average=True))
        for name in ("codes_", "y_", "history_", "n_iter_"):
            self.__dict__.pop(name, None)
        return self

    @abstractmethod
    def _choose_objective(self, relevance: Any) -> Any:
        """Return the objective, looked up where it is named."""

    def _checked_objective(self, relevance):
        objective = CheckedObjective(self._choose_objective(relevance))
        objective.check_affinity(relevance.affinity, is_auto(self.affinity))
        return objective

    def _check_start(self, X):
        """Return the projections that a warm start starts from, and refuse others than theirs."""
        if not self.warm_start or not hasattr(self, "components_"):
            return None
        self._check_n_bits(self.n_bits_)
        validate_data(self, X, reset=False, skip_check_array=True)
        return self.components_, self.intercept_

    def _check_n_bits(self, learned):
        if self.n_bits != learned:
            raise ValueError(
                f"learning goes on from codes of {learned} bits. Got n_bits={self.n_bits}, which "
                "takes a new fit, with warm_start=False."
            )

    def _fit_relevance(self, X, y):
        check_two_rows(self, X)
        if not hasattr(self, "affinity_"):
            self.affinity_ = self._fit_affinity(X, y).without_database()
        random_state = check_random_state(self.random_state)
        return learned_relevance(self.affinity, self.affinity_, X, y, random_state, self.n_jobs)

    def _train(self, objective, relevance, X, y, start):
        """Take the passes, and set what they taught."""
        random_state = check_random_state(self.random_state)
        train, validation = relevance.members, relevance.members[:0]
        if self.early_stopping:
            fraction = self.validation_fraction
            train, validation = split_for_validation(train, fraction, random_state)
        batch_size = choose_batch_size(self.batch_size, objective, relevance, random_state)
        self.batch_size_ = min(len(train), batch_size)
        rows = X[train] if validation.size else X
        learner = self._new_learner(objective, relevance, rows, len(train), random_state, start)
        stopping = None
        if validation.size:
            validate = self._validation(objective, relevance, X, learner, train, validation)
            stopping = _stopping(learner, validate, self.n_iter_no_change)
        report = self.verbose and Report(type(self).__name__, self.max_iter, int(self.verbose))
        history: History = Trainer(
            _stepper(learner, objective, relevance, X),
            self._new_batches(train, relevance, random_state),
            SCHEDULES[self.schedule],
            learner.solver.learning_rate,
            [objective.anneal],
            [listener for listener in (stopping, report) if listener],
        ).run(Progress(self, X, y, self.max_iter, learner.fold))
        if stopping:
            stopping.restore()
        learner.restart_average()
        self._set_projections(learner.fold())
        self.history_, self.n_iter_ = history, len(history["objective"])
        self._learner = learner

    def _takes_groups(self, relevance):
        return takes_groups(self.batch_size, self.batch_size_, relevance)

    def _new_batches(self, rows, relevance, random_state):
        in_groups = self._takes_groups(relevance)
        return make_batches(rows, self.batch_size_, relevance, in_groups, random_state)

    def _new_learner(self, objective, relevance, X, n_rows, random_state, start=None):
        decay, from_neighbors = self.weight_decay, isinstance(relevance, NeighborRelevance)
        if decay == "auto" and from_neighbors:
            decay = 0.0
        elif decay == "auto":
            decay = 0.15 * np.sqrt(min(1, X.shape[1] / n_rows)) if n_rows else 0.05
        rate = self.learning_rate
        if rate == "auto" and from_neighbors and self.solver != "sgd":
            rate = _RATE_OF_NEIGHBORS
        elif rate == "auto":
            rate = objective.learning_rate(self.solver)
            rate = rate or _rate(self.solver, self._takes_groups(relevance))
        options: dict[str, Any] = {"learning_rate": rate, "weight_decay": (decay, 0.0)}
        if self.solver == "sgd":
            options["momentum"] = self.momentum
        solver = SOLVERS[self.solver](**options)
        dropout = self._choose_dropout(objective, X.shape[1], n_rows)
        return LinearLearner(
            X, self.n_bits, solver, random_state, start, dropout=dropout, one_scale=from_neighbors
        )

    def _choose_dropout(
        self, objective: CheckedObjective, n_features: int, n_rows: int | None
    ) -> float:
        """Share of the features to drop; `n_rows` is None where it is not known beforehand."""
        return 0.0

    def _validation(self, objective, relevance, X, learner, train, validation):
        def projections(rows):
            folded = learner.fold()
            return project(X[rows], folded["components_"], folded["intercept_"])

        return validation_of(objective, projections, relevance, train, validation)

    def _set_projections(self, folded):
        self.components_, self.intercept_ = folded["components_"], folded["intercept_"]


def _stepper(learner, objective, relevance, X):
    """Return the step of a trainer: move the learner on a batch of rows of X."""

    def step(batch, factor):
        level = relevance.level_indices(batch)
        return learner.step(
            X[batch], lambda scores: objective(scores, level, relevance.levels), factor
        )

    return step


def _stopping(learner, validate, n_iter_no_change):
    def get_weights():
        return tuple(weight.copy() for weight in learner.weights)

    def set_weights(weights):
        learner.weights = weights

    return EarlyStopping(validate, get_weights, set_weights, n_iter_no_change)


def _rate(solver, takes_groups):
    return {"adam": 0.02 if takes_groups else 0.01, "adam-by-bit": 0.02, "sgd": 1.0}[solver]
