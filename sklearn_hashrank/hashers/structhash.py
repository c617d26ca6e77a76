"""Hash functions with weights, found by column generation for a loss of rankings."""

from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.random import RandomState
from scipy import linalg, optimize, sparse
from sklearn.base import _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from .._features.centered_rows import dense_if_small
from .._features.moments import Moments
from .._features.sign_rounding import project
from .._features.space import FeatureSpace, Hyperplanes
from .._solvers.binary_quadratic import minimize_spectrally
from .._solvers.column_generation import WeightedRankings
from .._utils.threads import one_blas_thread
from .._utils.types import MatrixLike, Target
from ..affinity._protocol import BaseAffinity
from ..base import BitByBitHasher
from ..objectives.ranking._ranking_loss import LOSSES, RankingLoss
from . import _boosted_trees
from ._boosted_trees import BinnedFeatures, TreeEnsembles
from ._similar_pairs import find_queries
from ._supervised import LearnsFromRelevance

__all__ = ["StructHasher"]

# Principal components that hyperplanes are found in, the power of the variance that divides them,
# and the features up to which they are exact.
_N_COMPONENTS, _WHITENING, _EXACT_FEATURES = 200, 0.2, 2000
_STEPS = 50  # of L-BFGS for a hyperplane, which starts near the optimum
_CUTS = 10  # new rankings for each bit: weights that more of them would move are found anew anyway
_LEAST_GAIN = 1e-3  # of the objective for a unit of weight; less is the tolerance of the weights


class StructHasher(LearnsFromRelevance, BitByBitHasher):
    r"""Hyperplanes or boosted trees with weights, found bit by bit for a loss of whole rankings.

    Database items are ranked by a weighted Hamming distance, :math:`\sum_r w_r [h_r(q) \neq
    h_r(x)]` with :math:`w \ge 0`. The weights solve a structural support vector machine: minimize
    :math:`\sum_r w_r + C \xi`, where the slack :math:`\xi` is the mean over queries of the largest
    violation of the margin, which is the loss of the ranking [1]_. Column generation adds one hash
    function at a time: the multipliers of the violated rankings say how much it is worth that the
    bits of a query and of an item are equal, and the new function is the one worth most. Cutting
    planes then find all weights anew.

    A hyperplane is found with a sigmoid in place of the step, in at most 200 principal components
    of centered and scaled features. Trees are found in two steps [2]_, as by :class:`FastHasher`:
    first the bits of the ranked rows of which equal ones are worth most, whatever function could
    give them, which is a binary quadratic program; then boosted trees that give these bits. Trees
    look at the order of the values of a feature alone. Encoding costs `n_estimators` trees for each
    bit: this is slower than hyperplanes by a factor of hundreds.

    Codes of :meth:`transform` are plain bits, and everything that takes codes ranks them by Hamming
    distance, in which all weights are 1. Rank by the learned weights with
    :func:`~sklearn_hashrank.codes.weighted_distances`; see the example.

    Parameters
    ----------
    n_bits : int, default=32
        Length of a code. It may exceed the number of features.
    affinity : "auto" or affinity object, default="auto"
        How `y` says what is relevant: level > 0. See :mod:`sklearn_hashrank.affinity`.
    loss : {"ap", "ndcg", "auc"}, default="auc"
        1 - AP, 1 - NDCG with gain 1 for every relevant item, or 1 - the area under the ROC curve.
    C : float, default=10.0
        Weight of the slack: a larger one allows fewer violations.
    functions : {"hyperplanes", "trees"}, default="hyperplanes"
        What gives the bits.
    alpha : float, default=0.001
        Strength of the regularization of each hyperplane.
    n_estimators : int, default=200
        Largest number of boosted trees of a bit, for ``functions="trees"``.
    max_depth : int, default=4
        Largest depth of a tree.
    max_features : int, default=200
        Number of features that a node of a tree tries, sampled anew for every node.
    n_queries : int or None, default=200
        Queries, sampled from the database rows. None: all of them.
    n_database : int or None, default=2000
        Rows that are ranked, sampled from the training rows. None: all of them.
    output : {"bits", "signs", "packed"}, default="bits"
        Format of :meth:`transform`: 0/1 uint8, -1/+1 int8, or packed uint8 bytes.
    random_state : int, RandomState instance or None, default=None
        Samples the queries and the rows that are ranked, and seeds the trees.
    n_jobs : int or None, default=None
        Threads over queries, and over the rows that trees encode. None means 1 unless in a
        :obj:`joblib.parallel_config` context, -1 means all processors. The result does not depend
        on it.

    Attributes
    ----------
    components_ : ndarray of shape (n_bits, n_features)
        Normal vectors of the hyperplanes, in the order in which they were found; not of trees.
    intercept_ : ndarray of shape (n_bits,)
        Offsets of the hyperplanes, added to the projections; not of trees.
    trees_ : TreeEnsembles
        The boosted trees of all bits; only with ``functions="trees"``.
    weights_ : ndarray of shape (n_bits,)
        Weights of the bits, at least 0, for :func:`~sklearn_hashrank.codes.weighted_distances`.
    affinity_ : affinity object
        The affinity that was learned from, fitted on the training rows.
    history_ : dict of list
        After each hash function the ``"objective"`` of the structural support vector machine over
        the rankings found so far, and the true ``"slack"``.
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
    .. [1] G. Lin, C. Shen, J. Wu, "Optimizing ranking measures for compact binary code learning",
       ECCV 2014.
    .. [2] G. Lin, F. Liu, C. Shen, J. Wu, H. T. Shen, "Structured learning of binary codes with
       column generation for optimizing ranking measures", IJCV 2017.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn_hashrank import StructHasher
    >>> X, y = load_digits(return_X_y=True)
    >>> hasher = StructHasher(n_bits=16, random_state=0).fit(X[:500], y[:500])
    >>> bool(hasher.score(X[500:], y[500:]) > 0.5)
    True

    Ranked by the weights:

    >>> from sklearn_hashrank.codes import weighted_distances
    >>> from sklearn_hashrank.metrics import distance_histogram
    >>> codes = hasher.transform(X[500:])
    >>> distances = weighted_distances(codes, codes, hasher.weights_)
    >>> h = distance_histogram(distances, y[500:], exclude_self=True)
    >>> bool(h.average_precision().mean() > 0.5)
    True
    """

    _is_graded = False
    _sampled_by = "n_database"
    _parameter_constraints: dict = {
        **BitByBitHasher._parameter_constraints,
        "affinity": [StrOptions({"auto"}), BaseAffinity],
        "loss": [StrOptions(set(LOSSES))],
        "C": [Interval(Real, 0, None, closed="neither")],
        "functions": [StrOptions({"hyperplanes", "trees"})],
        "alpha": [Interval(Real, 0, None, closed="neither")],
        **_boosted_trees.CONSTRAINTS,
        "n_queries": [None, Interval(Integral, 1, None, closed="left")],
        "n_database": [None, Interval(Integral, 2, None, closed="left")],
        "random_state": ["random_state"],
        "n_jobs": [None, Integral],
    }

    def __init__(
        self,
        n_bits=32,
        *,
        affinity="auto",
        loss="auc",
        C=10.0,
        functions="hyperplanes",
        alpha=0.001,
        n_estimators=200,
        max_depth=4,
        max_features=200,
        n_queries=200,
        n_database=2000,
        output="bits",
        random_state=None,
        n_jobs=None,
    ):
        self.n_bits = n_bits
        self.affinity = affinity
        self.loss = loss
        self.C = C
        self.functions = functions
        self.alpha = alpha
        self.n_estimators = n_estimators
        self.max_depth = max_depth
        self.max_features = max_features
        self.n_queries = n_queries
        self.n_database = n_database
        self.output = output
        self.random_state = random_state
        self.n_jobs = n_jobs

    @_fit_context(prefer_skip_nested_validation=True)
    @one_blas_thread()
    def fit(self, X: MatrixLike, y: Target | None = None) -> "StructHasher":
        """Learn one hash function after the other, and all weights after each.

        Parameters
        ----------
        X : {array-like, sparse matrix, dask array} of shape (n_samples, n_features)
            Training rows.
        y : array-like with n_samples rows, default=None
            What `affinity` compares; None: `X` itself.

        Returns
        -------
        self : StructHasher
        """
        X, y = self._validate_training_data(X, y)
        random_state = check_random_state(self.random_state)
        if self.functions == "trees":
            Moments.of(X)  # refuses what no hasher takes
        self._fit_affinity_once(X, y)
        targets = self.affinity_.validate(X if y is None else y)
        order = random_state.permutation(X.shape[0])[: self.n_database]
        n_queries = len(order) if self.n_queries is None else min(self.n_queries, len(order))
        queries, relevant = find_queries(
            type(self).__name__, self.affinity_, targets[order], np.arange(n_queries)
        )
        for name in ("components_", "intercept_", "trees_"):
            self.__dict__.pop(name, None)
        if self.functions == "trees":
            self._learn_trees(X[order], queries, relevant, random_state)
        else:
            self._learn_hyperplanes(X[order], queries, relevant, random_state)
        self._keep_database(X, y)
        return self

    def _learn_hyperplanes(self, X, queries, relevant, random_state):
        sample = dense_if_small(X)
        space = FeatureSpace.of(Moments.of(sample)).with_components(
            sample, _N_COMPONENTS, _WHITENING, random_state, exact_features=_EXACT_FEATURES
        )
        rows = space.transform(sample)
        rows /= max(np.sqrt(np.mean(rows**2)), np.finfo(float).tiny) * np.sqrt(rows.shape[1])

        def learn(worth):
            weights, offset = find_hyperplane(rows, queries, worth, self.alpha)
            return (weights, offset), np.where(rows @ weights + offset > 0, 1.0, -1.0)

        weights, offsets = zip(*self._learn_columns(learn, queries, relevant))
        self.components_, self.intercept_ = space.fold(
            np.column_stack(weights), np.array(offsets), X.dtype
        )

    def _learn_trees(self, X, queries, relevant, random_state):
        binned = BinnedFeatures(X)

        def learn(worth):
            wanted, weights = find_bits(worth, queries, random_state)
            trees, scores = binned.boost(
                wanted,
                weights,
                random_state,
                n_estimators=self.n_estimators,
                max_depth=self.max_depth,
                max_features=self.max_features,
            )
            return trees, np.where(scores > 0, 1.0, -1.0)

        self.trees_ = TreeEnsembles.joined(self._learn_columns(learn, queries, relevant))

    def _learn_columns(self, learn, queries, relevant):
        """Learn one function after the other, and all weights after each.

        `learn` takes what equal bits of a query and a row are worth, and gives a function and the
        bits that it gives to the rows, -1 and +1.
        """
        n_rows = relevant.shape[1]
        nothing = np.empty((n_rows, 0))  # rankings are those of scores
        oracle = RankingLoss(
            nothing[queries],
            nothing,
            relevant,
            queries,
            n_bits=1,
            loss=self.loss,
            n_jobs=self.n_jobs,
        )
        rankings = WeightedRankings(oracle.violate, queries, n_rows, self.C)
        functions = []
        self.history_: dict[str, list[float]] = {"objective": [], "slack": []}
        for bit in range(self.n_bits):
            worth = rankings.worth()
            function, signs = learn(worth)
            if bit and rankings.gain(worth, signs) <= _LEAST_GAIN:
                function, signs = learn(rankings.worth_without_weights())
            functions.append(function)
            rankings.add_column(signs)
            slack = rankings.solve(_CUTS)
            self.history_["objective"].append(rankings.objective)
            self.history_["slack"].append(slack)
        self.weights_ = rankings.weights
        return functions

    @property
    def n_bits_(self) -> int:  # type: ignore[override]  # follows the weights
        """Length of the codes, whatever `n_bits` was set to after `fit`."""
        return len(self.weights_)

    @property
    def _attributes_of_bits(self) -> tuple[str, ...]:  # type: ignore[override]
        functions = ("trees_",) if hasattr(self, "trees_") else ("components_", "intercept_")
        return (*functions, "weights_")

    def hyperplanes(self) -> Hyperplanes:
        """Return the hyperplanes whose sides are the bits, for exports.

        Returns
        -------
        hyperplanes : Hyperplanes
            ``components_`` (n_bits, n_features) and ``intercept_`` (n_bits,).

        Raises
        ------
        TypeError
            Where trees give the bits.
        """
        check_is_fitted(self)
        if hasattr(self, "trees_"):
            raise TypeError("bits of trees are not half-spaces. Fit with functions='hyperplanes'.")
        return Hyperplanes(self.components_, self.intercept_)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "weights_")

    def _check_fitted(self) -> None:
        if hasattr(self, "trees_"):
            self.trees_.check(self.n_bits_, self.n_features_in_)

    def _project(self, X: Any) -> np.ndarray:
        if hasattr(self, "trees_"):
            return self.trees_.scores(X, self.n_jobs).astype(X.dtype, copy=False)
        return project(X, self.components_, self.intercept_)


def find_hyperplane(
    rows: np.ndarray, queries: np.ndarray, worth: np.ndarray, alpha: float
) -> tuple[np.ndarray, float]:
    """Find the weights and the offset of the hyperplane of which equal bits are worth most.

    ``worth[m, i]`` is what equal bits of query m, the row ``queries[m]``, and of row i are worth;
    `alpha` is the strength of the regularization.
    """
    size = np.abs(worth).sum()
    worth = worth / (size if size > 0 else 1.0)
    start = _find_start(rows, queries, worth)

    def value_and_gradient(flat):
        bits = np.tanh(rows @ flat[1:] + flat[0])
        of_items, of_queries = worth.T @ bits[queries], worth @ bits
        value = bits[queries] @ of_queries - alpha / 2 * flat[1:] @ flat[1:]
        of_items[queries] += of_queries
        slope = of_items * (1 - bits**2)
        gradient = np.concatenate([[slope.sum()], rows.T @ slope - alpha * flat[1:]])
        return -value, -gradient

    found = optimize.minimize(
        value_and_gradient, start, jac=True, method="L-BFGS-B", options={"maxiter": _STEPS}
    ).x

    def hard_value(flat):
        bits = np.where(rows @ flat[1:] + flat[0] > 0, 1.0, -1.0)
        return bits[queries] @ (worth @ bits)

    best = max(found, start, key=hard_value)
    return best[1:], best[0]


def _find_start(rows, queries, worth):
    """Offset and weights without the sigmoid: a leading eigenvector, of projections around 1."""
    n_features = rows.shape[1]
    product = rows[queries].T @ (worth @ rows)
    gram = rows.T @ rows
    gram += (1e-3 * np.trace(gram) / n_features + np.finfo(float).tiny) * np.eye(n_features)
    last = (n_features - 1, n_features - 1)
    _, vectors = linalg.eigh(product + product.T, gram, subset_by_index=last)
    return np.concatenate([[0.0], vectors[:, 0] * np.sqrt(len(rows))])


def find_bits(
    worth: np.ndarray, queries: np.ndarray, random_state: RandomState
) -> tuple[np.ndarray, np.ndarray]:
    """Find the bits of all rows of which equal ones are worth most, and what each bit is worth.

    ``worth[m, i]`` is what equal bits of query m, the row ``queries[m]``, and of row i are worth.
    Bits are -1 and +1; what they are worth has the mean 1.
    """
    n = worth.shape[1]
    rows, columns = np.repeat(queries, n), np.tile(np.arange(n), len(queries))
    costs = sparse.csr_array((-worth.ravel(), (rows, columns)), shape=(n, n))
    costs = (costs + costs.T).tocsr()
    costs.setdiag(0)
    costs.eliminate_zeros()
    signs = minimize_spectrally(costs, np.zeros(n), random_state)
    weights = abs(costs).sum(axis=0)
    return signs, weights / weights.mean() if weights.any() else np.ones(n)
