"""The retrieval histogram: counts that add up over shards, and every measure as a method."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..codes._counts import KeptCodes
from ._configured import ConfiguredMeasure, configure_measure
from ._evaluation import NEEDS_CODES, evaluate
from ._measure import Measure, TieOrder
from ._measure_methods import MeasureMethods, Values
from ._rank_curves import precision_and_recall
from ._runs import Duplicates, NaNScores, Queries, Unjudged, table_of_run
from ._scores import ScoreOrder, check_ids, table_of_scores
from ._tie_report import TieReport, report_ties, warn_of_ties
from ._tie_tables import DenseTies, RaggedTies, TieTable
from ._usage import CodeUsage, usage_of


class RetrievalHistogram(MeasureMethods):
    """Counts of retrieved items by query, level and tie.

    :func:`retrieval_histogram` counts codes, whose ties are the Hamming distances.
    :meth:`from_scores` and :meth:`from_run` take rankings that no code made, whose ties are equal
    scores.

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
        Name of the rule that made items relevant: a digest of the affinity and its thresholds.
        Only histograms of the same rule can be added.

    Attributes
    ----------
    counts : ndarray of shape (n_queries, n_levels, n_ties), int64
        For codes, tie t is Hamming distance t, ``n_ties = n_bits + 1``. For scores, ties come in
        the order of retrieval, and neighboring ones without a relevant item are one.
    levels : ndarray of shape (n_levels,), float64
    n_bits : int
        Length of the codes; histograms of scores have none.
    query_ids : list or None
        Names of the queries of a run.
    kept_codes : KeptCodes or None
    relevance : str or None

    Examples
    --------
    >>> from sklearn_hashrank import retrieval_histogram
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
        self.table: TieTable = DenseTies(counts.astype(np.int64, copy=False), levels)
        self.levels = levels
        self.kept_codes = kept_codes
        self.relevance = relevance
        self.query_ids: list[Any] | None = None
        self._n_jobs: int | None = 1

    @classmethod
    def from_ties(
        cls, table: RaggedTies, query_ids: Sequence[Any] | None, n_jobs: int | None = 1
    ) -> "RetrievalHistogram":
        """Make a histogram whose queries have ties of their own.

        Parameters
        ----------
        table : RaggedTies
            Counts of each query.
        query_ids : sequence or None
            Names of the queries.
        n_jobs : int or None, default=1
            Threads that evaluate measures.

        Returns
        -------
        histogram : RetrievalHistogram
        """
        histogram = cls.__new__(cls)
        histogram.table, histogram.levels = table, table.levels
        histogram.kept_codes = histogram.relevance = None
        histogram.query_ids = None if query_ids is None else list(query_ids)
        histogram._n_jobs = n_jobs
        return histogram

    @classmethod
    def from_scores(
        cls,
        relevance: Any,
        scores: Any,
        *,
        order: ScoreOrder = "similarity",
        tolerance: float = 0.0,
        nan: NaNScores = "error",
        groups: ArrayLike | None = None,
        query_ids: Sequence[Any] | None = None,
        item_ids: Sequence[Any] | None = None,
        n_jobs: int | None = None,
    ) -> "RetrievalHistogram":
        """Rank the items of each query by scores; equal scores tie.

        Parameters
        ----------
        relevance : {array-like, sparse matrix} of shape (n_queries, n_items), or list of arrays
            Level of each item for each query, at least 0; an item is relevant above 0. A list has
            one array for each query, of as many items as there are.
        scores : {array-like, sparse matrix} of shape (n_queries, n_items), or list of arrays
            What the items are ranked by, in the form of `relevance`. Of a sparse matrix, the stored
            items were retrieved, and no others; `relevance` may be sparse as well then.
        order : {"similarity", "distance"}, default="similarity"
            Whether the highest score comes first, or the lowest.
        tolerance : float, default=0.0
            Scores tie when they are no farther apart than this, and so do all of a chain of such
            scores.
        nan : {"error", "last"}, default="error"
            What a score that is NaN means: an error, or an item that comes last, tied with the
            worst.
        groups : array-like of shape (n_queries,), default=None
            Number of items of each query, where `relevance` and `scores` are 1-d and hold one
            query after the other, as for LightGBM.
        query_ids : sequence of shape (n_queries,), default=None
            Names of the queries. With names, histograms of different queries can be added.
        item_ids : sequence of str, shape (n_items,), default=None
            Names of the items, for ``ties="docid"``.
        n_jobs : int, default=None
            Threads over queries, here and when measures are evaluated. None means 1 unless in a
            :obj:`joblib.parallel_config` context, -1 means all processors.

        Returns
        -------
        histogram : RetrievalHistogram

        Examples
        --------
        Six tied items, two of them relevant:

        >>> from sklearn_hashrank import RetrievalHistogram
        >>> h = RetrievalHistogram.from_scores([[1, 0, 0, 1, 0, 0]], [[0.5] * 6])
        >>> h.average_precision().round(3)
        array([0.527])
        >>> h.average_precision(ties="pessimistic"), h.average_precision(ties="optimistic")
        (array([0.26666667]), array([1.]))
        """
        table = table_of_scores(relevance, scores, order, tolerance, nan, groups, item_ids, n_jobs)
        if query_ids is not None:
            check_ids("query", query_ids, table.n_queries)
        return cls.from_ties(table, query_ids, n_jobs)

    @classmethod
    def from_run(
        cls,
        qrels: Any,
        run: Any,
        *,
        queries: Queries = "judged",
        unjudged: Unjudged = "irrelevant",
        duplicates: Duplicates = "error",
        nan: NaNScores = "error",
        tolerance: float = 0.0,
        dtype: Any = np.float64,
        n_jobs: int | None = None,
    ) -> "RetrievalHistogram":
        """Rank the items of a run, which qrels judge; equal scores tie.

        Both are what pytrec_eval, ir_measures and ranx read: dictionaries of dictionaries, names of
        TREC files (``.gz`` as well), tables with columns, or iterables of named tuples.

        Parameters
        ----------
        qrels : dict, str, path-like, DataFrame or iterable
            Relevance levels: ``{query: {item: level}}``, a file of lines ``query 0 item level``, or
            rows with `query_id`, `doc_id` and `relevance`. Items of a level below 0 are not
            judged, as for trec_eval.
        run : dict, str, path-like, DataFrame or iterable
            Scores, the highest first: ``{query: {item: score}}``, a file of lines
            ``query Q0 item rank score tag``, or rows with `query_id`, `doc_id` and `score`.
        queries : {"judged", "both", "equal"}, default="judged"
            Which queries count: all of `qrels`, of which one that is not in `run` retrieves nothing
            (``trec_eval -c``, ir_measures); those in both (trec_eval, pytrec_eval); or an error
            unless both have the same.
        unjudged : {"irrelevant", "remove", "error"}, default="irrelevant"
            What a retrieved item that is not in `qrels` is: irrelevant, not there, or an error.
        duplicates : {"error", "best"}, default="error"
            What to do with an item that is twice in the run of a query: an error, or the better
            score counts. Dictionaries have none. In `qrels` they are an error.
        nan : {"error", "last"}, default="error"
            What a score that is NaN means: an error, or an item that comes last, tied with the
            worst.
        tolerance : float, default=0.0
            Scores tie when they are no farther apart than this, and so do all of a chain of such
            scores.
        dtype : {"float64", "float32"}, default="float64"
            Precision in which scores are compared. trec_eval and pytrec_eval compare in float32,
            where close scores are equal.
        n_jobs : int, default=None
            Threads over queries, here and when measures are evaluated. None means 1 unless in a
            :obj:`joblib.parallel_config` context, -1 means all processors.

        Returns
        -------
        histogram : RetrievalHistogram
            With ``query_ids``. A relevant item that was not retrieved counts as missed.

        Examples
        --------
        >>> from sklearn_hashrank import RetrievalHistogram
        >>> qrels = {"q1": {"a": 1, "b": 0, "c": 2}, "q2": {"a": 1}}
        >>> run = {"q1": {"a": 0.9, "b": 0.9, "d": 0.1}, "q2": {"b": 0.3, "a": 0.2}}
        >>> h = RetrievalHistogram.from_run(qrels, run)
        >>> h.query_ids, h.measure("ap"), h.measure("rr@1")
        (['q1', 'q2'], array([0.375, 0.5  ]), array([0.5, 0. ]))
        """
        query_ids, table = table_of_run(
            qrels, run, queries, unjudged, duplicates, nan, tolerance, dtype, n_jobs
        )
        return cls.from_ties(table, query_ids, n_jobs)

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """Items by query, level and tie, (n_queries, n_levels, n_ties)."""
        return self.table.counts

    @property
    def n_bits(self) -> int:
        """Length of the codes."""
        if not isinstance(self.table, DenseTies):
            raise AttributeError("a histogram of scores has no n_bits: no codes made the ranking.")
        return self.counts.shape[2] - 1

    def __add__(self, other: "RetrievalHistogram") -> "RetrievalHistogram":
        """Merge the histograms of the same queries over two shards of a database.

        The sum keeps codes where both parts do. Histograms of scores are those of different
        queries, which come one after the other.
        """
        if not isinstance(other, RetrievalHistogram):
            return NotImplemented
        ragged = [h.table for h in (self, other) if isinstance(h.table, RaggedTies)]
        if len(ragged) == 1:
            raise ValueError("histograms of codes and of scores cannot be added.")
        if ragged:
            query_ids = _joint_ids(self.query_ids, other.query_ids)
            table = ragged[0].followed_by(ragged[1])
            return RetrievalHistogram.from_ties(table, query_ids, self._n_jobs)
        ours, theirs = self.counts.shape, other.counts.shape
        if (ours[0], ours[2]) != (theirs[0], theirs[2]):
            raise ValueError(
                "only histograms of the same queries and code length can be merged. "
                f"Got {ours[0]} queries of {self.n_bits} bits and "
                f"{theirs[0]} queries of {other.n_bits} bits."
            )
        if self.relevance != other.relevance:
            raise ValueError(
                "only histograms of the same relevance can be merged: the same affinity with the "
                "same thresholds. Fit the affinity on the whole database or on training rows, and "
                "pass the fitted object for each shard. "
                f"Got {self.relevance} and {other.relevance}."
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
        if not isinstance(self.table, DenseTies):
            n_queries, levels = self.table.n_queries, self.levels.tolist()
            return f"RetrievalHistogram(n_queries={n_queries}, levels={levels}, of scores)"
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
            (``"ap"``), a notation with options (``"ndcg@10:gain=linear"``), the metric function,
            or a measure of your own; see :func:`~sklearn_hashrank.metrics.register_measure`. A
            Measure need not be registered.
        **options : int, float or str
            Keywords of that method: `k` or `radius`, `ties`, `zero_division` and further ones.

        Returns
        -------
        values : ndarray of shape (n_queries,)
        """
        configured, table = self._prepared(measure, options)
        if configured.ties == "docid" and table.by_id is not None:
            warn_of_ties(configured, table, stacklevel=3)
        return evaluate(configured, table, self._n_jobs)

    def _prepared(self, measure: Any, options: Any) -> tuple[ConfiguredMeasure, TieTable]:
        measure = configure_measure(measure, **options)
        if measure.measure.radius is None:
            return measure, self.table
        if not isinstance(self.table, DenseTies):
            raise ValueError(
                f"{measure.measure.name} looks within a Hamming radius. This histogram is one of "
                "scores, which have none."
            )
        if measure.measure.needs_codes and self.kept_codes is not None:
            peaks = self.kept_codes.peaks(measure.cut)
            return measure, replace(self.table, peaks=peaks)
        return measure, self.table

    def tie_report(self, measure: Any = "ap", **options: Any) -> TieReport:
        """Say how much the order of tied items matters to a measure.

        Parameters
        ----------
        measure : str, callable or Measure, default="ap"
            As for :meth:`measure`.
        **options : int, float or str
            Keywords of that measure.

        Returns
        -------
        report : TieReport
            The share of the queries whose value depends on the order; the mean over the queries
            with the worst order, with all orders and with the best; and, if the items have names,
            the bias of the order of trec_eval.

        Examples
        --------
        >>> from sklearn_hashrank import RetrievalHistogram
        >>> h = RetrievalHistogram.from_scores([[1, 0], [1, 0]], [[0.5, 0.5], [0.5, 0.2]])
        >>> h.tie_report("rr")
        TieReport(share=0.5, pessimistic=0.75, expected=0.875, optimistic=1.0, bias=None)
        """
        return report_ties(*self._prepared(measure, options))

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
        return precision_and_recall(self.table, k, ties, zero_division)

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


def _joint_ids(ours: list[Any] | None, theirs: list[Any] | None) -> list[Any]:
    """Return the names of all queries, if rankings of different queries are added."""
    if ours is None or theirs is None:
        raise ValueError(
            "histograms of scores can be added where both name their queries, by query_ids, and "
            "the sum has the queries of both. Scores of shards cannot be merged: give all items of "
            "a query at once."
        )
    both = set(ours) & set(theirs)
    if both:
        raise ValueError(
            "histograms of scores can be added where their queries differ: ranks of a query depend "
            f"on all of its scores. Got {next(iter(both))!r} in both."
        )
    return [*ours, *theirs]
