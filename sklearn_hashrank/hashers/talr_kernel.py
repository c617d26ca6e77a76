"""Tie-aware learning to rank in the space of a Gaussian kernel."""

from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval

from .._features.kernel_features import inverse_root
from .._features.row_slices import map_blocks
from .._learning.minibatch_learning import check_n_bits
from .._utils.threads import one_blas_thread
from ._kernel import KernelHasher
from ._minibatch import LearnsFromMinibatches
from .talr import TALRLinear, TieAwareObjectives

__all__ = ["TALRKernel"]


# Of "auto". More for fewer rows, as in TALRLinear, costs .003 to .007 on digits, pixels and GIST.
_DROPOUT_OF_FEW_ROWS, _FEW_ROWS_PER_ANCHOR = 0.1, 10


class TALRKernel(TieAwareObjectives, LearnsFromMinibatches, KernelHasher):
    """Half-spaces of a Gaussian kernel that maximize tie-aware AP or NDCG directly.

    Rows are compared with anchors, the kernels are whitened by those of the anchors with each other
    (Nystroem's features), and :class:`TALRLinear` learns from them [1]_. It is the strongest of the
    shallow methods here. Training keeps ``n_samples * n_anchors`` numbers of float32 in memory;
    encoding costs two matrix products.

    With `y`, features of mixed units are brought to one unit first, see :ref:`mixed_units`.

    Parameters
    ----------
    n_bits : int, default=32
        Length of a code. It may exceed the number of features.
    n_anchors : int, default=1000
        Training rows that kernels are computed with, sampled at random.
    gamma : float, default=2.0
        Steepness of the kernel ``exp(-gamma * d^2 / s)``. d is the distance of a row from an
        anchor, and s the mean of ``d^2`` over training rows and anchors, so that the scale of the
        features does not matter.
    objective : {"auto", "ap", "ndcg", "mi", "dpsh", "dtsh", "hashnet"} or object, default="auto"
        What is maximized. ``"ndcg"`` is NDCG, which uses all relevance levels. For the other names
        relevant means level > 0: ``"ap"`` is average precision, ``"mi"`` the mutual information of
        distance and relevance, ``"dpsh"`` and ``"hashnet"`` are likelihoods of pairs and ``"dtsh"``
        one of triplets, see :ref:`minibatch_methods`. ``"auto"`` is ``"ap"`` if the affinity has
        one level above 0, as for class labels, and ``"ndcg"`` if it has several, as for label sets,
        label paths, vectors and without `y`. A name stands for an object of
        :mod:`sklearn_hashrank.objectives` with its defaults. Pass the object to set its parameters,
        as in ``AveragePrecision(relaxation="exact", alpha=3)``, or any object with
        ``value_and_gradient(scores, level, levels)``, see :ref:`add_an_objective`.
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
    max_iter : int, default=60
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
        ``"auto"`` is 0.1 for average precision where there are fewer than ten training rows for
        each anchor, and otherwise 0.
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
    anchors_ : ndarray of shape (n_anchors, n_features)
        Rows that all others are compared with.
    dual_coef_ : ndarray of shape (n_bits, n_anchors)
        Normal vectors of the hyperplanes in the space of centered kernels with the anchors.
    intercept_ : ndarray of shape (n_bits,)
        Offsets of the hyperplanes, added to the projections.
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
        Packed codes of the training rows.
    y_ : array-like
        `y` of the training rows; absent where it was None.
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
    >>> from sklearn_hashrank import TALRKernel
    >>> X, y = load_digits(return_X_y=True)
    >>> hasher = TALRKernel(n_bits=16, n_anchors=300, random_state=0).fit(X[:1000], y[:1000])
    >>> bool(hasher.score(X[1000:], y[1000:]) > 0.85)
    True
    """

    _parameter_constraints: dict = {
        **TALRLinear._parameter_constraints,
        "n_anchors": [Interval(Integral, 1, None, closed="left")],
        "gamma": [Interval(Real, 0, None, closed="neither")],
    }

    _groups_by_features = False
    _whitening: np.ndarray

    def __init__(
        self,
        n_bits=32,
        *,
        n_anchors=1000,
        gamma=2.0,
        objective="auto",
        affinity="auto",
        solver="adam",
        prefixes=None,
        batch_size="auto",
        max_iter=60,
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
        self.n_anchors = n_anchors
        self.gamma = gamma
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

    @_fit_context(prefer_skip_nested_validation=True)
    @one_blas_thread()
    def fit(self, X: Any, y: Any = None) -> "TALRKernel":
        """Sample the anchors, and learn the hyperplanes.

        Parameters
        ----------
        X : {array-like, sparse matrix, dask array} of shape (n_samples, n_features)
            Training rows.
        y : array-like with n_samples rows, default=None
            What `affinity` compares; None: `X` itself.

        Returns
        -------
        self : TALRKernel
        """
        goes_on, start = self.warm_start and hasattr(self, "dual_coef_"), None
        X, y, built = self._checked_training_data(X, y, reset=not goes_on)
        random_state = check_random_state(self.random_state)
        if goes_on:
            check_n_bits(self.n_bits, self._model.n_bits)
            start = self._model.fold()
        else:
            mixed_units = y is not None
            self._find_features(
                X, self.n_anchors, self.gamma, random_state, mixed_units=mixed_units
            )
            self._whitening = inverse_root(self._features.of_anchors(), X.dtype)
        seed = random_state.randint(np.iinfo(np.int32).max)
        sampler, random_state = np.random.RandomState(seed), np.random.RandomState(seed)
        self._learn(self._whiten(X), built, sampler, random_state, start, X, y)
        components, intercept = self._model.fold()
        self._set_weights(self._whitening @ components.T, intercept, X.dtype)
        self._keep_database(X, y)
        return self

    def _dropout_of(self, n_features: int, n_rows: int) -> float:
        return _DROPOUT_OF_FEW_ROWS if n_rows < _FEW_ROWS_PER_ANCHOR * n_features else 0.0

    def _whiten(self, X):
        """Features of all rows that the learner sees, (n_samples, n_anchors) float32."""
        anchors, shape = self._features.anchors, self._whitening.shape[:1]
        whitening = self._whitening.astype(anchors.dtype_of(X))
        return map_blocks(
            lambda rows: self._features.block(rows) @ whitening,
            X,
            anchors.row_numbers,
            shape,
            np.float32,
        )
