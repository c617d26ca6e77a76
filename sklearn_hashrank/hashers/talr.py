"""Hashing as tie-aware learning to rank."""

from numbers import Integral, Real

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from ..base import pack_signs
from ..histogram import retrieval_histogram
from ..objectives import OBJECTIVES, BatchObjective
from ._minibatch import RAREST, MinibatchHasher

__all__ = ["TALRLinear"]

_MEASURES = {"ap": "average_precision", "ndcg": "ndcg"}
_BEST_RELAXATION = {"ap": "simplified", "ndcg": "exact"}


class TALRLinear(MinibatchHasher):
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
        Steepness at the end; it changes geometrically. None: it does not change. It has no meaning
        in :meth:`partial_fit`.
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
        **MinibatchHasher._parameter_constraints,
        "objective": [StrOptions(set(_MEASURES))],
        "relaxation": [StrOptions({"auto"} | {relaxation for _, relaxation in OBJECTIVES})],
        "alpha": [Interval(Real, 0, None, closed="neither")],
        "alpha_end": [None, Interval(Real, 0, None, closed="neither")],
        "n_bins": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "delta": [Interval(Real, 0, None, closed="neither")],
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

    def _wanted_batch_size(self, levels, shares):
        wanted = super()._wanted_batch_size(levels, shares)
        if self.objective == "ndcg":  # few pairs of a high level may hold most of the gain
            gains = np.exp2(levels - levels.max()) - np.exp2(-levels.max())
            effective = (shares @ gains) ** 2 / max(shares @ gains**2, RAREST)
            wanted = max(wanted, 1 / max(effective, RAREST))
        return wanted

    def _new_objective(self, relevance):
        relaxation = self.relaxation
        if relaxation == "auto":
            relaxation = _BEST_RELAXATION[self.objective]
        objective = BatchObjective(
            OBJECTIVES[self.objective, relaxation](),
            relevance.levels,
            n_bins=min(self.n_bits, 16) if self.n_bins == "auto" else self.n_bins,
            delta=self.delta,
        )

        def value_and_gradient(scores, level, done):
            alpha = self.alpha * ((self.alpha_end or self.alpha) / self.alpha) ** done
            return objective.value_and_gradient(scores, level, alpha)

        return value_and_gradient

    def _validate(self, X, y, relevance, train, validation):
        y = X if y is None else y
        histogram = retrieval_histogram(
            pack_signs(self._project(X[validation])),
            pack_signs(self._project(X[train])),
            y[validation],
            y[train],
            affinity=relevance.affinity,
            n_bits=self.n_bits,
        )
        values = histogram.measure(_MEASURES[self.objective], zero_division=0.0)
        return float(values.mean())
