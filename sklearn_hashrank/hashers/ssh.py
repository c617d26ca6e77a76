"""Semi-supervised hashing, from labeled pairs and the variance of all rows."""

from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.random import RandomState
from scipy.sparse.linalg import LinearOperator, eigsh
from sklearn.base import _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from .._features.centered_rows import CenteredRows
from .._features.principal_directions import fix_signs, leading_eigenpairs
from .._features.space import FeatureSpace
from .._utils.threads import one_blas_thread
from .._utils.types import MatrixLike, Target
from ..affinity._auto import is_auto
from ..affinity._labels import LabelAffinity
from ..affinity._protocol import BaseAffinity
from ..base import LinearHasher
from ._similar_pairs import are_relevant
from ._supervised import LearnsFromRelevance

__all__ = ["SSHHasher"]

_UNLABELED = -1  # as in scikit-learn's semi-supervised methods
_FEATURES_OF_A_COVARIANCE = 1024  # up to so many, the covariance is formed
_FEATURES_OF_A_MATRIX = 128  # up to so many, all products at once are faster than one by one
_ROWS_AT_A_TIME = 64  # of the matrix of pairs; they stay in the caches


class SSHHasher(LearnsFromRelevance, LinearHasher):
    """Semi-supervised hashing: directions that separate labeled pairs, and along which rows vary.

    A direction w should give relevant pairs of labeled rows projections of one sign, and other
    pairs those of different signs, and it should vary over all rows, labeled or not. It is the
    leading eigenvector of ``X.T X / n + eta * X_l.T S X_l / n_l``, where S holds +1 for relevant
    pairs and -1 for others.

    Directions are learned in turn. The pairs that a direction gets wrong weigh more for the next
    one, and the variance along it is taken away.

    With `y`, features of mixed units are brought to one unit first, see :ref:`mixed_units`.

    Parameters
    ----------
    n_bits : int, default=32
        Length of a code; with ``orthogonal=True`` at most the number of features.
    affinity : "auto" or affinity object, default="auto"
        How `y` says what is relevant, which is a level above 0; see
        :mod:`sklearn_hashrank.affinity`.
    n_labeled : int, default=1000
        Number of labeled training rows that are sampled to compare their pairs. Sequential learning
        stores one value for each pair.
    eta : float, default=0.2
        Weight of the labeled pairs relative to the variance of all rows.
    step_size : float or "raw", default=1.0
        How much the pairs that a direction gets wrong weigh more, in units of the mean squared
        length of the centered rows. ``"raw"``: that mean itself, which makes the updates those of
        the authors' code on features that are centered only. See :ref:`ssh` for which is better.
        Without effect if ``orthogonal=True``.
    orthogonal : bool, default=False
        Whether to take the leading eigenvectors of the first matrix, all at once. Later ones
        carry little, and long codes are worse.
    output : {"bits", "signs", "packed"}, default="bits"
        Format of :meth:`transform`: 0/1 uint8, -1/+1 int8, or packed uint8 bytes.
    random_state : int, RandomState instance or None, default=None
        Samples the labeled rows, and starts the search for eigenvectors of many features.

    Attributes
    ----------
    components_ : ndarray of shape (n_bits, n_features)
        Learned directions, the normal vectors of the hyperplanes.
    intercept_ : ndarray of shape (n_bits,)
        Offsets that let every hyperplane pass through the mean.
    codes_ : ndarray of shape (n_labeled_rows, ceil(n_bits / 8)), uint8
        Packed codes of the training rows that have labels.
    y_ : array-like
        `y` of the training rows that have labels; absent where it was None.
    affinity_ : affinity object
        The affinity that was learned from, fitted on the training rows.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, when `X` has string column names.

    Notes
    -----
    A class label of -1 marks a row without a label, as in :mod:`sklearn.semi_supervised`. Without
    `y`, distances between the rows say what is relevant.

    The authors' code has no step size, so that its updates depend on the unit of the features. Here
    the features are centered, and all divided by the root mean square of the rows' lengths.

    References
    ----------
    J. Wang, S. Kumar, S.-F. Chang, "Sequential projection learning for hashing with compact codes",
    ICML 2010; "Semi-supervised hashing for scalable image retrieval", CVPR 2010.

    Examples
    --------
    Labels of one row in three:

    >>> import numpy as np
    >>> from sklearn.datasets import load_digits
    >>> from sklearn_hashrank import SSHHasher
    >>> X, y = load_digits(return_X_y=True)
    >>> some = np.where(np.arange(len(y)) % 3 == 0, y, -1)
    >>> hasher = SSHHasher(n_bits=16, random_state=0).fit(X, some)
    >>> len(hasher.codes_)
    599
    >>> round(hasher.score(X, y), 2)
    0.53
    """

    _is_graded = False
    _parameter_constraints: dict = {
        **LinearHasher._parameter_constraints,
        "affinity": [StrOptions({"auto"}), BaseAffinity],
        "n_labeled": [Interval(Integral, 2, None, closed="left")],
        "eta": [Interval(Real, 0, None, closed="left")],
        "step_size": [Interval(Real, 0, None, closed="neither"), StrOptions({"raw"})],
        "orthogonal": ["boolean"],
        "random_state": ["random_state"],
    }

    _sampled_by = "n_labeled"

    def __init__(
        self,
        n_bits=32,
        *,
        affinity="auto",
        n_labeled=1000,
        eta=0.2,
        step_size=1.0,
        orthogonal=False,
        output="bits",
        random_state=None,
    ):
        self.n_bits = n_bits
        self.affinity = affinity
        self.n_labeled = n_labeled
        self.eta = eta
        self.step_size = step_size
        self.orthogonal = orthogonal
        self.output = output
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    @one_blas_thread()
    def fit(self, X: MatrixLike, y: Target | None = None) -> "SSHHasher":
        """Learn from all rows, and from the pairs of those that have labels.

        Parameters
        ----------
        X : {array-like, sparse matrix, dask array} of shape (n_samples, n_features)
            Training rows.
        y : array-like with n_samples rows, default=None
            What the affinity compares: class labels, -1 where a row has none, label sets, label
            paths or vectors. None: distances between the rows of `X`.

        Returns
        -------
        self : SSHHasher
        """
        X, y = self._validate_training_data(X, y)
        labeled = self._labeled_rows(y, X.shape[0])
        X_labeled, y_labeled = _take(X, labeled), _take(y, labeled)
        self._fit_affinity_once(X_labeled, y_labeled)
        random_state = check_random_state(self.random_state)
        sample = np.sort(random_state.permutation(X_labeled.shape[0])[: self.n_labeled])
        compared = X_labeled if y is None else y_labeled
        targets = self.affinity_.validate(compared[sample])
        is_raw = isinstance(self.step_size, str)
        space = FeatureSpace.unit(X, mixed_units=y is not None and not is_raw)
        problem = (
            space.rows(X),
            space.rows(X_labeled[sample]).made_ready(),
            SignedSimilarity(self.affinity_, targets),
            self.n_bits,
            self.eta,
            random_state,
        )
        if self.orthogonal:
            directions = orthogonal_directions(*problem)
        else:
            step_size = _mean_square(space) if is_raw else self.step_size
            directions = sequential_directions(*problem, step_size)
        self.components_, self.intercept_ = space.fold(directions, 0.0, X.dtype)
        self._keep_labeled(X_labeled, y_labeled)
        return self

    def _keep_labeled(self, X: Any, y: Any) -> None:
        self._keep_database(X, y)
        if y is not None and hasattr(self, "y_") and self.y_ is not y:  # those of a memmap: all
            labeled = self._labeled_rows(self.y_, len(self.codes_))
            self.codes_, self.y_ = _take(self.codes_, labeled), _take(self.y_, labeled)

    def _check_training_data(self, X: Any, y: Any) -> None:
        if self.orthogonal and self.n_bits > X.shape[1]:
            raise ValueError(
                f"n_bits={self.n_bits} must be at most n_features = {X.shape[1]}, as there are no "
                "more orthogonal directions. Use fewer bits, or orthogonal=False."
            )
        labeled = self._labeled_rows(y, X.shape[0])
        super()._check_training_data(_take(X, labeled), _take(y, labeled))

    def _labeled_rows(self, y: Any, n_rows: int) -> np.ndarray | None:
        is_label = is_auto(self.affinity) or isinstance(self.affinity, LabelAffinity)
        is_flat = isinstance(y, np.ndarray) and y.size == n_rows and y.dtype.kind in "if"
        if not is_label or not is_flat:
            return None
        has_label = y.ravel() != _UNLABELED
        if has_label.all():
            return None
        if len(np.unique(y.ravel()[has_label])) < 2:
            raise ValueError(
                "y must hold two classes or more beside -1, which marks rows without a label. "
                f"Got {np.unique(y).tolist()}. Number the classes from 0."
            )
        return np.flatnonzero(has_label)


def _mean_square(space: FeatureSpace) -> float:
    """Mean squared length of the centered rows, which the one scale of the space makes 1."""
    scale = 0.0 if space.scale is None else float(space.scale.max())
    return 1 / scale**2 if scale > 0 else 1.0


def _take(rows: Any, numbers: np.ndarray | None) -> Any:
    return rows if rows is None or numbers is None else rows[numbers]


class SignedSimilarity:
    """S: +1 for relevant pairs of labeled rows, -1 for all others, 0 for a row and itself.

    Rows of equal `y` are alike, so that products take sums over such rows and no matrix of pairs.
    """

    def __init__(self, affinity: BaseAffinity, targets: Any):
        groups, index = affinity.group(targets)
        self.signs = np.where(are_relevant(affinity, groups, groups), 1.0, -1.0)
        self.index = np.arange(groups.shape[0]) if index is None else index

    def __matmul__(self, V: np.ndarray) -> np.ndarray:
        sums = np.zeros((len(self.signs), V.shape[1]))
        np.add.at(sums, self.index, V)
        itself = self.signs.diagonal()[self.index]
        return (self.signs @ sums)[self.index] - itself[:, None] * V

    def to_dense(self) -> np.ndarray:
        """The matrix, (n_rows, n_rows)."""
        dense = self.signs[np.ix_(self.index, self.index)]
        np.fill_diagonal(dense, 0)
        return dense


def orthogonal_directions(
    rows: CenteredRows,
    labeled: CenteredRows,
    similarity: SignedSimilarity,
    n: int,
    eta: float,
    random_state: RandomState,
) -> np.ndarray:
    """Leading `n` eigenvectors of ``X.T X / n + eta * X_l.T S X_l / n_l``, 0 where no row varies.

    `rows` is X, `labeled` X_l and `similarity` S.
    """
    directions = _AdjustedCovariance(rows, labeled, similarity, eta).leading_eigenvectors(
        n, random_state
    )
    return _where_rows_vary(directions, rows)


def sequential_directions(
    rows: CenteredRows,
    labeled: CenteredRows,
    similarity: SignedSimilarity,
    n: int,
    eta: float,
    random_state: RandomState,
    step_size: float,
) -> np.ndarray:
    """Learn `n` unit vectors in turn, each from what the ones before it got wrong.

    `rows` is X, `labeled` X_l and `similarity` the S of the first one. A direction is 0 where no
    row varies any more.
    """
    pairs = similarity.to_dense()
    matrix = _AdjustedCovariance(rows, labeled, pairs, eta)
    directions = np.empty((rows.shape[1], n))
    for bit in range(n):
        direction = matrix.leading_eigenvectors(1, random_state)
        directions[:, bit] = direction.ravel()
        _correct(pairs, (labeled @ direction).ravel() * np.sqrt(step_size))
        matrix.remove(direction)
    return _where_rows_vary(directions, rows)


def _where_rows_vary(directions, rows):
    """Set the directions to 0 in which no row varies: rounding would choose their bits."""
    lengths = np.linalg.norm(rows @ directions, axis=0)
    least = max(rows.shape) * np.finfo(float).eps * lengths.max()
    return directions * (lengths > least)


def _correct(pairs, projections):
    """S_ij -= p_i p_j for the pairs whose sign p_i p_j gets wrong."""
    for start in range(0, len(pairs), _ROWS_AT_A_TIME):
        part = pairs[start : start + _ROWS_AT_A_TIME]
        products = np.outer(projections[start : start + _ROWS_AT_A_TIME], projections)
        products[part * products >= 0] = 0
        part -= products


class _AdjustedCovariance:
    """The matrix whose eigenvectors are the directions; the covariance of many features is implied.

    S may change in place between calls.
    """

    def __init__(self, rows, labeled, similarity, eta):
        self.rows, self.labeled, self.similarity = rows, labeled, similarity
        self.factor = eta / labeled.shape[0]
        self.removed: list[np.ndarray] = []
        self.covariance = None
        if rows.shape[1] <= _FEATURES_OF_A_COVARIANCE:
            self.covariance = rows.covariance()
        else:
            rows.variances()  # refuses what squares cannot be taken of

    def remove(self, direction):
        """Take the variance along a direction away from the rows: X -= X w w.T."""
        if self.covariance is None:
            self.removed.append(direction)
        else:
            self.covariance -= direction @ (direction.T @ self.covariance)
            self.covariance -= (self.covariance @ direction) @ direction.T

    def leading_eigenvectors(self, n, random_state):
        n_features = self.rows.shape[1]
        if n_features <= _FEATURES_OF_A_MATRIX or n > n_features // 4:
            return leading_eigenpairs(self._multiply(np.eye(n_features)), n)[1]
        operator = LinearOperator((n_features,) * 2, matvec=self._multiply, dtype=float)
        start = random_state.standard_normal(n_features)
        if not np.any(self._multiply(start)):  # all rows are equal
            return np.linalg.qr(start[:, None])[0].repeat(n, axis=1)
        values, vectors = eigsh(operator, k=n, which="LA", v0=start)
        return fix_signs(vectors[:, np.argsort(-values)])

    def _multiply(self, V):
        V = V.reshape(self.rows.shape[1], -1)
        of_labels = self.labeled.T @ (self.similarity @ (self.labeled @ V))
        return self._multiply_covariance(V) + self.factor * of_labels

    def _multiply_covariance(self, V):
        if self.covariance is not None:
            return self.covariance @ V
        for direction in reversed(self.removed):
            V = V - direction @ (direction.T @ V)
        V = self.rows.T @ (self.rows @ V) / self.rows.shape[0]
        for direction in self.removed:
            V -= direction @ (direction.T @ V)
        return V
