"""Base class of hashers that say which of some candidates is the largest."""

from abc import abstractmethod
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval

from .._features.row_slices import map_blocks
from ..base import BaseHasher


class WinnerHasher(BaseHasher):
    """Base class of hashers that write down which of some candidates is the largest.

    A hash is the index of the largest of `n_candidates` numbers of a row, the first of several that
    are equal, in ``log2(n_candidates)`` bits, the most significant one first. The last hash gives
    only as many of its bits, the first ones, as are left.
    """

    n_candidates: int
    n_candidates_: int

    _parameter_constraints: dict = {
        **BaseHasher._parameter_constraints,
        "n_candidates": [Interval(Integral, 2, None, closed="left")],
        "random_state": ["random_state"],
    }

    @abstractmethod
    def _candidates(self, X: Any) -> np.ndarray:
        """Candidates, (n_rows, n_candidates * n_hashes): the first of each hash, the second, .."""

    def _check_training_data(self, X: Any, y: Any) -> None:
        if self.n_candidates & (self.n_candidates - 1):
            raise ValueError(
                "n_candidates must be a power of two, so that an index is a whole number of bits. "
                f"Got {self.n_candidates} instead."
            )

    def _begin(self) -> int:
        """Keep what the codes look like, and return the number of hashes."""
        self.n_bits_, self.n_candidates_ = self.n_bits, self.n_candidates
        return self._n_hashes

    @property
    def _n_hashes(self) -> int:
        return -(-self.n_bits_ // (int(self.n_candidates_).bit_length() - 1))

    def _project(self, X: Any) -> np.ndarray:
        n_candidates = self.n_candidates_ * self._n_hashes
        shape, dtype = (self.n_bits_,), self._dtype_of(X)
        return map_blocks(self._margins, X, n_candidates, shape, dtype)

    def _margins(self, X: Any) -> np.ndarray:
        candidates = self._candidates(X).reshape(-1, self.n_candidates_, self._n_hashes)
        return bit_margins(candidates.transpose(1, 0, 2))[:, : self.n_bits_]

    def _dtype_of(self, X: Any) -> np.dtype:
        return X.dtype


def bit_margins(candidates: np.ndarray) -> np.ndarray:
    """By how much the largest candidate whose index has a bit exceeds the largest of the others.

    `candidates` is (n_candidates, n_rows, n_hashes), n_candidates a power of two. The result,
    (n_rows, n_hashes * log2(n_candidates)), is above zero where the index of the largest candidate,
    the first of equal ones, has the bit. The bits of a hash stand side by side, the most
    significant one first.
    """
    n_candidates, n_rows, n_hashes = candidates.shape
    n_bits = n_candidates.bit_length() - 1
    margins = np.empty((n_rows, n_hashes, n_bits), candidates.dtype)
    for bit in range(n_bits):
        has_bit = np.arange(n_candidates) >> (n_bits - 1 - bit) & 1 == 1
        margins[:, :, bit] = _largest(candidates, has_bit) - _largest(candidates, ~has_bit)
    with_ties = np.unique(np.flatnonzero(margins == 0) // n_bits)  # few, if any
    rows, hashes = np.divmod(with_ties, n_hashes)
    winners = candidates[:, rows, hashes].argmax(axis=0)  # the first of equal ones
    for bit in range(n_bits):
        has_bit = winners >> (n_bits - 1 - bit) & 1 == 1
        tied = margins[rows, hashes, bit]
        smallest = np.finfo(candidates.dtype).tiny
        margins[rows, hashes, bit] = np.where((tied == 0) & has_bit, smallest, tied)
    return margins.reshape(n_rows, -1)


def _largest(candidates, chosen):
    first, *others = np.flatnonzero(chosen)
    largest = candidates[first].copy()
    for other in others:
        np.maximum(largest, candidates[other], out=largest)
    return largest
