"""Weights of rows on their nearest anchors, for anchor graphs."""

from typing import Any

import numpy as np
from scipy import sparse

from .._files.storable import storable
from .anchors import Anchors
from .row_slices import block_slices

_ROUNDING = 32  # errors of squared distances, in units of the last place of squared lengths


@storable
class AnchorWeights:
    """Weights of the nearest anchors of each row, which are zero for all others and sum to 1.

    They are proportional to ``exp(-d^2 / sigma^2)``, with sigma the mean distance of the training
    rows from the last of the `n_nearest` anchors. `squared_width` is ``sigma^2``, in the units of
    the anchors.
    """

    def __init__(self, anchors: Anchors, n_nearest: int, squared_width: float):
        self.anchors = anchors
        self.n_nearest = min(n_nearest, anchors.n)
        self.squared_width = squared_width

    @classmethod
    def of(cls, X: Any, anchors: Anchors, n_nearest: int) -> "AnchorWeights":
        """Weights whose width follows the distances of the training rows."""
        weights, total = cls(anchors, n_nearest, 1.0), 0.0
        for rows in block_slices(X.shape[0], anchors.row_numbers):
            _, distances = weights._nearest(X[rows])
            total += np.sqrt(distances.max(axis=1)).sum(dtype=np.float64)
        weights.squared_width = float((total / X.shape[0]) ** 2)
        return weights

    def transform(self, X: Any) -> sparse.csr_array:
        """Weights of rows, a sparse array of shape (n_samples, n_anchors)."""
        slices = block_slices(X.shape[0], self.anchors.row_numbers)
        return sparse.vstack([self._block(X[rows]) for rows in slices], format="csr")

    def _block(self, X):
        nearest, distances = self._nearest(X)
        distances -= distances.min(axis=1, keepdims=True)  # so that not all weights underflow
        distances /= distances.dtype.type(-self.squared_width or -1)  # zero where all are equal
        weights = np.exp(distances)
        weights /= weights.sum(axis=1, keepdims=True)
        stops = np.arange(0, nearest.size + 1, self.n_nearest)
        shape = X.shape[0], self.anchors.n
        return sparse.csr_array((weights.ravel(), nearest.ravel(), stops), shape=shape)

    def _nearest(self, X):
        """Numbers and squared distances of the nearest anchors of a block of rows."""
        distances, n = self.anchors.squared_distances(X), self.n_nearest
        if n == self.anchors.n:
            nearest = np.tile(np.arange(n), (X.shape[0], 1))
        else:
            order = np.argpartition(distances, [n - 1, n], axis=1)[:, : n + 1]
            nearest = order[:, :n]
            self._choose_first_of_equal(nearest, order[:, n], distances)
            nearest.sort(axis=1)
        return nearest, np.take_along_axis(distances, nearest, axis=1)

    def _choose_first_of_equal(self, nearest, following, distances):
        """Let anchors of equal distance count in their order, not in that of rounding.

        Rounding depends on how many rows are compared at a time.
        """
        rows = np.arange(len(nearest))
        last, next_one = distances[rows, nearest[:, -1]], distances[rows, following]
        with np.errstate(over="ignore"):
            sizes = last + self.anchors.squared_norms.max().astype(last.dtype)
            slack = _ROUNDING * np.finfo(last.dtype).eps * sizes
            tied = np.flatnonzero(next_one <= last + slack)
            first, end = (last - slack)[tied, None], (last + slack)[tied, None]
        ranks = (distances[tied] >= first).astype(np.int8) + (distances[tied] > end)
        nearest[tied] = np.argsort(ranks, axis=1, kind="stable")[:, : self.n_nearest]
