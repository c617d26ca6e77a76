"""Pairwise-supervised hashing: the likelihood of pairs."""

from numbers import Real

from sklearn.utils._param_validation import Interval

from ..objectives import DPSH
from ._minibatch import MinibatchHasher
from ._parameters import documented

__all__ = ["DPSHHasher"]


@documented
class DPSHHasher(MinibatchHasher):
    r"""Linear hash functions that maximise the likelihood of pairs.

    A pair of rows is relevant with the logistic probability of half the inner product of their
    relaxed codes, which are the projections themselves, pulled towards -1 and +1 [1]_. All pairs of
    a minibatch count, with gradients to both rows. Relevant means level > 0. Features are centred
    and scaled inside, and the result is folded back into `components_` and `intercept_`. The
    objective is :class:`~sklearn_hashrank.objectives.DPSH`; see :ref:`minibatch_methods`.

    Parameters
    ----------
    {n_bits}
    {affinity}
    regularization : float, default=0.1
        Weight of the squared distance of the relaxed codes from -1 and +1, in the mean of a bit.
    {solver}
    {ascent}
    {end}

    Attributes
    ----------
    {attributes}

    References
    ----------
    .. [1] W.-J. Li, S. Wang, W.-C. Kang, "Feature learning based deep supervised hashing with
       pairwise labels", IJCAI 2016.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn_hashrank import DPSHHasher
    >>> X, y = load_digits(return_X_y=True)
    >>> hasher = DPSHHasher(n_bits=16, random_state=0).fit(X[:1000], y[:1000])
    >>> bool(hasher.score(X[1000:], y[1000:]) > 0.7)
    True
    """

    _parameter_constraints: dict = {
        **MinibatchHasher._parameter_constraints,
        "regularization": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        n_bits=32,
        *,
        affinity="auto",
        regularization=0.1,
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
        return DPSH(regularization=self.regularization, n_jobs=self.n_jobs), ()
