"""RSHHasher, the estimator of ranking-based supervised hashing."""

import contextlib
import copy
import warnings
from functools import partial
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.random import RandomState
from sklearn.base import _fit_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from ..._features.block_rows import source
from ..._features.moments import Moments
from ..._features.out_of_memory import ManyRows
from ..._solvers.alm import OrthogonalSolution
from ..._utils.threads import one_blas_thread
from ..._utils.types import MatrixLike, Target
from ...affinity._auto import affinity_of_all_pairs, fit_affinity_of_blocks, is_auto
from ...affinity._coercion import as_array
from ...affinity._euclidean import EuclideanAffinity
from ...affinity._neighbors import NeighborAffinity
from ...affinity._protocol import BaseAffinity
from ...base import LinearHasher
from .._supervised import LearnsFromRelevance
from ._margin_problem import _EXACT_FEATURES, MarginProblem, whiten
from ._spread import spread_over_bits
from ._statistics import NothingToLearnError, Sampling, TripletStatistics

# The automatic shrinkage is the root of the features per row, within these bounds. Where all
# directions are whitened, features beyond 500 do not count. Found on validation rows of digits,
# pixels, GIST, deep features and text embeddings, of 1,000 to 15,000 rows, raw and after a PCA:
# nowhere more than .01 of AP below the best of several values.
_SHRINKAGE, _MOST_THAT_COUNT = (0.1, 0.7), 500


class RSHHasher(LearnsFromRelevance, LinearHasher):
    """Hash functions learned from rankings, by listwise triplet supervision.

    For a query q, every pair of database rows of which one is more relevant asks that q agree
    more with that one. Without the signs, the margin of all these triplets together is
    ``tr(A.T B A)``, quadratic in the projection A, and is maximized subject to ``A.T A = I`` [1]_.
    Triplets are counted, never formed, and rows of equal `y` are counted once.

    This class does four things that the paper does not. It whitens the features first where
    relevance depends on labels. It rotates the solution, which is unique up to a rotation only, as
    iterative quantization does. With `y` it gives each direction a weight, which grows with the
    share of its variance that relevance explains. With few classes, B has fewer positive
    eigenvalues than there are bits; the supervised directions are then spread over all bits by a
    tight frame: their weights have orthonormal rows, found as iterative quantization finds a
    rotation. Each raises the quality much. Without them, by ``solver="alm", shrinkage=1,
    rotation=None, spread="eigenvectors"``, the hasher is the paper's; the method ``rsh-paper`` of
    :func:`~sklearn_hashrank.comparison.compare` samples as many rows as the paper, too.

    Parameters
    ----------
    n_bits : int, default=32
        Length of a code. It may exceed the number of features with ``spread="frame"`` only.
    affinity : "auto" or affinity object, default="auto"
        How `y` says what is relevant; see :mod:`sklearn_hashrank.affinity`. ``"auto"`` without `y`
        learns from nine levels of distance between 1 and 90 % of all pairs, and judges by the
        levels of :class:`EuclideanAffinity`.
    n_queries, n_database : int, None or "auto", default="auto"
        How many training rows are sampled, independently, as queries and as the items they rank;
        None takes all. ``"auto"`` takes all where `y` has at most 2,000 different values, whose
        rows are then counted together; else 1,000 queries and 20,000 items.
    solver : {"alm", "eigh"}, default="eigh"
        Augmented Lagrange multipliers as in the paper, or eigenvectors, the optimum in closed form.
        They reach the same optimum; the multipliers take longer, minutes for long codes of
        unlabeled rows.
    rotation : {"itq"} or None, default="itq"
        Rotation of the solution: iterative quantization, or a random one, which is what the
        multipliers find from a random start.
    spread : {"frame", "orthogonal", "eigenvectors"}, default="frame"
        What more bits than supervised directions do. ``"frame"`` weighs the supervised directions
        by what `y` says of each, and spreads them over all bits, together with principal
        directions, of small weight unless `y` is None; `n_bits` may then be any number.
        ``"orthogonal"`` adds orthogonal directions in which the rows vary least.
        ``"eigenvectors"`` adds the next eigenvectors of B as in the paper: random directions where
        B vanishes, then those of its negative eigenvalues.
    shrinkage : float in (0, 1] or "auto", default="auto"
        Features are scaled and then whitened by their covariance, shrunk this much towards a
        multiple of the identity. 1 leaves the features as they are; without a frame the rows of
        `components_` are then orthonormal. ``"auto"`` is the root of the number of features per
        training row, at least 0.1 and at most 0.7; of up to 1,024 features 500 count at most. It is
        1 with :class:`EuclideanAffinity`, because whitening changes distances.
    max_iter : int, default=100
        Largest number of rounds of gradient steps and updates of the multipliers, for
        ``solver="alm"``.
    tol : float, default=1e-7
        Largest Frobenius norm of ``A.T A - I``, and relative norm of the gradient, of a converged
        ``solver="alm"``.
    output : {"bits", "signs", "packed"}, default="bits"
        Format of :meth:`transform`: 0/1 uint8, -1/+1 int8, or packed uint8 bytes.
    random_state : int, RandomState instance or None, default=None
        Samples queries and items, the starts of the solver and of the rotation, and directions
        where B vanishes.
    n_jobs : int or None, default=None
        Threads over queries, in :meth:`score` and where the affinity searches nearest rows. None
        means 1 unless in a :obj:`joblib.parallel_config` context, -1 means all processors. The
        result does not depend on it.
    verbose : int, default=0
        Print a line every round of ``solver="alm"`` where it is above 0.

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
        Frobenius norm of ``A.T A - I``, for the directions before they are spread.
    n_iter_ : int
        Number of rounds of ``solver="alm"``; 1 for ``"eigh"``.
    converged_ : bool
        Whether the solver met `tol`; always True for ``solver="eigh"``.
    history_ : dict of ndarray of shape (`n_iter_`,)
        For each round the ``"objective"`` of the supervised directions, the ``"orthogonality"``,
        the norm of the ``"gradient"`` of the augmented Lagrangian, relative to that of the
        objective, and the ``"n_steps"``, its gradient steps.
    shrinkage_ : float
        The shrinkage of the covariance that was used.
    codes_ : ndarray of shape (n_samples, ceil(n_bits / 8)), uint8
        Packed codes of the training rows; not after :meth:`partial_fit`.
    y_ : array-like
        `y` of the training rows; absent where it was None, and after :meth:`partial_fit`.
    affinity_ : affinity object
        Affinity fitted on the training rows. With ``affinity="auto"`` and no `y`, it has nine
        levels of distance, and the widest level covers 90 % of the pairs. :meth:`score` then uses
        ``EuclideanAffinity()``.
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
        "spread": [StrOptions({"frame", "orthogonal", "eigenvectors"})],
        "shrinkage": [Interval(Real, 0, 1, closed="right"), StrOptions({"auto"})],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
    }

    _statistics: TripletStatistics
    _learns_from_many = "sums and a sample"

    def __init__(
        self,
        n_bits=32,
        *,
        affinity="auto",
        n_queries="auto",
        n_database="auto",
        solver="eigh",
        rotation="itq",
        spread="frame",
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
        self.spread = spread
        self.shrinkage = shrinkage
        self.max_iter = max_iter
        self.tol = tol
        self.output = output
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @_fit_context(prefer_skip_nested_validation=True)
    @one_blas_thread()
    def fit(self, X: MatrixLike, y: Target | None = None) -> "RSHHasher":
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
        many = self._rows_not_in_memory(X, y)
        if many is not None and not (y is None and is_auto(self.affinity)):
            return self._fit_chunks(many)
        X, y = self._validate_training_data(X, y)
        self._fit_affinity_once(X, y)
        random_state = check_random_state(self.random_state)
        sampling = self._plan_sampling(self.affinity_, random_state)
        rows = sampling.affinity.validate(X if y is None else y)
        _, targets = sampling.affinity.of_queries(rows, True, self.n_jobs)
        self._learn(TripletStatistics(sampling, X, targets), random_state)
        self.__dict__.pop("_statistics", None)
        self._keep_database(X, y)
        return self

    @_fit_context(prefer_skip_nested_validation=True)
    @one_blas_thread()
    def partial_fit(self, X: MatrixLike, y: Target | None = None) -> "RSHHasher":
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
                stacklevel=4,
            )
        X, y = self._validate_training_data(X, y, reset=first, is_block=True)
        self._check_n_bits(X.shape[1])
        if first:
            self.affinity_ = learned = self._fit_affinity(X, y)
        else:
            learned = self._statistics.sampling.affinity
        random_state = check_random_state(self.random_state)
        sampling = self._plan_sampling(learned, random_state)
        targets = learned.validate(X if y is None else y)
        if first:
            self._check_can_forget(targets)
            self._forget()
            self._statistics = TripletStatistics(sampling, X, targets)
        else:
            known = self._statistics
            self._statistics = known + TripletStatistics(known.sampling, X, targets, known.n_rows)
        with contextlib.suppress(NothingToLearnError):
            self._learn(self._statistics, random_state)
        return self

    def _check_training_data(self, X: Any, y: Any) -> None:
        self._check_n_bits(X.shape[1])
        super()._check_training_data(X, y)

    def _check_n_bits(self, n_features: int) -> None:
        if self.spread != "frame" and self.n_bits > n_features:
            raise ValueError(
                f"n_bits={self.n_bits} must be at most n_features = {n_features} with "
                f"spread={self.spread!r}: there are no more than n_features orthogonal directions. "
                "Use fewer bits, or spread='frame', which takes any number."
            )

    def _fit_chunks(self, many: ManyRows) -> "RSHHasher":
        """Add up the statistics of the blocks of rows that are not in memory."""
        X, y = many.X, many.y
        self._forget()
        one = np.zeros((1, *X.shape[1:]), X.dtype)
        few, _ = self._validate_training_data(one, None, is_block=True)
        self.fitted_with_y_ = y is not None
        self._check_n_bits(few.shape[1])
        rows = source(X, y if y is None else as_array(y), batch_size="auto")
        first_y = few if y is None else rows.first_y()
        affinity = self._affinity_of(None if y is None else first_y)
        self.affinity_ = fit_affinity_of_blocks(affinity, first_y)
        self._check_can_forget(self.affinity_.validate(first_y))
        random_state = check_random_state(self.random_state)
        statistics_of = partial(
            _chunk_statistics,
            copy.copy(self),
            self._plan_sampling(self.affinity_, random_state),
            X.shape[0],
        )
        self._learn(rows.sum(statistics_of), random_state)
        if isinstance(X, np.memmap):
            self._many_rows = many
            self._keep_database(None, None)
        return self

    def _forget(self) -> None:
        for name in ("components_", "intercept_", "codes_", "y_", "_statistics"):
            self.__dict__.pop(name, None)

    def _check_can_forget(self, targets: Any) -> None:
        if isinstance(self.affinity_, NeighborAffinity):
            raise ValueError(
                "blocks of rows do not tell which rows are the nearest, which NeighborAffinity "
                "asks for. Call fit with all rows in memory."
            )
        for name in ("n_queries", "n_database"):
            if getattr(self, name) is None and self.affinity_.group(targets[:1])[1] is None:
                raise ValueError(
                    f"{name}=None would keep every row, because {type(self.affinity_).__name__} "
                    f"has no rows of equal y to add up. Pass an int, or 'auto', for blocks."
                )

    def _most_compared(self) -> int | None:
        return self._n_compared

    def _affinity_of(self, y: Any) -> Any:
        return affinity_of_all_pairs(self.affinity, y)

    def _plan_sampling(self, affinity: BaseAffinity, random_state: RandomState) -> Sampling:
        # A copy: the numbers that the solver takes do not depend on whether rows are sampled.
        of_rows = copy.deepcopy(random_state)
        seed = int(of_rows.randint(np.iinfo(np.int32).max))
        return Sampling(affinity, self.n_queries, self.n_database, seed)

    def _learn(self, statistics: TripletStatistics, random_state: RandomState) -> None:
        rows, moments = statistics.sample_moments()
        supervision, self._n_compared = statistics.supervise(), statistics.n_compared()
        self.shrinkage_ = self._choose_shrinkage(moments)
        space, rows = whiten(moments, rows, self.shrinkage_, random_state)
        problem = MarginProblem(supervision, space)
        solution = problem.solve(
            self.solver,
            self.n_bits,
            random_state,
            max_iter=self.max_iter,
            tol=self.tol,
            verbose=self.verbose,
        )
        self._set_results(solution)
        directions = problem.supervised_directions(solution)
        weights, self.objective_, self.orthogonality_ = spread_over_bits(
            problem,
            directions,
            self.n_bits,
            rows,
            self.rotation,
            random_state,
            spread=self.spread,
            labeled=self.fitted_with_y_,
        )
        self.components_, self.intercept_ = space.fold(weights, 0.0, statistics.dtype)

    def _choose_shrinkage(self, moments: Moments) -> float:
        if self.shrinkage != "auto":
            return self.shrinkage
        if isinstance(self.affinity_, EuclideanAffinity):
            return 1.0
        n_features = int(np.count_nonzero(moments.varies))
        if len(moments.varies) <= _EXACT_FEATURES:
            n_features = min(n_features, _MOST_THAT_COUNT)
        return float(np.clip(np.sqrt(n_features / moments.n_rows), *_SHRINKAGE))

    def _set_results(self, solution: OrthogonalSolution) -> None:
        self.n_iter_, self.converged_ = solution.n_iter, solution.converged
        self.history_ = {**solution.history, "objective": -solution.history["objective"]}
        if not self.converged_:
            warnings.warn(
                f"solver='alm' did not converge in max_iter={self.max_iter} rounds: "
                f"|A.T A - I| = {solution.orthogonality:.1e}, tol={self.tol:g}. Increase max_iter "
                "or tol, or use solver='eigh', the optimum in closed form.",
                ConvergenceWarning,
                stacklevel=6,
            )


def _chunk_statistics(hasher, sampling, n_total, X, y, start):
    X, y = hasher._validate_training_data(X, y, reset=False, is_block=True)
    targets = sampling.affinity.validate(X if y is None else y)
    return TripletStatistics(sampling, X, targets, start, n_total)
