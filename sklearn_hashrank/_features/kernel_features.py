"""Gaussian kernels of rows with anchors."""

from typing import Any

import numpy as np
from scipy import linalg

from .._files.storable import storable
from .anchors import Anchors
from .row_slices import block_slices, map_blocks

_SMALLEST_EIGENVALUE = 1e-8  # of kernels with 1 on the diagonal: the root of float64's rounding


@storable
class KernelFeatures:
    """Gaussian kernels of rows with anchors, centered by their means over the training rows.

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
    def centered(cls, X: Any, anchors: Anchors, gamma: float) -> "KernelFeatures":
        """Features whose means over the training rows are zero."""
        features = cls(anchors, gamma)
        total = np.zeros(anchors.n)
        for rows in block_slices(X.shape[0], anchors.row_numbers):
            total += features.block(X[rows]).sum(axis=0, dtype=np.float64)
        features.means = total / X.shape[0]
        return features

    def block(self, X: Any) -> np.ndarray:
        features = self.anchors.squared_distances(X)
        with np.errstate(over="ignore"):  # rows so far away have kernels of zero
            features *= -features.dtype.type(self.factor)
        np.exp(features, out=features)
        features -= self.means.astype(features.dtype)
        return features

    def of_anchors(self) -> np.ndarray:
        """Kernels of the anchors with each other, not centered, (n_anchors, n_anchors) float64."""
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
        dtype = np.result_type(self.anchors.dtype_of(X), weights.dtype)
        return map_blocks(
            lambda rows: self.block(rows) @ weights + offsets,
            X,
            self.anchors.row_numbers,
            (weights.shape[1],),
            dtype,
        )


def inverse_root(kernels: np.ndarray, dtype: Any) -> np.ndarray:
    """Inverse root of a matrix of kernels, without directions in which it is zero.

    `dtype` is that of the rows: kernels of float32 are zero where they are smaller than its
    rounding.
    """
    values, vectors = linalg.eigh(kernels)
    kept = values > max(_SMALLEST_EIGENVALUE, len(kernels) * np.finfo(dtype).eps)
    return (vectors[:, kept] / np.sqrt(values[kept])) @ vectors[:, kept].T
