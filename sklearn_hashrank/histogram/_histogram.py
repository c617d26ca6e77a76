"""Counts by query, level and distance, and every measure of them."""

from typing import Any

import numpy as np

from .. import measures as _measures
from ..codes import KeptCodes


class RetrievalHistogram:
    """Counts of retrieved items by query, level and Hamming distance.

    Every tie-aware measure is a method: ``h.average_precision()``, ``h.ndcg(k=100)``, ... with
    the keywords of the metric functions of the same name.

    Parameters
    ----------
    counts : array-like of shape (n_queries, n_levels, n_bits + 1)
        Whole numbers, at least 0.
    levels : array-like of shape (n_levels,)
        Ascending relevance levels, non-negative.
    kept_codes : KeptCodes, default=None
        What ``retrieval_histogram(..., keep_codes=True)`` keeps: the distinct codes of the
        database, each with its number of items, and the codes of the queries.

    Attributes
    ----------
    counts : ndarray of shape (n_queries, n_levels, n_bits + 1), int64
    levels : ndarray of shape (n_levels,), float64
    n_bits : int
    kept_codes : KeptCodes or None

    Examples
    --------
    >>> from sklearn_hashrank.histogram import retrieval_histogram
    >>> h = retrieval_histogram([[0, 1]], [[0, 1], [0, 0], [1, 1]], [7], [7, 7, 8])
    >>> h.counts
    array([[[0, 1, 0],
            [1, 1, 0]]])
    >>> h.average_precision()
    array([0.91666667])
    >>> (h + h).recall(k=2)
    array([0.5])
    """

    def __init__(self, counts: Any, levels: Any, kept_codes: KeptCodes | None = None):
        self.counts = np.asarray(counts)
        self.levels = np.asarray(levels, dtype=float)
        _measures.validate_counts(self.counts, self.levels)
        self.counts = self.counts.astype(np.int64, copy=False)
        self.kept_codes = kept_codes

    @property
    def n_bits(self) -> int:
        """Length of the codes."""
        return self.counts.shape[2] - 1

    def __add__(self, other: "RetrievalHistogram") -> "RetrievalHistogram":
        """Merge the histograms of the same queries over two shards of a database.

        The sum keeps codes where both parts do.
        """
        if not isinstance(other, RetrievalHistogram):
            return NotImplemented
        ours, theirs = self.counts.shape, other.counts.shape
        if (ours[0], ours[2]) != (theirs[0], theirs[2]):
            raise ValueError(
                "only histograms of the same queries and code length can be merged. "
                f"Got {ours[0]} queries of {self.n_bits} bits and "
                f"{theirs[0]} queries of {other.n_bits} bits."
            )
        kept = None
        if self.kept_codes is not None and other.kept_codes is not None:
            kept = self.kept_codes + other.kept_codes
        if np.array_equal(self.levels, other.levels):
            return RetrievalHistogram(self.counts + other.counts, self.levels, kept)
        levels = np.union1d(self.levels, other.levels)
        counts = np.zeros((ours[0], len(levels), ours[2]), dtype=np.int64)
        for part in (self, other):
            counts[:, np.searchsorted(levels, part.levels)] += part.counts
        return RetrievalHistogram(counts, levels, kept)

    def __radd__(self, other: Any) -> "RetrievalHistogram":
        """Let ``sum(shards)`` start from 0."""
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def __repr__(self) -> str:
        return (
            f"RetrievalHistogram(n_queries={len(self.counts)}, levels={self.levels.tolist()}, "
            f"n_bits={self.n_bits})"
        )

    def measure(self, name: str, **options: Any) -> np.ndarray:
        """Evaluate the measure called `name`.

        Parameters
        ----------
        name : str
            ``"average_precision"``, ``"ndcg"``, ...: the name of the method that does the same.
        **options
            Keywords of that method.

        Returns
        -------
        values : ndarray of shape (n_queries,)
        """
        _measures.validate_options(name, **options)
        measure = _measures.MEASURES[name]
        if measure.needs_codes and self.kept_codes is not None:
            options = {"radius": measure.radius} | options
            options["peaks"] = self.kept_codes.peaks(options["radius"])
        return _measures.evaluate(name, self.counts, self.levels, **options)

    def precision_recall_curve(
        self, *, k: Any = None, ties: str = "expected", zero_division: float = np.nan
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Precision and recall of each query at the ranks `k`.

        Parameters
        ----------
        k : array-like of int, default=None
            None: about 100 ranks, evenly spaced on a logarithmic scale.
        ties : {"expected", "optimistic", "pessimistic"}, default="expected"
            The mean over all orders of ties, or a bound.
        zero_division : float, default=nan
            Value of a query without relevant items.

        Returns
        -------
        precision, recall : ndarray of shape (n_queries, n_ranks)
        k : ndarray of shape (n_ranks,)
        """
        k = _measures.default_ranks(self.counts) if k is None else _measures.validate_ranks(k)
        precision, recall = _measures.precision_and_recall(
            self.counts, self.levels, k, ties=ties, zero_division=zero_division
        )
        return precision, recall, k

    def recall_at_k_curve(
        self, *, k: Any = None, ties: str = "expected", zero_division: float = np.nan
    ) -> tuple[np.ndarray, np.ndarray]:
        """Recall of each query at the ranks `k`.

        Parameters
        ----------
        k : array-like of int, default=None
            None: about 100 ranks, evenly spaced on a logarithmic scale.
        ties : {"expected", "optimistic", "pessimistic"}, default="expected"
            The mean over all orders of ties, or a bound.
        zero_division : float, default=nan
            Value of a query without relevant items.

        Returns
        -------
        recall : ndarray of shape (n_queries, n_ranks)
        k : ndarray of shape (n_ranks,)
        """
        _, recall, k = self.precision_recall_curve(k=k, ties=ties, zero_division=zero_division)
        return recall, k

    def code_usage(self) -> _measures.CodeUsage:
        """How the codes of the database use the space of all codes; needs ``keep_codes=True``.

        Returns
        -------
        usage : CodeUsage
        """
        if self.kept_codes is None:
            raise ValueError("code_usage " + _measures.NEEDS_CODES)
        return _measures.usage_of(self.kept_codes.words, self.kept_codes.counts, self.n_bits)


def _add_measure(name: str) -> None:
    def method(self, **options):
        return self.measure(name, **options)

    method.__name__ = name
    method.__qualname__ = f"RetrievalHistogram.{name}"
    method.__doc__, method.__signature__ = _measures.describe(name)  # type: ignore[attr-defined]
    setattr(RetrievalHistogram, name, method)


for _name in _measures.MEASURES:
    _add_measure(_name)
