"""Base class of hashers whose bits are the signs of sinusoids."""

from typing import Any

import numpy as np

from ..base import BaseHasher

_LARGEST_EXPONENT = 90  # of hyperplanes: powers of two that are far from the ends of float32


class SinusoidHasher(BaseHasher):
    """Base class of hashers whose bits are the signs of cosines of linear projections.

    A bit is 1 where ``cos(unit_ * (X @ components_.T + intercept_)) + thresholds_ > 0``. `unit_` is
    a power of two, and 1 unless the frequencies are extreme numbers.
    """

    components_: np.ndarray
    intercept_: np.ndarray
    unit_: float
    thresholds_: np.ndarray

    def _set_sinusoids(
        self, frequencies: np.ndarray, phases: np.ndarray, thresholds: np.ndarray, dtype: Any
    ) -> None:
        """Set cosines of ``X @ frequencies.T + phases``, in a dtype that may not hold those."""
        largest = np.abs(frequencies).max()
        exponent = np.log2(largest) if largest > 0 else 0.0
        excess = np.round(exponent - np.clip(exponent, -_LARGEST_EXPONENT, _LARGEST_EXPONENT))
        self.unit_ = float(2.0**excess)
        self.components_ = (frequencies / self.unit_).astype(dtype)
        self.intercept_ = (phases / self.unit_).astype(dtype)
        self.thresholds_ = thresholds.astype(dtype)
        self.n_bits_ = len(frequencies)

    def _project(self, X: Any) -> np.ndarray:
        waves = X @ self.components_.T
        waves += self.intercept_
        if self.unit_ != 1:
            waves *= self.unit_
        np.cos(waves, out=waves)
        waves += self.thresholds_
        return waves

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "components_")
