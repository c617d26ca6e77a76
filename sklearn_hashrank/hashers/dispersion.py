"""Hashing that spreads each class over a zone of codes."""

from numbers import Real

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from ..affinity import HierarchicalAffinity
from ..objectives import PAIRWISE_OBJECTIVES
from ._minibatch import MinibatchHasher

__all__ = ["DispersionHasher"]

_ROWS_OF_VALIDATION = 2048


class DispersionHasher(MinibatchHasher):
    r"""Linear hash functions trained on pairs, with or without room for each class.

    Deep supervised hashing pulls relevant pairs together and pushes the others beyond a margin,
    which sends a class to few codes. The dispersed objective keeps relevant pairs within a zone of
    distances instead, neither farther nor nearer; the hierarchical one has a nearer zone for rows
    of the same class than for those that share a superclass only [1]_. All pairs of a minibatch
    count. The relaxed codes are the projections themselves, drawn towards -1 and +1. Features are
    centred and scaled inside, and the result is folded back into `components_` and `intercept_`.

    Parameters
    ----------
    n_bits : int, default=32
        Length of a code. It may exceed the number of features.
    objective : {"dispersed", "dsh", "hierarchical"}, default="dispersed"
        A zone for relevant pairs, no zone, or one for each level of label paths. Relevant means
        level > 0; only ``"hierarchical"`` tells the levels apart, and it needs two of them.
    affinity : "auto" or affinity object, default="auto"
        How `y` says what is relevant; see :mod:`sklearn_hashrank.affinity`.
    margin : float, default=2.0
        Irrelevant pairs are pushed apart up to this distance per bit. On codes of -1 and +1 the
        squared Euclidean distance of ``"dsh"`` is 4 times the Hamming distance, the city-block
        distance of the others 2 times: a margin of 2 is half of the bits for ``"dsh"`` and all of
        them for the others.
    zone : tuple (low, high), default=(1/6, 1/3)
        City-block distances per bit that relevant pairs may have. With ``"hierarchical"`` this is
        the zone of the coarsest label; each label more that is shared halves both ends.
    regularization : float, default=0.01
        Weight of the distance of the relaxed codes from -1 and +1.
    solver : {"adam", "sgd"}, default="adam"
        Adam, or stochastic gradient ascent with momentum.
    batch_size : int or "auto", default="auto"
        Rows of a minibatch, at most all of them. ``"auto"`` is 256, and up to 2048 where relevant
        pairs are rare, so that a row meets about ten relevant ones.
    max_iter : int, default=60
        Most passes over the training rows.
    learning_rate : float or "auto", default="auto"
        Length of a step at the start. ``"auto"`` is 0.01 for Adam and 1 for SGD, but 0.03 for SGD
        on ``"dsh"``, whose slopes have no bound.
    schedule : {"constant", "step", "cosine"}, default="cosine"
        How the length of a step falls during `max_iter` passes.
    weight_decay : float or "auto", default="auto"
        Share of the weights that a step takes away at the start; it falls with `schedule`. Few
        rows of many features want more of it: ``"auto"`` is 0.15 times the root of the number of
        features per training row, at most 0.15, and 0.05 in :meth:`partial_fit`.
    momentum : float, default=0.9
        Share of the last move that ``solver="sgd"`` keeps.
    early_stopping : bool, default=False
        Whether to keep part of the training rows for validation by the objective among
        themselves, to return the weights that were best, and to stop after `n_iter_no_change`
        passes without a better one.
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
        For each pass the mean ``"objective"`` over the minibatches, which is minus the mean loss
        of a pair, the ``"learning_rate"`` at its end, and the ``"validation"`` where
        `early_stopping` is on.
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
    .. [1] P. L. K. Ding, Y. Li, B. Li, "Mean local group average precision (mLGAP): a new
       performance metric for hashing-based retrieval", 2018.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_digits
    >>> from sklearn_hashrank import DispersionHasher
    >>> X, y = load_digits(return_X_y=True)
    >>> options = {"n_bits": 12, "margin": 1.0, "random_state": 0}
    >>> near = DispersionHasher(**options, zone=(0, 0)).fit(X, y)
    >>> spread = DispersionHasher(**options, zone=(2 / 3, 1)).fit(X, y)
    >>> len(np.unique(spread.codes_, axis=0)) > len(np.unique(near.codes_, axis=0))
    True
    """

    _parameter_constraints: dict = {
        **MinibatchHasher._parameter_constraints,
        "objective": [StrOptions(set(PAIRWISE_OBJECTIVES))],
        "margin": [Interval(Real, 0, None, closed="left")],
        "zone": [tuple, list],
        "regularization": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        n_bits=32,
        *,
        objective="dispersed",
        affinity="auto",
        margin=2.0,
        zone=(1 / 6, 1 / 3),
        regularization=0.01,
        solver="adam",
        batch_size="auto",
        max_iter=60,
        learning_rate="auto",
        schedule="cosine",
        weight_decay="auto",
        momentum=0.9,
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
        self.margin = margin
        self.zone = zone
        self.regularization = regularization
        self.solver = solver
        self.batch_size = batch_size
        self.max_iter = max_iter
        self.learning_rate = learning_rate
        self.schedule = schedule
        self.weight_decay = weight_decay
        self.momentum = momentum
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.warm_start = warm_start
        self.output = output
        self.random_state = random_state
        self.verbose = verbose

    def _new_objective(self, relevance):
        self._check_zone()
        if self.objective == "hierarchical":
            self._check_hierarchy(relevance.affinity)
        objective = PAIRWISE_OBJECTIVES[self.objective](
            relevance.levels,
            self.n_bits,
            margin=self.margin,
            zone=self.zone,
            regularization=self.regularization,
        )
        return lambda scores, level, done: objective.value_and_gradient(scores, level)

    def _auto_learning_rate(self):
        if self.objective == "dsh" and self.solver == "sgd":
            return 0.03  # slopes of squared distances grow with them
        return super()._auto_learning_rate()

    def _check_zone(self):
        ends = np.asarray(self.zone)
        numbers = ends.shape == (2,) and ends.dtype.kind in "iuf"
        if not numbers or not 0 <= ends[0] <= ends[1] < np.inf:
            raise ValueError(
                f"zone must be two distances per bit, 0 <= low <= high. Got {self.zone!r} instead."
            )

    def _check_hierarchy(self, affinity):
        guessed = isinstance(self.affinity, str) and not isinstance(affinity, HierarchicalAffinity)
        n_levels = np.count_nonzero(affinity.levels_ > 0)
        if guessed or n_levels < 2:
            levels = "level" if n_levels == 1 else "levels"
            raise ValueError(
                "objective='hierarchical' needs superclasses: y as label paths of shape "
                "(n_samples, depth), integers, the superclass first, with depth >= 2 "
                "(and affinity=HierarchicalAffinity() where all are 0 or 1). "
                f"Got {type(affinity).__name__} with {n_levels} {levels} above 0."
            )

    def _validate(self, X, y, relevance, train, validation):
        objective = self._new_objective(relevance)
        n_blocks = -(-len(validation) // _ROWS_OF_VALIDATION)
        values = [
            objective(self._project(X[rows]), relevance.level_indices(rows), 1.0)[0]
            for rows in np.array_split(validation, n_blocks)
        ]
        return float(np.mean(values))
