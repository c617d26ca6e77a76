"""How the supervised directions of RSH become the weights of all bits."""

import numpy as np
from numpy.random import RandomState

from ..._features.centered_rows import CenteredRows
from ..._solvers.rotation import random_rotation, rotate_to_signs
from ._margin_problem import Directions, MarginProblem

_ROTATION_ITERATIONS = 50  # as of ITQHasher
# Deviation of all further directions together, relative to a supervised one: this number, divided
# by the number of supervised directions where that exceeds two. With two or three classes .25 to
# .5 raise AP by .01 to .08. With ten classes .25 loses up to .003 at 12 bits.
_UNSUPERVISED = 0.5


def spread_over_bits(
    problem: MarginProblem,
    directions: np.ndarray,
    n_bits: int,
    rows: CenteredRows,
    rotation: str | None,
    random_state: RandomState,
    *,
    spread: str,
    labeled: bool,
) -> tuple[np.ndarray, float, float]:
    """Make `n_bits` bits of at most as many supervised directions, and rotate all together.

    With labels and ``spread="frame"`` directions weigh as the root of the share of their variance
    that relevance explains, and those without one are left out.
    ``spread="frame"`` adds principal directions of small weight, as many as are missing, and turns
    all into a tight frame of `n_bits` vectors. ``"orthogonal"`` fills up with low-variance
    directions, ``"eigenvectors"`` with the next eigenvectors of B. `labeled` says whether
    something else than the rows supervised: without it the principal directions say no less than
    the supervised ones, and ``"frame"`` gives them the same weight.

    Returns the weights (n_inside, n_bits), and how well they solve the problem before they are
    rotated: the mean margin of a triplet, and the Frobenius norm of ``A.T A - I``.
    """
    found = problem.projected(directions, rows)
    weights = np.ones(found.n)
    if labeled and spread == "frame":
        shares = problem.explained_shares(found)
        found, shares = found.take(shares > 0), shares[shares > 0]
        weights = np.sqrt(shares / shares.max(initial=0))
    solution = found.inside
    n_missing = n_bits - found.n
    if n_missing and spread == "frame":
        further = problem.principal_directions(found, n_missing, rows, random_state)
        weight = _unsupervised_weight(found, further) if labeled and found.n else 1.0
        weights = np.append(weights, np.full(further.n, weight))
        found = found.joined(further)
    elif n_missing:
        if spread == "orthogonal":
            more = problem.low_variance_directions(solution, n_missing, rows, random_state)
        else:
            more = problem.next_eigenvectors(solution, n_missing, random_state)
        weights = np.append(weights, np.ones(more.shape[1]))
        found = found.joined(problem.projected(more, rows))
        solution = found.inside
    turn = random_rotation(n_bits, random_state)[: found.n]
    if rotation == "itq":
        turn, _ = rotate_to_signs(found.projections * weights, turn, _ROTATION_ITERATIONS)
    orthogonality = np.linalg.norm(solution.T @ solution - np.eye(solution.shape[1]))
    weights = found.inside * weights @ turn
    return weights, problem.objective(solution), float(orthogonality)


def _unsupervised_weight(supervised: Directions, further: Directions) -> float:
    """Weight that gives further directions a share of the deviation of a supervised one."""
    total = further.mean_squares().sum()
    share = _UNSUPERVISED / max(2, supervised.n)
    return share * np.sqrt(supervised.mean_squares().mean() / total) if total else 0.0
