"""The optimization problem of RSH and its solution: directions that rankings ask for.

`MarginProblem` maximizes ``tr(A.T B A)`` over orthonormal columns of A, in the features of
`whiten`. Its solution has as many supervised directions as B has positive eigenvalues.
"""

from typing import NamedTuple

import numpy as np
from numpy.random import RandomState
from scipy import linalg

from ..._features.centered_rows import CenteredRows
from ..._features.moments import Moments
from ..._features.principal_directions import fix_signs, leading_directions, leading_eigenpairs
from ..._features.space import FeatureSpace
from ..._solvers.alm import OrthogonalSolution, minimize_orthogonal
from ._statistics import NothingToLearnError
from ._supervision import Supervision

# Features are whitened in all directions, or in so many, found in so many power iterations.
_EXACT_FEATURES, _DIRECTIONS, _POWER_ITERATIONS = 1024, 128, 2
_NO_EIGENVALUE = 1e-6  # relative to the norm of B
_NO_DIRECTION = 1e-6  # length of what is left of a unit vector, and relative deviation
_POOL, _POOL_NUMBERS = 16, 1 << 19  # directions per wanted one, and numbers in all


def whiten(
    moments: Moments, rows: CenteredRows, shrinkage: float, random_state: RandomState
) -> tuple[FeatureSpace, CenteredRows]:
    """Space in which the shrunk covariance of raw rows is a multiple of the identity.

    Also returns the rows scaled as the space does, before whitening.
    """
    space = FeatureSpace(moments.mean) if shrinkage == 1 else FeatureSpace.of(moments)
    rows = rows.scaled(space.scale)
    space = space.whitened(
        rows,
        moments.variance if space.scale is None else moments.variance * space.scale**2,
        shrinkage,
        random_state,
        exact_features=_EXACT_FEATURES,
        n_directions=_DIRECTIONS,
        n_iter=_POWER_ITERATIONS,
    )
    return space, rows


class Directions(NamedTuple):
    """Directions inside, (n_inside, n), and projections of the rows on them, (n_rows, n).

    The rows are those before whitening. A fit projects them once.
    """

    inside: np.ndarray
    projections: np.ndarray

    @property
    def n(self) -> int:
        return self.inside.shape[1]

    def take(self, some: np.ndarray) -> "Directions":
        return Directions(self.inside[:, some], self.projections[:, some])

    def joined(self, other: "Directions") -> "Directions":
        return Directions(*map(np.hstack, zip(self, other, strict=True)))

    def mean_squares(self) -> np.ndarray:
        return np.mean(self.projections**2, axis=0)


class MarginProblem:
    """Maximize ``tr(A.T B A)``, the mean margin of a triplet, over orthonormal columns of A.

    `supervision` holds the factors of B for raw features; `space` has whitened features, and their
    mean variance before whitening is the unit of the margin. Where the factors span few directions,
    `B` is without the space where it vanishes. Eigenvalues up to `no_eigenvalue` are rounding
    error.
    """

    def __init__(self, supervision: Supervision, space: FeatureSpace):
        assert space.basis is not None
        self.space, mean_variance = space, space.mean_variance
        self._principal = space.basis.directions
        # A power of two, so that divisions by it are exact, and no product can overflow.
        unit = 2.0 ** np.round(np.log2(np.sqrt(mean_variance)))
        size = 2 * supervision.n_wins * (mean_variance / unit / unit)
        self.wins = space.lift(_scaled(supervision.wins, space, unit).T) / size
        self.queries = space.lift(_scaled(supervision.queries, space, unit).T)
        n_features, n_groups = self.wins.shape
        self.basis = None
        wins, queries = self.wins, self.queries
        if 2 * n_groups < n_features:
            self.basis = np.linalg.qr(np.hstack([wins, queries]))[0]
            wins, queries = self.basis.T @ wins, self.basis.T @ queries
        B = wins @ queries.T
        self.B = (B + B.T) / 2
        self.no_eigenvalue = _NO_EIGENVALUE * np.linalg.norm(self.B)
        if self.no_eigenvalue == 0:
            raise NothingToLearnError("B = 0: the triplets cancel each other.")
        self._self_share = supervision.self_weight / (2 * supervision.n_wins)

    def solve(
        self,
        solver: str,
        n_bits: int,
        random_state: RandomState,
        *,
        max_iter: int,
        tol: float,
        verbose: int = 0,
    ) -> OrthogonalSolution:
        """Maximize over at most `n_bits` columns, by augmented multipliers or in closed form.

        The solution minimizes ``-tr(A.T B A)``, in the coordinates of B. `max_iter`, `tol` and
        `verbose` are for ``solver="alm"``.
        """
        n = min(n_bits, len(self.B))
        start = random_state.standard_normal((len(self.B), n))
        if solver == "eigh":
            return _closed_form(self.B, n)
        loss = _Loss(self.B)
        return minimize_orthogonal(
            loss.value, loss.gradient, start, max_iter=max_iter, tol=tol, verbose=verbose
        )

    def supervised_directions(self, solution: OrthogonalSolution) -> np.ndarray:
        """Directions of positive eigenvalue inside, the largest first, (n_inside, at most n)."""
        A = solution.A
        values, vectors = leading_eigenpairs(A.T @ self.B @ A, A.shape[1])
        return fix_signs(self.lift(A @ vectors[:, values > self.no_eigenvalue]))

    def projected(self, inside: np.ndarray, rows: CenteredRows) -> Directions:
        return Directions(inside, rows @ self.space.lift(inside))

    def explained_shares(self, directions: Directions) -> np.ndarray:
        """Share of the variance of each direction that relevance explains.

        For class labels this is the variance between the classes. A query that is ranked among the
        items agrees with itself in every direction, whatever the labels are; that is taken away, so
        that the shares of random labels are about zero.
        """
        inside = directions.inside
        margins = np.sum((self.wins.T @ inside) * (self.queries.T @ inside), axis=0)
        unit = self.space.mean_variance
        return margins * (unit / directions.mean_squares()) - self._self_share

    def lift(self, columns: np.ndarray) -> np.ndarray:
        """From the coordinates of B to those of the whitened features."""
        return columns if self.basis is None else self.basis @ columns

    def objective(self, A: np.ndarray) -> float:
        return float(np.vdot(self.wins.T @ A, self.queries.T @ A))

    def principal_directions(
        self, taken: Directions, n: int, rows: CenteredRows, random_state: RandomState
    ) -> Directions:
        """At most `n` directions in which the rows inside vary most, orthogonal to those taken.

        Whitening keeps the order of the principal directions. So they are among the leading ones of
        `rows`, which are those of the space before it. There are fewer where the rows vary in
        fewer.
        """
        n_candidates = min(n + taken.n, len(taken.inside), rows.shape[0])
        candidates = self._principal[:, :n_candidates]
        if candidates.shape[1] < n_candidates:
            _, candidates = leading_directions(rows, n_candidates, random_state)
        for _ in range(2):  # the second time removes what rounding left
            candidates = candidates - taken.inside @ (taken.inside.T @ candidates)
        basis, sizes, _ = np.linalg.svd(candidates, full_matrices=False)
        found = self.projected(basis[:, sizes > _NO_DIRECTION], rows)
        if not found.n:
            return found
        variances, vectors = linalg.eigh(found.projections.T @ found.projections)
        # Where all that varies is taken, what is left has variances of rounding.
        of_taken = np.sum(taken.projections**2, axis=0)
        varies = variances[::-1] > _NO_DIRECTION**2 * max(variances[-1], of_taken.max(initial=0))
        vectors = vectors[:, ::-1][:, varies][:, :n]
        directions = fix_signs(found.inside @ vectors)
        turn = found.inside.T @ directions  # the vectors with the signs of the directions
        return Directions(directions, found.projections @ turn)

    def next_eigenvectors(self, taken: np.ndarray, n: int, random_state: RandomState) -> np.ndarray:
        """Find the `n` eigenvectors of B that follow the supervised directions, which are taken.

        Where B vanishes, every basis is one of eigenvectors, and a random one is taken. Those of
        the negative eigenvalues follow, the smallest in absolute value first.
        """
        harmful = self._harmful_directions()
        occupied = np.hstack([taken, harmful])
        free = self._free_directions(occupied, n, random_state)
        return np.hstack([free, harmful[:, : n - free.shape[1]]])

    def low_variance_directions(
        self, taken: np.ndarray, n: int, rows: CenteredRows, random_state: RandomState
    ) -> np.ndarray:
        """Find `n` directions where B vanishes and the rows vary least, orthogonal to those taken.

        They come from a random subspace a few times larger than needed, without the leading
        principal directions, where there is room for it. Where B vanishes in too few directions,
        those of its smallest negative eigenvalues follow. `rows` are those before whitening.
        """
        harmful = self._harmful_directions()
        occupied = np.linalg.qr(np.hstack([taken, harmful]))[0]
        n_free = len(occupied) - occupied.shape[1]
        if not n_free:
            return harmful[:, :n]
        n_pool = min(n_free, max(2 * n, min(_POOL * n, _POOL_NUMBERS // len(occupied))))
        principal = self._principal[:, : n_free - n_pool]
        pool = self._free_directions(np.hstack([occupied, principal]), n_pool, random_state)
        projections = rows @ self.space.lift(pool)
        _, vectors = linalg.eigh(projections.T @ projections)
        low = fix_signs(pool @ vectors[:, :n])
        return np.hstack([low, harmful[:, : n - low.shape[1]]])

    def _harmful_directions(self) -> np.ndarray:
        """Eigenvectors of negative eigenvalues inside, the smallest in absolute value first."""
        values, vectors = linalg.eigh(self.B)
        negative = values < -self.no_eigenvalue
        return fix_signs(self.lift(vectors[:, negative][:, ::-1]))

    @staticmethod
    def _free_directions(occupied: np.ndarray, n: int, random_state: RandomState) -> np.ndarray:
        """At most `n` random orthonormal directions, orthogonal to those occupied."""
        occupied = np.linalg.qr(occupied)[0]
        n_free = len(occupied) - occupied.shape[1]
        free = random_state.standard_normal((len(occupied), min(n, n_free)))
        for _ in range(2):  # the second time removes what rounding left
            free -= occupied @ (occupied.T @ free)
        return np.linalg.qr(free)[0]


class _Loss:
    """``-tr(A.T B A)`` and its gradient, which share a product."""

    def __init__(self, B: np.ndarray):
        self.B = B
        self.at: np.ndarray | None = None

    def value(self, A: np.ndarray) -> float:
        return -float(np.vdot(A, self._product(A)))

    def gradient(self, A: np.ndarray) -> np.ndarray:
        return -2 * self._product(A)

    def _product(self, A: np.ndarray) -> np.ndarray:
        if A is not self.at:
            self.at, self.product = A, self.B @ A
        return self.product


def _closed_form(B: np.ndarray, n: int) -> OrthogonalSolution:
    values, vectors = leading_eigenpairs(B, n)
    orthogonality = float(np.linalg.norm(vectors.T @ vectors - np.eye(n)))
    history = {
        "objective": np.array([-values.sum()]),
        "orthogonality": np.array([orthogonality]),
        "gradient": np.zeros(1),
        "n_steps": np.zeros(1, dtype=int),
    }
    return OrthogonalSolution(vectors, -values.sum(), orthogonality, 1, True, history)


def _scaled(sums, space, unit):
    """Sums of centered raw rows as sums of rows of the space, in a unit."""
    return sums / unit if space.scale is None else sums * space.scale / unit
