"""The sparse weights of anchor graphs."""

from typing import Any

import numpy as np
from scipy import sparse

from ..persistence import storable
from .anchors import Anchors
from .blocks import block_slices

_ROUNDING = 32  # errors of squared distances, in units of the last place of squared lengths


@storable
class AnchorWeights:
    """Weights of the nearest anchors of each row, which are zero for all others and sum to 1.

    They are proportional to ``exp(-d^2 / sigma^2)``, with sigma the mean distance of the training
    rows from the last anchor that counts.

    Parameters
    ----------
    anchors : Anchors
        What rows are compared with.
    n_nearest : int
        Anchors that count; all of them where there are fewer.
    squared_width : float
        ``sigma^2``, in the units of the anchors.
    """

    def __init__(self, anchors: Anchors, n_nearest: int, squared_width: float):
        self.anchors = anchors
        self.n_nearest = min(n_nearest, anchors.n)
        self.squared_width = squared_width

    @classmethod
    def of(cls, X: Any, anchors: Anchors, n_nearest: int) -> "AnchorWeights":
        """Weights of a width that follows some rows.

        Parameters
        ----------
        X : {ndarray, CSR matrix} of shape (n_samples, n_features)
            Training rows.
        anchors : Anchors
            What rows are compared with.
        n_nearest : int
            Anchors that count.

        Returns
        -------
        weights : AnchorWeights
        """
        weights, total = cls(anchors, n_nearest, 1.0), 0.0
        for rows in block_slices(X.shape[0], anchors.row_numbers):
            _, distances = weights._nearest(X[rows])
            total += np.sqrt(distances.max(axis=1)).sum(dtype=np.float64)
        weights.squared_width = float((total / X.shape[0]) ** 2)
        return weights

    def transform(self, X: Any) -> sparse.csr_array:
        """Weights of rows, a sparse array of shape (n_samples, n_anchors).

        Parameters
        ----------
        X : {ndarray, CSR matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        weights : csr_array of shape (n_samples, n_anchors)
        """
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
        distances = self.anchors.squared_distances(X)
        if self.n_nearest == self.anchors.n:
            nearest = np.tile(np.arange(self.anchors.n), (X.shape[0], 1))
        else:
            nearest = np.argpartition(distances, self.n_nearest - 1, axis=1)[:, : self.n_nearest]
            self._choose_first_of_equal(nearest, distances)
            nearest.sort(axis=1)
        return nearest, np.take_along_axis(distances, nearest, axis=1)

    def _choose_first_of_equal(self, nearest, distances):
        """Let anchors of equal distance count in their order, not in that of rounding.

        Rounding depends on how many rows are compared at a time.
        """
        last = np.take_along_axis(distances, nearest[:, -1:], axis=1)
        sizes = last + self.anchors.squared_norms.max().astype(last.dtype)
        with np.errstate(over="ignore"):
            slack = _ROUNDING * np.finfo(last.dtype).eps * sizes
            may_count = distances <= last + slack
        tied = np.flatnonzero(np.count_nonzero(may_count, axis=1) > self.n_nearest)
        surely = distances[tied] < last[tied] - slack[tied]
        order = 2 - surely.astype(np.int8) - may_count[tied]
        nearest[tied] = np.argsort(order, axis=1, kind="stable")[:, : self.n_nearest]
