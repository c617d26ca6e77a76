"""Hashers whose hyperplanes maximize an objective by gradient ascent over minibatches."""

from abc import abstractmethod
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import validate_data

from .._learning.linear_model import LinearModel
from .._learning.minibatch_learning import MinibatchLearning, check_n_bits
from .._learning.neighbor_relevance import MOST_ROWS, NeighborRelevance
from .._learning.pair_relevance import PairRelevance
from .._learning.relevance import check_two_rows, learned_affinity, learned_relevance
from .._solvers.stochastic import SCHEDULES, SOLVERS
from .._utils.callbacks import CallbackSupportMixin
from .._utils.threads import one_blas_thread
from ..affinity._auto import is_auto
from ..affinity._learnable import check_can_learn
from ..affinity._neighbors import NeighborAffinity
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
    n_jobs: int | None
    verbose: int
    affinity_: BaseAffinity
    _model: LinearModel
    _groups_by_features = True  # whether features decide how large the groups of a batch are

    @abstractmethod
    def _choose_objective(self, affinity: BaseAffinity) -> Any:
        """Return the objective, looked up if it is named."""

    def _choose_dropout(self, objective: Any, n_features: int, n_rows: int | None) -> float:
        """Return the dropout; `n_rows` is None where it is not known beforehand."""
        return 0.0

    def _check_training_data(self, X: Any, y: Any) -> tuple[Any, CheckedObjective, Any]:
        """Return what is learned from, the objective, and the relevance of pairs if it is that."""
        check_two_rows(self, X)
        learned, objective = self._affinity_and_objective(X, y)
        rows, relevance = X if y is None else y, None
        if not isinstance(learned, NeighborAffinity):
            features = X if self._groups_by_features else None
            relevance = PairRelevance(learned, rows, self.n_jobs, features)
        if y is not None or not is_auto(self.affinity):
            compared = learned.validate(rows) if relevance is None else relevance.rows
            gain = objective.level_gain(learned.levels_[: learned.n_reachable_levels(compared)])
            is_graded = gain is None or len(np.unique(gain)) > 2
            check_can_learn(type(self).__name__, learned, rows, is_graded, compared)
        return learned, objective, relevance

    def _most_compared(self) -> int | None:
        return MOST_ROWS if isinstance(self.affinity_, NeighborAffinity) else None

    def _affinity_and_objective(self, X, y):
        """Return what is learned from, fitted, and the objective; keep the first without rows."""
        learned = learned_affinity(self.affinity, getattr(self, "affinity_", None), X, y)
        self.affinity_ = learned.without_database()
        objective = CheckedObjective(self._choose_objective(learned))
        objective.check_affinity(learned, is_auto(self.affinity))
        return learned, objective

    def _learn(self, rows, built, sampler, random_state, start, X, y):
        """Take the passes over rows of features or of kernels, which `X` became.

        `built` is what `_check_training_data` returned for `X` and `y`.
        """
        learned, objective, relevance = built
        if relevance is None:
            compared = X if y is None else y
            relevance = NeighborRelevance(learned, compared, sampler, self.n_jobs)
        objective.bind(relevance)
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
        model = self._new_model(
            objective, relevance, known, len(train), learning.in_groups, random_state, start
        )
        self.history_ = learning.run(
            model,
            rows,
            self.max_iter,
            schedule=self.schedule,
            n_iter_no_change=self.n_iter_no_change,
            verbose=self.verbose,
            estimator=self,
            told=(X, y),
        )
        self.n_iter_ = len(self.history_["objective"])
        self._model = model

    def _new_model(self, objective, relevance, X, n_rows, in_groups, random_state, start=None):
        rate, decay, n_features = self.learning_rate, self.weight_decay, X.shape[1]
        if isinstance(rate, str):
            rate = objective.learning_rates.get(self.solver)
            rate = rate or relevance.learning_rate(self.solver, in_groups)
        if isinstance(decay, str):
            decay = relevance.weight_decay(n_features, n_rows)
        self.weight_decay_ = float(decay)
        dropout = self._choose_dropout(objective, n_features, n_rows)
        if hasattr(self, "dropout"):
            self.dropout_ = dropout
        options = {"momentum": self.momentum} if self.solver == "sgd" else {}
        return LinearModel(
            X,
            self.n_bits,
            SOLVERS[self.solver](float(rate), (self.weight_decay_, 0.0), **options),
            random_state,
            start,
            dropout=dropout,
            one_scale=relevance.one_scale,
        )


class MinibatchHasher(LearnsFromMinibatches, CallbackSupportMixin, LinearHasher):
    """Base class of linear hashers that maximize an objective of minibatches.

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
        start = None
        if self.warm_start and hasattr(self, "components_"):
            check_n_bits(self.n_bits, self.n_bits_)
            validate_data(self, X, reset=False, skip_check_array=True)
            start = self.components_, self.intercept_
        X, y, built = self._checked_training_data(X, y)
        sampler = check_random_state(self.random_state)
        random_state = check_random_state(self.random_state)
        self._learn(X, built, sampler, random_state, start, X, y)
        self.components_, self.intercept_ = self._model.fold()
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
        first = not hasattr(self, "_model")
        if not first:
            check_n_bits(self.n_bits, self._model.n_bits)
        X, y = self._validate_training_data(X, y, reset=first, is_block=True)
        check_two_rows(self, X)
        learned, objective = self._affinity_and_objective(X, y)
        relevance = learned_relevance(
            learned, X if y is None else y, check_random_state(self.random_state), self.n_jobs
        )
        objective.bind(relevance)
        if objective.needs_all_rows:
            raise ValueError(
                f"objective={self.objective!r} learns from the classes of all rows, which a block "
                "does not tell. Call fit with all rows."
            )
        random_state, size = check_random_state(self.random_state), self.batch_size
        if first:
            if isinstance(size, str):
                size = relevance.batch_size(objective, random_state)
            self.batch_size_ = int(size)
        in_groups = self.batch_size == "auto" and relevance.takes_groups(self.batch_size_)
        if first:
            self._model = self._new_model(objective, relevance, X, None, in_groups, random_state)
        else:
            self._model.see(X)
        for batch in relevance.batches(
            relevance.members, self.batch_size_, in_groups, random_state
        ):
            factor = 1 / np.sqrt(1 + self._model.solver.n_steps / 100)
            self._model.average_step(X, batch, objective.of(batch), factor)
        self.components_, self.intercept_ = self._model.fold(average=True)
        for name in ("codes_", "y_", "history_", "n_iter_", "group_size_"):
            self.__dict__.pop(name, None)
        return self
