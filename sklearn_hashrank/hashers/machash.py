"""Hash functions and codes found in turn, by the method of auxiliary coordinates."""

import warnings
from numbers import Integral, Real

import numpy as np
from sklearn.base import _fit_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from .. import _kernels
from .._features.centered_rows import dense_if_small
from .._features.moments import Moments
from .._features.space import FeatureSpace
from .._solvers.binary_quadratic import minimize_by_cuts
from .._solvers.linear_classifiers import fit_squared_hinges
from .._utils.threads import one_blas_thread
from .._utils.types import MatrixLike, Target
from ..affinity._protocol import BaseAffinity
from ..base import LinearHasher
from ._similar_pairs import sample_pairs
from ._supervised import LearnsFromRelevance

__all__ = ["MACHasher"]

_SWEEPS_AT_START = 2  # over the bits: in the first, a bit knows only those before it


class MACHasher(LearnsFromRelevance, LinearHasher):
    r"""Linear hash functions found together with the codes that they are to give.

    The loss of a pair of codes z of -1 and +1 is :math:`(z_n \cdot z_m - b\,y_{nm})^2`, with
    :math:`y_{nm}` of 1 for similar pairs and -1 for others. The method of auxiliary coordinates
    minimizes the sum of losses and :math:`\mu \sum_n |z_n - h(x_n)|^2`, alternately over the hash
    functions h and over the codes z, while :math:`\mu` grows until z = h(x) for all training rows
    [1]_. Given z, the hash functions are linear support vector machines, one for each bit. Given
    h, every bit is a binary quadratic program, which block graph cuts solve for one group of
    similar rows at a time. Two-step methods such as :class:`FastHasher` stop after the first round;
    here codes are given up that no hash function can give.

    `fit` centers the features and scales them as all linear learners do.

    Parameters
    ----------
    n_bits : int, default=32
        Length of a code. It may exceed the number of features.
    affinity : "auto" or affinity object, default="auto"
        How `y` says what is relevant: pairs of a level above 0 are similar. See
        :mod:`sklearn_hashrank.affinity`.
    alpha : float or "auto", default="auto"
        Strength of the regularization of the support vector machines. Few rows of many features
        want more of it: ``"auto"`` is three times the number of features per training row, at
        most 1.
    mu : float, default=0.01
        The :math:`\mu` of the first round, in units of the mean weight that the pairs of a row have
        in its quadratic program, so that it means the same for any number of bits and pairs.
    growth : float, default=2.0
        Factor by which :math:`\mu` grows in a round.
    max_iter : int, default=15
        Largest number of rounds.
    n_similar : int, default=50
        Number of partners of each training row, sampled from the rows that are similar to it.
    n_dissimilar : int, default=100
        Number of partners of each training row, sampled from the rows that are not.
    output : {"bits", "signs", "packed"}, default="bits"
        Format of :meth:`transform`: 0/1 uint8, -1/+1 int8, or packed uint8 bytes.
    random_state : int, RandomState instance or None, default=None
        Samples the pairs and orders the blocks.

    Attributes
    ----------
    components_ : ndarray of shape (n_bits, n_features)
        Normal vectors of the hyperplanes of the round with the lowest loss.
    intercept_ : ndarray of shape (n_bits,)
        Offsets of the hyperplanes, added to the projections.
    affinity_ : affinity object
        The affinity that was learned from, fitted on the training rows.
    loss_ : float
        Mean loss of the pairs at the codes of the hash functions, divided by the squared number of
        bits.
    history_ : dict of list
        For each round the ``"loss"`` of the hash functions, and the share of bits in which z and
        h(x) differ at its end, ``"violation"``.
    n_iter_ : int
        Number of rounds, each of which finds the hash functions and then the codes.
    converged_ : bool
        Whether z = h(x) for all training rows at the end.
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
    .. [1] R. Raziperchikolaei, M. A. Carreira-Perpinan, "Optimizing affinity-based binary hashing
       using auxiliary coordinates", NIPS 2016.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn_hashrank import MACHasher
    >>> X, y = load_digits(return_X_y=True)
    >>> hasher = MACHasher(n_bits=16, random_state=0).fit(X[:500], y[:500])
    >>> bool(hasher.score(X[500:], y[500:]) > 0.65)
    True
    """

    _is_graded = False
    _parameter_constraints: dict = {
        **LinearHasher._parameter_constraints,
        "affinity": [StrOptions({"auto"}), BaseAffinity],
        "alpha": [StrOptions({"auto"}), Interval(Real, 0, None, closed="neither")],
        "mu": [Interval(Real, 0, None, closed="neither")],
        "growth": [Interval(Real, 1, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "n_similar": [Interval(Integral, 1, None, closed="left")],
        "n_dissimilar": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_bits=32,
        *,
        affinity="auto",
        alpha="auto",
        mu=0.01,
        growth=2.0,
        max_iter=15,
        n_similar=50,
        n_dissimilar=100,
        output="bits",
        random_state=None,
    ):
        self.n_bits = n_bits
        self.affinity = affinity
        self.alpha = alpha
        self.mu = mu
        self.growth = growth
        self.max_iter = max_iter
        self.n_similar = n_similar
        self.n_dissimilar = n_dissimilar
        self.output = output
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    @one_blas_thread()
    def fit(self, X: MatrixLike, y: Target | None = None) -> "MACHasher":
        """Learn the hyperplanes.

        Parameters
        ----------
        X : {array-like, sparse matrix, dask array} of shape (n_samples, n_features)
            Training rows.
        y : array-like with n_samples rows, default=None
            What `affinity` compares; None: `X` itself.

        Returns
        -------
        self : MACHasher
        """
        X, y = self._validate_training_data(X, y)
        random_state = check_random_state(self.random_state)
        sample = dense_if_small(X)
        space = FeatureSpace.of(Moments.of(sample))
        rows = space.rows(sample).made_ready()
        self._fit_affinity_once(X, y)
        targets = self.affinity_.validate(X if y is None else y)
        counts = self.n_similar, self.n_dissimilar
        pairs = sample_pairs(type(self).__name__, self.affinity_, targets, *counts, random_state)

        codes = AuxiliaryCodes(pairs, self.n_bits, random_state)
        codes.start(_SWEEPS_AT_START)
        self.history_: dict[str, list[float]] = {"loss": [], "violation": []}
        alpha = min(1.0, 3 * X.shape[1] / X.shape[0]) if self.alpha == "auto" else self.alpha
        found, mu = None, self.mu
        for _ in range(self.max_iter):
            found = fit_squared_hinges(rows, codes.signs, alpha, found)
            given = np.where(rows @ found[0] + found[1] > 0, 1.0, -1.0)
            loss = codes.loss(given)
            if loss < min(self.history_["loss"], default=np.inf):
                self.components_, self.intercept_ = space.fold(*found, X.dtype)
            codes.sweep(given, mu)
            self.history_["loss"].append(loss)
            self.history_["violation"].append(float(np.mean(given != codes.signs)))
            if self.history_["violation"][-1] == 0:
                break
            mu *= self.growth
        self.loss_, self.n_iter_ = min(self.history_["loss"]), len(self.history_["loss"])
        self.converged_ = self.history_["violation"][-1] == 0
        if not self.converged_:
            warnings.warn(
                f"{type(self).__name__} did not converge in max_iter={self.max_iter} rounds. "
                "Raise max_iter or growth.",
                ConvergenceWarning,
                stacklevel=2,
            )
        self._keep_database(X, y)
        return self


class AuxiliaryCodes:
    """Codes of the training rows, bit by bit nearer to a low loss or to given codes.

    `signs` (n, n_bits) holds them as float64 of -1 and +1.
    """

    def __init__(self, pairs, n_bits, random_state):
        self.pairs, self.n_bits, self.random_state = pairs, n_bits, random_state
        graph = pairs.graph
        self._structure = graph.indptr.astype(np.int64), graph.indices.astype(np.int64)
        self._kinds = graph.data.astype(np.float64)
        self._products = np.zeros(graph.nnz)  # of the codes of both rows of each pair
        self.signs = np.empty((graph.shape[0], n_bits))

    def start(self, n_sweeps):
        """Find one bit after the other, then go through all again, without hash functions."""
        linear = np.zeros(len(self.signs))
        for bit in range(self.n_bits):
            self._set_bit(bit, np.ones_like(linear), linear, bit + 1)
        for _ in range(n_sweeps - 1):
            self.sweep(np.zeros_like(self.signs), 0.0)

    def sweep(self, given, mu):
        """Solve for each bit, where a step away from the given codes costs something."""
        for bit in range(self.n_bits):
            signs = self.signs[:, bit].copy()
            self._add(signs, -1.0)
            self._set_bit(bit, signs, -2 * mu * given[:, bit], self.n_bits)

    def _set_bit(self, bit, start, linear, n_bits):
        values = 2 * (self._products - n_bits * self._kinds)
        scale = np.abs(values).sum() / len(start)
        signs = minimize_by_cuts(
            self.pairs.matrix(values / max(scale, 1)),
            linear,
            self.pairs.blocks,
            start,
            1,
            self.random_state,
        )
        self._add(signs, 1.0)
        self.signs[:, bit] = signs

    def _add(self, signs, factor):
        _kernels.cuts.add_products(*self._structure, signs, factor, self._products)

    def loss(self, signs):
        """Mean loss of the pairs at any codes, divided by the squared number of bits."""
        products = np.zeros_like(self._products)
        for bit in signs.T:
            _kernels.cuts.add_products(*self._structure, np.ascontiguousarray(bit), 1.0, products)
        return float(np.mean((products / self.n_bits - self._kinds) ** 2))
