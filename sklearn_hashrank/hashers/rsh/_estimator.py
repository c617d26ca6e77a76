"""Ranking-based supervised hashing."""

import contextlib
import copy
import warnings
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from numpy.random import RandomState
from scipy import linalg
from sklearn.base import _fit_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from ..._linear.principal import CenteredRows, fix_signs, leading_directions, leading_eigenpairs
from ...affinity import BaseAffinity, EuclideanAffinity
from ...base import LinearHasher, refuse_overflow
from ...histogram import fit_affinity_of_blocks
from ...rows import first_rows, is_dask_array, sum_chunks
from ...solvers.alm import OrthogonalSolution, minimize_orthogonal
from ...solvers.rotation import itq_rotation, random_rotation
from ._statistics import Draws, NothingToLearnError, TripletStatistics
from ._supervision import Supervision

_WHITENED = 1024, 128  # all directions up to so many features, else so many directions
_POWER_ITERATIONS, _ROTATION_ITERATIONS = 2, 50
_NO_EIGENVALUE = 1e-6  # relative to the norm of B
_POOL, _POOL_NUMBERS = 16, 1 << 19  # directions per wanted one, and numbers in all


class RSHHasher(LinearHasher):
    """Hash functions learned from rankings, by listwise triplet supervision.

    For a query q, every pair of database rows of which one is more relevant asks that q agree
    more with that one. Without the signs, the margin of all these triplets together is
    ``tr(A.T B A)``, quadratic in the projection A, and is maximised subject to ``A.T A = I`` [1]_.
    Triplets are counted, never formed, and rows of equal `y` are counted once.

    Beyond the paper, features are whitened first where relevance is a matter of labels, and the
    solution, which is one up to a rotation, is rotated as in iterative quantization. Both help
    much; ``shrinkage=1, rotation=None`` is the paper's method.

    With few classes, B has fewer positive eigenvalues than there are bits. The remaining
    directions then serve only to spread the supervised ones over more bits when rotated: they
    are chosen where B vanishes and the data vary least.

    Parameters
    ----------
    n_bits : int, default=32
        Length of a code, at most the number of features.
    affinity : "auto" or affinity object, default="auto"
        How `y` says what is relevant; see :mod:`sklearn_hashrank.affinity`.
    n_queries, n_database : int, None or "auto", default="auto"
        How many training rows are drawn, independently, as queries and as the items they rank;
        None takes all. ``"auto"`` takes all where `y` has at most 2,000 different values, whose
        rows are then counted together; else 1,000 queries and 20,000 items.
    solver : {"alm", "eigh"}, default="alm"
        Augmented Lagrange multipliers as in the paper, or eigenvectors, the optimum in closed form.
    rotation : {"itq"} or None, default="itq"
        Rotation of the solution: iterative quantization, or a random one.
    shrinkage : float in (0, 1] or "auto", default="auto"
        Features are whitened by their covariance, shrunk this much towards a multiple of the
        identity. 1 leaves them alone, and makes the rows of `components_` orthonormal. ``"auto"``
        is 0.4; and 1 with :class:`EuclideanAffinity`, because whitening changes distances.
    max_iter : int, default=100
        Most rounds of gradient steps and updates of the multipliers, for ``solver="alm"``.
    tol : float, default=1e-7
        Largest Frobenius norm of ``A.T A - I``, and relative norm of the gradient, of a converged
        ``solver="alm"``.
    output : {"bits", "signs", "packed"}, default="bits"
        Format of :meth:`transform`: 0/1 uint8, -1/+1 int8, or packed uint8 bytes.
    random_state : int, RandomState instance or None, default=None
        Draws queries and items, the starts of solver and rotation, and remaining directions.
    n_jobs : int, default=None
        Threads of :meth:`score`.
    verbose : int, default=0
        Whether to print the progress of ``solver="alm"``.

    Attributes
    ----------
    components_ : ndarray of shape (n_bits, n_features)
        Normal vectors of the hyperplanes.
    intercept_ : ndarray of shape (n_bits,)
        Offsets that let every hyperplane pass through the mean.
    objective_ : float
        Mean margin of a triplet, ``q.T A A.T (x_i - x_j)`` with i more relevant than j, in units of
        the mean variance of a feature.
    orthogonality_ : float
        Frobenius norm of ``A.T A - I``.
    n_iter_ : int
        Rounds of ``solver="alm"``; 1 for ``"eigh"``.
    converged_ : bool
    history_ : dict of ndarray of shape (`n_iter_`,)
        ``"objective"`` (of the supervised directions), ``"orthogonality"``, ``"gradient"`` and
        ``"n_steps"`` after every round.
    shrinkage_ : float
        The shrinkage used.
    codes_ : ndarray of shape (n_samples, ceil(n_bits / 8)), uint8
        Packed codes of the training rows; not after :meth:`partial_fit`.
    y_ : array-like
        `y` of the training rows; absent where it was None, and after :meth:`partial_fit`.
    affinity_ : affinity object
        Fitted relevance.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, when `X` has string column names.

    References
    ----------
    .. [1] J. Wang, W. Liu, A. X. Sun, Y.-G. Jiang, "Learning hash codes with listwise supervision",
       ICCV 2013.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn_hashrank import RSHHasher
    >>> X, y = load_digits(return_X_y=True)
    >>> hasher = RSHHasher(n_bits=16, random_state=0).fit(X[:1000], y[:1000])
    >>> round(hasher.score(X[1000:], y[1000:]), 1)
    0.8
    """

    _parameter_constraints: dict = {
        **LinearHasher._parameter_constraints,
        "affinity": [StrOptions({"auto"}), BaseAffinity],
        "n_queries": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"}), None],
        "n_database": [Interval(Integral, 2, None, closed="left"), StrOptions({"auto"}), None],
        "solver": [StrOptions({"alm", "eigh"})],
        "rotation": [StrOptions({"itq"}), None],
        "shrinkage": [Interval(Real, 0, 1, closed="right"), StrOptions({"auto"})],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        n_bits=32,
        *,
        affinity="auto",
        n_queries="auto",
        n_database="auto",
        solver="alm",
        rotation="itq",
        shrinkage="auto",
        max_iter=100,
        tol=1e-7,
        output="bits",
        random_state=None,
        n_jobs=None,
        verbose=0,
    ):
        self.n_bits = n_bits
        self.affinity = affinity
        self.n_queries = n_queries
        self.n_database = n_database
        self.solver = solver
        self.rotation = rotation
        self.shrinkage = shrinkage
        self.max_iter = max_iter
        self.tol = tol
        self.output = output
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> "RSHHasher":
        """Learn from the rankings of the training rows.

        Parameters
        ----------
        X : {array-like, sparse matrix, dask array} of shape (n_samples, n_features)
            Training rows. Of a dask array, every chunk of rows is a task, the result is that of
            the same rows in memory, and neither `codes_` nor `y_` are kept.
        y : array-like with n_samples rows, default=None
            What the affinity compares: class labels, label sets, label paths or vectors. None:
            distances between the rows of `X`. A dask array for a dask array.

        Returns
        -------
        self : RSHHasher
        """
        if is_dask_array(X):
            return self._fit_chunks(X, y)
        X, y = self._validate_training_data(X, y)
        self._check_n_bits(X.shape[1])
        self.affinity_ = self._fit_affinity(X, y)
        random_state = check_random_state(self.random_state)
        targets = self.affinity_.validate(X if y is None else y)
        self._learn(TripletStatistics(self._draw(random_state), X, targets), random_state)
        self.__dict__.pop("_statistics", None)
        self._keep_database(X, y)
        return self

    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any = None) -> "RSHHasher":
        """Learn from some more rows, and from all that came before.

        What is kept of the rows adds up over blocks, so that the result is that of :meth:`fit` on
        all of them but for rounding, for every affinity and an int as `random_state`: the sums of
        rows of equal `y`, and samples of 10,000 rows for covariance and rotation and, where `y` has
        too many values for sums, of `n_queries` and `n_database` rows. Only the affinity is fitted
        once, on the first block; pass a fitted :class:`EuclideanAffinity` where its thresholds
        matter.

        While the rows so far leave nothing to learn, for instance because they are of a single
        class, there are no hyperplanes yet. After :meth:`fit`, which keeps nothing to go on from,
        it starts anew, with a warning.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows of the next block.
        y : array-like with n_samples rows, default=None
            What the affinity compares; None: the rows of `X`.

        Returns
        -------
        self : RSHHasher
        """
        first = not hasattr(self, "_statistics")
        if first and hasattr(self, "components_"):
            warnings.warn(
                "partial_fit starts anew after fit, which keeps no statistics of its rows to go "
                "on from. Call partial_fit for all blocks.",
                UserWarning,
                stacklevel=3,
            )
        X, y = self._validate_training_data(X, y, reset=first)
        self._check_n_bits(X.shape[1])
        if first:
            self.affinity_ = self._fit_affinity(X, y)
        random_state = check_random_state(self.random_state)
        draws = self._draw(random_state)
        targets = self.affinity_.validate(X if y is None else y)
        if first:
            self._check_can_forget(targets)
            self._forget()
            self._statistics = TripletStatistics(draws, X, targets)
        else:
            known = self._statistics
            self._statistics = known + TripletStatistics(known.draws, X, targets, known.n_rows)
        with contextlib.suppress(NothingToLearnError):
            self._learn(self._statistics, random_state)
        return self

    def _fit_chunks(self, X: Any, y: Any) -> "RSHHasher":
        """Add up the statistics of the chunks of a dask array."""
        if np.isnan(X.shape[0]):
            raise ValueError(
                "the chunks of the dask array have unknown sizes; call compute_chunk_sizes() on it."
            )
        self._forget()
        few, _ = self._validate_training_data(X[:1].compute(), None)
        self.fitted_with_y_ = y is not None
        self._check_n_bits(few.shape[1])
        self.affinity_ = fit_affinity_of_blocks(
            self._affinity_of(y), few if y is None else first_rows(y)
        )
        self._check_can_forget(self.affinity_.validate(few if y is None else first_rows(y)))
        random_state = check_random_state(self.random_state)
        shared = (copy.copy(self), self._draw(random_state), X.shape[0])
        self._learn(sum_chunks(_chunk_statistics, shared, X, y), random_state)
        return self

    def _forget(self) -> None:
        """Drop what an earlier fit learned."""
        for name in ("components_", "intercept_", "codes_", "y_", "_statistics"):
            self.__dict__.pop(name, None)

    def _check_can_forget(self, targets: Any) -> None:
        for name in ("n_queries", "n_database"):
            if getattr(self, name) is None and self.affinity_.group(targets[:1])[1] is None:
                raise ValueError(
                    f"{name}=None would keep every row, because {type(self.affinity_).__name__} "
                    f"has no rows of equal y to add up. Pass an int, or 'auto', for blocks."
                )

    def _draw(self, random_state: RandomState) -> Draws:
        of_rows = copy.deepcopy(random_state)  # the solver draws the same, drawn rows or not
        seed = int(of_rows.randint(np.iinfo(np.int32).max))
        return Draws(self.affinity_, self.n_queries, self.n_database, seed)

    def _learn(self, statistics: TripletStatistics, random_state: RandomState) -> None:
        """Set the hyperplanes."""
        mean, dtype = statistics.mean, statistics.dtype
        sample = CenteredRows(statistics.sample.X, mean).made_ready()
        variances = _check_variances(sample, mean, dtype)
        supervision = statistics.supervise()
        whitening = self._whiten(sample, variances, random_state)
        problem = _Problem(supervision, whitening)
        directions = self._solve(problem, random_state)
        n_missing = self.n_bits - directions.shape[1]
        if n_missing:
            quiet = problem.quiet_directions(directions, n_missing, sample, random_state)
            directions = np.hstack([directions, quiet])
        self.objective_ = problem.objective(directions)
        self.orthogonality_ = float(np.linalg.norm(directions.T @ directions - np.eye(self.n_bits)))
        if self.rotation == "itq":
            projections = sample @ whitening.apply(directions)
            rotation, _ = itq_rotation(projections, _ROTATION_ITERATIONS, random_state)
        else:
            rotation = random_rotation(self.n_bits, random_state)
        normals = whitening.apply(directions @ rotation)
        self._set_hyperplanes(normals.T, mean, dtype)

    def _check_n_bits(self, n_features: int) -> None:
        if self.n_bits > n_features:
            raise ValueError(
                f"n_bits={self.n_bits} must be at most n_features = {n_features}: the directions "
                "are orthogonal to each other, and there are no more than n_features orthogonal "
                "ones. Use fewer bits; or more features, for instance by "
                "sklearn.kernel_approximation.Nystroem; or TALRLinear, which takes any number."
            )

    def _whiten(
        self, sample: CenteredRows, variances: np.ndarray, random_state: RandomState
    ) -> "_Whitening":
        self.shrinkage_ = self.shrinkage
        if self.shrinkage == "auto":
            self.shrinkage_ = 1.0 if isinstance(self.affinity_, EuclideanAffinity) else 0.4
        return _whitening(sample, variances, self.shrinkage_, random_state)

    def _solve(self, problem: "_Problem", random_state: RandomState) -> np.ndarray:
        """Directions of positive eigenvalue, at most n_bits, the largest eigenvalue first."""
        n = min(self.n_bits, len(problem.B))
        start = random_state.standard_normal((len(problem.B), n))
        if self.solver == "eigh":
            solution = _closed_form(problem.B, n)
        else:
            loss = _Loss(problem.B)
            solution = minimize_orthogonal(
                loss.value,
                loss.gradient,
                start,
                max_iter=self.max_iter,
                tol=self.tol,
                verbose=self.verbose,
            )
        self.n_iter_, self.converged_ = solution.n_iter, solution.converged
        self.history_ = {**solution.history, "objective": -solution.history["objective"]}
        if not self.converged_:
            warnings.warn(
                f"solver='alm' did not converge in max_iter={self.max_iter} rounds: "
                f"|A.T A - I| = {solution.orthogonality:.1e}, tol={self.tol:g}. Increase max_iter "
                "or tol, or use solver='eigh', the optimum in closed form.",
                ConvergenceWarning,
                stacklevel=5,
            )
        values, vectors = leading_eigenpairs(solution.A.T @ problem.B @ solution.A, n)
        positive = values > problem.no_eigenvalue
        return fix_signs(problem.lift(solution.A @ vectors[:, positive]))


class _Whitening(NamedTuple):
    """The symmetric matrix ``rest I + directions diag(gains - rest) directions.T``."""

    directions: np.ndarray
    gains: np.ndarray
    rest: float
    mean_variance: float

    def apply(self, columns: np.ndarray) -> np.ndarray:
        """Multiply from the left."""
        inner = (self.gains - self.rest)[:, None] * (self.directions.T @ columns)
        return self.rest * columns + self.directions @ inner


def _chunk_statistics(shared, X, y, start):
    hasher, draws, n_total = shared
    X, y = hasher._validate_training_data(X, y, reset=False)
    targets = draws.affinity.validate(X if y is None else y)
    return TripletStatistics(draws, X, targets, start, n_total)


def _check_variances(sample: CenteredRows, mean: np.ndarray, dtype: Any) -> np.ndarray:
    variances = sample.variances()
    refuse_overflow(variances)
    if np.all(variances <= (10 * np.finfo(dtype).eps * np.abs(mean)) ** 2):
        raise NothingToLearnError(
            "there is nothing to learn: all rows of X are equal. "
            f"Got n_samples = {sample.shape[0]} of {sample.shape[1]} features."
        )
    return variances


def _whitening(
    sample: CenteredRows, variances: np.ndarray, shrinkage: float, random_state: RandomState
) -> _Whitening:
    """Inverse square root of the shrunk covariance, exact for few features.

    For many only in the leading principal directions; the others are taken to vary alike.
    """
    n, n_features = sample.shape
    mean_variance = float(variances.mean())
    if shrinkage == 1:
        return _Whitening(np.zeros((n_features, 0)), np.zeros(0), 1.0, mean_variance)
    n_directions = n_features if n_features <= _WHITENED[0] else min(_WHITENED[1], n)
    leading, directions = leading_directions(
        sample, n_directions, random_state, n_iter=_POWER_ITERATIONS
    )
    n_rest = max(1, n_features - n_directions)
    rest = max(0.0, variances.sum() - leading.sum()) / n_rest

    def gain(variance):
        return 1 / np.sqrt((1 - shrinkage) * variance / mean_variance + shrinkage)

    return _Whitening(directions, gain(leading), float(gain(rest)), mean_variance)


class _Problem:
    """``tr(A.T B A)`` for whitened features; B without the part of the space where it vanishes."""

    def __init__(self, supervision: Supervision, whitening: _Whitening):
        self.whitening = whitening
        size = 2 * supervision.n_wins * whitening.mean_variance
        self.wins = whitening.apply(supervision.wins.T) / size
        self.queries = whitening.apply(supervision.queries.T)
        n_features, n_kinds = self.wins.shape
        self.basis = None
        wins, queries = self.wins, self.queries
        if 2 * n_kinds < n_features:
            self.basis = np.linalg.qr(np.hstack([wins, queries]))[0]
            wins, queries = self.basis.T @ wins, self.basis.T @ queries
        B = wins @ queries.T
        self.B = (B + B.T) / 2
        self.no_eigenvalue = _NO_EIGENVALUE * np.linalg.norm(self.B)
        if self.no_eigenvalue == 0:
            raise NothingToLearnError("B = 0: the triplets cancel each other.")

    def lift(self, columns: np.ndarray) -> np.ndarray:
        """From the coordinates of B to those of the whitened features."""
        return columns if self.basis is None else self.basis @ columns

    def objective(self, A: np.ndarray) -> float:
        """Mean margin of a triplet."""
        return float(np.vdot(self.wins.T @ A, self.queries.T @ A))

    def quiet_directions(
        self, taken: np.ndarray, n: int, sample: CenteredRows, random_state: RandomState
    ) -> np.ndarray:
        """Directions where B vanishes and the rows vary least, orthogonal to those taken.

        They come from a random subspace a few times larger than needed, without the leading
        principal directions, where there is room for it. Where B vanishes in too few directions,
        those of its smallest negative eigenvalues follow.
        """
        values, vectors = linalg.eigh(self.B)
        negative = values < -self.no_eigenvalue
        harmful = self.lift(vectors[:, negative][:, ::-1])
        occupied = np.linalg.qr(np.hstack([taken, harmful]))[0]
        n_free = len(occupied) - occupied.shape[1]
        if not n_free:
            return fix_signs(harmful[:, :n])
        n_pool = min(n_free, max(2 * n, min(_POOL * n, _POOL_NUMBERS // len(occupied))))
        loud = self.whitening.directions[:, : n_free - n_pool]
        occupied = np.linalg.qr(np.hstack([occupied, loud]))[0]
        pool = random_state.standard_normal((len(occupied), n_pool))
        for _ in range(2):
            pool -= occupied @ (occupied.T @ pool)
        pool = np.linalg.qr(pool)[0]
        projections = sample @ self.whitening.apply(pool)
        _, vectors = linalg.eigh(projections.T @ projections)
        quiet = fix_signs(pool @ vectors[:, :n])
        return np.hstack([quiet, fix_signs(harmful[:, : n - quiet.shape[1]])])


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
