"""Hashing as tie-aware learning to rank."""

from numbers import Integral, Real

from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from ..affinity import NeighborAffinity
from ..objectives import RANKING_OPTIONS, ObjectiveParameter
from ._minibatch import MinibatchHasher
from ._parameters import documented

__all__ = ["TALRLinear"]

# Of "auto". Network features gain up to .4, pixels and GIST lose a little beyond .1, and so do
# principal components of network features. Digits and text embeddings, of which there are more rows
# for each feature, lose from .02 and from .1 on.
_DROPOUT_OF_FEW_ROWS, _FEW_ROWS_PER_FEATURE = 0.1, 10
# Coarser bins cannot tell the few nearest rows from those that are a little farther.
_MOST_BINS_OF_NEIGHBORS = 64
_OBJECTIVE = ObjectiveParameter(
    "TALRLinear",
    takes_auto=True,
    takes_ranking=True,
    takes_likelihoods=True,
    options=RANKING_OPTIONS,
)


@documented
class TALRLinear(MinibatchHasher):
    """Linear hash functions that maximise tie-aware AP or NDCG directly.

    In every minibatch each row queries all the others. The codes are relaxed to
    ``tanh(alpha * projection)``, the counts of the retrieval histogram to soft counts, and the
    tie-aware measure to a smooth function of those, which gradient ascent maximises [1]_. Features
    are centred and scaled inside, and the result is folded back into `components_` and
    `intercept_`.

    Parameters
    ----------
    {n_bits}
    objective : {"auto", "ap", "ndcg", "mi", "dpsh", "dtsh", "hashnet"} or object, default="auto"
        What is maximised. ``"ndcg"`` is NDCG, which knows grades. For the other names relevant
        means level > 0: ``"ap"`` is average precision, ``"mi"`` the mutual information of distance
        and relevance, ``"dpsh"`` and ``"hashnet"`` are likelihoods of pairs and ``"dtsh"`` one of
        triplets, see :ref:`minibatch_methods`. Or any object with
        ``value_and_gradient(scores, level, levels)``, see :ref:`add_an_objective`. ``"auto"`` is
        ``"ap"`` where the affinity has one level above 0, as for class labels, and ``"ndcg"`` where
        it has several, as for label sets, label paths, vectors and without `y`. The parameters
        `relaxation`, `alpha`, `alpha_end`, `n_bins` and `delta` belong to ``"ap"``, ``"ndcg"`` and
        ``"mi"``, and must keep their defaults beside the others and beside an object, which has
        parameters of its own.
    {affinity}
    relaxation : {"auto", "simplified", "arxiv", "cvpr", "exact"}, default="auto"
        How the measure is extended to soft counts. ``"exact"`` equals it on integer counts.
        ``"auto"`` is ``"simplified"`` for AP, where all do equally well, and ``"exact"`` for NDCG
        and mutual information, which has no other.
    {solver}
    {batches}
    max_iter : int, default=120
        Most passes over the training rows.
    {steps}
    alpha : float, default=2.0
        Steepness of the relaxed codes, for projections of about unit variance. The sigmoid of the
        arXiv version, ``2 * sigmoid(a * projection) - 1``, is this with `a` twice `alpha`.
    alpha_end : float or None, default=None
        Steepness at the end; it changes geometrically. None: it does not change. It has no meaning
        in :meth:`partial_fit`.
    n_bins : int or "auto", default="auto"
        Steps between the first and the last bin of the soft histogram; ``"auto"`` is the smaller
        of `n_bits` and 16, or 64 where nearest rows are relevant. The papers have one bin per
        distance, ``n_bins=n_bits``.
    delta : float, default=1.0
        Half-width of the triangular bins, in bins.
    dropout : float or "auto", default="auto"
        Share of the features of each row that a step leaves at their mean, other ones every time.
        ``"auto"`` is 0.1 for average precision where there are fewer than ten training rows for
        each feature, and otherwise 0, as in :meth:`partial_fit`. Set it to 0.5 where queries and
        database will be of classes that are not among the training rows.
    {end}

    Attributes
    ----------
    {attributes}

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
        "objective": [str, HasMethods("value_and_gradient")],
        "relaxation": [str],
        "alpha": [Interval(Real, 0, None, closed="neither")],
        "alpha_end": [None, Interval(Real, 0, None, closed="neither")],
        "n_bins": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "delta": [Interval(Real, 0, None, closed="neither")],
        "dropout": [StrOptions({"auto"}), Interval(Real, 0, 1, closed="left")],
    }

    def __init__(
        self,
        n_bits=32,
        *,
        objective="auto",
        affinity="auto",
        relaxation="auto",
        solver="adam",
        batch_size="auto",
        max_iter=120,
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

    def _choose_objective(self, relevance):
        affinity = relevance.affinity
        n_bins: int | str = "auto"
        if isinstance(affinity, NeighborAffinity):
            n_bins = min(self.n_bits, _MOST_BINS_OF_NEIGHBORS)
        return _OBJECTIVE.resolve(
            self.objective,
            {name: getattr(self, name) for name in RANKING_OPTIONS},
            levels=affinity.levels_,  # all of them, so that no block of rows decides
            n_bins=n_bins,
            n_jobs=self.n_jobs,
        )

    def _choose_dropout(self, objective, n_features, n_rows):
        if self.dropout != "auto":
            return self.dropout
        if n_rows is None or objective.measure != "ap":
            return 0.0
        return _DROPOUT_OF_FEW_ROWS if n_rows < _FEW_ROWS_PER_FEATURE * n_features else 0.0
