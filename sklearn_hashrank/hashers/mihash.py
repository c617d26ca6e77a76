"""Hashing that maximises mutual information."""

from numbers import Integral, Real

from sklearn.utils._param_validation import Interval, StrOptions

from ..objectives import MutualInformation
from ._minibatch import MinibatchHasher
from ._parameters import documented

__all__ = ["MIHasher"]


@documented
class MIHasher(MinibatchHasher):
    r"""Linear hash functions whose distances tell most about relevance.

    In every minibatch each row queries all the others. The objective is the mutual information
    of the Hamming distance of an item and of whether it is relevant, in bits, averaged over the
    queries [1]_: it is largest where the distances of relevant and of irrelevant items do not
    overlap. The codes are relaxed to ``tanh(alpha * projection)`` and the distances counted in
    soft histograms, as in :class:`~sklearn_hashrank.TALRLinear`, whose ``objective="mi"`` is
    the same objective. Relevant means level > 0. Features are centred and scaled inside, and
    the result is folded back into `components_` and `intercept_`. See :ref:`minibatch_methods`
    for the settings of the paper and why the defaults differ.

    Parameters
    ----------
    {n_bits}
    {affinity}
    alpha : float, default=2.0
        Steepness of the relaxed codes, for projections of about unit variance.
    n_bins : int or "auto", default="auto"
        Steps between the first and the last bin of the soft histogram; ``"auto"`` is the smaller
        of `n_bits` and 16.
    {solver}
    {ascent}
    {end}

    Attributes
    ----------
    {attributes}

    References
    ----------
    .. [1] F. Cakir, K. He, S. A. Bargal, S. Sclaroff, "MIHash: online hashing with mutual
       information", ICCV 2017.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn_hashrank import MIHasher
    >>> X, y = load_digits(return_X_y=True)
    >>> hasher = MIHasher(n_bits=16, random_state=0).fit(X[:1000], y[:1000])
    >>> bool(hasher.score(X[1000:], y[1000:]) > 0.75)
    True
    """

    _parameter_constraints: dict = {
        **MinibatchHasher._parameter_constraints,
        "alpha": [Interval(Real, 0, None, closed="neither")],
        "n_bins": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        n_bits=32,
        *,
        affinity="auto",
        alpha=2.0,
        n_bins="auto",
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
        self.n_bins = n_bins
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
        return MutualInformation(alpha=self.alpha, n_bins=self.n_bins, n_jobs=self.n_jobs), ()
