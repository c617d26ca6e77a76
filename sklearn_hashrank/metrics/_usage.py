"""Code usage: distinct codes, entropy, collisions, balance and correlation of bits."""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import ldexp

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..codes._counts import CodeCounter
from ..codes._formats import CodeReader
from ._ties import Array

_ROWS = 1 << 14  # unpacked at a time


@dataclass(frozen=True, eq=False)
class CodeUsage:
    """How a set of codes uses the space of all codes.

    Parameters
    ----------
    codes : ndarray of shape (n_distinct, ceil(n_bits / 8)), uint8
        The distinct codes, packed, in ascending order.
    counts : ndarray of shape (n_distinct,)
        How many items have each.
    n_bits : int
        Length of a code.

    Examples
    --------
    >>> from sklearn_hashrank.metrics import code_usage
    >>> usage = code_usage([[0, 0], [0, 1], [0, 1], [0, 1]])
    >>> usage.n_distinct, usage.occupancy, usage.counts
    (2, 0.5, array([1, 3]))
    """

    codes: NDArray[np.uint8]
    counts: NDArray[np.int64]
    n_bits: int

    @property
    def n_items(self) -> int:
        """Number of items."""
        return int(self.counts.sum())

    @property
    def n_distinct(self) -> int:
        """Number of distinct codes."""
        return len(self.counts)

    @property
    def occupancy(self) -> float:
        """Share of the ``2 ** n_bits`` codes that occur; for long codes it is all but 0."""
        return ldexp(self.n_distinct, -self.n_bits)

    @property
    def collision_rate(self) -> float:
        """Share of the pairs of different items that have the same code; 0 for a single item."""
        n = self.n_items
        counts = self.counts.astype(np.float64)
        return float((counts * (counts - 1)).sum() / (n * (n - 1))) if n > 1 else 0.0

    @property
    def entropy(self) -> float:
        """Entropy of the distribution of codes in bits, at most ``min(n_bits, log2(n_items))``."""
        share = self.counts / self.n_items
        return float(abs(np.sum(share * np.log2(share))))

    @cached_property
    def bit_balance(self) -> Array:
        """Share of items with a 1 at each bit, (n_bits,); 0.5 is balanced."""
        return self._moments[0]

    @cached_property
    def bit_correlation(self) -> Array:
        """Correlation of each pair of bits, (n_bits, n_bits).

        A bit that is the same for all items has correlation 0 with the others, 1 with itself.
        """
        mean, products = self._moments
        covariance = products - np.outer(mean, mean)
        deviation = np.sqrt(mean * (1 - mean))
        scale = np.divide(1, deviation, out=np.zeros_like(mean), where=deviation > 0)
        correlation = np.clip(covariance * np.outer(scale, scale), -1, 1)
        np.fill_diagonal(correlation, 1)
        return correlation

    @cached_property
    def _moments(self) -> tuple[Array, Array]:
        """Average each bit and each product of two bits, in one pass over the codes."""
        products = np.zeros((self.n_bits, self.n_bits))
        for start in range(0, self.n_distinct, _ROWS):
            part = slice(start, start + _ROWS)
            bits = np.unpackbits(self.codes[part], axis=1, count=self.n_bits).astype(np.float64)
            products += bits.T @ (bits * self.counts[part, None])
        products /= self.n_items
        return products.diagonal().copy(), products

    def __repr__(self) -> str:
        return (
            f"CodeUsage(n_items={self.n_items}, n_bits={self.n_bits}, "
            f"n_distinct={self.n_distinct}, occupancy={self.occupancy:.3g}, "
            f"collision_rate={self.collision_rate:.3g}, entropy={self.entropy:.3g})"
        )


def code_usage(codes: ArrayLike | Iterator[ArrayLike], *, n_bits: int | None = None) -> CodeUsage:
    """How a set of codes uses the space of all codes.

    Parameters
    ----------
    codes : array-like of shape (n, n_columns) or iterator of such
        Codes as bits, signs or packed bytes. Of an iterator only the distinct codes are held.
    n_bits : int, default=None
        Length of a code; needed for packed codes.

    Returns
    -------
    usage : CodeUsage
        ``n_items``, ``n_distinct``, ``occupancy`` (share of all ``2 ** n_bits`` codes that occur),
        ``collision_rate`` (share of the pairs of items that have the same code), ``entropy`` of
        the distribution of codes in bits, ``bit_balance`` (share of ones of each bit),
        ``bit_correlation``, and the distinct ``codes``, packed, with their ``counts``.

    Examples
    --------
    >>> from sklearn_hashrank.metrics import code_usage
    >>> usage = code_usage([[0, 0], [0, 0], [0, 1], [1, 1]])
    >>> usage.n_distinct, usage.occupancy, usage.entropy
    (3, 0.75, 1.5)
    >>> usage.bit_balance
    array([0.25, 0.5 ])
    """
    reader, counter = CodeReader(n_bits), CodeCounter()
    for block in codes if isinstance(codes, Iterator) else (codes,):
        counter.add(reader.words(block, "codes"))
    if reader.n_bits is None or not counter:
        raise ValueError("codes are empty; at least one block of codes is needed.")
    words, counts = counter.finish()
    return usage_of(words, counts, reader.n_bits)


def usage_of(words: NDArray[np.uint64], counts: NDArray[np.int64], n_bits: int) -> CodeUsage:
    """Sort distinct codes, given as words, and make their usage."""
    numbers = words.byteswap() if sys.byteorder == "little" else words
    order = np.lexsort(numbers.T[::-1]) if words.shape[1] > 1 else np.argsort(numbers[:, 0])
    packed = np.ascontiguousarray(words[order]).view(np.uint8)[:, : -(-n_bits // 8)]
    return CodeUsage(packed, counts[order], n_bits)
