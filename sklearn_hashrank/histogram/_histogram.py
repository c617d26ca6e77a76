"""The retrieval histogram: counts that add up over shards, and every measure as a method."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..codes import KeptCodes
from ..measures import (
    NEEDS_CODES,
    CodeUsage,
    ConfiguredMeasure,
    Measure,
    TieOrder,
    configure_measure,
    evaluate,
    precision_and_recall,
    usage_of,
)
from ._measured import MeasuredHistogram, Values


class RetrievalHistogram(MeasuredHistogram):
    """Counts of retrieved items by query, level and Hamming distance.

    Every measure of the package is a method: ``h.average_precision()``, ``h.ndcg(k=100)``, ...
    with the keywords of the metric function of the same name. :meth:`measure` evaluates a measure
    by name, one of your own as well.

    Parameters
    ----------
    counts : array-like of shape (n_queries, n_levels, n_bits + 1)
        Whole numbers, at least 0.
    levels : array-like of shape (n_levels,)
        Ascending relevance levels, non-negative.
    kept_codes : KeptCodes, default=None
        What ``retrieval_histogram(..., keep_codes=True)`` keeps: the distinct codes of the
        database, each with its number of items, and the codes of the queries.
    relevance : str, default=None
        Names what made items relevant where that depends on the whole database, as it does with a
        NeighborAffinity. Only histograms of the same can be added.

    Attributes
    ----------
    counts : ndarray of shape (n_queries, n_levels, n_bits + 1), int64
    levels : ndarray of shape (n_levels,), float64
    n_bits : int
    kept_codes : KeptCodes or None
    relevance : str or None

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

    def __init__(
        self,
        counts: ArrayLike,
        levels: ArrayLike,
        kept_codes: KeptCodes | None = None,
        relevance: str | None = None,
    ):
        counts, levels = np.asarray(counts), np.asarray(levels, dtype=np.float64)
        _check_counts(counts, levels)
        self.counts = counts.astype(np.int64, copy=False)
        self.levels = levels
        self.kept_codes = kept_codes
        self.relevance = relevance

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
        if self.relevance != other.relevance:
            raise ValueError(
                "only histograms of the same relevance can be merged: with a NeighborAffinity, of "
                "the same queries and an affinity that was fitted on the whole database. Fit it "
                "before you count the shards, and pass the fitted object for each of them."
            )
        kept = None
        if self.kept_codes is not None and other.kept_codes is not None:
            kept = self.kept_codes + other.kept_codes
        if np.array_equal(self.levels, other.levels):
            counts = self.counts + other.counts
            return RetrievalHistogram(counts, self.levels, kept, self.relevance)
        levels = np.union1d(self.levels, other.levels)
        counts = np.zeros((ours[0], len(levels), ours[2]), dtype=np.int64)
        for part in (self, other):
            counts[:, np.searchsorted(levels, part.levels)] += part.counts
        return RetrievalHistogram(counts, levels, kept, self.relevance)

    def __radd__(self, other: Any) -> "RetrievalHistogram":
        """Let ``sum(shards)`` start from 0."""
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def __repr__(self) -> str:
        return (
            f"RetrievalHistogram(n_queries={len(self.counts)}, levels={self.levels.tolist()}, "
            f"n_bits={self.n_bits})"
        )

    def measure(
        self, measure: str | Callable[..., Any] | Measure | ConfiguredMeasure, **options: Any
    ) -> Values:
        """Evaluate a measure by its name.

        Parameters
        ----------
        measure : str, callable or Measure
            ``"average_precision"``, ``"ndcg"``, ...: the method that does the same, a short name
            (``"ap"``), the metric function, or a measure of your own; see
            :func:`~sklearn_hashrank.measures.register_measure`. A Measure need not be registered.
        **options : int, float or str
            Keywords of that method: `k` or `radius`, `ties`, `zero_division` and further ones.

        Returns
        -------
        values : ndarray of shape (n_queries,)
        """
        if not isinstance(measure, ConfiguredMeasure) or options:
            measure = configure_measure(measure, **options)
        peaks = None
        if measure.measure.needs_codes and self.kept_codes is not None:
            assert measure.cut is not None  # such a measure has a radius
            peaks = self.kept_codes.peaks(measure.cut)
        return evaluate(measure, self.counts, self.levels, peaks)

    def precision_recall_curve(
        self,
        *,
        k: ArrayLike | None = None,
        ties: TieOrder = "expected",
        zero_division: float = np.nan,
    ) -> tuple[Values, Values, NDArray[np.int64]]:
        """Precision and recall of each query at many ranks.

        Parameters
        ----------
        k : array-like of int, default=None
            The ranks. None: about 100, evenly spaced on a logarithmic scale.
        ties : {"expected", "optimistic", "pessimistic"}, default="expected"
            The mean over all orders of tied items, the best order, or the worst.
        zero_division : float, default=nan
            The value of a query that nothing is relevant to.

        Returns
        -------
        precision, recall : ndarray of shape (n_queries, n_ranks)
        k : ndarray of shape (n_ranks,)
        """
        return precision_and_recall(self.counts, self.levels, k, ties, zero_division)

    def recall_at_k_curve(
        self,
        *,
        k: ArrayLike | None = None,
        ties: TieOrder = "expected",
        zero_division: float = np.nan,
    ) -> tuple[Values, NDArray[np.int64]]:
        """Recall of each query at many ranks.

        Parameters
        ----------
        k : array-like of int, default=None
            The ranks. None: about 100, evenly spaced on a logarithmic scale.
        ties : {"expected", "optimistic", "pessimistic"}, default="expected"
            The mean over all orders of tied items, the best order, or the worst.
        zero_division : float, default=nan
            The value of a query that nothing is relevant to.

        Returns
        -------
        recall : ndarray of shape (n_queries, n_ranks)
        k : ndarray of shape (n_ranks,)
        """
        curves = self.precision_recall_curve(k=k, ties=ties, zero_division=zero_division)
        return curves[1:]

    def code_usage(self) -> CodeUsage:
        """How the codes of the database use the space of all codes.

        It needs a histogram made with ``keep_codes=True``.

        Returns
        -------
        usage : CodeUsage
        """
        if self.kept_codes is None:
            raise ValueError("code_usage " + NEEDS_CODES)
        return usage_of(self.kept_codes.words, self.kept_codes.counts, self.kept_codes.n_bits)


def _check_counts(counts: NDArray[Any], levels: Values) -> None:
    if counts.ndim != 3 or 0 in counts.shape[1:] or levels.shape != (counts.shape[1],):
        raise ValueError(
            "counts must have shape (n_queries, n_levels, n_ties), and levels (n_levels,). "
            f"Got shapes {counts.shape} and {levels.shape} instead."
        )
    whole = counts.dtype.kind in "iu" or (counts.dtype.kind == "f" and (counts % 1 == 0).all())
    if not whole or (counts < 0).any():
        raise ValueError("counts must be whole numbers >= 0.")
    if not np.isfinite(levels).all() or levels[0] < 0 or np.any(np.diff(levels) <= 0):
        raise ValueError(f"levels must be finite, >= 0 and ascending. Got {levels} instead.")
