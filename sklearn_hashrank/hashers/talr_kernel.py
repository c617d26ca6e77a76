"""Tie-aware learning to rank in the space of a Gaussian kernel."""

import inspect
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval

from .._utils.threads import one_blas_thread
from ..affinity import affinity_to_learn_from
from ..features import inverse_root, map_blocks
from ..learning import check_two_rows
from ._kernel import KernelHasher
from ._kernel import documented as documented_kernels
from ._parameters import documented
from .talr import TALRLinear

__all__ = ["TALRKernel"]

_OF_TALR = tuple(inspect.signature(TALRLinear).parameters)
_OF_TRAINING_ROWS = ("codes_", "y_")


@documented
@documented_kernels
class TALRKernel(KernelHasher):
    """Half-spaces of a Gaussian kernel that maximise tie-aware AP or NDCG directly.

    Rows are compared with anchors, the kernels are whitened by those of the anchors with each other
    (Nystroem's features), and :class:`TALRLinear` learns from them [1]_. It is the strongest of the
    shallow methods here. Training keeps ``n_samples * n_anchors`` numbers of float32 in memory;
    encoding costs two matrix products.

    With `y`, features of mixed units are brought to one unit first, see :ref:`mixed_units`.

    Parameters
    ----------
    {n_bits}
    n_anchors : int, default=1000
        Training rows that kernels are computed with, sampled at random.
    gamma : float, default=2.0
        Steepness of the kernel ``exp(-gamma * d^2 / s)``. d is the distance of a row from an
        anchor, and s the mean of ``d^2`` over training rows and anchors, so that the scale of the
        features does not matter.
    objective : {"auto", "ap", "ndcg", "mi"} or object, default="auto"
        As in :class:`TALRLinear`.
    {affinity}
    relaxation : {"auto", "simplified", "arxiv", "cvpr", "exact"}, default="auto"
        As in :class:`TALRLinear`.
    {solver}
    {batches}
    max_iter : int, default=60
        Most passes over the training rows.
    {steps}
    alpha : float, default=2.0
        Steepness of the relaxed codes, for projections of about unit variance.
    alpha_end : float or None, default=None
        Steepness at the end; it changes geometrically. None: it does not change.
    n_bins : int or "auto", default="auto"
        As in :class:`TALRLinear`.
    delta : float, default=1.0
        Half-width of the triangular bins, in bins.
    dropout : float or "auto", default="auto"
        Share of the features of each row that a step leaves at their mean, other ones every time.
        ``"auto"`` is as in :class:`TALRLinear`, where the features are the kernels.
    {end}

    Attributes
    ----------
    {hyperplanes}
    {affinity_}
    history_ : dict of list
        As in :class:`TALRLinear`.
    n_iter_ : int
        Passes done.
    batch_size_ : int
        Rows of a minibatch.
    {attributes}

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

    _learner: TALRLinear
    _whitening: np.ndarray

    def __init__(
        self,
        n_bits=32,
        *,
        n_anchors=1000,
        gamma=2.0,
        objective="auto",
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
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows.
        y : array-like with n_samples rows, default=None
            What `affinity` compares; None: `X` itself.

        Returns
        -------
        self : TALRKernel
        """
        goes_on = self.warm_start and hasattr(self, "dual_coef_")
        X, y = self._validate_training_data(X, y, reset=not goes_on)
        check_two_rows(self, X)
        random_state = check_random_state(self.random_state)
        if not hasattr(self, "affinity_"):
            self.affinity_ = self._fit_affinity(X, y).without_database()
        self._check_can_learn(y)
        if not goes_on:
            mixed_units = y is not None
            self._find_features(
                X, self.n_anchors, self.gamma, random_state, mixed_units=mixed_units
            )
            self._whitening = inverse_root(self._features.of_anchors(), X.dtype)
            self._learner = TALRLinear()
        parameters = {name: getattr(self, name) for name in _OF_TALR}
        parameters["affinity"] = affinity_to_learn_from(self.affinity, X, y)
        parameters["random_state"] = random_state.randint(np.iinfo(np.int32).max)
        learner = self._learner.set_params(**parameters)
        learner.fit(self._whiten(X), X if y is None else y)
        for name in _OF_TRAINING_ROWS:
            learner.__dict__.pop(name)
        self.history_, self.n_iter_ = learner.history_, learner.n_iter_
        self.batch_size_ = learner.batch_size_
        weights = self._whitening @ learner.components_.T
        self._set_weights(weights, learner.intercept_, X.dtype)
        self._keep_database(X, y)
        return self

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
