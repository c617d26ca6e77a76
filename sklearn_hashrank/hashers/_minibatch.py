"""Hashers whose hyperplanes maximise an objective by gradient ascent over minibatches."""

from abc import abstractmethod
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import validate_data

from .._learning.linear_model import LinearLearner, LinearModel
from .._learning.minibatch_learning import MinibatchLearning
from .._learning.objective_of_rows import ObjectiveOfRows
from .._learning.relevance import (
    check_two_rows,
    learned_affinity,
    learned_relevance,
    most_compared,
    size_of_batches,
)
from .._solvers.stochastic import SCHEDULES, SOLVERS
from .._utils.callbacks import CallbackSupportMixin
from .._utils.threads import one_blas_thread
from ..affinity._auto import is_auto
from ..affinity._learnable import check_can_learn
from ..affinity._protocol import BaseAffinity
from ..base import LinearHasher
from ..objectives._objective_checks import CheckedObjective


class LearnsFromMinibatches:
    """What hashers have that learn hyperplanes from minibatches, of features or of kernels.

    A subclass says which objective (`_choose_objective`).
    """

    _parameter_constraints: dict = {
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

    n_bits: int
    objective: Any
    affinity: Any
    solver: str
    batch_size: int | str
    max_iter: int
    learning_rate: float | str
    schedule: str
    weight_decay: float | str
    momentum: float
    early_stopping: bool
    validation_fraction: float
    n_iter_no_change: int
    verbose: int
    affinity_: BaseAffinity
    _learner: LinearLearner
    _choose_dropout: Any  # of classes with a parameter dropout

    def _learn(self, rows, relevance, random_state, start, X, y):
        """Take the passes over rows of features or of kernels, which `X` became."""
        objective = self._objective_of_rows(relevance)
        learning = MinibatchLearning(
            objective,
            relevance,
            batch_size=self.batch_size,
            validation_fraction=self.validation_fraction if self.early_stopping else None,
            random_state=random_state,
        )
        self.batch_size_, self.group_size_ = learning.batch_size, learning.group_size
        if self.verbose and self.group_size_:
            made = f"batches of {self.batch_size_} rows, in groups of {self.group_size_} of a class"
            print(f"[{type(self).__name__}] {made}")
        train = learning.train
        known = rows[train] if learning.validation.size else rows
        self._set_strengths(objective, relevance, rows.shape[1], len(train))
        learner = self._new_learner(
            objective, relevance, known, learning.in_groups, random_state, start
        )
        self.history_ = learning.run(
            LinearModel(learner, rows),
            self.max_iter,
            schedule=self.schedule,
            n_iter_no_change=self.n_iter_no_change,
            verbose=self.verbose,
            estimator=self,
            X=X,
            y=y,
        )
        self.n_iter_ = len(self.history_["objective"])
        learner.restart_average()
        self._learner = learner

    @abstractmethod
    def _choose_objective(self, affinity: BaseAffinity, n_bins: int | str) -> Any:
        """Return the objective, looked up where it is named; `n_bins` is what "auto" stands for."""

    def _check_training_data(self, X: Any, y: Any) -> None:
        check_two_rows(self, X)
        learned = self._learned_affinity(X, y)
        objective = self._checked_objective(learned)
        if y is not None or not is_auto(self.affinity):
            rows = X if y is None else y
            n_levels = learned.n_reachable_levels(learned.validate(rows))
            gain = objective.level_gain(learned.levels_[:n_levels])
            is_graded = gain is None or len(np.unique(gain)) > 2
            check_can_learn(type(self).__name__, learned, rows, is_graded)

    def _most_compared(self) -> int | None:
        return most_compared(self.affinity_)

    def _learned_affinity(self, X: Any, y: Any) -> BaseAffinity:
        """Affinity that is learned from, fitted; kept without rows as `affinity_`."""
        learned = learned_affinity(self.affinity, getattr(self, "affinity_", None), X, y)
        self.affinity_ = learned.without_database()
        return learned

    def _checked_objective(self, affinity, n_bins="auto"):
        objective = CheckedObjective(self._choose_objective(affinity, n_bins))
        objective.check_affinity(affinity, is_auto(self.affinity))
        return objective

    def _objective_of_rows(self, relevance):
        n_bins = relevance.n_bins(self.n_bits)
        return ObjectiveOfRows(self._checked_objective(relevance.affinity, n_bins), relevance)

    def _check_n_bits(self, learned):
        if self.n_bits != learned:
            raise ValueError(
                f"learning goes on from codes of {learned} bits. Got n_bits={self.n_bits}, which "
                "takes a new fit, with warm_start=False."
            )

    def _set_strengths(self, objective, relevance, n_features, n_rows):
        """Set weight decay and dropout as they are given, or what "auto" stands for."""
        decay = self.weight_decay
        if isinstance(decay, str):
            decay = relevance.weight_decay(n_features, n_rows)
        self.weight_decay_ = float(decay)
        if hasattr(self, "dropout"):
            self.dropout_ = self._choose_dropout(objective, n_features, n_rows)

    def _new_learner(self, objective, relevance, X, in_groups, random_state, start):
        rate = self.learning_rate
        if rate == "auto":
            rate = objective.learning_rate(self.solver)
            rate = rate or relevance.learning_rate(self.solver, in_groups)
        options: dict[str, Any] = {
            "learning_rate": rate,
            "weight_decay": (self.weight_decay_, 0.0),
        }
        if self.solver == "sgd":
            options["momentum"] = self.momentum
        solver = SOLVERS[self.solver](**options)
        return LinearLearner(
            X,
            self.n_bits,
            solver,
            random_state,
            start,
            dropout=getattr(self, "dropout_", 0.0),
            one_scale=relevance.one_scale,
        )


class MinibatchHasher(LearnsFromMinibatches, CallbackSupportMixin, LinearHasher):
    """Base class of linear hashers that maximise an objective of minibatches.

    A subclass says which objective (`_choose_objective`). Its parameters are those of
    `_parameter_constraints` and its own.
    """

    _parameter_constraints: dict = {
        **LinearHasher._parameter_constraints,
        **LearnsFromMinibatches._parameter_constraints,
    }

    @_fit_context(prefer_skip_nested_validation=True)
    @one_blas_thread()
    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the hyperplanes.

        Parameters
        ----------
        X : {array-like, sparse matrix, dask array} of shape (n_samples, n_features)
            Training rows.
        y : array-like with n_samples rows, default=None
            What `affinity` compares; None: `X` itself.

        Returns
        -------
        self : hasher
        """
        start = self._check_start(X)
        X, y = self._validate_training_data(X, y)
        relevance = self._fit_relevance(X, y, by_features=True)
        random_state = check_random_state(self.random_state)
        self._learn(X, relevance, random_state, start, X, y)
        self._set_projections(self._learner.fold())
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
        X, y = self._validate_training_data(X, y, reset=first, is_block=True)
        check_two_rows(self, X)
        relevance = self._fit_relevance(X, y)
        objective = self._objective_of_rows(relevance)
        if objective.needs_all_rows:
            raise ValueError(
                f"objective={self.objective!r} learns from the classes of all rows, which a block "
                "does not tell. Call fit with all rows."
            )
        random_state = check_random_state(self.random_state)
        if first:
            self.batch_size_ = size_of_batches(self.batch_size, objective, relevance, random_state)
        in_groups = self.batch_size == "auto" and relevance.takes_groups(self.batch_size_)
        if first:
            self._set_strengths(objective, relevance, X.shape[1], None)
            self._learner = self._new_learner(
                objective, relevance, X, in_groups, random_state, None
            )
        else:
            self._learner.see(X)
        model = LinearModel(self._learner, X)
        for batch in relevance.batches(
            relevance.members, self.batch_size_, in_groups, random_state
        ):
            model.step(batch, objective.of(batch), 1 / np.sqrt(1 + self._learner.n_steps / 100))
        self._set_projections(self._learner.fold(average=True))
        for name in ("codes_", "y_", "history_", "n_iter_", "group_size_"):
            self.__dict__.pop(name, None)
        return self

    def _check_start(self, X):
        """Return the projections that a warm start starts from, and refuse others than theirs."""
        if not self.warm_start or not hasattr(self, "components_"):
            return None
        self._check_n_bits(self.n_bits_)
        validate_data(self, X, reset=False, skip_check_array=True)
        return self.components_, self.intercept_

    def _fit_relevance(self, X, y, by_features=False):
        learned, random_state = self._learned_affinity(X, y), check_random_state(self.random_state)
        return learned_relevance(learned, X, y, random_state, self.n_jobs, by_features=by_features)

    def _set_projections(self, folded):
        self.components_, self.intercept_ = folded["components_"], folded["intercept_"]
