"""Anchor rows, and the squared distances of other rows from them."""

import warnings
from functools import cache
from typing import Any

import numpy as np
from numpy.random import RandomState
from scipy import sparse
from threadpoolctl import ThreadpoolController

from .._files.storable import storable
from .centered_rows import dense_if_small
from .space import FeatureSpace

# Clusters are found from so many rows for each of them at most: more change the means little.
_ROWS_OF_A_CLUSTER = 50
# So that rounding, which depends on scale and offset, does not decide between equal distances, as
# there are many of in features that are integers. The root mean squared length of a row is 1.
_DECIMALS = 4


@storable
class Anchors:
    """Anchor rows, and the squared distances of other rows from them.

    Distances are in units of the root mean squared distance of the training rows from their mean.
    If all training rows are equal, all distances are zero. `inside` holds the anchors in `space`,
    in which features are centered and divided by the unit, as :meth:`FeatureSpace.unit` does.
    """

    def __init__(self, space: FeatureSpace, inside: np.ndarray):
        self.space, self.inside = space, inside
        self.squared_norms = np.einsum("ij,ij->i", inside, inside, dtype=np.float64)

    @classmethod
    def random(
        cls, X: Any, n: int, random_state: RandomState, *, mixed_units: bool = False
    ) -> "Anchors":
        """Sample at most `n` of the training rows as anchors, without replacement.

        Rows of float32 have anchors of float32. `mixed_units` is that of :meth:`FeatureSpace.unit`.
        """
        rows = X[random_state.permutation(X.shape[0])[:n]]
        return cls.of(X, rows, mixed_units=mixed_units)

    @classmethod
    def of(cls, X: Any, rows: Any, *, mixed_units: bool = False) -> "Anchors":
        """Given rows as anchors, in the space of the training rows."""
        space = FeatureSpace.unit(X, mixed_units=mixed_units)
        return cls(space, space.transform(rows, X.dtype))

    @classmethod
    def kmeans(
        cls, X: Any, n: int, random_state: RandomState, *, init: str = "random", max_iter: int = 5
    ) -> "Anchors":
        """Find the means of at most `n` clusters, without empty clusters.

        At most 50 rows for each cluster, sampled at random, are clustered, in `max_iter` iterations
        of k-means from the start `init`, ``"random"`` or ``"k-means++"``.
        """
        from sklearn.cluster import KMeans
        from sklearn.exceptions import ConvergenceWarning

        space, n = FeatureSpace.unit(X), min(n, X.shape[0])
        few = dense_if_small(X[random_state.permutation(X.shape[0])[: _ROWS_OF_A_CLUSTER * n]])
        offset: Any = 0
        if sparse.issparse(few):  # not centered, which changes no distance
            rows = space.rows(few)
            few, offset, rounded = rows.X, rows.mean, rows.X.copy()
            rounded.data = few.data.round(_DECIMALS)
        else:
            few = space.transform(few, X.dtype)
            rounded = few.round(_DECIMALS)
        seed = random_state.randint(np.iinfo(np.int32).max)
        clusters = KMeans(n, init=init, n_init=1, max_iter=max_iter, random_state=seed)
        # Sums of one thread alone are the same every time.
        with _openmp().limit(limits=1), warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # of equal rows
            clusters.fit(rounded)
        return cls(space, (_means(few, clusters.labels_) - offset).astype(X.dtype, copy=False))

    @property
    def n(self) -> int:
        return len(self.inside)

    @property
    def unit(self) -> float:
        """Unit of the distances, in units of the features; 0 if all training rows are equal.

        Not of features in mixed units.
        """
        assert self.space.scale is not None
        largest = self.space.scale.max(initial=0)
        return float(1 / largest) if largest > 0 else 0.0

    @property
    def raw(self) -> np.ndarray:
        assert self.space.scale is not None
        scale = np.where(self.space.scale > 0, self.space.scale, 1)
        return self.inside / scale + self.space.mean

    @property
    def row_numbers(self) -> int:
        """Numbers that a row becomes when its distances are computed."""
        return max(self.inside.shape)

    @property
    def mean_squared_distance(self) -> float:
        """Mean squared distance of all training rows from all anchors.

        The training rows have mean zero and mean square 1, or 0 where all are equal.
        """
        assert self.space.scale is not None
        varies = self.space.scale.max(initial=0) > 0
        return float(varies + self.squared_norms.mean(dtype=np.float64))

    def dtype_of(self, X: Any) -> np.dtype:
        """Dtype of distances: float32 where rows and anchors are."""
        return np.result_type(X.dtype, self.inside.dtype)

    def squared_distances(self, X: Any) -> np.ndarray:
        """Squared distances of a block of rows, (n_samples, n_anchors), finite for finite rows."""
        X, dtype = dense_if_small(X), self.dtype_of(X)
        most = np.finfo(dtype).max
        with np.errstate(over="ignore", invalid="ignore"):
            if sparse.issparse(X):
                rows = self.space.rows(X)
                distances = rows @ self.inside.T
                squares = np.asarray(rows.X.power(2).sum(axis=1)).ravel()
                norms = squares - 2 * (rows.X @ rows.mean) + rows.mean @ rows.mean
            else:
                inside = self.space.transform(X, dtype)
                distances = inside @ self.inside.T
                norms = np.einsum("ij,ij->i", inside, inside)
            distances *= -2
            distances += norms[:, None]
        distances += self.squared_norms.astype(distances.dtype, copy=False)
        distances[~(norms < most / 16)] = most  # so far that its squares overflow
        return np.maximum(distances, 0, out=distances).astype(dtype, copy=False)


@cache
def _openmp():
    """Threads of OpenMP, after k-means is imported: looking through all libraries takes long."""
    return ThreadpoolController().select(user_api="openmp")


def _means(rows, cluster):
    sizes = np.bincount(cluster)
    entries = np.ones(len(cluster), rows.dtype), cluster, np.arange(len(cluster) + 1)
    is_in = sparse.csr_array(entries, shape=(len(cluster), len(sizes)))
    sums = is_in.T @ rows
    sums = sums.toarray() if sparse.issparse(sums) else sums
    return sums[sizes > 0] / sizes[sizes > 0, None]
