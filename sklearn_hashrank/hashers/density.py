"""Density-sensitive hashing, with hyperplanes between clusters."""

from numbers import Integral, Real

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval

from .._features.anchors import Anchors
from .._features.row_slices import map_blocks
from .._utils.threads import one_blas_thread
from .._utils.types import MatrixLike, Target
from ..base import LinearHasher

__all__ = ["DensityHasher"]


class DensityHasher(LinearHasher):
    """Density-sensitive hashing: hyperplanes midway between clusters that are neighbors.

    Such hyperplanes do not cut through clusters. Those that divide the rows most evenly become
    bits. It suits data that form clusters, needs no labels, and takes more bits than features.

    Parameters
    ----------
    n_bits : int, default=32
        Length of a code. It may exceed the number of features.
    clusters_per_bit : float, default=1.5
        Clusters for each bit, alpha in the paper; there are at most as many as training rows.
    n_neighbors : int, default=3
        Hyperplanes lie between a cluster and so many of its nearest ones, r in the paper; between
        more of them where those are fewer hyperplanes than bits.
    n_iter : int, default=3
        Number of iterations of k-means.
    output : {"bits", "signs", "packed"}, default="bits"
        Format of :meth:`transform`: 0/1 uint8, -1/+1 int8, or packed uint8 bytes.
    random_state : int, RandomState instance or None, default=None
        Samples the rows that are clustered, and the start of k-means.

    Attributes
    ----------
    components_ : ndarray of shape (n_bits, n_features)
        Normal vectors of the hyperplanes: differences of the means of two clusters.
    intercept_ : ndarray of shape (n_bits,)
        Offsets that let every hyperplane pass midway between those means.
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

    Notes
    -----
    At most 50 training rows for each cluster are clustered, and all are counted. Few rows may have
    fewer pairs of clusters than bits; bits are repeated then.

    References
    ----------
    Z. Jin, C. Li, Y. Lin, D. Cai, "Density sensitive hashing", IEEE Transactions on Cybernetics
    2014.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn_hashrank import DensityHasher
    >>> X, y = load_digits(return_X_y=True)
    >>> hasher = DensityHasher(n_bits=16, random_state=0).fit(X, y)
    >>> round(hasher.score(X, y), 2)
    0.48
    """

    _parameter_constraints: dict = {
        **LinearHasher._parameter_constraints,
        "clusters_per_bit": [Interval(Real, 0, None, closed="neither")],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "n_iter": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_bits=32,
        *,
        clusters_per_bit=1.5,
        n_neighbors=3,
        n_iter=3,
        output="bits",
        random_state=None,
    ):
        self.n_bits = n_bits
        self.clusters_per_bit = clusters_per_bit
        self.n_neighbors = n_neighbors
        self.n_iter = n_iter
        self.output = output
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    @one_blas_thread()
    def fit(self, X: MatrixLike, y: Target | None = None) -> "DensityHasher":
        """Find clusters, and the hyperplanes between them.

        Parameters
        ----------
        X : {array-like, sparse matrix, dask array} of shape (n_samples, n_features)
            Training rows.
        y : array-like with n_samples rows, default=None
            Not used for learning; kept for :meth:`score`.

        Returns
        -------
        self : DensityHasher
        """
        X, y = self._validate_training_data(X, y)
        random_state = check_random_state(self.random_state)
        n_clusters = max(2, int(self.clusters_per_bit * self.n_bits + 0.5))
        clusters = Anchors.kmeans(X, n_clusters, random_state, max_iter=self.n_iter)
        nearest = map_blocks(
            lambda rows: clusters.squared_distances(rows).argmin(axis=1),
            X,
            clusters.row_numbers,
            (),
            np.intp,
        )
        sizes = np.bincount(nearest, minlength=clusters.n)
        means = clusters.inside.astype(np.float64)
        first, second = balanced_pairs(means, sizes, self.n_bits, self.n_neighbors)
        normals = means[first] - means[second]
        middles = (means[first] + means[second]) / 2
        offsets = -np.einsum("ij,ij->i", normals, middles)
        self.components_, self.intercept_ = clusters.space.fold(normals.T, offsets, X.dtype)
        self._keep_database(X, y)
        return self


def balanced_pairs(
    means: np.ndarray, sizes: np.ndarray, n: int, n_neighbors: int
) -> tuple[np.ndarray, np.ndarray]:
    """Find pairs of neighboring clusters whose hyperplanes divide the rows most evenly.

    A cluster (its mean, and its size in rows) is paired with its `n_neighbors` nearest ones, with
    more where those are fewer than `n` pairs, and counts as a whole, by the side its mean lies on.
    The `n` pairs come as two arrays of clusters, those of the most even division first, of equal
    ones the nearer; where there are fewer, they are repeated.
    """
    n_clusters = len(means)
    if n_clusters == 1:
        return np.zeros(n, dtype=np.intp), np.zeros(n, dtype=np.intp)
    norms = np.einsum("ij,ij->i", means, means)
    distances = norms[:, None] + norms - 2 * means @ means.T
    np.fill_diagonal(distances, np.inf)
    nearest = np.argsort(distances, axis=1, kind="stable")
    for n_nearest in range(min(n_neighbors, n_clusters - 1), n_clusters):
        others = nearest[:, :n_nearest].ravel()
        clusters = np.repeat(np.arange(n_clusters), n_nearest)
        pairs = np.unique(np.sort(np.column_stack([clusters, others]), axis=1), axis=0)
        if len(pairs) >= n:
            break
    pairs = pairs[np.argsort(distances[pairs[:, 0], pairs[:, 1]], kind="stable")]
    first, second = pairs.T
    # A mean is nearer to the first of a pair where its products tell so.
    products = means @ (means[first] - means[second]).T
    n_above = sizes @ (products > (norms[first] - norms[second]) / 2)
    n_below = sizes.sum() - n_above
    evenness = np.minimum(n_above, n_below) / np.maximum(n_above, n_below)
    chosen = np.resize(np.argsort(-evenness, kind="stable")[:n], n)
    return first[chosen], second[chosen]
