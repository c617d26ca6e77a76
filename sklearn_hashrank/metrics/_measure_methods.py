"""The measures of the package as typed methods of a histogram."""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._gains import Gain
from ._measure import TieOrder
from ._ranking_measures import Normalize
from ._sums import Discount

Values = NDArray[np.float64]


class MeasuredHistogram(ABC):
    """Types and documentation of the measures of the package, each a call of :meth:`measure`."""

    @abstractmethod
    def measure(self, measure: Any, **options: Any) -> Values:
        """Evaluate a measure by its name."""

    def average_precision(
        self,
        *,
        k: int | None = None,
        normalize: Normalize = "relevant",
        ties: TieOrder = "expected",
        zero_division: float = np.nan,
        level: float | None = None,
    ) -> Values:
        """Average precision of each query.

        Parameters
        ----------
        k : int, default=None
            Only the first k places of the ranking count. None: the whole ranking.
        normalize : {"relevant", "min", "retrieved"}, default="relevant"
            The denominator when `k` is given: all relevant items; at most k of them; or those
            among the first k (0 where there is none).
        ties : {"expected", "optimistic", "pessimistic", "docid"}, default="expected"
            The mean over all orders of tied items, the best order, the worst, or that of
            trec_eval, by the names of the items.
        zero_division : float, default=nan
            The value of a query that nothing is relevant to.
        level : float, default=None
            The lowest relevance level that is relevant. None: every level above 0.

        Returns
        -------
        values : ndarray of shape (n_queries,)
        """
        return self.measure(
            "average_precision",
            k=k,
            normalize=normalize,
            ties=ties,
            zero_division=zero_division,
            level=level,
        )

    def ndcg(
        self,
        *,
        k: int | None = None,
        gain: Gain = "exponential",
        discount: Discount = "log2p1",
        ties: TieOrder = "expected",
        zero_division: float = np.nan,
    ) -> Values:
        """Discounted cumulative gain of each query over that of the ideal ranking.

        The ideal ranking is cut at `k` too.

        Parameters
        ----------
        k : int, default=None
            Only the first k places of the ranking count. None: the whole ranking.
        gain : {"exponential", "linear"}, default="exponential"
            Gain of level v: 2 ** v - 1, or v.
        discount : {"log2p1", "log2"}, default="log2p1"
            Discount at rank t: 1 / log2(t + 1); or 1 / log2(t), and 1 at rank 1.
        ties : {"expected", "optimistic", "pessimistic", "docid"}, default="expected"
            The mean over all orders of tied items, the best order, the worst, or that of
            trec_eval, by the names of the items.
        zero_division : float, default=nan
            The value of a query that nothing is relevant to.

        Returns
        -------
        values : ndarray of shape (n_queries,)
        """
        return self.measure(
            "ndcg", k=k, gain=gain, discount=discount, ties=ties, zero_division=zero_division
        )

    def dcg(
        self,
        *,
        k: int | None = None,
        gain: Gain = "exponential",
        discount: Discount = "log2p1",
        ties: TieOrder = "expected",
        zero_division: float = np.nan,
    ) -> Values:
        """Discounted cumulative gain of each query.

        Parameters
        ----------
        k : int, default=None
            Only the first k places of the ranking count. None: the whole ranking.
        gain : {"exponential", "linear"}, default="exponential"
            Gain of level v: 2 ** v - 1, or v.
        discount : {"log2p1", "log2"}, default="log2p1"
            Discount at rank t: 1 / log2(t + 1); or 1 / log2(t), and 1 at rank 1.
        ties : {"expected", "optimistic", "pessimistic", "docid"}, default="expected"
            The mean over all orders of tied items, the best order, the worst, or that of
            trec_eval, by the names of the items.
        zero_division : float, default=nan
            The value of a query that nothing is relevant to.

        Returns
        -------
        values : ndarray of shape (n_queries,)
        """
        return self.measure(
            "dcg", k=k, gain=gain, discount=discount, ties=ties, zero_division=zero_division
        )

    def precision(
        self,
        *,
        k: int | None = None,
        ties: TieOrder = "expected",
        zero_division: float = np.nan,
        level: float | None = None,
    ) -> Values:
        """Relevant share of the first k items of each query.

        It is divided by k even where the database holds fewer than k items.

        Parameters
        ----------
        k : int, default=None
            Only the first k places of the ranking count. None: the whole ranking.
        ties : {"expected", "optimistic", "pessimistic", "docid"}, default="expected"
            The mean over all orders of tied items, the best order, the worst, or that of
            trec_eval, by the names of the items.
        zero_division : float, default=nan
            The value of a query that nothing is relevant to.
        level : float, default=None
            The lowest relevance level that is relevant. None: every level above 0.

        Returns
        -------
        values : ndarray of shape (n_queries,)
        """
        return self.measure("precision", k=k, ties=ties, zero_division=zero_division, level=level)

    def recall(
        self,
        *,
        k: int | None = None,
        ties: TieOrder = "expected",
        zero_division: float = np.nan,
        level: float | None = None,
    ) -> Values:
        """Share of the relevant items of each query among the first k.

        Parameters
        ----------
        k : int, default=None
            Only the first k places of the ranking count. None: the whole ranking.
        ties : {"expected", "optimistic", "pessimistic", "docid"}, default="expected"
            The mean over all orders of tied items, the best order, the worst, or that of
            trec_eval, by the names of the items.
        zero_division : float, default=nan
            The value of a query that nothing is relevant to.
        level : float, default=None
            The lowest relevance level that is relevant. None: every level above 0.

        Returns
        -------
        values : ndarray of shape (n_queries,)
        """
        return self.measure("recall", k=k, ties=ties, zero_division=zero_division, level=level)

    def f1(
        self,
        *,
        k: int | None = None,
        ties: TieOrder = "expected",
        zero_division: float = np.nan,
        level: float | None = None,
    ) -> Values:
        """Harmonic mean of precision and recall at k of each query.

        Parameters
        ----------
        k : int, default=None
            Only the first k places of the ranking count. None: the whole ranking.
        ties : {"expected", "optimistic", "pessimistic", "docid"}, default="expected"
            The mean over all orders of tied items, the best order, the worst, or that of
            trec_eval, by the names of the items.
        zero_division : float, default=nan
            The value of a query that nothing is relevant to.
        level : float, default=None
            The lowest relevance level that is relevant. None: every level above 0.

        Returns
        -------
        values : ndarray of shape (n_queries,)
        """
        return self.measure("f1", k=k, ties=ties, zero_division=zero_division, level=level)

    def reciprocal_rank(
        self,
        *,
        k: int | None = None,
        ties: TieOrder = "expected",
        zero_division: float = np.nan,
        level: float | None = None,
    ) -> Values:
        """Inverse rank of the first relevant item of each query.

        With `k`, it is 0 where the first k items hold no relevant one.

        Parameters
        ----------
        k : int, default=None
            Only the first k places of the ranking count. None: the whole ranking.
        ties : {"expected", "optimistic", "pessimistic", "docid"}, default="expected"
            The mean over all orders of tied items, the best order, the worst, or that of
            trec_eval, by the names of the items.
        zero_division : float, default=nan
            The value of a query that nothing is relevant to.
        level : float, default=None
            The lowest relevance level that is relevant. None: every level above 0.

        Returns
        -------
        values : ndarray of shape (n_queries,)
        """
        return self.measure(
            "reciprocal_rank", k=k, ties=ties, zero_division=zero_division, level=level
        )

    def average_precision_at_r(
        self,
        *,
        ties: TieOrder = "expected",
        zero_division: float = np.nan,
        level: float | None = None,
    ) -> Values:
        """Average precision of the first R places, where R items are relevant in all.

        It is MAP@R of metric learning: the precisions at the relevant items there, over R.

        Parameters
        ----------
        ties : {"expected", "optimistic", "pessimistic", "docid"}, default="expected"
            The mean over all orders of tied items, the best order, the worst, or that of
            trec_eval, by the names of the items.
        zero_division : float, default=nan
            The value of a query that nothing is relevant to.
        level : float, default=None
            The lowest relevance level that is relevant. None: every level above 0.

        Returns
        -------
        values : ndarray of shape (n_queries,)
        """
        return self.measure(
            "average_precision_at_r", ties=ties, zero_division=zero_division, level=level
        )

    def r_precision(
        self,
        *,
        ties: TieOrder = "expected",
        zero_division: float = np.nan,
        level: float | None = None,
    ) -> Values:
        """Relevant share of the first R places, where R items are relevant in all.

        At rank R, precision and recall are equal.

        Parameters
        ----------
        ties : {"expected", "optimistic", "pessimistic", "docid"}, default="expected"
            The mean over all orders of tied items, the best order, the worst, or that of
            trec_eval, by the names of the items.
        zero_division : float, default=nan
            The value of a query that nothing is relevant to.
        level : float, default=None
            The lowest relevance level that is relevant. None: every level above 0.

        Returns
        -------
        values : ndarray of shape (n_queries,)
        """
        return self.measure("r_precision", ties=ties, zero_division=zero_division, level=level)

    def hit_rate(
        self,
        *,
        k: int | None = None,
        ties: TieOrder = "expected",
        zero_division: float = np.nan,
        level: float | None = None,
    ) -> Values:
        """Whether a relevant item is among the first k, as a probability.

        It is also called success at k.

        Parameters
        ----------
        k : int, default=None
            Only the first k places of the ranking count. None: the whole ranking.
        ties : {"expected", "optimistic", "pessimistic", "docid"}, default="expected"
            The mean over all orders of tied items, the best order, the worst, or that of
            trec_eval, by the names of the items.
        zero_division : float, default=nan
            The value of a query that nothing is relevant to.
        level : float, default=None
            The lowest relevance level that is relevant. None: every level above 0.

        Returns
        -------
        values : ndarray of shape (n_queries,)
        """
        return self.measure("hit_rate", k=k, ties=ties, zero_division=zero_division, level=level)

    def rank_biased_precision(
        self,
        *,
        k: int | None = None,
        p: float = 0.8,
        ties: TieOrder = "expected",
        zero_division: float = np.nan,
        level: float | None = None,
    ) -> Values:
        """Share of relevant items that a patient reader sees.

        The reader goes on to the next rank with probability `p`, so that rank t counts
        (1 - p) p ** (t - 1).

        Parameters
        ----------
        k : int, default=None
            Only the first k places of the ranking count. None: the whole ranking.
        p : float, default=0.8
            Probability, between 0 and 1, that the reader goes on to the next rank.
        ties : {"expected", "optimistic", "pessimistic", "docid"}, default="expected"
            The mean over all orders of tied items, the best order, the worst, or that of
            trec_eval, by the names of the items.
        zero_division : float, default=nan
            The value of a query that nothing is relevant to.
        level : float, default=None
            The lowest relevance level that is relevant. None: every level above 0.

        Returns
        -------
        values : ndarray of shape (n_queries,)
        """
        return self.measure(
            "rank_biased_precision", k=k, p=p, ties=ties, zero_division=zero_division, level=level
        )

    def bpref(
        self,
        *,
        ties: TieOrder = "expected",
        zero_division: float = np.nan,
        level: float | None = None,
    ) -> Values:
        """Binary preference: judged irrelevant items ahead of relevant ones.

        Items that nobody judged do not count. Each retrieved relevant item counts 1 less the share
        of min(R, N) judged irrelevant items ahead of it, where R items are relevant and N judged
        irrelevant.

        Parameters
        ----------
        ties : {"expected", "optimistic", "pessimistic", "docid"}, default="expected"
            The mean over all orders of tied items, the best order, the worst, or that of
            trec_eval, by the names of the items.
        zero_division : float, default=nan
            The value of a query that nothing is relevant to.
        level : float, default=None
            The lowest relevance level that is relevant. None: every level above 0.

        Returns
        -------
        values : ndarray of shape (n_queries,)
        """
        return self.measure("bpref", ties=ties, zero_division=zero_division, level=level)

    def lookup_precision(
        self,
        *,
        radius: int = 2,
        ties: TieOrder = "expected",
        zero_division: float = np.nan,
        level: float | None = None,
    ) -> Values:
        """Relevant share of the items within a Hamming radius of each query.

        The value of a query that finds nothing within the radius is 0.

        Parameters
        ----------
        radius : int, default=2
            Largest Hamming distance of what is returned; from 0 to any number.
        ties : {"expected", "optimistic", "pessimistic", "docid"}, default="expected"
            Without effect: a ball holds all items of a distance or none.
        zero_division : float, default=nan
            The value of a query that nothing is relevant to.
        level : float, default=None
            The lowest relevance level that is relevant. None: every level above 0.

        Returns
        -------
        values : ndarray of shape (n_queries,)
        """
        return self.measure(
            "lookup_precision", radius=radius, ties=ties, zero_division=zero_division, level=level
        )

    def lookup_recall(
        self,
        *,
        radius: int = 2,
        ties: TieOrder = "expected",
        zero_division: float = np.nan,
        level: float | None = None,
    ) -> Values:
        """Share of the relevant items of each query within a Hamming radius.

        Parameters
        ----------
        radius : int, default=2
            Largest Hamming distance of what is returned; from 0 to any number.
        ties : {"expected", "optimistic", "pessimistic", "docid"}, default="expected"
            Without effect: a ball holds all items of a distance or none.
        zero_division : float, default=nan
            The value of a query that nothing is relevant to.
        level : float, default=None
            The lowest relevance level that is relevant. None: every level above 0.

        Returns
        -------
        values : ndarray of shape (n_queries,)
        """
        return self.measure(
            "lookup_recall", radius=radius, ties=ties, zero_division=zero_division, level=level
        )

    def average_cumulative_gain(
        self,
        *,
        radius: int = 3,
        ties: TieOrder = "expected",
        zero_division: float = np.nan,
    ) -> Values:
        """Mean relevance level of the items within a Hamming radius of each query.

        The value of a query that finds nothing within the radius is 0.

        Parameters
        ----------
        radius : int, default=3
            Largest Hamming distance of what is returned; from 0 to any number.
        ties : {"expected", "optimistic", "pessimistic", "docid"}, default="expected"
            Without effect: a ball holds all items of a distance or none.
        zero_division : float, default=nan
            The value of a query that nothing is relevant to.

        Returns
        -------
        values : ndarray of shape (n_queries,)
        """
        return self.measure(
            "average_cumulative_gain", radius=radius, ties=ties, zero_division=zero_division
        )

    def local_group_average_precision(
        self,
        *,
        radius: int = 2,
        ties: TieOrder = "expected",
        zero_division: float = np.nan,
        level: float | None = None,
    ) -> Values:
        """Precision within a radius, weighted by how evenly the codes there are used.

        Its mean is mLGAP. It needs a histogram made with ``keep_codes=True``.

        Parameters
        ----------
        radius : int, default=2
            Largest Hamming distance of what is returned; from 0 to any number.
        ties : {"expected", "optimistic", "pessimistic", "docid"}, default="expected"
            Without effect: a ball holds all items of a distance or none.
        zero_division : float, default=nan
            The value of a query that nothing is relevant to.
        level : float, default=None
            The lowest relevance level that is relevant. None: every level above 0.

        Returns
        -------
        values : ndarray of shape (n_queries,)
        """
        return self.measure(
            "local_group_average_precision",
            radius=radius,
            ties=ties,
            zero_division=zero_division,
            level=level,
        )
