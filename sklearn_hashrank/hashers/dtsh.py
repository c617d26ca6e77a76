"""Triplet-supervised hashing: the likelihood of triplets."""

from numbers import Real

from sklearn.utils._param_validation import Interval

from ..objectives import DTSH
from ._minibatch import MinibatchHasher
from ._parameters import documented

__all__ = ["DTSHHasher"]


@documented
class DTSHHasher(MinibatchHasher):
    r"""Linear hash functions that maximise the likelihood of triplets.

    Every row of a minibatch is a query. With each relevant and each irrelevant row of the batch it
    makes a triplet, whose probability is the logistic function of half the difference of their
    inner products with the query, less a margin [1]_. The relaxed codes are the projections
    themselves, pulled towards -1 and +1. Relevant means level > 0. Features are centred and scaled
    inside, and the result is folded back into `components_` and `intercept_`. The objective is
    :class:`~sklearn_hashrank.objectives.DTSH`; see :ref:`minibatch_methods`.

    Parameters
    ----------
    {n_bits}
    {affinity}
    margin : float, default=0.25
        Wanted difference of the halved inner products of a triplet, per bit. On codes of -1 and +1
        it is the difference of their Hamming distances.
    regularization : float, default=1.0
        Weight of the squared distance of the relaxed codes from -1 and +1, in the mean of a bit.
    {solver}
    {ascent}
    {end}

    Attributes
    ----------
    {attributes}

    References
    ----------
    .. [1] X. Wang, Y. Shi, K. M. Kitani, "Deep supervised hashing with triplet labels", ACCV 2016.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn_hashrank import DTSHHasher
    >>> X, y = load_digits(return_X_y=True)
    >>> hasher = DTSHHasher(n_bits=16, random_state=0).fit(X[:1000], y[:1000])
    >>> bool(hasher.score(X[1000:], y[1000:]) > 0.7)
    True
    """

    _parameter_constraints: dict = {
        **MinibatchHasher._parameter_constraints,
        "margin": [Interval(Real, 0, None, closed="left")],
        "regularization": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        n_bits=32,
        *,
        affinity="auto",
        margin=0.25,
        regularization=1.0,
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
        n_jobs=None,
        verbose=0,
    ):
        self.n_bits = n_bits
        self.affinity = affinity
        self.margin = margin
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
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _choose_objective(self, affinity):
        objective = DTSH(margin=self.margin, regularization=self.regularization, n_jobs=self.n_jobs)
        return objective, ()
