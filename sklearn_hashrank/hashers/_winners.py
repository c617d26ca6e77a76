"""What hashers share whose hashes say which of some candidates is the largest."""

from abc import abstractmethod
from collections.abc import Iterator
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval

from ..base import BaseHasher

_BLOCK_NUMBERS = 1 << 20  # candidates of a block of rows, few enough for the caches
_FEWEST_ROWS = 64


class WinnerHasher(BaseHasher):
    """Base class of hashers that write down which of some candidates is the largest.

    A hash is the index of the largest of `n_candidates` numbers of a row, the first of several that
    are equal, in log2(n_candidates) bits, the most significant one first. Of the last hash as many
    bits are taken as are wanted.

    The projection of a bit is by how much the largest candidate whose index has this bit exceeds
    the largest of the others.
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
        """Candidates of some rows, (n_rows, n_hashes * n_candidates)."""

    def _count_hashes(self) -> int:
        """How many hashes give `n_bits` bits."""
        if self.n_candidates & (self.n_candidates - 1):
            raise ValueError(
                "n_candidates must be a power of two, so that an index is a whole number of bits. "
                f"Got {self.n_candidates} instead."
            )
        self.n_bits_, self.n_candidates_ = self.n_bits, self.n_candidates
        return -(-self.n_bits // (self.n_candidates.bit_length() - 1))

    def _project(self, X: Any) -> np.ndarray:
        n_rows, size = X.shape[0], max(_FEWEST_ROWS, _BLOCK_NUMBERS // self._n_numbers)
        projections = np.empty((n_rows, self.n_bits_), X.dtype)
        for start in range(0, n_rows, size):
            rows = slice(start, start + size)
            candidates = self._candidates(X[rows])
            shape = len(candidates), -1, self.n_candidates_
            bits = bit_margins(candidates.reshape(shape))
            projections[rows] = bits[:, : self.n_bits_]
        return projections
