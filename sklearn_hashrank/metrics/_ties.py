"""Counts of items by query, level and tie: what a measure is a function of."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Ties:
    """Counts of items by query, level and tie, and what every measure asks of them.

    A measure is a function of this object. Ties come in the order of retrieval: in a retrieval
    histogram tie t holds the items at Hamming distance t.

    Parameters
    ----------
    counts : ndarray of shape (n_queries, n_levels, n_ties)
        Whole numbers of any real dtype; ties in the order of retrieval, empty ones allowed.
    levels : ndarray of shape (n_levels,)
        Ascending, at least 0; an item is relevant when its level is above 0.
    peaks : ndarray of shape (n_queries, n_ties), default=None
        The largest number of items of a tie that share one code. Only measures that are
        registered with ``needs_codes=True`` get it, for the ties within their radius.
    missed : ndarray of shape (n_queries, n_levels), default=None
        Judged items of each level that were not retrieved. None: everything was.
    unjudged : ndarray of shape (n_queries, n_ties), default=None
        How many items of each tie nobody judged; they count as irrelevant. None: none.

    Examples
    --------
    One query, two items at distance 0, one of them relevant, and two irrelevant items at
    distance 1:

    >>> import numpy as np
    >>> from sklearn_hashrank.metrics import Ties
    >>> ties = Ties(np.array([[[1, 2], [1, 0]]]), levels=np.array([0.0, 1.0]))
    >>> ties.total, ties.relevant
    (array([[2., 2.]]), array([[1., 0.]]))
    >>> ties.hits(1)
    array([0.5])
    """

    counts: NDArray[Any]
    levels: Array
    peaks: NDArray[Any] | None = None
    missed: NDArray[Any] | None = None
    unjudged: NDArray[Any] | None = None

    @cached_property
    def total(self) -> Array:
        """Items of each tie, (n_queries, n_ties)."""
        return self.counts.sum(axis=1, dtype=np.float64)

    @cached_property
    def relevant(self) -> Array:
        """Relevant items of each tie, (n_queries, n_ties)."""
        # Levels ascend, and a slice is no copy.
        return self.counts[:, np.count_nonzero(self.levels <= 0) :].sum(axis=1, dtype=np.float64)

    @cached_property
    def relevant_share(self) -> Array:
        """Probability that an item of each tie is relevant, (n_queries, n_ties)."""
        share: Array = self.relevant / np.maximum(self.total, 1)
        return share

    @cached_property
    def holding_relevant(self) -> NDArray[np.intp]:
        """Places, in flat arrays, of the ties that hold a relevant item."""
        return np.flatnonzero(self.relevant > 0)

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
        """Retrieved items of each query, (n_queries,)."""
        return self.total.sum(axis=1)

    @cached_property
    def of_level(self) -> Array:
        """Items of each level, retrieved or missed, (n_queries, n_levels)."""
        of_level: Array = self.counts.sum(axis=2, dtype=np.float64)
        return of_level if self.missed is None else of_level + self.missed

    @cached_property
    def n_relevant(self) -> Array:
        """Relevant items of each query, retrieved or missed, (n_queries,)."""
        return self.of_level[:, self.levels > 0].sum(axis=1)

    @cached_property
    def judged_irrelevant(self) -> Array:
        """Items of each tie that were judged irrelevant, (n_queries, n_ties)."""
        irrelevant = self.total - self.relevant
        return irrelevant if self.unjudged is None else irrelevant - self.unjudged

    def gain(self, gains: Array) -> Array:
        """Return the gain of all items of each tie.

        Parameters
        ----------
        gains : ndarray of shape (n_levels,)
            What an item of each level gains; see :func:`level_gains`.

        Returns
        -------
        gain : ndarray of shape (n_queries, n_ties)
        """
        key = gains.tobytes()
        if key not in self._gains:
            # Not a matrix product: BLAS may round otherwise for other numbers of queries, threads.
            first = np.argmax(gains != 0)  # those of the lowest levels are 0
            self._gains[key] = np.einsum("v,qvt->qt", gains[first:], self.counts[:, first:])
        return self._gains[key]

    @cached_property
    def _gains(self) -> dict[bytes, Array]:
        return {}

    def places(self, k: int | Array | None) -> Array:
        """Return how many of the first `k` places belong to each tie.

        Parameters
        ----------
        k : int, ndarray of shape (n_queries, 1) or None
            An array: a number for each query. None: the whole ranking.

        Returns
        -------
        places : ndarray of shape (n_queries, n_ties)
        """
        return self._places(k, self.total.shape[1])

    def _places(self, k: int | Array | None, n_ties: int) -> Array:
        total = self.total[:, :n_ties]
        return total if k is None else np.clip(k - self.before[:, :n_ties], 0, total)

    def n_ties_until(self, k: int | Array | None) -> int:
        """Return how many ties, from the first on, hold the first `k` places of all queries.

        Parameters
        ----------
        k : int, ndarray of shape (n_queries, 1) or None
            An array: a number for each query. None: the whole ranking.

        Returns
        -------
        n_ties : int
            A multiple of 8, or all. A sum over these ties rounds as the sum over all does: numpy
            adds up to 128 numbers in eight sums, and more in halves.
        """
        n_all = self.total.shape[1]
        if k is None or n_all > 128:
            return n_all
        n_ties = int(np.count_nonzero((self.before < k).any(axis=0)))
        return min(-(-n_ties // 8) * 8, n_all)

    def hits(self, k: int | Array | None) -> Array:
        """Return the expected number of relevant items among the first `k`.

        Parameters
        ----------
        k : int, ndarray of shape (n_queries, 1) or None
            An array: a number for each query. None: the whole ranking.

        Returns
        -------
        hits : ndarray of shape (n_queries,)
        """
        n_ties = self.n_ties_until(k)
        return (self.relevant_share[:, :n_ties] * self._places(k, n_ties)).sum(axis=1)

    def at(self, tie: NDArray[np.intp]) -> tuple[Array, Array, Array, Array]:
        """Return `before`, `total`, `relevant_before` and `relevant` of one tie of each query.

        Parameters
        ----------
        tie : ndarray of shape (n_queries,)
            Index of the tie.

        Returns
        -------
        before, total, relevant_before, relevant : ndarray of shape (n_queries,)
        """
        rows = np.arange(len(tie))
        of_all = (self.before, self.total, self.relevant_before, self.relevant)
        before, total, relevant_before, relevant = (values[rows, tie] for values in of_all)
        return before, total, relevant_before, relevant

    def split(self, best_first: bool) -> "Ties":
        """Split every tie into one tie per level.

        Parameters
        ----------
        best_first : bool
            Whether the highest level comes first, or the lowest.

        Returns
        -------
        ties : Ties
            With ``n_levels * n_ties`` ties and without `peaks`.
        """
        n_queries, n_levels, n_ties = self.counts.shape
        order = range(n_levels)[::-1] if best_first else range(n_levels)
        counts = np.zeros((n_queries, n_levels, n_ties, n_levels), dtype=self.counts.dtype)
        for place, level in enumerate(order):
            counts[:, level, :, place] = self.counts[:, level]
        unjudged = None
        if self.unjudged is not None:
            unjudged = np.zeros((n_queries, n_ties, n_levels), dtype=self.unjudged.dtype)
            unjudged[:, :, -1 if best_first else 0] = self.unjudged
            unjudged = unjudged.reshape(n_queries, n_ties * n_levels)
        counts = counts.reshape(n_queries, n_levels, n_ties * n_levels)
        return Ties(counts, self.levels, missed=self.missed, unjudged=unjudged)

    def from_level(self, level: float) -> "Ties":
        """Return these ties with everything below a level irrelevant.

        Parameters
        ----------
        level : float
            The lowest level that is relevant.

        Returns
        -------
        ties : Ties
            The same counts; the levels below are 0.
        """
        levels = np.where(self.levels >= level, self.levels, 0.0)
        return replace(self, levels=levels)


def ratio(numerator: NDArray[Any], denominator: NDArray[Any] | float) -> NDArray[Any]:
    """Divide; 0 where the denominator is not positive. In float32 where both are float32."""
    shape = np.broadcast_shapes(numerator.shape, np.shape(denominator))
    dtype = np.result_type(numerator, denominator, np.float32)
    quotient = np.zeros(shape, dtype)
    return np.divide(numerator, denominator, out=quotient, where=np.greater(denominator, 0))
