"""Boosted trees with weights, found by column generation for a loss of rankings."""

from typing import Any

import numpy as np
from numpy.random import RandomState
from scipy import sparse
from sklearn.base import _fit_context
from sklearn.utils import check_random_state

from .._features.moments import Moments
from .._solvers.binary_quadratic import minimise_spectrally
from .._utils.threads import one_blas_thread
from .._utils.types import MatrixLike, Target
from ..base import BaseHasher
from . import _boosted_trees, _weighted_columns
from ._boosted_trees import BinnedFeatures, TreeEnsembles, options_of
from ._weighted_columns import LearnsWeightedColumns

__all__ = ["StructTreeHasher"]


class StructTreeHasher(LearnsWeightedColumns, BaseHasher):
    r"""Boosted trees with weights, found bit by bit for a loss of whole rankings.

    The structural support vector machine and its column generation are those of
    :class:`StructHasher`. Here a new function is found in two steps [1]_, as by
    :class:`FastHasher`: first the bits of the ranked rows of which equal ones are worth most,
    whatever function could give them, which is a binary quadratic program; then boosted trees that
    give these bits to the ranked rows. A row counts as much as its bit is worth.

    Trees look at the order of the values of a feature alone, so that neither scale nor offset of
    the features matters. Encoding costs `n_estimators` trees for each bit: this is slower than a
    linear hasher by a factor of hundreds.

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
    n_estimators : int, default=200
        Largest number of boosted trees of a bit.
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
    trees_ : TreeEnsembles
        The boosted trees of all bits.
    weights_ : ndarray of shape (n_bits,)
        Weights of the bits, at least 0, for :func:`~sklearn_hashrank.codes.weighted_distances`.
    affinity_ : affinity object
        The affinity that was learned from, fitted on the training rows.
    history_ : dict of list
        After each hash function the ``"objective"`` of the structural support vector machine over
        the rankings found so far, and the true ``"slack"``.
    n_bits_ : int
        Length of the codes, whatever `n_bits` was set to after `fit`.
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
    .. [1] G. Lin, F. Liu, C. Shen, J. Wu, H. T. Shen, "Structured learning of binary codes with
       column generation for optimizing ranking measures", IJCV 2017.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn_hashrank import StructTreeHasher
    >>> X, y = load_digits(return_X_y=True)
    >>> hasher = StructTreeHasher(n_bits=8, n_estimators=20, random_state=0).fit(X[:500], y[:500])
    >>> bool(hasher.score(X[500:], y[500:]) > 0.5)
    True
    """

    _parameter_constraints: dict = {
        **BaseHasher._parameter_constraints,
        **_weighted_columns.CONSTRAINTS,
        **_boosted_trees.CONSTRAINTS,
    }

    def __init__(
        self,
        n_bits=32,
        *,
        affinity="auto",
        loss="auc",
        C=10.0,
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
    def fit(self, X: MatrixLike, y: Target | None = None) -> "StructTreeHasher":
        """Learn the trees of one bit after the other, and all weights after each.

        Parameters
        ----------
        X : {array-like, sparse matrix, dask array} of shape (n_samples, n_features)
            Training rows.
        y : array-like with n_samples rows, default=None
            What `affinity` compares; None: `X` itself.

        Returns
        -------
        self : StructTreeHasher
        """
        X, y = self._validate_training_data(X, y)
        random_state = check_random_state(self.random_state)
        Moments.of(X)  # refuses what no hasher takes
        order, queries, relevant = self._sample_queries(X, y, random_state)
        binned = BinnedFeatures(X[order])
        options = options_of(self)

        def learn(worth):
            wanted, weights = find_bits(worth, queries, random_state)
            trees = TreeEnsembles()
            scores = trees.boost_bit(binned, wanted, weights, random_state, **options)
            return trees, np.where(scores > 0, 1.0, -1.0)

        self.trees_ = TreeEnsembles()
        for trees in self._learn_columns(learn, queries, relevant):
            self.trees_.extend(trees)
        self.n_bits_ = self.n_bits
        self._keep_database(X, y)
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "trees_")

    def _check_fitted(self) -> None:
        self.trees_.check(self.n_bits_, self.n_features_in_)

    def _project(self, X: Any) -> np.ndarray:
        return self.trees_.scores(X, self.n_jobs).astype(X.dtype, copy=False)


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
    signs = minimise_spectrally(costs, np.zeros(n), random_state)
    weights = abs(costs).sum(axis=0)
    return signs, weights / weights.mean() if weights.any() else np.ones(n)
