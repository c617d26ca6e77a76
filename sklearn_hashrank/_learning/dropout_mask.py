"""Which features of which rows a step of training leaves out."""

from typing import NamedTuple

import numpy as np

from .._files.storable import storable


@storable
class RandomMask(NamedTuple):
    """Sets random numbers of a matrix to zero, others at every step.

    Attributes
    ----------
    n_dropped : int
        How many of 256 numbers are set to zero, in the mean.
    seed : int
        Together with the number of a step it gives them, so that no generator has to be kept.
    """

    n_dropped: int
    seed: int

    @classmethod
    def of_share(cls, share: float, random_state: np.random.RandomState) -> "RandomMask":
        """Mask of a share of the numbers, to the nearest 1/256, with a seed of its own."""
        return cls(min(255, round(256 * share)), random_state.randint(np.iinfo(np.int32).max))

    def apply(self, rows: np.ndarray, step: int) -> None:
        """Zero the numbers in place; the others grow, so that sums stay as they are in the mean."""
        words = np.random.PCG64((self.seed, step)).random_raw(-(-rows.size // 8))
        random_bytes = words.astype("<u8", copy=False).view(np.uint8)[: rows.size]
        keep = random_bytes.reshape(rows.shape) >= self.n_dropped
        rows *= keep
        rows *= np.float32(256 / (256 - self.n_dropped))
