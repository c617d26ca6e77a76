"""Base class of hashers whose bits are half-spaces of kernels with anchors."""

from typing import Any

import numpy as np

from .._features.anchors import Anchors
from .._features.kernel_features import KernelFeatures
from ..base import BitByBitHasher


class KernelHasher(BitByBitHasher):
    """Base class of hashers whose bits are half-spaces of kernels with anchors.

    A subclass sets `_features`, and weights by `_set_weights`.
    """

    _features: KernelFeatures
    _attributes_of_bits = ("dual_coef_", "intercept_")
    dual_coef_: np.ndarray
    intercept_: np.ndarray

    @property
    def n_bits_(self) -> int:  # type: ignore[override]  # follows the hyperplanes
        """Length of the codes, whatever `n_bits` was set to after `fit`."""
        return len(self.dual_coef_)

    @property
    def anchors_(self) -> np.ndarray:
        return self._features.anchors.raw

    def _find_features(
        self,
        X: Any,
        n_anchors: int,
        gamma: float,
        random_state: Any,
        *,
        mixed_units: bool = False,
    ) -> None:
        """Sample anchors among the rows, and center the kernels of all rows with them."""
        anchors = Anchors.random(X, n_anchors, random_state, mixed_units=mixed_units)
        self._features = KernelFeatures.centered(X, anchors, gamma)

    def _set_weights(self, weights: np.ndarray, offsets: Any, dtype: Any) -> None:
        self.dual_coef_ = np.ascontiguousarray(weights.T, dtype=dtype)
        self.intercept_ = np.zeros(weights.shape[1], dtype) + np.asarray(offsets, dtype)

    def _project(self, X: Any) -> np.ndarray:
        return self._features.project(X, self.dual_coef_.T, self.intercept_)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "dual_coef_")
