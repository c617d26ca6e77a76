r"""Cutting planes for a structural SVM over W W^T, with one slack.

The problem is to minimize :math:`\frac{\alpha}{2} |W|^2 + \xi`, where :math:`\xi` is the mean over
queries of :math:`\max_y\, \Delta(y) - \langle W W^T, q\, a(y)^T \rangle`, the violation of the
most violated ranking. Rankings are too many to write down; an oracle finds the most violated of
each query at a given W. One iteration asks it, adds what it found to the working set, and solves
the problem restricted to that set, from the best W so far. When the oracle finds no more than `tol`
above the slack of the working set, no constraint at all is violated by more.

A constraint of the one-slack problem is a batch, one ranking for each query. Since the queries of a
batch choose independently, the working set keeps rankings and not batches: every batch that can be
composed of rankings it holds is a constraint of the restricted problem. That is still one slack,
the same problem and the same optimum, with far more constraints for each call of the oracle.
"""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import linalg

_FEW_FEATURES = 16  # up to here Clarabel's interior points are faster than SCS's splitting

Oracle = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]


class CuttingPlane:
    """Alternate between an oracle of violated constraints and a solver of the restricted problem.

    The `oracle` takes W (n_features, n_columns) and returns directions (n_queries, n_features) and
    losses (n_queries,) of the most violated ranking of each query. The `master` holds the working
    set and solves the restricted problem. W starts from `start`, not 0, which is stationary.

    `weights` is the last W when `converged`: when no ranking violates by more than `tol` above the
    slack of the working set, at a thorough solution of the restricted problem. Else it is the one
    with the lowest `objective` so far, ``alpha / 2 |W|^2`` + the true slack. No W has an objective
    below `lower_bound`. The `history` holds for each iteration the objective, the slack of the
    working set, the violation by which the true slack is above it, and the lower bound.
    """

    def __init__(self, oracle: Oracle, master: Any, start: np.ndarray, tol: float):
        self.oracle, self.master, self.tol = oracle, master, tol
        self.weights = self._current = start
        self.objective, self.lower_bound, self.converged = np.inf, 0.0, False
        self.history: dict[str, list[float]] = {
            "objective": [],
            "slack": [],
            "violation": [],
            "lower_bound": [],
        }
        self._thorough = master.exact

    def step(self) -> bool:
        """Do one iteration; return whether it was the last one needed."""
        current, master = self._current, self.master
        directions, losses = self.oracle(current)
        true_slack = float(master.values(directions, losses, current).mean())
        slack = master.slack(current)
        objective = self._regularizer(current) + true_slack
        accepted = true_slack - slack <= self.tol and master.n_constraints > 0
        self.converged = accepted and self._thorough
        if self.converged or objective < self.objective:
            self.weights, self.objective = current, objective
        if not self.converged:
            self._thorough |= accepted
            master.add(directions, losses)
            self._current, bound = master.solve(self.weights, thorough=self._thorough)
            self.lower_bound = max(self.lower_bound, bound)
        for name, value in (
            ("objective", objective),
            ("slack", slack),
            ("violation", true_slack - slack),
            ("lower_bound", self.lower_bound),
        ):
            self.history[name].append(value)
        return self.converged

    def evaluate(self, weights: np.ndarray) -> float:
        slack = self.master.values(*self.oracle(weights), weights).mean()
        return self._regularizer(weights) + float(slack)

    def _regularizer(self, weights):
        return self.master.alpha / 2 * float((weights**2).sum())


class _Master:
    """What the two solvers of the restricted problem share."""

    exact = False

    def __init__(self, queries: np.ndarray, alpha: float):
        self.queries, self.alpha = queries, alpha

    def values(self, directions: np.ndarray, losses: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Violation of one ranking per query, ``loss - <W W^T, q a^T>``."""
        return losses - ((self.queries @ weights) * (directions @ weights)).sum(axis=1)

    def bound(self, loss: float, combination: np.ndarray) -> float:
        """Lower bound that any convex combination of constraints certifies.

        By duality it is the combination's loss, when the largest eigenvalue of the combination
        of ``q a^T`` is at most ``alpha / 2``; otherwise the combination is scaled until it is.
        """
        n = len(combination)
        symmetric = (combination + combination.T) / 2
        largest = linalg.eigh(symmetric, eigvals_only=True, subset_by_index=(n - 1, n - 1))[0]
        return float(loss * min(1.0, self.alpha / 2 / largest if largest > 0 else 1.0))


class PegasosMaster(_Master):
    """Projected sub-gradient descent on W, over rankings kept query by query.

    Slot 0 of every query is its true ranking. A ranking that attained the maximum in none of the
    last `patience` solutions is idle, and its slot goes to the next new one. A solution takes
    `n_steps` steps, a thorough one five times as many, each over at most `batch_size` queries.
    """

    def __init__(
        self,
        queries: np.ndarray,
        alpha: float,
        random_state: np.random.RandomState,
        *,
        n_steps: int = 100,
        batch_size: int = 500,
        patience: int = 10,
    ):
        super().__init__(queries, alpha)
        self.random_state, self.n_steps = random_state, n_steps
        self.batch_size, self.patience = batch_size, patience
        n, n_features = queries.shape
        self._rows = queries.astype(np.float32)
        self._directions = np.zeros((n, 1, n_features), dtype=np.float32)
        self._losses = np.zeros((n, 1), dtype=np.float32)
        self._idle = np.full((n, 1), -1.0)  # solutions since last used; inf for an empty slot
        # About the largest curvature; at least alpha, so that no step turns W around.
        self._damping = alpha

    @property
    def n_constraints(self) -> int:
        return int(np.isfinite(self._idle[:, 1:]).sum())

    def slack(self, weights: np.ndarray) -> float:
        return float(self._violations(slice(None), weights.astype(np.float32))[0].max(1).mean())

    def add(self, directions: np.ndarray, losses: np.ndarray) -> None:
        """Give a new ranking of each query the place of one that is idle, or a new one."""
        if self._idle.max(axis=1).min() < self.patience:
            self._directions = np.pad(self._directions, ((0, 0), (0, 1), (0, 0)))
            self._losses = np.pad(self._losses, ((0, 0), (0, 1)))
            self._idle = np.pad(self._idle, ((0, 0), (0, 1)), constant_values=np.inf)
        rows, slots = np.arange(len(losses)), self._idle.argmax(axis=1)
        self._directions[rows, slots] = directions
        self._losses[rows, slots] = losses
        self._idle[rows, slots] = 0
        # (G + G.T) W is the gradient of a batch, whose curvature is at most 2 |G|. Twice that
        # leaves room for batches of rankings of several iterations, which may be steeper.
        steepest = float(linalg.norm(self.queries.T @ directions / len(losses), 2))
        self._damping = max(self._damping, 4 * steepest)

    def solve(self, weights: np.ndarray, thorough: bool = False) -> tuple[np.ndarray, float]:
        """Descend from `weights`; return the mean of the last half, and a lower bound."""
        n, n_slots = self._losses.shape
        n_steps = 5 * self.n_steps if thorough else self.n_steps
        radius = np.sqrt(2 / self.alpha)  # beyond it the objective is above that of W = 0
        weights = weights.astype(np.float32)
        total, total_length = np.zeros(weights.shape), 0.0
        used = np.zeros((n, n_slots))
        for step in range(n_steps):
            rows = self._draw(n)
            violations, projected, moved = self._violations(rows, weights)
            worst = violations.argmax(axis=1)
            few = np.arange(len(worst))
            gradient = self._rows[rows].T @ moved[few, worst]
            gradient += self._directions[rows][few, worst].T @ projected
            length = 1 / (self._damping + self.alpha * step)
            weights = np.float32(1 - length * self.alpha) * weights
            weights += np.float32(length / len(worst)) * gradient
            size = np.sqrt((weights**2).sum())
            if size > radius:
                weights *= np.float32(radius / size)
            if step >= n_steps // 2:
                total += length * weights
                total_length += length
                used[np.arange(n)[rows], worst] += length
        self._idle = np.where(used > 0, 0, self._idle + 1)
        self._idle[:, 0] = -1
        used /= np.maximum(used.sum(axis=1, keepdims=True), np.finfo(float).tiny) * n
        return total / total_length, self._certify(used)

    def _draw(self, n):
        if n <= self.batch_size:
            return slice(None)
        return self.random_state.choice(n, self.batch_size, replace=False)

    def _violations(self, rows, weights):
        """Violations (n_rows, n_slots), projected queries and projected directions."""
        directions = self._directions[rows]
        projected = self._rows[rows] @ weights
        moved = directions.reshape(-1, directions.shape[2]) @ weights
        moved = moved.reshape(*directions.shape[:2], -1)
        violations = self._losses[rows] - np.matmul(moved, projected[:, :, None])[:, :, 0]
        return violations, projected, moved

    def _certify(self, multipliers):
        combined = np.einsum("qk,qkd->qd", multipliers, self._directions)
        return self.bound((multipliers * self._losses).sum(), self.queries.T @ combined)


class SemidefiniteMaster(_Master):
    r"""The restricted problem in M = W W^T, where it is convex, by cvxpy.

    Queries are put into `n_blocks` blocks that choose their rankings together, so that constraints
    are few; one block is the classical working set of batches. cvxpy gets the dual: over
    multipliers :math:`\lambda \ge 0` with a sum of at most 1 in each block, maximize :math:`\sum
    \lambda \Delta` subject to :math:`\sum \lambda G \preceq \frac{\alpha}{2} I`. M is the
    multiplier of that constraint. A constraint whose multiplier was zero in the last `patience`
    solutions is dropped. More blocks need fewer calls of the oracle, and make larger programs.
    """

    exact = True

    def __init__(self, queries: np.ndarray, alpha: float, *, n_blocks: int = 30, patience: int = 5):
        super().__init__(queries, alpha)
        n, n_features = queries.shape
        self.n_blocks, self.patience = min(n_blocks, n), patience
        self._block_of_query = np.arange(n) % self.n_blocks
        self._matrices = np.empty((0, n_features, n_features))
        self._losses, self._idle = np.empty(0), np.empty(0)
        self._block = np.empty(0, dtype=np.int64)

    @property
    def n_constraints(self) -> int:
        return len(self._losses)

    def slack(self, weights: np.ndarray) -> float:
        gram = weights @ weights.T
        violations = self._losses - np.tensordot(self._matrices, gram, axes=2)
        slacks = np.zeros(self.n_blocks)
        np.maximum.at(slacks, self._block, violations)
        return float(slacks.sum())

    def add(self, directions: np.ndarray, losses: np.ndarray) -> None:
        """Add one constraint for each block."""
        n = len(losses)
        matrices = []
        for block in range(self.n_blocks):
            rows = self._block_of_query == block
            product = self.queries[rows].T @ directions[rows] / n
            matrices.append((product + product.T) / 2)
        self._matrices = np.concatenate([self._matrices, matrices])
        new = np.bincount(self._block_of_query, weights=losses) / n
        self._losses = np.concatenate([self._losses, new])
        self._block = np.concatenate([self._block, np.arange(self.n_blocks)])
        self._idle = np.concatenate([self._idle, np.zeros(self.n_blocks)])

    def solve(self, weights: np.ndarray, thorough: bool = True) -> tuple[np.ndarray, float]:
        """Return a factor of the optimal M, and a lower bound."""
        multipliers, gram = self._solve()
        used = multipliers > 1e-6 * multipliers.max()
        bound = self.bound(
            (multipliers * self._losses).sum(), np.tensordot(multipliers, self._matrices, axes=1)
        )
        self._idle = np.where(used, 0, self._idle + 1)
        kept = self._idle < self.patience
        self._matrices, self._losses = self._matrices[kept], self._losses[kept]
        self._block, self._idle = self._block[kept], self._idle[kept]
        return factor(gram, len(gram))[0], bound

    def _solve(self):
        import cvxpy

        n_features = self._matrices.shape[1]
        multipliers = cvxpy.Variable(len(self._losses), nonneg=True)
        shares = (self._block == np.arange(self.n_blocks)[:, None]).astype(float)
        combination = self._matrices.reshape(len(self._losses), -1).T @ multipliers
        limited = cvxpy.reshape(
            combination / (self.alpha / 2), (n_features, n_features), order="C"
        ) << np.eye(n_features)
        problem = cvxpy.Problem(
            cvxpy.Maximize(self._losses @ multipliers), [limited, shares @ multipliers <= 1]
        )
        with warnings.catch_warnings():
            # An inaccurate solution is still a solution: its bound and its violation are computed.
            warnings.filterwarnings("ignore", "Solution may be inaccurate", UserWarning)
            if n_features > _FEW_FEATURES and cvxpy.SCS in cvxpy.installed_solvers():
                problem.solve(solver=cvxpy.SCS, eps_abs=1e-6, eps_rel=1e-6)
            else:
                problem.solve(solver=cvxpy.CLARABEL)
        values = np.maximum(np.asarray(multipliers.value), 0)
        values /= np.maximum(shares @ values, 1)[self._block]
        return values, limited.dual_value / (self.alpha / 2)


MASTERS = {"pegasos": PegasosMaster, "sdp": SemidefiniteMaster}


def factor(gram: np.ndarray, n_columns: int) -> tuple[np.ndarray, float]:
    """Return W with W W^T nearest to a matrix, and how much of its trace is lost."""
    values, vectors = linalg.eigh((gram + gram.T) / 2)
    values = np.maximum(values[::-1], 0)
    weights = vectors[:, ::-1][:, :n_columns] * np.sqrt(values[:n_columns])
    return weights, float(values[n_columns:].sum())
