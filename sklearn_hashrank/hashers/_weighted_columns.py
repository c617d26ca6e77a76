"""Bits as columns of a structural support vector machine, whatever functions compute them."""

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, TypeVar

import numpy as np
from numpy.random import RandomState
from sklearn.utils._param_validation import Interval, StrOptions

from .._solvers.column_generation import WeightedRankings
from ..affinity._protocol import BaseAffinity
from ..objectives.structural._ranking_loss import LOSSES, RankingLoss
from ._similar_pairs import find_queries
from ._supervised import LearnsFromRelevance

CONSTRAINTS: dict = {
    "affinity": [StrOptions({"auto"}), BaseAffinity],
    "loss": [StrOptions(set(LOSSES))],
    "C": [Interval(Real, 0, None, closed="neither")],
    "n_queries": [None, Interval(Integral, 1, None, closed="left")],
    "n_database": [None, Interval(Integral, 2, None, closed="left")],
    "random_state": ["random_state"],
    "n_jobs": [None, Integral],
}
"""Of the parameters that the hashers share."""

_CUTS = 10
_LEAST_GAIN = 1e-3

Function = TypeVar("Function")


class LearnsWeightedColumns(LearnsFromRelevance):
    """Learns bits and their weights by column generation, for a loss of rankings of a sample."""

    _is_graded = False
    _sampled_by = "n_database"
    n_bits: int
    loss: str
    C: float
    n_queries: int | None
    n_database: int | None
    n_jobs: int | None

    def _sample_queries(
        self, X: Any, y: Any, random_state: RandomState
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Sample rows to rank: their numbers, which of them are queries, and what is relevant."""
        self._fit_affinity_once(X, y)
        targets = self.affinity_.validate(X if y is None else y)
        order = random_state.permutation(X.shape[0])[: self.n_database]
        n_queries = len(order) if self.n_queries is None else min(self.n_queries, len(order))
        queries, relevant = find_queries(
            type(self).__name__, self.affinity_, targets[order], np.arange(n_queries)
        )
        return order, queries, relevant

    def _learn_columns(
        self,
        learn: Callable[[np.ndarray], tuple[Function, np.ndarray]],
        queries: np.ndarray,
        relevant: np.ndarray,
    ) -> list[Function]:
        """Learn one function after the other, and all weights after each.

        `learn` takes what equal bits of a query and a row are worth, and gives a function and the
        bits that it gives to the rows, -1 and +1.
        """
        n_rows = relevant.shape[1]
        nothing = np.empty((n_rows, 0))  # rankings are those of scores
        oracle = RankingLoss(
            nothing[queries],
            nothing,
            relevant,
            queries,
            n_bits=1,
            loss=self.loss,
            n_jobs=self.n_jobs,
        )
        rankings = WeightedRankings(oracle.violate, queries, n_rows, self.C)
        functions = []
        self.history_: dict[str, list[float]] = {"objective": [], "slack": []}
        for bit in range(self.n_bits):
            worth = rankings.worth()
            function, signs = learn(worth)
            if bit and rankings.gain(worth, signs) <= _LEAST_GAIN:
                function, signs = learn(rankings.worth_without_weights())
            functions.append(function)
            rankings.add_column(signs)
            slack = rankings.solve(_CUTS)
            self.history_["objective"].append(rankings.objective)
            self.history_["slack"].append(slack)
        self.weights_ = rankings.weights
        return functions
