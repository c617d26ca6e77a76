"""Spherical hashing: bits that say whether a row lies within a sphere."""

from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval

from .._features.anchors import Anchors
from .._features.row_slices import map_blocks
from .._utils.threads import one_blas_thread
from .._utils.types import MatrixLike, Target
from ..base import BaseHasher

__all__ = ["SphericalHasher"]

_ROWS_OF_A_CENTER = 5  # whose mean it starts from: near the middle, and apart from others
# Of the numbers of rows in two spheres, relative to a quarter of the rows, as in the paper.
_MEAN_ERROR, _DEVIATION = 0.1, 0.15
# In units of the rows' distance from their mean. Spheres so large are half-spaces.
_FARTHEST_CENTER, _SHORTEST_MOVE = 100.0, 1e-12


class SphericalHasher(BaseHasher):
    """Spherical hashing: whether a row lies within each of some spheres.

    Every sphere holds half of the training rows, and every two spheres share a quarter of them, as
    independent bits would. Rows that share many spheres are close together, and the paper therefore
    ranks by a distance of its own, :func:`~sklearn_hashrank.codes.spherical_distances`. The codes
    can be ranked by Hamming distance as any other.

    Parameters
    ----------
    n_bits : int, default=32
        Length of a code, which is the number of spheres.
    max_iter : int, default=1000
        Largest number of moves of all centers. Moves end when the spheres overlap as they should,
        after ten to a hundred moves; on few or equal rows they may never do so.
    output : {"bits", "signs", "packed"}, default="bits"
        Format of :meth:`transform`: 0/1 uint8, -1/+1 int8, or packed uint8 bytes.
    random_state : int, RandomState instance or None, default=None
        Samples the rows whose means the centers start from.

    Attributes
    ----------
    spheres_ : Anchors
        The centers, which measure distances of rows.
    squared_radii_ : ndarray of shape (n_bits,)
        Squared radii, in the units of `spheres_`.
    centers_ : ndarray of shape (n_bits, n_features)
        Centers, in units of the features.
    radii_ : ndarray of shape (n_bits,)
        Radii, in units of the features.
    n_iter_ : int
        Number of moves of all centers.
    n_bits_ : int
        Length of the codes, whatever `n_bits` was set to after `fit`.
    codes_ : ndarray of shape (n_samples, ceil(n_bits / 8)), uint8
        Packed codes of the training rows.
    y_ : array-like
        `y` of the training rows; absent where it was None.
    affinity_ : affinity object
        Relevance by the form of `y_`, set when :meth:`score` first needs it.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, when `X` has string column names.

    References
    ----------
    J.-P. Heo, Y. Lee, J. He, S.-F. Chang, S.-E. Yoon, "Spherical hashing", CVPR 2012.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn_hashrank import SphericalHasher
    >>> X, y = load_digits(return_X_y=True)
    >>> hasher = SphericalHasher(n_bits=16, random_state=0).fit(X, y)
    >>> hasher.transform(X).mean(axis=0)[:4].round(2)
    array([0.5, 0.5, 0.5, 0.5])
    >>> round(hasher.score(X, y), 2)
    0.38

    Ranked by the spherical distance:

    >>> from sklearn_hashrank.codes import spherical_distances
    >>> from sklearn_hashrank.metrics import distance_histogram
    >>> codes = hasher.transform(X)
    >>> distances = spherical_distances(codes, codes)
    >>> h = distance_histogram(distances, y, exclude_self=True)
    >>> print(f"{h.average_precision().mean():.2f}")
    0.37
    """

    _parameter_constraints: dict = {
        **BaseHasher._parameter_constraints,
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    spheres_: Anchors
    squared_radii_: np.ndarray

    def __init__(self, n_bits=32, *, max_iter=1000, output="bits", random_state=None):
        self.n_bits = n_bits
        self.max_iter = max_iter
        self.output = output
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    @one_blas_thread()
    def fit(self, X: MatrixLike, y: Target | None = None) -> "SphericalHasher":
        """Move the spheres until they overlap as they should.

        Parameters
        ----------
        X : {array-like, sparse matrix, dask array} of shape (n_samples, n_features)
            Training rows.
        y : array-like with n_samples rows, default=None
            Not used for learning; kept for :meth:`score`.

        Returns
        -------
        self : SphericalHasher
        """
        X, y = self._validate_training_data(X, y)
        random_state = check_random_state(self.random_state)
        n_rows = X.shape[0]
        size = min(_ROWS_OF_A_CENTER, n_rows)
        samples = [random_state.permutation(n_rows)[:size] for _ in range(self.n_bits)]
        rows = Anchors.of(X, X[np.concatenate(samples)])
        start = rows.inside.reshape(self.n_bits, size, -1).mean(axis=1)
        origin = np.zeros_like(start[:1])
        measure = Anchors(rows.space, np.concatenate([start, origin]))
        distances = map_blocks(
            measure.squared_distances, X, measure.row_numbers, (measure.n,), np.float64
        )
        norms = distances[:, -1]
        products = (norms[:, None] + measure.squared_norms[:-1] - distances[:, :-1]) / 2
        weights, limits, self.n_iter_ = balance_spheres(
            norms, products, start @ start.T, self.max_iter
        )
        centers = (weights @ start).astype(start.dtype)
        self.spheres_ = Anchors(rows.space, centers)
        self.squared_radii_ = (limits + self.spheres_.squared_norms).astype(start.dtype)
        self.n_bits_ = self.n_bits
        self._keep_database(X, y)
        return self

    @property
    def centers_(self) -> np.ndarray:
        """Centers in units of the features, (n_bits, n_features)."""
        return self.spheres_.raw

    @property
    def radii_(self) -> np.ndarray:
        """Radii in units of the features, (n_bits,)."""
        return np.sqrt(np.maximum(self.squared_radii_, 0)) * self.spheres_.unit

    def _project(self, X: Any) -> np.ndarray:
        spheres = self.spheres_
        shape, dtype = (self.n_bits_,), spheres.dtype_of(X)
        return map_blocks(self._project_block, X, spheres.row_numbers, shape, dtype)

    def _project_block(self, X):
        return self.squared_radii_ - self.spheres_.squared_distances(X)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "spheres_")


def balance_spheres(
    norms: np.ndarray, products: np.ndarray, gram: np.ndarray, max_iter: int
) -> tuple[np.ndarray, np.ndarray, int]:
    """Move centers until every two spheres share about a quarter of the rows.

    Centers only ever move towards or away from each other, so that they stay combinations of those
    at the start. Distances need no more than the squared `norms` of the rows, their `products` with
    the centers at the start, and the `gram` matrix of those. Returns the centers as combinations,
    (n_spheres, n_spheres), the squared radii less the squared norms of the centers, and the number
    of moves.
    """
    n_spheres, quarter = len(gram), len(norms) / 4
    pairs = np.triu_indices(n_spheres, 1)
    weights = np.eye(n_spheres)
    limits, shared = _halve(norms, products, weights)
    n_iter = 0
    while n_iter < max_iter:
        n_iter += 1
        forces = 0.5 * (shared - quarter) / quarter / n_spheres
        np.fill_diagonal(forces, 0)
        moves = forces.sum(axis=1)[:, None] * weights - forces @ weights
        moved = weights + moves
        if _squared_norms(moves, gram).max() <= _SHORTEST_MOVE**2:  # as of centers that coincide
            break
        if _squared_norms(moved, gram).max() > _FARTHEST_CENTER**2:
            break
        weights = moved
        limits, shared = _halve(norms, products, weights)
        of_pairs = shared[pairs]
        if not of_pairs.size or (
            np.abs(of_pairs - quarter).mean() <= _MEAN_ERROR * quarter
            and of_pairs.std() <= _DEVIATION * quarter
        ):
            break
    return weights, limits, n_iter


def _squared_norms(weights, gram):
    return np.einsum("ij,ij->i", weights @ gram, weights)


def _halve(norms, products, weights):
    """Limits of spheres that hold half of the rows, and how many rows every two of them share."""
    values = norms - 2 * (weights @ products.T)  # squared distances, but for the centers' norms
    half = int(len(norms) / 2 + 0.5)
    inner = np.partition(values, half - 1, axis=1)[:, half - 1 : half]
    inside = values <= inner
    outer = np.where(inside, np.inf, values).min(axis=1)
    inner = inner.ravel()
    # Midway to the next row, so that rounding moves no row to the other side.
    limits = np.where(np.isfinite(outer), (inner + outer) / 2, inner)
    members = inside.astype(np.float32)
    return limits, (members @ members.T).astype(np.float64)
