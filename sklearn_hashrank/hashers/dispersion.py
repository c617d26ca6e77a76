"""Hashing that spreads each class over a zone of codes."""

from numbers import Real

from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from ..objectives import ObjectiveParameter
from ._minibatch import MinibatchHasher
from ._parameters import documented

__all__ = ["DispersionHasher"]

# Instead of the defaults of the objectives, which are the paper's. Chosen on rows held out of the
# training rows, see the page on DispersionHasher.
_BEST = {
    "dispersed": {"margin": 1.0, "zone": (1 / 3, 2 / 3)},
    "hierarchical": {"margin": 1.0, "zone": (2 / 3, 1.0)},
}
_OPTIONS = {"margin": "auto", "zone": "auto", "regularization": 0.01}
_OBJECTIVE = ObjectiveParameter("DispersionHasher", takes_zones=True, options=_OPTIONS, best=_BEST)


@documented
class DispersionHasher(MinibatchHasher):
    r"""Linear hash functions trained on pairs, with or without room for each class.

    Deep supervised hashing pulls relevant pairs together and pushes the others beyond a margin,
    which sends a class to few codes. The dispersed objective keeps relevant pairs within a zone of
    distances instead, neither farther nor nearer; the hierarchical one has a nearer zone for rows
    of the same class than for those that share a superclass only [1]_. All pairs of a minibatch
    count. The relaxed codes are the projections themselves, pulled towards -1 and +1. Features are
    centred and scaled inside, and the result is folded back into `components_` and `intercept_`.

    Parameters
    ----------
    {n_bits}
    objective : {"dispersed", "dsh", "hierarchical", "nested"} or object, default="dispersed"
        A zone for relevant pairs, no zone, or one for each level of label paths, of which a pair
        pays for its own or, as printed, for those of all labels that it shares. Relevant means
        level > 0; only the last two tell the levels apart, and they need two of them. Or any
        object with ``value_and_gradient(scores, level, levels)``, see :ref:`add_an_objective`. An
        object has parameters of its own: `margin`, `zone` and `regularization` belong to the names,
        and must keep their defaults.
    {affinity}
    margin : float or "auto", default="auto"
        Irrelevant pairs are pushed apart up to this distance per bit. On codes of -1 and +1 the
        squared Euclidean distance of ``"dsh"`` is 4 times the Hamming distance, the city-block
        distance of the others 2 times. ``"auto"`` is a Hamming distance of half of the bits: 2 for
        ``"dsh"`` and 1 for the others, but the paper's 2 for ``"nested"``.
    zone : tuple (low, high) or "auto", default="auto"
        City-block distances per bit that relevant pairs may have. With ``"hierarchical"`` and
        ``"nested"`` this is the zone of the coarsest label; each label more that is shared halves
        both ends. ``"auto"`` is (1/3, 2/3), (2/3, 1) for ``"hierarchical"``, and the paper's
        (1/6, 1/3) for ``"nested"``.
    regularization : float, default=0.01
        Weight of the distance of the relaxed codes from -1 and +1.
    {solver_by_bit}
    {ascent}
    {end}

    Attributes
    ----------
    {attributes}

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
    >>> options = {"n_bits": 12, "random_state": 0}
    >>> near = DispersionHasher(**options, zone=(0, 0)).fit(X, y)
    >>> spread = DispersionHasher(**options, zone=(2 / 3, 1)).fit(X, y)
    >>> len(np.unique(spread.codes_, axis=0)) > len(np.unique(near.codes_, axis=0))
    True
    """

    _parameter_constraints: dict = {
        **MinibatchHasher._parameter_constraints,
        "objective": [str, HasMethods("value_and_gradient")],
        "margin": [StrOptions({"auto"}), Interval(Real, 0, None, closed="left")],
        "zone": [StrOptions({"auto"}), tuple, list],
        "regularization": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        n_bits=32,
        *,
        objective="dispersed",
        affinity="auto",
        margin="auto",
        zone="auto",
        regularization=0.01,
        solver="adam-by-bit",
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
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _choose_objective(self, relevance):
        options = {name: getattr(self, name) for name in _OPTIONS}
        return _OBJECTIVE.resolve(self.objective, options, n_jobs=self.n_jobs)
