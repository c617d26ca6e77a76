"""Counts of items in ties, and what every measure asks of them."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Ties:
    """Counts of items by query, level and tie, and what every measure asks of them.

    Parameters
    ----------
    counts : ndarray of shape (n_queries, n_levels, n_ties)
        Whole numbers of any real dtype; ties in the order of retrieval, empty ones allowed.
    levels : ndarray of shape (n_levels,)
        Ascending, at least 0; an item is relevant when its level is above 0.
    peaks : ndarray of shape (n_queries, n_ties), default=None
        The largest number of items of a tie that share one code. Only some measures ask for it.
    """

    counts: NDArray[Any]
    levels: Array
    peaks: NDArray[Any] | None = None

    @cached_property
    def total(self) -> Array:
        """Items of each tie, (n_queries, n_ties)."""
        return self.counts.sum(axis=1, dtype=np.float64)

    @cached_property
    def relevant(self) -> Array:
        """Relevant items of each tie, (n_queries, n_ties)."""
        return self.counts[:, self.levels > 0].sum(axis=1, dtype=np.float64)

    @cached_property
    def before(self) -> Array:
        """Items ahead of each tie, (n_queries, n_ties)."""
        return np.cumsum(self.total, axis=1) - self.total

    @cached_property
    def relevant_before(self) -> Array:
        """Relevant items ahead of each tie, (n_queries, n_ties)."""
        return np.cumsum(self.relevant, axis=1) - self.relevant

    @cached_property
    def n_items(self) -> Array:
        """Items of each query, (n_queries,)."""
        return self.total.sum(axis=1)

    @cached_property
    def n_relevant(self) -> Array:
        """Relevant items of each query, (n_queries,)."""
        return self.relevant.sum(axis=1)

    def places(self, k: int | None) -> Array:
        """Return how many of the first `k` places belong to each tie, (n_queries, n_ties)."""
        return self.total if k is None else np.clip(k - self.before, 0, self.total)

    def hits(self, k: int | None) -> Array:
        """Return the expected number of relevant items among the first `k`, (n_queries,)."""
        return (ratio(self.relevant, self.total) * self.places(k)).sum(axis=1)

    def at(self, tie: NDArray[np.intp]) -> tuple[Array, Array, Array, Array]:
        """Return before, total, relevant_before and relevant of one tie of each query."""
        rows = np.arange(len(tie))
        of_all = (self.before, self.total, self.relevant_before, self.relevant)
        before, total, relevant_before, relevant = (values[rows, tie] for values in of_all)
        return before, total, relevant_before, relevant

    def split(self, best_first: bool) -> "Ties":
        """Split every tie into one tie per level, the best or the worst level first."""
        n_queries, n_levels, n_ties = self.counts.shape
        order = range(n_levels)[::-1] if best_first else range(n_levels)
        counts = np.zeros((n_queries, n_levels, n_ties, n_levels), dtype=self.counts.dtype)
        for place, level in enumerate(order):
            counts[:, level, :, place] = self.counts[:, level]
        return Ties(counts.reshape(n_queries, n_levels, n_ties * n_levels), self.levels)


def ratio(numerator: Array, denominator: Array | float) -> Array:
    """Divide; 0 where the denominator is not positive."""
    shape = np.broadcast_shapes(numerator.shape, np.shape(denominator))
    return np.divide(numerator, denominator, out=np.zeros(shape), where=np.greater(denominator, 0))
