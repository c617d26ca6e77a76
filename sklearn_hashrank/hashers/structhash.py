"""Hyperplanes with weights, found by column generation for a loss of rankings."""

from numbers import Real

import numpy as np
from scipy import linalg, optimize
from sklearn.base import _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval

from .._features.centered_rows import dense_if_small
from .._features.moments import Moments
from .._features.space import FeatureSpace
from .._utils.threads import one_blas_thread
from .._utils.types import MatrixLike, Target
from ..base import LinearHasher
from ._weighted_columns import CONSTRAINTS, LearnsWeightedColumns

__all__ = ["StructHasher"]

_N_COMPONENTS, _WHITENING, _EXACT_FEATURES = 200, 0.2, 2000
_STEPS = 50


class StructHasher(LearnsWeightedColumns, LinearHasher):
    r"""Linear hash functions with weights, found one by one for a loss of whole rankings.

    Database items are ranked by a weighted Hamming distance, :math:`\sum_r w_r [h_r(q) \neq
    h_r(x)]` with :math:`w \ge 0`. The weights solve a structural support vector machine: minimise
    :math:`\sum_r w_r + C \xi`, where the slack :math:`\xi` is the mean over queries of the largest
    violation of the margin, which is the loss of the ranking [1]_. Column generation adds one hash
    function at a time: the multipliers of the violated rankings say how much it is worth that the
    bits of a query and of an item are equal, and the new function is the one worth most, of
    hyperplanes with a sigmoid in place of the step. Cutting planes then find all weights anew.

    Codes of :meth:`transform` are plain bits, and everything that takes codes ranks them by Hamming
    distance, in which all weights are 1. Rank by the learned weights with
    :func:`~sklearn_hashrank.codes.weighted_distances`; see the example.

    `fit` centres the features, scales them as all linear learners do, and works in at most 200
    principal components.

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
    alpha : float, default=0.001
        Strength of the regularisation of each hyperplane.
    n_queries : int or None, default=200
        Queries, sampled from the database rows. None: all of them.
    n_database : int or None, default=2000
        Rows that are ranked, sampled from the training rows. None: all of them.
    output : {"bits", "signs", "packed"}, default="bits"
        Format of :meth:`transform`: 0/1 uint8, -1/+1 int8, or packed uint8 bytes.
    random_state : int, RandomState instance or None, default=None
        Samples the queries and the rows that are ranked.
    n_jobs : int or None, default=None
        Threads over queries. None means 1 unless in a :obj:`joblib.parallel_config` context, -1
        means all processors. The result does not depend on it.

    Attributes
    ----------
    components_ : ndarray of shape (n_bits, n_features)
        Normal vectors of the hyperplanes, in the order in which they were found.
    intercept_ : ndarray of shape (n_bits,)
        Offsets of the hyperplanes, added to the projections.
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

    _attributes_of_bits = (*LinearHasher._attributes_of_bits, "weights_")
    _parameter_constraints: dict = {
        **LinearHasher._parameter_constraints,
        **CONSTRAINTS,
        "alpha": [Interval(Real, 0, None, closed="neither")],
    }

    def __init__(
        self,
        n_bits=32,
        *,
        affinity="auto",
        loss="auc",
        C=10.0,
        alpha=0.001,
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
        self.alpha = alpha
        self.n_queries = n_queries
        self.n_database = n_database
        self.output = output
        self.random_state = random_state
        self.n_jobs = n_jobs

    @_fit_context(prefer_skip_nested_validation=True)
    @one_blas_thread()
    def fit(self, X: MatrixLike, y: Target | None = None) -> "StructHasher":
        """Learn one hyperplane after the other, and all weights after each.

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
        order, queries, relevant = self._sample_queries(X, y, random_state)
        sample = dense_if_small(X[order])
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
        self._keep_database(X, y)
        return self


def find_hyperplane(
    rows: np.ndarray, queries: np.ndarray, worth: np.ndarray, alpha: float
) -> tuple[np.ndarray, float]:
    """Find the weights and the offset of the hyperplane of which equal bits are worth most.

    ``worth[m, i]`` is what equal bits of query m, the row ``queries[m]``, and of row i are worth;
    `alpha` is the strength of the regularisation.
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
