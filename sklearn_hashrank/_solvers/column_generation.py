r"""Weights of bits for losses of rankings, by cutting planes; bits arrive one by one.

The problem is to minimize :math:`\sum_r w_r + C \xi` over :math:`w \ge 0`, where :math:`\xi` is the
mean over queries of the largest violation: loss of a ranking less the fall of the score from the
true one. The score of an item is minus the sum of the weights of the bits in which it differs from
the query. A constraint is a batch, one ranking for each query. Over those found so far, it is a
small linear program, whose multipliers price the bits that are still to be found.
"""

from collections.abc import Callable

import numpy as np
from scipy import optimize

_TOL = 1e-3  # of the slack, a mean of losses between 0 and 1
_PATIENCE = 3  # linear programs without a multiplier, after which a constraint is dropped


class WeightedRankings:
    """The restricted problem, over bits and rankings found so far.

    The `oracle` takes scores (n_queries, n_database). It returns coefficients, of which the product
    with the scores is the fall from the true to the most violated ranking of each query, and the
    losses of those rankings. `C` is the weight of the slack. `weights` are those of the bits so
    far, and `objective` is that of the restricted problem.
    """

    def __init__(
        self,
        oracle: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]],
        queries: np.ndarray,
        n_database: int,
        C: float,
    ):
        self.oracle, self.queries, self.n_database, self.C = oracle, queries, n_database, C
        self.weights, self.objective, self._slack = np.empty(0), np.inf, 0.0
        self._signs: list[np.ndarray] = []
        self._constraints: list[np.ndarray] = []  # coefficients of each, a mean over queries
        self._losses, self._multipliers, self._idle = np.empty(0), np.empty(0), np.empty(0)
        self._falls = np.empty((0, 0))  # of the score, by constraint and bit of weight 1

    def worth(self) -> np.ndarray:
        """What equal bits of a query and an item are worth in a new column.

        The worth, (n_queries, n_database), follows from the multipliers of the rankings, or, where
        there are no bits, from the most violated rankings.
        """
        if not self._signs:
            return self.worth_without_weights()
        total = np.zeros((len(self.queries), self.n_database))
        for multiplier, constraint in zip(self._multipliers, self._constraints):
            if multiplier > 0:
                total += multiplier * constraint
        return total

    def worth_without_weights(self) -> np.ndarray:
        """What equal bits are worth by the rankings that are most violated by equal weights."""
        n_bits = len(self.weights)
        equal = np.full(n_bits, max(1.0, self.weights.sum()) / max(1, n_bits))
        return self.oracle(self._scores(equal))[0] / len(self.queries)

    def gain(self, worth: np.ndarray, signs: np.ndarray) -> float:
        """How much a new column of -1 and +1 lowers the objective for each unit of its weight.

        Where it is not above 0 the problem is solved, as far as the column is the best one for
        `worth`.
        """
        return float(self._fall(worth, signs)) - 1.0

    def add_column(self, signs: np.ndarray) -> None:
        self._signs.append(signs)
        self.weights = np.append(self.weights, 0.0)
        falls = [self._fall(constraint, signs) for constraint in self._constraints]
        self._falls = np.column_stack([self._falls, np.array(falls)]) if falls else self._falls

    def solve(self, max_cuts: int) -> float:
        """Find the weights, with at most `max_cuts` more rankings.

        Returns the true slack of the weights before the last ranking was added.
        """
        if self._constraints:
            self._solve_program()
        for _ in range(max_cuts):
            coefficients, losses = self.oracle(self._scores(self.weights))
            constraint = (coefficients / len(self.queries)).astype(np.float32)
            falls = np.array([self._fall(constraint, signs) for signs in self._signs])
            slack = float(losses.mean() - falls @ self.weights)
            if slack <= self._slack + _TOL and self._constraints:
                break
            self._constraints.append(constraint)
            self._falls = np.vstack([self._falls.reshape(-1, len(falls)), falls])
            self._losses = np.append(self._losses, losses.mean())
            self._idle = np.append(self._idle, 0)
            self._solve_program()
        return slack

    def _fall(self, constraint, signs):
        """How far the score falls by a bit of weight 1, of which equal bits are worth a half."""
        return signs[self.queries] @ (constraint @ signs.astype(constraint.dtype)) / 2

    def _scores(self, weights):
        """Minus the weighted distances of queries and items, but for a constant."""
        signs = np.array(self._signs).reshape(-1, self.n_database)
        return (signs[:, self.queries].T * (weights / 2)) @ signs

    def _solve_program(self):
        n_bits, n_constraints = len(self.weights), len(self._losses)
        found = optimize.linprog(
            np.append(np.ones(n_bits), self.C),
            A_ub=-np.column_stack([self._falls, np.ones(n_constraints)]),
            b_ub=-self._losses,
            method="highs",
        )
        self.weights, self._slack = np.maximum(0, found.x[:n_bits]), found.x[n_bits]
        self.objective = float(found.fun)
        self._multipliers = np.maximum(0, -found.ineqlin.marginals)
        self._idle = np.where(self._multipliers > 0, 0, self._idle + 1)
        kept = self._idle < _PATIENCE
        self._constraints = [part for part, keep in zip(self._constraints, kept) if keep]
        self._losses, self._idle = self._losses[kept], self._idle[kept]
        self._falls, self._multipliers = self._falls[kept], self._multipliers[kept]
