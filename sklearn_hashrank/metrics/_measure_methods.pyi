# Written by tests/metrics/method_stub.py.
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ._measure import TieOrder

Values = NDArray[np.float64]

class MeasureMethods:
    def average_precision(
        self,
        *,
        k: int | None = None,
        normalize: Literal["relevant", "min", "retrieved"] = "relevant",
        ties: TieOrder = "expected",
        zero_division: float = ...,
        min_relevance: float | None = None,
    ) -> Values:
        """Expected average precision."""
    def ndcg(
        self,
        *,
        k: int | None = None,
        gain: Literal["exponential", "linear"] = "exponential",
        discount: Literal["log2p1", "log2"] = "log2p1",
        ties: TieOrder = "expected",
        zero_division: float = ...,
    ) -> Values:
        """Expected `dcg` over that of the ideal ranking, which is cut at `k` too."""
    def dcg(
        self,
        *,
        k: int | None = None,
        gain: Literal["exponential", "linear"] = "exponential",
        discount: Literal["log2p1", "log2"] = "log2p1",
        ties: TieOrder = "expected",
        zero_division: float = ...,
    ) -> Values:
        """Expected discounted cumulative gain of the first `k` places."""
    def precision(
        self,
        *,
        k: int | None = None,
        ties: TieOrder = "expected",
        zero_division: float = ...,
        min_relevance: float | None = None,
    ) -> Values:
        """Expected precision: the relevant share of the first `k` places, filled or not."""
    def recall(
        self,
        *,
        k: int | None = None,
        ties: TieOrder = "expected",
        zero_division: float = ...,
        min_relevance: float | None = None,
    ) -> Values:
        """Expected recall: the share of all relevant items that is among the first `k`."""
    def f1(
        self,
        *,
        k: int | None = None,
        ties: TieOrder = "expected",
        zero_division: float = ...,
        min_relevance: float | None = None,
    ) -> Values:
        """Expected harmonic mean of precision and recall at `k`."""
    def reciprocal_rank(
        self,
        *,
        k: int | None = None,
        ties: TieOrder = "expected",
        zero_division: float = ...,
        min_relevance: float | None = None,
    ) -> Values:
        """Expected inverse rank of the first relevant item, 0 beyond rank `k`."""
    def average_precision_at_r(
        self,
        *,
        ties: TieOrder = "expected",
        zero_division: float = ...,
        min_relevance: float | None = None,
    ) -> Values:
        """Expected average precision of the first R places, R relevant items in all."""
    def r_precision(
        self,
        *,
        ties: TieOrder = "expected",
        zero_division: float = ...,
        min_relevance: float | None = None,
    ) -> Values:
        """Expected precision of the first R places, where R items are relevant in all."""
    def hit_rate(
        self,
        *,
        k: int | None = None,
        ties: TieOrder = "expected",
        zero_division: float = ...,
        min_relevance: float | None = None,
    ) -> Values:
        """Probability that a relevant item is among the first `k`."""
    def rank_biased_precision(
        self,
        *,
        k: int | None = None,
        p: float = 0.8,
        ties: TieOrder = "expected",
        zero_division: float = ...,
        min_relevance: float | None = None,
    ) -> Values:
        """Expected share of relevant items that a patient reader sees."""
    def bpref(
        self,
        *,
        ties: TieOrder = "expected",
        zero_division: float = ...,
        min_relevance: float | None = None,
    ) -> Values:
        """Expected binary preference: judged irrelevant items ahead of relevant ones."""
    def lookup_precision(
        self,
        *,
        radius: int = 2,
        ties: TieOrder = "expected",
        zero_division: float = ...,
        min_relevance: float | None = None,
    ) -> Values:
        """Relevant share of the items within `radius`, 0 where there are none."""
    def lookup_recall(
        self,
        *,
        radius: int = 2,
        ties: TieOrder = "expected",
        zero_division: float = ...,
        min_relevance: float | None = None,
    ) -> Values:
        """Share of all relevant items that lies within `radius`."""
    def average_cumulative_gain(
        self,
        *,
        radius: int = 3,
        ties: TieOrder = "expected",
        zero_division: float = ...,
    ) -> Values:
        """Mean level of the items within `radius`, 0 where there are none."""
    def local_group_average_precision(
        self,
        *,
        radius: int = 2,
        ties: TieOrder = "expected",
        zero_division: float = ...,
        min_relevance: float | None = None,
    ) -> Values:
        """Precision within 0, 1, ... `radius`, each times the evenness of the codes there, mean."""
