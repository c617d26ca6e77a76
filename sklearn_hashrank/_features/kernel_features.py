"""Gaussian kernels of rows with anchors."""

from typing import Any

import numpy as np
from scipy import linalg

from .._files.storable import storable
from .anchors import Anchors
from .blocks import block_slices, map_blocks
from .sign_rounding import LinearScores, lengths, likely_rounding_of_sums, settle

_SMALLEST_EIGENVALUE = 1e-8
_ROUNDING = 4  # of a kernel whose distance is right, in units of the last place of 1


@storable
class KernelFeatures:
    """Gaussian kernels of rows with anchors, centred by their means over the training rows.

    A kernel is ``exp(-gamma * d^2 / s)``, with d the distance of a row from an anchor and s the
    mean of ``d^2`` over the training rows and the anchors. So it depends neither on the scale nor
    on the offset of the features.
    """

    def __init__(self, anchors: Anchors, gamma: float):
        self.anchors = anchors
        width = anchors.mean_squared_distance
        self.factor = gamma / width if width > 0 else 0.0
        self.means = np.zeros(anchors.n)

    @classmethod
    def centred(cls, X: Any, anchors: Anchors, gamma: float) -> "KernelFeatures":
        """Features whose means over the training rows are zero."""
        features = cls(anchors, gamma)
        total = np.zeros(anchors.n)
        for rows in block_slices(X.shape[0], anchors.row_numbers):
            total += features.block(X[rows]).sum(axis=0, dtype=np.float64)
        features.means = total / X.shape[0]
        return features

    def block(self, X: Any) -> np.ndarray:
        """Features of a block of rows, (n_samples, n_anchors)."""
        return self._from_distances(self.anchors.squared_distances(X))

    def _from_distances(self, features):
        """Turn squared distances into features, in place."""
        with np.errstate(over="ignore"):  # rows so far away have kernels of zero
            features *= -features.dtype.type(self.factor)
        np.exp(features, out=features)
        features -= self.means.astype(features.dtype)
        return features

    def of_anchors(self) -> np.ndarray:
        """Kernels of the anchors with each other, not centred, (n_anchors, n_anchors) float64."""
        inside, norms = self.anchors.inside.astype(np.float64), self.anchors.squared_norms
        distances = norms[:, None] - 2 * (inside @ inside.T) + norms
        np.fill_diagonal(distances, 0)
        return np.exp(-self.factor * np.maximum(distances, 0))

    def transform(self, X: Any) -> np.ndarray:
        """Features of all rows, (n_samples, n_anchors), for training.

        They are float32 where rows and anchors are.
        """
        n = self.anchors.n
        return map_blocks(self.block, X, self.anchors.row_numbers, (n,), self.anchors.dtype_of(X))

    def project(self, X: Any, weights: np.ndarray, offsets: Any = 0) -> np.ndarray:
        """Products of the features with weights (n_anchors, n_bits), made block by block.

        Offsets are added. The result is float32 where rows, anchors and weights are.
        """
        offsets = np.zeros(weights.shape[1], weights.dtype) + offsets
        scores = LinearScores(weights.T, offsets, likely_rounding_of_sums)
        dtype = np.result_type(self.anchors.dtype_of(X), weights.dtype)
        return self._settled(X, scores, self._gains(scores), dtype)

    def _gains(self, scores):
        """How much the rounding of kernels counts in scores, relative to the lengths of weights.

        Kernels are centred ones and their means. The first number is to be multiplied by the
        lengths of the centred ones; the second is for the means. Different anchors round
        independently, but equal ones equally, and the rounding of a row's norm is that of all.
        """
        weights, means = np.abs(scores.components), self.means.astype(scores.components.dtype)
        order = np.argsort(self.anchors.squared_norms)
        starts = np.flatnonzero(np.diff(self.anchors.squared_norms[order], prepend=-1))
        if starts.size < order.size:  # anchors of equal norm may be equal
            weights = np.add.reduceat(weights[:, order], starts, axis=1)
            means = np.maximum.reduceat(means[order], starts)
        common = np.abs(scores.components @ self.means - scores.intercept)
        sizes = np.where(scores.lengths > 0, scores.lengths, np.inf)
        of_means = lengths(weights * means) + common
        return (weights.max(axis=1) / sizes).max(), (of_means / sizes).max()

    def _settled(self, X, scores, gains, dtype):
        """Projections added up in a dtype, whose signs depend on each row alone."""
        width, no_features = self.anchors.row_numbers, np.empty((0, self.anchors.n), dtype)
        relative = scores.relative(no_features)
        _, slopes, offsets = scores.rounding(no_features)
        projections = np.empty((X.shape[0], len(scores.components)), dtype)
        of_rows = np.empty(X.shape[0])
        for rows in block_slices(X.shape[0], width):
            distances, of_distances = self.anchors.rounded_distances(X[rows], dtype)
            features = self._from_distances(distances)
            projections[rows] = scores.multiply(features)
            of_kernels = self.factor * of_distances + _ROUNDING * np.finfo(dtype).eps
            sizes = lengths(features)
            of_rows[rows] = sizes + of_kernels * (gains[0] * sizes + gains[1]) / relative

        def again(rows, bits):
            distinct, of_distinct = np.unique(rows, return_inverse=True)

            def project(numbers):
                if dtype == np.float64:
                    return self._project_alone(X, numbers, scores)
                return self._settled(X[numbers], scores, gains, np.dtype(np.float64))

            found = map_blocks(project, distinct, width, projections.shape[1:], np.float64)
            return found[of_distinct, bits]

        settle(projections, of_rows, slopes, offsets, again)
        return projections

    def _project_alone(self, X, numbers, scores):
        """Projections of some rows, each computed from the row alone."""
        n, n_bits, n_rows = self.anchors.n, len(scores.components), len(numbers)
        distances = self.anchors.squared_distances_alone(
            X, np.repeat(numbers, n), np.tile(np.arange(n), n_rows)
        )
        features = self._from_distances(distances.reshape(-1, n))
        rows, bits = np.indices((n_rows, n_bits)).reshape(2, -1)
        return scores.project_alone(features, rows, bits).reshape(-1, n_bits)


def inverse_root(kernels: np.ndarray, dtype: Any) -> np.ndarray:
    """Inverse root of a matrix of kernels, without directions in which it is zero.

    `dtype` is that of the rows: kernels of float32 are zero where they are smaller than its
    rounding.
    """
    values, vectors = linalg.eigh(kernels)
    kept = values > max(_SMALLEST_EIGENVALUE, len(kernels) * np.finfo(dtype).eps)
    return (vectors[:, kept] / np.sqrt(values[kept])) @ vectors[:, kept].T
