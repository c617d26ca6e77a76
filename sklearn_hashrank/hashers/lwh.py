"""List-wise supervised hashing by a structural support vector machine over rankings."""

import warnings
from numbers import Integral, Real

import numpy as np
from scipy import linalg
from sklearn.base import _fit_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from .._features.centered_rows import dense_if_small
from .._features.moments import Moments
from .._features.space import FeatureSpace, Hyperplanes
from .._solvers.cutting_plane import MASTERS, CuttingPlane, factor
from .._solvers.rotation import random_rotation, rotate_to_signs
from .._utils.callbacks import CallbackSupportMixin, Progress
from .._utils.threads import one_blas_thread
from .._utils.types import MatrixLike, Target
from ..affinity._protocol import BaseAffinity
from ..base import LinearHasher
from ..objectives.ranking._ranking_loss import LOSSES, RankingLoss
from ._similar_pairs import are_relevant, find_queries
from ._supervised import LearnsFromRelevance

__all__ = ["LWHHasher"]

# These and the power of the variance that divides components were chosen on held-out training
# rows, as the default alpha was; see benchmarks/notes/lwh.py.
_N_COMPONENTS: dict[str, dict[str, int | None]] = {
    "components": {"pegasos": 200, "sdp": 32},
    "centered": {"pegasos": None, "sdp": 32},
}
_WHITENING = 0.2  # the fifth root
_EXACT_FEATURES = 2000  # up to so many, principal components are exact, in a few seconds
_ROTATION_ITERATIONS = 50  # as of ITQHasher
_ROWS_TO_LOOK_AT = 1000  # enough to tell the share of relevant pairs
# Of as many classes as would give the share of relevant pairs. The time of an iteration grows with
# the product of both.
_QUERIES_PER_CLASS, _ROWS_PER_CLASS = 10, 20
_N_QUERIES = {"pegasos": (500, 3000), "sdp": (300, 300)}  # at least and at most
# The program of "sdp" grows with the rankings, and its oracle with the rows.
_N_DATABASE = {"pegasos": (3000, 6000), "sdp": (1000, 1000)}


class LWHHasher(LearnsFromRelevance, CallbackSupportMixin, LinearHasher):
    r"""Linear hash functions from a structural support vector machine over whole rankings.

    A ranking y of the database scores :math:`F(q, y) = \frac{1}{n_+ n_-} \sum_{ij} y_{ij} \langle
    W W^T, q (x_i - x_j)^T \rangle / b` for a query q, over relevant i and irrelevant j. The true
    ranking shall score higher than any other one by its loss, 1 - AP or 1 - NDCG [1]_: minimize
    :math:`\frac{\alpha}{2} |W|^2 + \xi`, where the slack :math:`\xi` is the mean over queries of
    the largest violation. Cutting planes find the rankings that matter [2]_.

    `fit` centers the features and scales them as all linear learners do: deviations keep their
    ratios near to the median one, and stay within a factor of 10 of it. It divides the principal
    components of the features by the fifth root of their variance, and stretches rows to the length
    of a code of -1 and +1, :math:`\sqrt{b}`, which changes no bit. `alpha` therefore means the same
    for any features and any `n_bits`. `components_` and `intercept_` apply to the raw features;
    projections of the sampled rows have mean zero.

    The problem depends on W only through :math:`W W^T`, so any rotation of W is as good. `fit`
    takes the one that brings projections of the queries nearest to their signs, found by the
    iteration of ITQ from a random start. It first moves each query half the way to the mean of its
    relevant items, which keeps hyperplanes away from them.

    The paper does none of this: it centers the features, and takes W as the solver leaves it. That
    is ``preparation="centered", rotation=None``; the method ``lwh-paper`` of
    :func:`~sklearn_hashrank.comparison.compare` samples as many rows as the paper, too.

    Parameters
    ----------
    n_bits : int, default=32
        Length of a code. It may exceed the number of features.
    affinity : "auto" or affinity object, default="auto"
        How `y` says what is relevant: level > 0. See :mod:`sklearn_hashrank.affinity`.
    alpha : float, default=0.002
        Weight of the regularizer. A larger one gives fewer iterations and a lower rank.
    loss : {"ap", "ndcg", "auc"}, default="ap"
        1 - AP, 1 - NDCG with gain 1 for every relevant item, or 1 - the area under the ROC curve.
    solver : {"pegasos", "sdp"}, default="pegasos"
        Projected sub-gradient descent on W, or the convex problem in :math:`W W^T` by cvxpy, of
        which the `n_bits` largest eigenvalues are kept.
    n_queries : int, "auto" or None, default="auto"
        Queries, sampled from the database rows. ``"auto"``: 10 per class, at least 500 and at most
        3,000; 300 for ``solver="sdp"``. None: all of them.
    n_database : int, "auto" or None, default="auto"
        Rows that are ranked, sampled from the training rows. ``"auto"``: 20 per class, at least
        3,000 and at most 6,000; 1,000 for ``solver="sdp"``. None: all of them. Rows of equal `y`
        are sampled in proportion to their number. `fit` estimates the number of classes as one
        divided by the share of relevant pairs, which works with any affinity.
    preparation : {"components", "centered"}, default="components"
        What is done to the features first. ``"components"``: they are scaled, turned into
        principal components that are divided by the fifth root of their variance, and rows are
        stretched to one length. ``"centered"``: they are centered, as in the paper. One common
        factor makes the mean square length of a row `n_bits`, which is the same as another
        `alpha`.
    n_components : int, "auto" or None, default="auto"
        Principal components to work with, at most. ``"auto"``: 200, or all of them with
        ``preparation="centered"``; 32 for ``solver="sdp"``. None: all of them.
    rotation : {"itq"} or None, default="itq"
        Rotation of W: as described above, or as the solver leaves it from its random start.
    max_iter : int, default=50
        Largest number of iterations of the cutting plane.
    tol : float, default=0.01
        Largest violation above the slack that is accepted.
    output : {"bits", "signs", "packed"}, default="bits"
        Format of :meth:`transform`: 0/1 uint8, -1/+1 int8, or packed uint8 bytes.
    random_state : int, RandomState instance or None, default=None
        Samples the rows, and the starts of the solver and of the rotation.
    n_jobs : int or None, default=None
        Threads over queries. None means 1 unless in a :obj:`joblib.parallel_config` context, -1
        means all processors. The result does not depend on it.
    verbose : int, default=0
        Print a line every `verbose` iterations.

    Attributes
    ----------
    components_ : ndarray of shape (n_bits, n_features)
        Normal vectors of the hyperplanes.
    intercept_ : ndarray of shape (n_bits,)
        Offsets of the hyperplanes, added to the projections.
    affinity_ : affinity object
        The affinity that was learned from, fitted on the training rows.
    objective_ : float
        Value of ``alpha / 2 |W|^2`` + the true slack, for the W that `components_` is made of.
    lower_bound_ : float
        No W of any number of columns has a lower objective on this sample and these components,
        by the multipliers of either solver.
    factoring_loss_ : float
        By how much keeping `n_bits` eigenvalues raised the objective; 0 for ``solver="pegasos"``.
    converged_ : bool
        Whether no ranking violates by more than `tol` above the slack of the working set, for
        ``solver="sdp"`` before factoring.
    n_iter_ : int
        Number of iterations of the cutting plane.
    n_constraints_ : int
        Rankings, or blocks of them, in the working set at the end.
    n_queries_ : int
        Queries that had both relevant and irrelevant items; others are skipped.
    history_ : dict of list
        For each iteration the ``"objective"``, the ``"slack"`` of the working set, the
        ``"violation"`` by which the true slack is above it, and the ``"lower_bound"``.
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
    .. [1] "List-wise supervised hashing" (LWH), 2014.
    .. [2] Y. Yue, T. Finley, F. Radlinski, T. Joachims, "A support vector method for optimizing
       average precision", SIGIR 2007.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn_hashrank import LWHHasher
    >>> X, y = load_digits(return_X_y=True)
    >>> hasher = LWHHasher(n_bits=16, random_state=0).fit(X[:500], y[:500])
    >>> hasher.converged_
    True
    >>> bool(hasher.score(X[500:], y[500:]) > 0.65)
    True
    """

    _is_graded = False
    _parameter_constraints: dict = {
        **LinearHasher._parameter_constraints,
        "affinity": [StrOptions({"auto"}), BaseAffinity],
        "alpha": [Interval(Real, 0, None, closed="neither")],
        "loss": [StrOptions(set(LOSSES))],
        "solver": [StrOptions(set(MASTERS))],
        "n_queries": [None, StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "n_database": [None, StrOptions({"auto"}), Interval(Integral, 2, None, closed="left")],
        "preparation": [StrOptions({"components", "centered"})],
        "n_components": [None, StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "rotation": [StrOptions({"itq"}), None],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "random_state": ["random_state"],
        "n_jobs": [None, Integral],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        n_bits=32,
        *,
        affinity="auto",
        alpha=0.002,
        loss="ap",
        solver="pegasos",
        n_queries="auto",
        n_database="auto",
        preparation="components",
        n_components="auto",
        rotation="itq",
        max_iter=50,
        tol=0.01,
        output="bits",
        random_state=None,
        n_jobs=None,
        verbose=0,
    ):
        self.n_bits = n_bits
        self.affinity = affinity
        self.alpha = alpha
        self.loss = loss
        self.solver = solver
        self.n_queries = n_queries
        self.n_database = n_database
        self.preparation = preparation
        self.n_components = n_components
        self.rotation = rotation
        self.max_iter = max_iter
        self.tol = tol
        self.output = output
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @_fit_context(prefer_skip_nested_validation=True)
    @one_blas_thread()
    def fit(self, X: MatrixLike, y: Target | None = None) -> "LWHHasher":
        """Learn the hyperplanes.

        Parameters
        ----------
        X : {array-like, sparse matrix, dask array} of shape (n_samples, n_features)
            Training rows.
        y : array-like with n_samples rows, default=None
            What `affinity` compares; None: `X` itself.

        Returns
        -------
        self : LWHHasher
        """
        X, y = self._validate_training_data(X, y)
        random_state = check_random_state(self.random_state)
        self._fit_affinity_once(X, y)
        targets = self._training_targets(X, y)
        database, queries = self._sample(targets, random_state)
        queries, relevant = find_queries(
            type(self).__name__, self.affinity_, targets[database], queries
        )
        self.n_queries_ = len(queries)

        sample = dense_if_small(X[database])
        space = self._new_space(sample, random_state)
        rows = space.transform(sample)
        if self.preparation == "components":
            rows = _stretch(rows, self.n_bits)
        problem = RankingLoss(
            rows[queries],
            rows,
            relevant,
            queries,
            n_bits=self.n_bits,
            loss=self.loss,
            n_jobs=self.n_jobs,
        )
        solver = self._new_solver(problem, random_state)
        start = random_rotation(self.n_bits, random_state)
        gathered = None if self.rotation is None else _gather(rows, queries, relevant)

        def hyperplanes() -> Hyperplanes:
            weights = self._factor(solver.weights)
            if gathered is not None:
                weights = _rotate(weights, start, gathered)
            return space.fold(weights, 0.0, X.dtype)

        progress = Progress(self, X, y, self.max_iter, lambda: hyperplanes()._asdict())
        for iteration in progress.iterations():
            if solver.step():
                progress.stop()
            self._report(iteration, solver)
        self.components_, self.intercept_ = hyperplanes()
        self._set_results(solver)
        self._keep_database(X, y)
        return self

    def _most_compared(self) -> int | None:
        return _N_DATABASE[self.solver][1] if self.n_database == "auto" else self.n_database

    def _sample(self, targets, random_state):
        n = targets.shape[0]
        order = random_state.permutation(n)
        n_database, n_queries = self.n_database, self.n_queries
        if "auto" in (n_database, n_queries):
            n_classes = self._count_classes(targets[order[:_ROWS_TO_LOOK_AT]])
            if n_database == "auto":
                n_database = int(np.clip(_ROWS_PER_CLASS * n_classes, *_N_DATABASE[self.solver]))
            if n_queries == "auto":
                n_queries = int(np.clip(_QUERIES_PER_CLASS * n_classes, *_N_QUERIES[self.solver]))
        n_database = n if n_database is None else min(n, n_database)
        n_queries = n_database if n_queries is None else min(n_database, n_queries)
        if n_queries < n:
            _, groups = self.affinity_.group(targets)
            if groups is not None:
                order = _in_proportion(order, groups, random_state)
        return order[:n_database], np.arange(n_queries)

    def _count_classes(self, targets):
        """How many classes of equal size have as large a share of relevant pairs; inf if none."""
        relevant = are_relevant(self.affinity_, targets, targets)
        np.fill_diagonal(relevant, False)
        n_relevant = np.count_nonzero(relevant)
        n = targets.shape[0]
        return n * (n - 1) / n_relevant if n_relevant else np.inf

    def _new_space(self, X, random_state):
        """Principal components: of scaled features, the large ones damped, or of the features."""
        moments = Moments.of(X)
        if self.preparation == "components":
            space, power = FeatureSpace.of(moments), _WHITENING
        else:
            total = moments.variance.sum()
            factor = np.sqrt(self.n_bits / total) if total else 1.0
            space, power = FeatureSpace(moments.mean, np.full(X.shape[1], factor)), 0.0
        n_components = self.n_components
        if n_components == "auto":
            n_components = _N_COMPONENTS[self.preparation][self.solver]
        return space.with_components(
            X, n_components, power, random_state, exact_features=_EXACT_FEATURES
        )

    def _new_solver(self, problem, random_state):
        n_features = problem.queries.shape[1]
        start = random_state.standard_normal((n_features, self.n_bits)) / np.sqrt(n_features)
        options = {"random_state": random_state} if self.solver == "pegasos" else {}
        master = MASTERS[self.solver](problem.queries, self.alpha, **options)
        return CuttingPlane(problem.most_violated, master, start, self.tol)

    def _factor(self, weights):
        if weights.shape[1] <= self.n_bits:
            return weights
        return factor(weights @ weights.T, self.n_bits)[0]

    def _set_results(self, solver):
        self.history_, self.n_iter_ = solver.history, len(solver.history["objective"])
        self.converged_, self.lower_bound_ = solver.converged, solver.lower_bound
        self.n_constraints_ = solver.master.n_constraints
        self.objective_ = solver.objective
        weights = self._factor(solver.weights)
        if weights is not solver.weights:
            self.objective_ = solver.evaluate(weights)
        self.factoring_loss_ = self.objective_ - solver.objective
        if not self.converged_ and self.n_iter_ == self.max_iter:
            warnings.warn(
                f"LWHHasher did not converge in max_iter={self.max_iter} iterations: rankings "
                f"violate by {self.history_['violation'][-1]:.2g} above the slack, tol={self.tol}. "
                "The W with the lowest objective so far is kept. Increase max_iter, or increase "
                "alpha or tol for an easier problem.",
                ConvergenceWarning,
                stacklevel=5,
            )

    def _report(self, iteration, solver):
        last = solver.converged or iteration + 1 == self.max_iter
        if self.verbose and (last or (iteration + 1) % int(self.verbose) == 0):
            figures = ", ".join(
                f"{name.replace('_', ' ')} {values[-1]:.4f}"
                for name, values in solver.history.items()
            )
            print(f"[{type(self).__name__}] iteration {iteration + 1}/{self.max_iter}: {figures}")


def _in_proportion(order, groups, random_state):
    """The rows of an order, rearranged so that every start of it holds each group in proportion.

    Row i of its group's n comes at ``(i + u) / n``, with one random u in [0, 1) for each group.
    """
    groups = groups[order]
    sizes = np.bincount(groups)
    places = np.empty(len(order))
    places[np.argsort(groups, kind="stable")] = np.concatenate([np.arange(size) for size in sizes])
    places += random_state.uniform(size=len(sizes))[groups]
    return order[np.argsort(places / sizes[groups], kind="stable")]


def _stretch(rows, n_bits):
    """Rows of the length of a code of -1 and +1; zero rows stay as they are."""
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.divide(np.sqrt(n_bits) * rows, length, out=np.zeros_like(rows), where=length > 0)


def _gather(rows, queries, relevant):
    """Queries half the way to the mean of their relevant items, which should share their bits."""
    gathered = np.empty((len(queries), rows.shape[1]))
    step = max(1, (1 << 22) // len(rows))
    for start in range(0, len(queries), step):
        block = slice(start, start + step)
        weights = relevant[block].astype(np.float64)
        weights /= weights.sum(axis=1, keepdims=True)
        gathered[block] = (rows[queries[block]] + weights @ rows) / 2
    return gathered


def _rotate(weights, start, points):
    """W, (n_inside, n_bits), with W W.T as it is, rotated so that points are near to their signs.

    `start` is a rotation of the bits.
    """
    values, vectors = linalg.eigh(weights @ weights.T)
    values, vectors = np.maximum(values[::-1], 0), vectors[:, ::-1]
    rank = min(max(1, int(np.sum(values > 1e-6 * values[0]))), len(start))
    weights = vectors[:, :rank] * np.sqrt(values[:rank])
    rotation, _ = rotate_to_signs(points @ weights, start[:rank], _ROTATION_ITERATIONS)
    return weights @ rotation
