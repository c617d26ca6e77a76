"""Hashing as tie-aware learning to rank."""

from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from ._callbacks import CallbackSupportMixin, Progress
from ._learning import BatchRelevance, LinearLearner, minibatches
from .affinity import BaseAffinity
from .base import LinearHasher, pack_signs
from .histogram import retrieval_histogram
from .objectives import OBJECTIVES, BatchObjective
from .solvers.stochastic import SCHEDULES, SOLVERS

_MEASURES = {"ap": "average_precision", "ndcg": "ndcg"}
_BEST_RELAXATION = {"ap": "simplified", "ndcg": "exact"}
_WANTED_RELEVANT, _SMALLEST_BATCH, _LARGEST_BATCH, _RAREST = 10, 256, 2048, 1e-9


class TALRLinear(CallbackSupportMixin, LinearHasher):
    """Linear hash functions that maximise tie-aware AP or NDCG directly.

    In every minibatch each row queries all the others. The codes are relaxed to
    ``tanh(alpha * projection)``, the counts of the retrieval histogram to soft counts, and the
    tie-aware measure to a smooth function of those; its gradient is followed uphill [1]_. Features
    are centred and scaled inside, and the result is folded back into `components_` and
    `intercept_`.

    Parameters
    ----------
    n_bits : int, default=32
        Length of a code. It may exceed the number of features.
    objective : {"ap", "ndcg"}, default="ap"
        Average precision, for which relevant means level > 0, or NDCG, which knows grades.
    affinity : "auto" or affinity object, default="auto"
        How `y` says what is relevant; see :mod:`sklearn_hashrank.affinity`.
    relaxation : {"auto", "simplified", "arxiv", "cvpr", "exact"}, default="auto"
        How the measure is extended to soft counts. ``"exact"`` equals it on integer counts.
        ``"auto"`` is ``"simplified"`` for AP, where all do equally well, and ``"exact"`` for NDCG.
    solver : {"adam", "sgd"}, default="adam"
        Adam, or stochastic gradient ascent with momentum.
    batch_size : int or "auto", default="auto"
        Rows of a minibatch, at most all of them. ``"auto"`` is 256, and up to 2048 where relevant
        items are rare, so that a query finds about ten of them in its batch, or one of those
        that hold most of the gain.
    max_iter : int, default=60
        Most passes over the training rows.
    learning_rate : float or "auto", default="auto"
        Length of a step at the start. ``"auto"`` is 0.01 for Adam and 1 for SGD.
    schedule : {"constant", "step", "cosine"}, default="cosine"
        How the length of a step falls during `max_iter` passes.
    weight_decay : float or "auto", default="auto"
        Share of the weights that a step takes away at the start; it falls with `schedule`. Few
        rows of many features want more of it: ``"auto"`` is 0.15 times the root of the number of
        features per training row, at most 0.15, and 0.05 in :meth:`partial_fit`.
    momentum : float, default=0.9
        Share of the last move that ``solver="sgd"`` keeps.
    alpha : float, default=2.0
        Steepness of the relaxed codes, for projections of about unit variance.
    alpha_end : float or None, default=None
        Steepness at the end; it changes geometrically. None: it does not change.
    n_bins : int or "auto", default="auto"
        Steps between the first and the last bin of the soft histogram; ``"auto"`` is the smaller
        of `n_bits` and 16.
    delta : float, default=1.0
        Half-width of the triangular bins, in bins.
    early_stopping : bool, default=False
        Whether to keep part of the training rows for validation by the discrete tie-aware
        measure, to return the weights that were best, and to stop after `n_iter_no_change` passes
        without a better one.
    validation_fraction : float, default=0.1
        Share of the rows kept for validation.
    n_iter_no_change : int, default=10
        Passes to wait for a better validation.
    warm_start : bool, default=False
        Whether :meth:`fit` starts from the weights of the last fit.
    output : {"bits", "signs", "packed"}, default="bits"
        Format of :meth:`transform`: 0/1 uint8, -1/+1 int8, or packed uint8 bytes.
    random_state : int, RandomState instance or None, default=None
        Draws the start, the minibatches and the validation rows.
    verbose : int, default=0
        Print a line every `verbose` passes.

    Attributes
    ----------
    components_ : ndarray of shape (n_bits, n_features)
        Normal vectors of the hyperplanes.
    intercept_ : ndarray of shape (n_bits,)
        Their offsets.
    affinity_ : affinity object
        The fitted affinity.
    history_ : dict of list
        For each pass the mean ``"objective"`` over the minibatches, the ``"learning_rate"`` at its
        end, and the ``"validation"`` measure where `early_stopping` is on.
    n_iter_ : int
        Passes done.
    batch_size_ : int
        Rows of a minibatch.
    codes_ : ndarray of shape (n_samples, ceil(n_bits / 8)), uint8
        Packed codes of the training rows; not after :meth:`partial_fit`.
    y_ : array-like
        `y` of the training rows, or `X` where it was None; not after :meth:`partial_fit`.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, when `X` has string column names.

    References
    ----------
    .. [1] K. He, F. Cakir, S. A. Bargal, S. Sclaroff, "Hashing as tie-aware learning to rank",
       CVPR 2018.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn_hashrank import LSHHasher, TALRLinear
    >>> X, y = load_digits(return_X_y=True)
    >>> hasher = TALRLinear(n_bits=16, random_state=0).fit(X[:1000], y[:1000])
    >>> bool(hasher.score(X[1000:], y[1000:]) > 0.75)
    True
    """

    _parameter_constraints: dict = {
        **LinearHasher._parameter_constraints,
        "objective": [StrOptions(set(_MEASURES))],
        "affinity": [StrOptions({"auto"}), BaseAffinity],
        "relaxation": [StrOptions({"auto"} | {relaxation for _, relaxation in OBJECTIVES})],
        "solver": [StrOptions(set(SOLVERS))],
        "batch_size": [StrOptions({"auto"}), Interval(Integral, 2, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "learning_rate": [StrOptions({"auto"}), Interval(Real, 0, None, closed="neither")],
        "schedule": [StrOptions(set(SCHEDULES))],
        "weight_decay": [StrOptions({"auto"}), Interval(Real, 0, 1, closed="left")],
        "momentum": [Interval(Real, 0, 1, closed="left")],
        "alpha": [Interval(Real, 0, None, closed="neither")],
        "alpha_end": [None, Interval(Real, 0, None, closed="neither")],
        "n_bins": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "delta": [Interval(Real, 0, None, closed="neither")],
        "early_stopping": ["boolean"],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
        "n_iter_no_change": [Interval(Integral, 1, None, closed="left")],
        "warm_start": ["boolean"],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        n_bits=32,
        *,
        objective="ap",
        affinity="auto",
        relaxation="auto",
        solver="adam",
        batch_size="auto",
        max_iter=60,
        learning_rate="auto",
        schedule="cosine",
        weight_decay="auto",
        momentum=0.9,
        alpha=2.0,
        alpha_end=None,
        n_bins="auto",
        delta=1.0,
        early_stopping=False,
        validation_fraction=0.1,
        n_iter_no_change=10,
        warm_start=False,
        output="bits",
        random_state=None,
        verbose=0,
    ):
        self.n_bits = n_bits
        self.objective = objective
        self.affinity = affinity
        self.relaxation = relaxation
        self.solver = solver
        self.batch_size = batch_size
        self.max_iter = max_iter
        self.learning_rate = learning_rate
        self.schedule = schedule
        self.weight_decay = weight_decay
        self.momentum = momentum
        self.alpha = alpha
        self.alpha_end = alpha_end
        self.n_bins = n_bins
        self.delta = delta
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.warm_start = warm_start
        self.output = output
        self.random_state = random_state
        self.verbose = verbose

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> "TALRLinear":
        """Learn the hyperplanes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows.
        y : array-like with n_samples rows, default=None
            What `affinity` compares; None: `X` itself.

        Returns
        -------
        self : TALRLinear
        """
        warm = self.warm_start and hasattr(self, "components_")
        start = (self.components_, self.intercept_) if warm else None
        X, y = self._validate_training_data(X, y)
        relevance = self._fit_relevance(X, y)
        random_state = check_random_state(self.random_state)
        train, validation = self._split(X.shape[0], random_state)
        self.batch_size_ = min(len(train), self._choose_batch_size(relevance, random_state))
        learner = self._new_learner(X[train], len(train), random_state, start)
        objective = self._new_objective(relevance)
        history: dict[str, list[float]] = {"objective": [], "learning_rate": []}
        best_value, best_weights, best_epoch = -np.inf, learner.weights, 0

        progress = Progress(self, X, y, self.max_iter, lambda: learner.fold(X.dtype))
        for epoch in progress.iterations():
            values: list[float] = []
            for batch in minibatches(train, self.batch_size_, random_state):
                done = (epoch + len(values) * self.batch_size_ / len(train)) / self.max_iter
                factor = SCHEDULES[self.schedule](done)
                values.append(self._step(learner, objective, relevance, X, batch, factor, done))
            history["objective"].append(float(np.mean(values)))
            history["learning_rate"].append(factor * learner.solver.learning_rate)
            if validation.size:
                self.__dict__.update(learner.fold(X.dtype))
                value = self._validate(X, relevance.affinity, y, train, validation)
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
        self.__dict__.update(learner.fold(X.dtype))
        self.history_, self.n_iter_ = history, len(history["objective"])
        self._learner = learner
        self._keep_database(X, y)
        return self

    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any = None) -> "TALRLinear":
        """Take one pass over some rows, in minibatches of about `batch_size` rows.

        The first call fits the affinity. Means and scales of the features follow all rows seen so
        far. As the end is not known, `schedule` has no meaning here: the length of step k falls as
        ``1 / sqrt(1 + k / 100)``, and the result is the running mean of the weights over about
        a hundred steps.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows, at least two.
        y : array-like with n_samples rows, default=None
            What `affinity` compares; None: `X` itself.

        Returns
        -------
        self : TALRLinear
        """
        first = not hasattr(self, "_learner")
        X, y = self._validate_training_data(X, y, reset=first)
        relevance = self._fit_relevance(X, y)
        random_state = check_random_state(self.random_state)
        if first:
            self.batch_size_ = self._choose_batch_size(relevance, random_state)
            self._learner = self._new_learner(X, None, random_state)
        else:
            self._learner.see(X)
        objective = self._new_objective(relevance)
        for batch in minibatches(np.arange(X.shape[0]), self.batch_size_, random_state):
            factor = 1 / np.sqrt(1 + self._learner.n_steps / 100)
            self._step(self._learner, objective, relevance, X, batch, factor, 0.0)
        self.__dict__.update(self._learner.fold(X.dtype, average=True))
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

    def _split(self, n, random_state):
        n_validation = round(self.validation_fraction * n) if self.early_stopping else 0
        if self.early_stopping and not 1 <= n_validation <= n - 2:
            raise ValueError(
                f"validation_fraction={self.validation_fraction} of n_samples = {n} leaves "
                f"{n_validation} rows for validation and {n - n_validation} for training. "
                "At least one and two are needed."
            )
        order = random_state.permutation(n) if n_validation else np.arange(n)
        return order[n_validation:], order[:n_validation]

    def _choose_batch_size(self, relevance, random_state):
        if self.batch_size != "auto":
            return self.batch_size
        shares = relevance.level_shares(random_state)
        levels = relevance.levels
        wanted = _WANTED_RELEVANT / max(shares[levels > 0].sum(), _RAREST)
        if self.objective == "ndcg":  # few pairs of a high level may hold most of the gain
            gains = np.exp2(levels - levels.max()) - np.exp2(-levels.max())
            effective = (shares @ gains) ** 2 / max(shares @ gains**2, _RAREST)
            wanted = max(wanted, 1 / max(effective, _RAREST))
        return int(np.clip(wanted, _SMALLEST_BATCH, _LARGEST_BATCH))

    def _new_learner(self, X, n_rows, random_state, start=None):
        decay = self.weight_decay
        if decay == "auto":
            decay = 0.15 * np.sqrt(min(1, X.shape[1] / n_rows)) if n_rows else 0.05
        options: dict[str, Any] = {"weight_decay": (decay, 0.0)}
        if self.learning_rate != "auto":
            options["learning_rate"] = self.learning_rate
        if self.solver == "sgd":
            options["momentum"] = self.momentum
        solver = SOLVERS[self.solver](**options)
        return LinearLearner(X, self.n_bits, solver, random_state, start)

    def _new_objective(self, relevance):
        relaxation = self.relaxation
        if relaxation == "auto":
            relaxation = _BEST_RELAXATION[self.objective]
        return BatchObjective(
            OBJECTIVES[self.objective, relaxation](),
            relevance.levels,
            n_bins=min(self.n_bits, 16) if self.n_bins == "auto" else self.n_bins,
            delta=self.delta,
        )

    def _step(self, learner, objective, relevance, X, batch, factor, done):
        level = relevance.level_indices(batch)
        alpha = self.alpha * ((self.alpha_end or self.alpha) / self.alpha) ** done
        return learner.step(
            X[batch], lambda scores: objective.value_and_gradient(scores, level, alpha), factor
        )

    def _validate(self, X, affinity, y, train, validation):
        y = X if y is None else y
        histogram = retrieval_histogram(
            pack_signs(self._project(X[validation])),
            pack_signs(self._project(X[train])),
            y[validation],
            y[train],
            affinity=affinity,
            n_bits=self.n_bits,
        )
        values = histogram.measure(_MEASURES[self.objective], zero_division=0.0)
        return float(values.mean())

    def _report(self, epoch, history):
        if self.verbose and (epoch + 1) % int(self.verbose) == 0:
            figures = ", ".join(f"{name} {values[-1]:.4f}" for name, values in history.items())
            print(f"[{type(self).__name__}] pass {epoch + 1}/{self.max_iter}: {figures}")
