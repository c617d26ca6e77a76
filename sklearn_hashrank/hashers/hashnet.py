"""Hashing by continuation: pairs whose relaxed codes become codes."""

from numbers import Real

from sklearn.utils._param_validation import Interval

from ..objectives import HashNet
from ._minibatch import MinibatchHasher
from ._parameters import documented

__all__ = ["HashNetHasher"]


@documented
class HashNetHasher(MinibatchHasher):
    r"""Linear hash functions from a balanced likelihood of pairs, by continuation.

    A pair of rows is relevant with the logistic probability of the inner product of their relaxed
    codes ``tanh(alpha * projection)``. Relevant and other pairs of a minibatch weigh the same,
    however rare the relevant ones are, and `alpha` grows during learning, so that the relaxed codes
    become codes [1]_. Relevant means level > 0. Features are centred and scaled inside, and the
    result is folded back into `components_` and `intercept_`. The objective is
    :class:`~sklearn_hashrank.objectives.HashNet`; see :ref:`minibatch_methods`.

    Parameters
    ----------
    {n_bits}
    {affinity}
    alpha : float, default=1.0
        Steepness of the relaxed codes at the start, for projections of about unit variance.
    alpha_end : float or None, default=3.0
        Steepness at the end. Its square grows in proportion to the steps taken. None: it does not
        change. It has no meaning in :meth:`partial_fit`.
    scale : float, default=5.0
        What the mean product of the bits of two rows is multiplied by.
    {solver}
    {ascent}
    {end}

    Attributes
    ----------
    {attributes}

    References
    ----------
    .. [1] Z. Cao, M. Long, J. Wang, P. S. Yu, "HashNet: deep learning to hash by continuation",
       ICCV 2017.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn_hashrank import HashNetHasher
    >>> X, y = load_digits(return_X_y=True)
    >>> hasher = HashNetHasher(n_bits=16, random_state=0).fit(X[:1000], y[:1000])
    >>> bool(hasher.score(X[1000:], y[1000:]) > 0.7)
    True
    """

    _parameter_constraints: dict = {
        **MinibatchHasher._parameter_constraints,
        "alpha": [Interval(Real, 0, None, closed="neither")],
        "alpha_end": [None, Interval(Real, 0, None, closed="neither")],
        "scale": [Interval(Real, 0, None, closed="neither")],
    }

    def __init__(
        self,
        n_bits=32,
        *,
        affinity="auto",
        alpha=1.0,
        alpha_end=3.0,
        scale=5.0,
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
        self.alpha = alpha
        self.alpha_end = alpha_end
        self.scale = scale
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
        objective = HashNet(alpha=self.alpha, scale=self.scale, n_jobs=self.n_jobs)
        if self.alpha_end is None:
            return objective, ()
        return objective, (objective.continuation(self.alpha_end),)
