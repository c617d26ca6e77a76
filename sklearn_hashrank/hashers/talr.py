"""Hashing as tie-aware learning to rank."""

from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from ..affinity._protocol import BaseAffinity
from ..objectives._objective_names import LIKELIHOODS, RANKING, find_objective
from ..objectives._prefixes import Prefixes, check_prefixes
from ._minibatch import MinibatchHasher

__all__ = ["TALRLinear"]

# Of "auto". The fewer rows there are for each feature, the more dropout is best, for rows that are
# not trained on: of network features, GIST, pixels, digits and text, with 1 to 12 rows for each.
# For codes of the training rows more than .3 is too much.
_MOST_DROPOUT = 0.3


class TieAwareObjectives:
    """The choice of an objective and of dropout, for linear hash functions and for kernels."""

    objective: Any
    prefixes: Any
    n_bits: int
    n_jobs: int | None
    dropout: float | str

    def _choose_objective(self, affinity: BaseAffinity) -> Any:
        # All levels of the affinity, so that no block of rows decides between AP and NDCG.
        objective = find_objective(self.objective, affinity.levels_, self.n_jobs)
        if self.prefixes is None:
            return objective
        return Prefixes(objective, check_prefixes(self.prefixes, self.n_bits))

    def _choose_dropout(self, objective: Any, n_features: int, n_rows: int | None) -> float:
        """Share of the features to drop; `n_rows` is None where it is not known beforehand."""
        if not isinstance(self.dropout, str):
            return self.dropout
        if n_rows is None or objective.measure != "ap":
            return 0.0
        return self._dropout_of(n_features, n_rows)

    def _dropout_of(self, n_features: int, n_rows: int) -> float:
        return min(n_features / n_rows, _MOST_DROPOUT)


class TALRLinear(TieAwareObjectives, MinibatchHasher):
    """Linear hash functions that maximize tie-aware AP or NDCG directly.

    In every minibatch each row queries all the others. The codes are relaxed to
    ``tanh(alpha * projection)``, the counts of the retrieval histogram to soft counts, and the
    tie-aware measure to a smooth function of those, which gradient ascent maximizes [1]_. Features
    are centered and scaled inside, and the result is folded back into `components_` and
    `intercept_`.

    Parameters
    ----------
    n_bits : int, default=32
        Length of a code. It may exceed the number of features.
    objective : {"auto", "ap", "ndcg", "mi", "dpsh", "dtsh", "hashnet"} or object, default="auto"
        What is maximized. ``"ndcg"`` is NDCG, which uses all relevance levels. For the other names
        relevant means level > 0: ``"ap"`` is average precision, ``"mi"`` the mutual information of
        distance and relevance, ``"dpsh"`` and ``"hashnet"`` are likelihoods of pairs and ``"dtsh"``
        one of triplets, see :ref:`minibatch_methods`. ``"auto"`` is ``"ap"`` if the affinity has
        one level above 0, as for class labels, and ``"ndcg"`` if it has several, as for label sets,
        label paths, vectors and without `y`; :ref:`automatic_choices` compares both. A name stands
        for an object of :mod:`sklearn_hashrank.objectives` with its defaults. Pass the object to
        set its parameters, as in ``AveragePrecision(relaxation="exact", alpha=3)``, or any object
        with ``value_and_gradient(scores, level, levels)``, see :ref:`add_an_objective`.
    affinity : "auto" or affinity object, default="auto"
        How `y` says what is relevant; see :mod:`sklearn_hashrank.affinity`. ``"auto"`` without `y`
        learns from the nearest rows, and judges by distances; see :ref:`unlabelled`.
    solver : {"adam", "adam-per-bit", "sgd"}, default="adam"
        Adam; Adam with one mean square of the gradient for all weights of a bit, which suits
        principal components, because small ones do not move as far as large ones; or stochastic
        gradient ascent with momentum.
    prefixes : tuple of int, default=None
        Numbers of first bits, at most `n_bits`. The mean of the objective over these prefixes is
        maximized, so that the first bits of a long code are a good short code; include `n_bits`
        itself. See :meth:`truncate` and :ref:`prefix_codes`. None: all bits only.
    batch_size : int or "auto", default="auto"
        Rows of a minibatch, at most all of them, sampled at random. ``"auto"`` is 256, and up to
        2048 where relevant items are rare: a query should find about ten of them in its batch, and
        for graded objectives one of those that hold most of the gain. Where they are rare because
        there are many classes or label paths, it is 512, in groups of about 4 rows of a class or
        path; for classes that the features hardly tell apart, linear hashers take 1024, in groups
        of 16. Where nearest rows are relevant, batches are made of rows with some of their
        neighbors, and ``"auto"`` is 512.
    max_iter : int, default=120
        Most passes over the training rows.
    learning_rate : float or "auto", default="auto"
        Length of a step at the start. ``"auto"`` is 0.01 for Adam, 0.02 where batches are made of
        groups and for Adam per bit, but 0.003 for both where nearest rows are relevant; for SGD 1,
        but 0.03 on squared distances and on products of projections, whose slopes have no bound. An
        objective may declare others.
    schedule : {"constant", "step", "cosine"}, default="cosine"
        How the length of a step falls during `max_iter` passes.
    weight_decay : float or "auto", default="auto"
        Share of the weights that a step takes away at the start; it falls with `schedule`. Few rows
        of many features want more of it: ``"auto"`` is 0.15 times the root of the number of
        features per training row, at most 0.15, and 0.05 in :meth:`partial_fit`; 0 where nearest
        rows are relevant. See :ref:`few_rows`.
    momentum : float, default=0.9
        Share of the last move that ``solver="sgd"`` keeps.
    dropout : float or "auto", default="auto"
        Share of the features of each row that a step leaves at their mean, other ones every time.
        ``"auto"`` is, for average precision, the number of features per training row, at most 0.3.
        It is 0 for other objectives and in :meth:`partial_fit`. Most sets gain by it; GIST of
        Fashion-MNIST loses .004 of AP, see :ref:`automatic_choices`. Set it to 0.5 where queries
        and database will be of classes that are not among the training rows.
    early_stopping : bool, default=False
        Whether to keep part of the training rows for validation, to return the weights that were
        best, and to stop after `n_iter_no_change` passes without improvement. Validation looks at
        the tie-aware measure that the objective names, as ``"ap"`` and ``"ndcg"`` do, or else at
        the objective of the validation rows among themselves.
    validation_fraction : float, default=0.1
        Share of the rows kept for validation.
    n_iter_no_change : int, default=10
        Passes to wait for a better validation.
    warm_start : bool, default=False
        Whether :meth:`fit` starts from the weights of the last fit.
    output : {"bits", "signs", "packed"}, default="bits"
        Format of :meth:`transform`: 0/1 uint8, -1/+1 int8, or packed uint8 bytes.
    random_state : int, RandomState instance or None, default=None
        Samples the start, the minibatches and the validation rows.
    n_jobs : int or None, default=None
        Threads over the rows of large batches. None means 1 unless in a
        :obj:`joblib.parallel_config` context, -1 means all processors. The result does not depend
        on it. An objective that is an object has an `n_jobs` of its own.
    verbose : int, default=0
        Print a line every `verbose` passes: the objective, and the tie-aware measure of the
        validation rows, or of up to 1,000 training rows among themselves where there are none.

    Attributes
    ----------
    components_ : ndarray of shape (n_bits, n_features)
        Normal vectors of the hyperplanes.
    intercept_ : ndarray of shape (n_bits,)
        Their offsets.
    affinity_ : affinity object
        The affinity that was learned from. Without `y` and with ``affinity="auto"`` it is that of
        the nearest rows, which are not kept; :meth:`score` then judges by thresholds of distance.
    history_ : dict of list
        For each pass the mean ``"objective"`` over the minibatches, the ``"learning_rate"`` at its
        end, and the ``"validation"`` where `early_stopping` is on.
    n_iter_ : int
        Passes done.
    weight_decay_ : float
        The weight decay.
    dropout_ : float
        The dropout.
    batch_size_ : int
        Rows of a minibatch.
    group_size_ : int or None
        Rows of a class or label path in a group, about: 4, or for linear hashers 16 where the
        nearest row of fewer than .15 of at least 4,096 rows is of their class. None where batches
        are not made of groups.
    codes_ : ndarray of shape (n_samples, ceil(n_bits / 8)), uint8
        Packed codes of the training rows; not after :meth:`partial_fit`.
    y_ : array-like
        `y` of the training rows; absent where it was None, and after :meth:`partial_fit`.
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
        "objective": [
            StrOptions({"auto", *RANKING, *LIKELIHOODS}),
            HasMethods("value_and_gradient"),
        ],
        "dropout": [StrOptions({"auto"}), Interval(Real, 0, 1, closed="left")],
        "prefixes": [None, list, tuple, np.ndarray],
    }

    def __init__(
        self,
        n_bits=32,
        *,
        objective="auto",
        affinity="auto",
        solver="adam",
        prefixes=None,
        batch_size="auto",
        max_iter=120,
        learning_rate="auto",
        schedule="cosine",
        weight_decay="auto",
        momentum=0.9,
        dropout="auto",
        early_stopping=False,
        validation_fraction=0.1,
        n_iter_no_change=10,
        warm_start=False,
        output="bits",
        random_state=None,
        n_jobs=None,
        verbose=0,
    ):
        self.n_bits = n_bits
        self.objective = objective
        self.affinity = affinity
        self.solver = solver
        self.prefixes = prefixes
        self.batch_size = batch_size
        self.max_iter = max_iter
        self.learning_rate = learning_rate
        self.schedule = schedule
        self.weight_decay = weight_decay
        self.momentum = momentum
        self.dropout = dropout
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.warm_start = warm_start
        self.output = output
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
