"""Supervised hashing with kernels, one bit after the other."""

from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy import linalg, sparse
from sklearn.base import _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from .._utils.threads import one_blas_thread
from .._utils.types import MatrixLike, Target
from ..affinity._protocol import BaseAffinity
from ._kernel import KernelHasher
from ._similar_pairs import are_relevant
from ._supervised import LearnsFromRelevance

__all__ = ["KSHHasher"]

_ROWS_OF_THE_TABLE = 256  # compared at a time
_NO_VARIANCE = 1e-10  # relative to the largest
_SAME_EIGENVALUE = 1e-8  # relative to a bound on all
_MOST_DOUBLINGS = 50  # of the steepness; a step 1e15 times shorter would not move the weights


class KSHHasher(LearnsFromRelevance, KernelHasher):
    """Half-spaces of a Gaussian kernel whose codes reproduce which rows are relevant.

    Inner products of codes should be as large as possible for relevant pairs and as small as
    possible for all others. Bits are learned in turn, each from what the bits before it left over:
    by the leading generalized eigenvector, and from there by gradient ascent on a smooth code.

    With `y`, features of mixed units are brought to one unit first, see :ref:`mixed_units`.

    Parameters
    ----------
    n_bits : int, default=32
        Length of a code. It may exceed the number of features.
    affinity : "auto" or affinity object, default="auto"
        How `y` says what is relevant, which is a level above 0; see
        :mod:`sklearn_hashrank.affinity`.
    n_anchors : int, default=300
        Training rows that kernels are computed with, sampled at random.
    n_labeled : int, default=2000
        Training rows, sampled at random, whose pairs teach the codes. All training rows center the
        kernels.
    gamma : float, default=0.5
        Steepness of the kernel ``exp(-gamma * d^2 / s)``. d is the distance of a row from an
        anchor, and s the mean of ``d^2`` over training rows and anchors, so that the scale of the
        features does not matter.
    max_iter : int, default=500
        Largest number of steps of gradient ascent for a bit.
    tol : float, default=0.01
        Gradient ascent ends when a step changes the objective of a labeled row by at most this.
    output : {"bits", "signs", "packed"}, default="bits"
        Format of :meth:`transform`: 0/1 uint8, -1/+1 int8, or packed uint8 bytes.
    random_state : int, RandomState instance or None, default=None
        Samples the anchors and the labeled rows.

    Attributes
    ----------
    anchors_ : ndarray of shape (n_anchors, n_features)
        Rows that all others are compared with.
    dual_coef_ : ndarray of shape (n_bits, n_anchors)
        Normal vectors of the hyperplanes in the space of centered kernels with the anchors.
    intercept_ : ndarray of shape (n_bits,)
        Offsets of the hyperplanes, added to the projections.
    n_iter_ : int
        Number of steps of gradient ascent for the bit that took most.
    affinity_ : affinity object
        The affinity that was learned from, fitted on the training rows.
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
    W. Liu, J. Wang, R. Ji, Y.-G. Jiang, S.-F. Chang, "Supervised hashing with kernels", CVPR 2012.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn_hashrank import KSHHasher
    >>> X, y = load_digits(return_X_y=True)
    >>> hasher = KSHHasher(n_bits=8, random_state=0).fit(X[:500], y[:500])
    >>> bool(hasher.score(X[500:], y[500:]) > 0.7)
    True
    """

    _is_graded = False
    _parameter_constraints: dict = {
        **KernelHasher._parameter_constraints,
        "affinity": [StrOptions({"auto"}), BaseAffinity],
        "n_anchors": [Interval(Integral, 1, None, closed="left")],
        "n_labeled": [Interval(Integral, 2, None, closed="left")],
        "gamma": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "random_state": ["random_state"],
    }

    _sampled_by = "n_labeled"

    def __init__(
        self,
        n_bits=32,
        *,
        affinity="auto",
        n_anchors=300,
        n_labeled=2000,
        gamma=0.5,
        max_iter=500,
        tol=0.01,
        output="bits",
        random_state=None,
    ):
        self.n_bits = n_bits
        self.affinity = affinity
        self.n_anchors = n_anchors
        self.n_labeled = n_labeled
        self.gamma = gamma
        self.max_iter = max_iter
        self.tol = tol
        self.output = output
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    @one_blas_thread()
    def fit(self, X: MatrixLike, y: Target | None = None) -> "KSHHasher":
        """Sample anchors and labeled rows, and learn one bit after the other.

        Parameters
        ----------
        X : {array-like, sparse matrix, dask array} of shape (n_samples, n_features)
            Training rows.
        y : array-like with n_samples rows, default=None
            What `affinity` compares; None: `X` itself.

        Returns
        -------
        self : KSHHasher
        """
        X, y = self._validate_training_data(X, y)
        random_state = check_random_state(self.random_state)
        self._fit_affinity_once(X, y)
        mixed_units = y is not None
        self._find_features(X, self.n_anchors, self.gamma, random_state, mixed_units=mixed_units)
        labeled = random_state.permutation(X.shape[0])[: self.n_labeled]
        kernels = self._features.transform(X[labeled]).astype(np.float64)
        targets = self._training_targets(X, y)[labeled]
        similarity = Similarity.of(self.affinity_, targets)
        weights, self.n_iter_ = learn_weights(
            kernels, similarity, self.n_bits, self.max_iter, self.tol
        )
        self._set_weights(weights, 0.0, X.dtype)
        self._keep_database(X, y)
        return self


class Similarity:
    """Which rows are relevant to each other, less what bits have explained.

    It is the matrix ``scale * S - Y Y^T``, which is never formed. S has 1 where a row is
    relevant to the other and -1 elsewhere, and is kept as a table of the groups of equal rows.
    """

    def __init__(self, table: np.ndarray, group: np.ndarray):
        self.table, self.group, self.scale = table, group, 1.0
        n = len(group)
        entries = np.ones(n), group, np.arange(n + 1)
        self._add_up = sparse.csr_array(entries, shape=(n, len(table))).T.tocsr()
        self._codes = np.zeros((n, 0))

    @classmethod
    def of(cls, affinity: BaseAffinity, targets: Any) -> "Similarity":
        """Similarity of rows that a fitted affinity compares."""
        groups, group = affinity.group(targets)
        n = groups.shape[0]
        table = np.empty((n, n))
        for start in range(0, n, _ROWS_OF_THE_TABLE):
            part = groups[start : start + _ROWS_OF_THE_TABLE]
            relevant = are_relevant(affinity, part, groups)
            table[start : start + _ROWS_OF_THE_TABLE] = np.where(relevant, 1.0, -1.0)
        table = np.maximum(table, table.T)  # nearest rows may be so one way only
        return cls(table, np.arange(n) if group is None else group)

    def __matmul__(self, columns: np.ndarray) -> np.ndarray:
        product = (self.scale * (self.table @ self._sums(columns)))[self.group]
        product -= self._codes @ (self._codes.T @ columns)
        return product

    def quadratic(self, code: np.ndarray) -> float:
        """Product with a code, (n_rows,), on both sides."""
        sums, explained = self._sums(code), self._codes.T @ code
        return float(self.scale * (sums @ (self.table @ sums)) - explained @ explained)

    def _sums(self, columns):
        if columns.ndim == 1:
            return np.bincount(self.group, columns, len(self.table))  # several times as fast
        return self._add_up @ columns

    def explain(self, code: np.ndarray) -> None:
        """Subtract what a bit of -1 and 1, (n_rows,), explains."""
        self._codes = np.column_stack([self._codes, code])


def learn_weights(
    kernels: np.ndarray, similarity: Any, n_bits: int, max_iter: int, tol: float
) -> tuple[np.ndarray, int]:
    """Learn the weights (n_anchors, n_bits) of bits in turn, from the kernels of the labeled rows.

    `similarity` is scaled by the number of bits, and loses what each bit explains. Also returns the
    number of steps of the bit that took most.
    """
    n, n_anchors = kernels.shape
    similarity.scale = n_bits
    values, vectors = linalg.eigh(kernels.T @ kernels)
    kept = values > _NO_VARIANCE * values[-1]
    weights = np.zeros((n_anchors, n_bits))
    if not kept.any():
        return weights, 1  # all rows are equal
    whitening = vectors[:, kept] / np.sqrt(values[kept])
    white = kernels @ whitening
    probe = white.T @ np.random.RandomState(0).standard_normal(n)
    most_steps = 1
    for bit in range(n_bits):
        matrix = white.T @ (similarity @ white)
        start = np.sqrt(n) * (whitening @ leading_eigenvector(matrix, probe))
        ascended, n_steps = ascend(kernels, similarity, start, max_iter, tol)
        most_steps = max(most_steps, n_steps)
        codes = [np.where(kernels @ each > 0, 1.0, -1.0) for each in (start, ascended)]
        fits = [similarity.quadratic(code) for code in codes]
        best = int(fits[1] > fits[0])
        weights[:, bit] = (start, ascended)[best]
        similarity.explain(codes[best])
    return weights, most_steps


def leading_eigenvector(matrix: np.ndarray, probe: np.ndarray) -> np.ndarray:
    """Leading unit eigenvector; where several have the same eigenvalue, the one nearest to a probe.

    Where classes are of one size and kernels tell all rows apart, each class but one gives the same
    eigenvalue, and rounding alone would choose.
    """
    m = len(matrix)
    values, vectors = linalg.eigh(matrix, subset_by_index=[max(0, m - 2), m - 1])
    equal = values[-1] - _SAME_EIGENVALUE * np.abs(matrix).sum(axis=0).max()
    if m > 1 and values[0] >= equal:
        values, vectors = linalg.eigh(matrix)
    leading = vectors[:, values >= equal]
    vector = leading @ (leading.T @ probe)
    length = np.linalg.norm(vector)
    return vector / length if length > 0 else leading[:, -1]


def ascend(
    kernels: np.ndarray, similarity: Any, start: np.ndarray, max_iter: int, tol: float
) -> tuple[np.ndarray, int]:
    """Maximize ``z^T S z`` of the smooth code ``z = tanh(K a / 2)`` by accelerated gradient ascent.

    Nesterov's steps from the weights `start`, with a step length that is halved until the objective
    is above its quadratic bound. They end when the objective of a row changes by at most `tol`.
    Returns the weights and the number of steps.
    """
    before, weights = start, start
    projections_before = projections = kernels @ start
    value = similarity.quadratic(np.tanh(projections / 2))
    steepness, momentum = 1.0, (0.0, 1.0)
    for n_steps in range(1, max_iter + 1):
        share = (momentum[0] - 1) / momentum[1]
        probe = weights + share * (weights - before)
        probed = projections + share * (projections - projections_before)
        code = np.tanh(probed / 2)
        product = similarity @ code
        gradient = kernels.T @ (product * (1 - code**2))
        bound, squared, move = code @ product, gradient @ gradient, kernels @ gradient
        for _ in range(_MOST_DOUBLINGS + 1):
            moved = probed + move / steepness
            found = similarity.quadratic(np.tanh(moved / 2))
            if found >= bound + squared / steepness / 2:
                break
            steepness *= 2
        else:
            return weights, n_steps
        before, weights = weights, probe + gradient / steepness
        projections_before, projections = projections, moved
        momentum = momentum[1], (1 + np.sqrt(1 + 4 * momentum[1] ** 2)) / 2
        change, value = abs(found - value), found
        if change <= tol * len(kernels):
            return weights, n_steps
    return weights, max_iter
