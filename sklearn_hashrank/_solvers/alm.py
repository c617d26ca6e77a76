"""Minimize functions of matrices with orthonormal columns, by augmented Lagrange multipliers."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import linalg

_MEMORY = 0.85  # how much earlier values count in the line search; 0 would force descent
_SUFFICIENT = 1e-4  # share of the linear decrease that a step must reach, as is usual (Armijo)
_PROBES = 5  # power iterations for the size of the gradient, of which the order of magnitude counts
_WINDOW, _STALL = 100, 1e-7  # steps, and the decrease over them that counts as none


@dataclass
class OrthogonalSolution:
    """A matrix A of orthonormal columns, within the tolerance, and how it was found.

    `orthogonality` is the Frobenius norm of ``A.T @ A - I``. The `history` holds for every round of
    gradient steps ``"objective"``, ``"orthogonality"``, ``"gradient"`` (norm of the gradient of the
    augmented Lagrangian, relative to that of the objective) and ``"n_steps"``.
    """

    A: np.ndarray
    objective: float
    orthogonality: float
    n_iter: int
    converged: bool
    history: dict[str, np.ndarray]


def minimize_orthogonal(
    objective: Callable[[np.ndarray], float],
    gradient: Callable[[np.ndarray], np.ndarray],
    start: np.ndarray,
    *,
    penalty: float = 2.0,
    max_iter: int = 100,
    max_steps: int = 2000,
    tol: float = 1e-7,
    verbose: int = 0,
) -> OrthogonalSolution:
    """Minimize a smooth function of A subject to ``A.T @ A = I``.

    The augmented Lagrangian

    ``F(A, L) = objective(A) + tr(L (A.T A - I)) + rho / 2 |A.T A - I|^2``

    is minimized over A by gradient steps of Barzilai-Borwein length with a non-monotone line
    search; then ``L += rho (A.T A - I)``, and again, at most `max_iter` times. Everything is
    measured in units of the gradient of the objective, so that multiplying the objective by a
    constant changes nothing: so is `penalty`, the weight rho. It has converged when the Frobenius
    norm of ``A.T @ A - I`` and the relative norm of the gradient are at most `tol`; of the
    gradient, less is asked where a hundred steps gain nothing.

    L starts as a multiple of the identity, low enough that no column of A can vanish, and the
    first minimization is accurate; where the objective knows only the span of A, this finds the
    span. Later ones are short: once L is no multiple of the identity, rotating A inside its span
    can lower F, and a minimum far from the constraint would be found if the multipliers did
    not follow quickly.

    It starts from the matrix with orthonormal columns that is nearest to `start`, (n, k). Use a
    random one: a stationary point that is no minimum would not be left.
    """
    A = linalg.polar(start)[0]
    scale = _gradient_size(gradient, A)
    if scale == 0:
        record = (float(objective(A)), _residual(A), 0.0, 0)
        return OrthogonalSolution(A, *record[:2], 1, True, _history([record]))
    identity = np.eye(A.shape[1])
    lagrangian = _AugmentedLagrangian(objective, gradient, -scale / 2 * identity, penalty * scale)
    records, drift = [], np.inf  # the drift is bounded once the span is found
    for n_iter in range(1, max_iter + 1):
        A, slope, n_steps, done = _descend(lagrangian, A, tol * scale, scale, max_steps, drift)
        residual = _residual(A)
        if done or drift < np.inf:
            lagrangian.update(A)
            drift = penalty / (2 * scale)
        records.append((float(objective(A)), residual, slope / scale, n_steps))
        if verbose:
            print(
                f"[ALM] {n_iter:3d}: objective {records[-1][0]:.8g}, orthogonality {residual:.2e}, "
                f"gradient {slope / scale:.2e}, {n_steps} steps"
            )
        converged = residual <= tol and drift < np.inf
        if converged:
            break
    return OrthogonalSolution(A, records[-1][0], residual, n_iter, converged, _history(records))


def _residual(A: np.ndarray) -> float:
    return float(np.linalg.norm(A.T @ A - np.eye(A.shape[1])))


def _history(records: list) -> dict[str, np.ndarray]:
    columns = list(zip(*records))
    return {
        "objective": np.array(columns[0]),
        "orthogonality": np.array(columns[1]),
        "gradient": np.array(columns[2]),
        "n_steps": np.array(columns[3], dtype=int),
    }


def _gradient_size(gradient: Callable, A: np.ndarray) -> float:
    """Spectral norm of the gradient where it is large: each probe goes along the last gradient."""
    largest = 0.0
    for _ in range(_PROBES):
        slope = gradient(A)
        size = np.linalg.norm(slope, 2)
        if size == 0:
            break
        largest = max(largest, float(size))
        A = linalg.polar(slope / size)[0]
    return largest


class _AugmentedLagrangian:
    """F for given multipliers L and penalty rho."""

    def __init__(self, objective, gradient, multipliers, rho):
        self.objective, self.gradient = objective, gradient
        self.multipliers, self.rho = multipliers, rho

    def value(self, A):
        gap = A.T @ A - np.eye(A.shape[1])
        return self.objective(A) + np.vdot(self.multipliers + self.rho / 2 * gap, gap)

    def slope(self, A):
        gap = A.T @ A - np.eye(A.shape[1])
        return self.gradient(A) + 2 * A @ (self.multipliers + self.rho * gap)

    def update(self, A):
        gap = A.T @ A - np.eye(A.shape[1])
        self.multipliers = self.multipliers + self.rho * gap


def _descend(lagrangian, A, target, scale, max_steps, drift):
    """Gradient steps until the gradient is at most `target`, or nothing is gained any more.

    Returns A, the norm of the gradient, the number of steps, and whether the end was reached
    within `max_steps` steps and a sum of step lengths of `drift`.
    """
    value, slope = lagrangian.value(A), lagrangian.slope(A)
    norm, length = np.linalg.norm(slope), 1 / (scale + 2 * lagrangian.rho)
    reference, weight, mark = value, 1.0, value
    noise = 1e-14 * scale * A.shape[1]
    for n_steps in range(max_steps):
        if norm <= target or drift <= 0:
            return A, norm, n_steps, norm <= target
        if n_steps % _WINDOW == _WINDOW - 1:
            if mark - reference <= _STALL * scale:
                return A, norm, n_steps, True
            mark = reference
        length = min(length, drift)
        while True:
            trial = A - length * slope
            trial_value = lagrangian.value(trial)
            if trial_value <= reference - _SUFFICIENT * length * norm**2 + noise:
                break
            length /= 4
            if length == 0 or not np.isfinite(norm):
                raise ValueError("the objective, or its gradient, is not finite.")
        drift -= length
        trial_slope = lagrangian.slope(trial)
        length = _step_length(trial - A, trial_slope - slope, n_steps, length)
        A, slope, norm = trial, trial_slope, np.linalg.norm(trial_slope)
        weight, earlier = _MEMORY * weight + 1, _MEMORY * weight
        reference = (earlier * reference + trial_value) / weight
    return A, norm, max_steps, False


def _step_length(moved, turned, n_steps, length):
    """Barzilai and Borwein's long and short step in turns; the last one where curvature fails."""
    curvature = np.vdot(moved, turned)
    if curvature <= 0:
        return 2 * length
    if n_steps % 2:
        return np.vdot(moved, moved) / curvature
    return curvature / np.vdot(turned, turned)
