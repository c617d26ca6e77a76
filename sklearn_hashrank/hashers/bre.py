"""Binary reconstructive embedding, which learns bits by coordinate descent."""

from numbers import Integral, Real
from typing import NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from .. import _kernels
from .._features.centered_rows import dense_if_small
from .._features.space import FeatureSpace
from .._utils.threads import one_blas_thread
from .._utils.types import MatrixLike, Target
from ..affinity._level_checks import check_level_indices
from ..affinity._protocol import BaseAffinity
from ..base import LinearHasher
from ._supervised import LearnsFromRelevance

__all__ = ["BREHasher"]

_END = 1e-6  # how far beyond the last critical value a weight is put
_SPREAD_OF_THE_START = 1e-3  # a bit does not depend on the scale of its weights
_NO_LENGTH = 1e-10  # of a row, where the root of the mean squared length is 1


class BREHasher(LearnsFromRelevance, LinearHasher):
    """Bits whose Hamming distances reproduce given distances, by exact coordinate descent.

    A bit is a weighted sum of inner products with a few training rows. One weight at a time is
    changed: the loss is constant between critical values at which a row changes the bit, so that
    walking through them finds the best value exactly. With `y`, relevant rows should have distance
    zero and irrelevant rows all bits; without `y`, the distances of the rows are reproduced.

    Parameters
    ----------
    n_bits : int, default=32
        Length of a code. It may exceed the number of features.
    affinity : "auto" or affinity object, default="auto"
        How `y` says what is relevant; see :mod:`sklearn_hashrank.affinity`. The higher the level of
        a pair, the smaller the distance that its codes should have.
    n_sampled : int, default=1000
        Training rows that the loss looks at, sampled at random.
    n_basis : int, default=20
        Number of sampled rows whose inner products a bit sums.
    pairs : float, default=0.05
        Share of the sampled rows that each of them is paired with.
    max_iter : int, default=100
        Largest number of sweeps. A sweep changes one weight of each bit.
    tol : float, default=2e-5
        Sweeps end when one of them lowers the mean loss of a pair by less than this.
    output : {"bits", "signs", "packed"}, default="bits"
        Format of :meth:`transform`: 0/1 uint8, -1/+1 int8, or packed uint8 bytes.
    random_state : int, RandomState instance or None, default=None
        Samples rows and pairs, and chooses the weights to change.

    Attributes
    ----------
    components_ : ndarray of shape (n_bits, n_features)
        Normal vectors of the hyperplanes.
    intercept_ : ndarray of shape (n_bits,)
        Offsets that let every hyperplane pass through the mean.
    loss_ : float
        Mean over the pairs of half the squared error of their distance in [0, 1].
    n_iter_ : int
        Number of sweeps over the bits.
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

    Notes
    -----
    Rows are centered and brought to unit length before inner products are taken, as the data of the
    paper are. The bits are half-spaces of the features, and encoding is one matrix product.

    With `y`, features of mixed units are brought to one unit first, see :ref:`mixed_units`.

    References
    ----------
    B. Kulis, T. Darrell, "Learning to hash with binary reconstructive embeddings", NIPS 2009.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn_hashrank import BREHasher
    >>> X, y = load_digits(return_X_y=True)
    >>> hasher = BREHasher(n_bits=16, random_state=0).fit(X[:1000], y[:1000])
    >>> bool(hasher.score(X[1000:], y[1000:]) > 0.5)
    True
    """

    _parameter_constraints: dict = {
        **LinearHasher._parameter_constraints,
        "affinity": [StrOptions({"auto"}), BaseAffinity],
        "n_sampled": [Interval(Integral, 2, None, closed="left")],
        "n_basis": [Interval(Integral, 1, None, closed="left")],
        "pairs": [Interval(Real, 0, 1, closed="right")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "random_state": ["random_state"],
    }

    _sampled_by = "n_sampled"

    def __init__(
        self,
        n_bits=32,
        *,
        affinity="auto",
        n_sampled=1000,
        n_basis=20,
        pairs=0.05,
        max_iter=100,
        tol=2e-5,
        output="bits",
        random_state=None,
    ):
        self.n_bits = n_bits
        self.affinity = affinity
        self.n_sampled = n_sampled
        self.n_basis = n_basis
        self.pairs = pairs
        self.max_iter = max_iter
        self.tol = tol
        self.output = output
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    @one_blas_thread()
    def fit(self, X: MatrixLike, y: Target | None = None) -> "BREHasher":
        """Sample rows and pairs, and change one weight after the other.

        Parameters
        ----------
        X : {array-like, sparse matrix, dask array} of shape (n_samples, n_features)
            Training rows.
        y : array-like with n_samples rows, default=None
            What `affinity` compares; None: distances between rows are reproduced.

        Returns
        -------
        self : BREHasher
        """
        X, y = self._validate_training_data(X, y)
        random_state = check_random_state(self.random_state)
        self._fit_affinity_once(X, y)
        space = FeatureSpace.unit(X, mixed_units=y is not None)
        sampled = random_state.permutation(X.shape[0])[: self.n_sampled]
        rows = space.rows(dense_if_small(X[sampled]))
        products = _products(rows)
        lengths = np.sqrt(np.maximum(products.diagonal(), 0))
        inverse = np.divide(1, lengths, out=np.zeros_like(lengths), where=lengths > _NO_LENGTH)
        kernel = products * inverse * inverse[:, None]
        first, second = sample_pairs(len(sampled), self.pairs, random_state)
        if y is None:
            targets = _distances(kernel)[first, second]
        else:
            rows_of_y = self._training_targets(X, y)[sampled]
            targets = self._targets(rows_of_y, first, second)
        embedding = Embedding(kernel, Pairs.of(first, second, targets, len(sampled)))
        embedding.start(self.n_bits, self.n_basis, random_state)
        self.n_iter_ = embedding.descend(self.max_iter, self.tol, random_state)
        self.loss_ = embedding.loss
        coefficients = np.zeros((len(sampled), self.n_bits))
        np.put_along_axis(coefficients, embedding.basis.T, embedding.weights.T, axis=0)
        normals = rows.T @ (inverse[:, None] * coefficients)
        self.components_, self.intercept_ = space.fold(normals, 0.0, X.dtype)
        self._keep_database(X, y)
        return self

    def _targets(self, rows, first, second):
        """Distance from 0 to 1 that pairs of rows should have, by their relevance.

        0 belongs to the highest level that a pair has. The highest there could be, all labels of a
        label set, may be far above it.
        """
        levels = self.affinity_.levels_
        indices = self.affinity_.level_indices(rows, rows)
        indices = check_level_indices(self.affinity_, indices, 2 * rows.shape[:1], len(levels))
        found = levels[indices[first, second]]
        return 1 - found / (found.max(initial=0) or 1)


def _products(rows):
    if not sparse.issparse(rows.X):
        dense = rows.to_dense()
        return dense @ dense.T
    with_mean = rows.X @ rows.mean
    products = (rows.X @ rows.X.T).toarray() - with_mean - with_mean[:, None]
    return products + rows.mean @ rows.mean


def _distances(kernel):
    lengths = kernel.diagonal()
    distances = np.maximum(lengths[:, None] + lengths - 2 * kernel, 0)
    return distances / (distances.max() or 1)


def sample_pairs(
    n: int, share: float, random_state: np.random.RandomState
) -> tuple[np.ndarray, np.ndarray]:
    """Sample pairs of every row with a share of all rows, without itself; returns both ends."""
    n_partners = max(1, int(share * n))
    partners = [random_state.permutation(n)[:n_partners] for _ in range(n)]
    first, second = np.repeat(np.arange(n), n_partners), np.concatenate(partners)
    is_pair = first != second
    return first[is_pair], second[is_pair]


class Pairs(NamedTuple):
    """Pairs of rows, and the distances in [0, 1] that they should have.

    The other rows of the pairs of row i, and the numbers of these pairs, are `neighbors` and
    `numbers` from ``starts[i]`` to ``starts[i + 1]``: flipping a bit of one row changes these pairs
    alone.
    """

    first: np.ndarray
    second: np.ndarray
    targets: np.ndarray
    neighbors: np.ndarray
    numbers: np.ndarray
    starts: np.ndarray

    @classmethod
    def of(cls, first: np.ndarray, second: np.ndarray, targets: np.ndarray, n_rows: int) -> "Pairs":
        """Pairs of `n_rows` rows."""
        ends = np.concatenate([first, second])
        order = np.argsort(ends, kind="stable")
        starts = np.concatenate([[0], np.cumsum(np.bincount(ends, minlength=n_rows))])
        neighbors = np.concatenate([second, first])[order]
        return cls(first, second, targets, neighbors, order % max(1, len(first)), starts)


class Embedding:
    """Bits that are signs of sums over a kernel matrix, and the loss of their distances.

    Bit b is 1 where the sum of ``weights[b]`` times the kernels (n_rows, n_rows) with the rows
    ``basis[b]`` is above zero.
    """

    def __init__(self, kernel: np.ndarray, pairs: Pairs):
        self.kernel, self.pairs = kernel, pairs

    def start(self, n_bits: int, n_basis: int, random_state: np.random.RandomState) -> None:
        """Sample the rows of every bit, and small weights."""
        n = len(self.kernel)
        n_basis = min(n_basis, n)
        self.basis = np.array([random_state.permutation(n)[:n_basis] for _ in range(n_bits)])
        self.weights = _SPREAD_OF_THE_START * random_state.standard_normal((n_bits, n_basis))
        self.bits = np.array([self._project(bit) > 0 for bit in range(n_bits)])
        self._distances = np.zeros(len(self.pairs.first), dtype=np.int64)
        for bits in self.bits:
            self._distances += self._differ(bits)

    def descend(self, max_iter: int, tol: float, random_state: np.random.RandomState) -> int:
        """Sweep over the bits until the loss falls by less than `tol`; returns the sweeps."""
        n_bits, n_basis = self.weights.shape
        before = self.loss
        for n_sweeps in range(max_iter):
            for bit in range(n_bits):
                self.improve(bit, random_state.randint(n_basis))
            if before - self.loss < tol:
                return n_sweeps + 1
            before = self.loss
        return max_iter

    @property
    def loss(self) -> float:
        """Mean over the pairs of half the squared error of their distance."""
        errors = self._distances / len(self.weights) - self.pairs.targets
        return float(0.5 * (errors @ errors) / max(1, len(errors)))

    def improve(self, bit: int, place: int) -> None:
        """Set one weight of a bit to its best value, in the middle of the interval."""
        weight = self.weights[bit, place]
        column = self.kernel[:, self.basis[bit, place]]
        moving = np.flatnonzero(np.abs(column) > _NO_LENGTH)
        if not moving.size:
            return
        critical = weight - self._project(bit)[moving] / column[moving]
        order = np.argsort(critical, kind="stable")
        moving, critical = moving[order], critical[order]
        bits = self.bits[bit].copy()
        bits[moving] = column[moving] < 0  # below all critical values
        losses = self._walk(bit, bits, moving)
        middles = np.concatenate(
            [[critical[0] - _END], (critical[:-1] + critical[1:]) / 2, [critical[-1] + _END]]
        )
        is_interval = np.concatenate([[True], critical[1:] > critical[:-1], [True]])
        self.weights[bit, place] = middles[np.where(is_interval, losses, np.inf).argmin()]
        found = self._project(bit) > 0
        self._distances += self._differ(found) - self._differ(self.bits[bit])
        self.bits[bit] = found

    def _walk(self, bit, bits, order):
        """Loss after each flip of the rows in order, up to a constant."""
        distances = self._distances - self._differ(self.bits[bit]) + self._differ(bits)
        losses = np.empty(len(order) + 1)
        scale = 1 / len(self.weights)
        pairs = self.pairs
        numbers = pairs.neighbors, pairs.numbers, pairs.starts
        _kernels.bit_flip_losses.walk_flips(
            order, bits.astype(np.int64), distances, pairs.targets, *numbers, scale, losses
        )
        return losses

    def _project(self, bit):
        return self.kernel[:, self.basis[bit]] @ self.weights[bit]

    def _differ(self, bits):
        """Of every pair 1 where a bit differs, else 0."""
        return (bits[self.pairs.first] != bits[self.pairs.second]).astype(np.int64)
