"""Codes of the classes that a classifier predicts: the baseline of hashing with labels."""

import warnings
from numbers import Real
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from .._features.centered_rows import dense_if_small
from .._features.moments import Moments
from .._features.space import FeatureSpace
from .._utils.threads import one_blas_thread
from .._utils.types import MatrixLike, Target
from ..affinity._auto import affinity_of_all
from ..affinity._labels import LabelAffinity
from ..affinity._learnable import check_can_learn
from ..base import BaseHasher
from ..codes._class_codes import hadamard_codes

__all__ = ["ClassifierHasher"]

# Values of C to choose from, the strongest regularization first. Weak ones take longest to fit.
_STRENGTHS = (0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 1.0)
_WEAKER = (10.0, 100.0, 1000.0)  # tried in turn where the last one above is the best
_N_FOLDS = 3  # each costs a fit for every strength
_ROWS_TO_CHOOSE_BY = 5000  # enough to tell strengths of regularization apart
# Of the logistic regression. Codes depend on which class is the likeliest, which is settled long
# before the weights are: ten times scikit-learn's tolerance, and ten times its iterations, so that
# strong and weak regularization both end by it.
_TOL, _MAX_ITER = 1e-3, 1000


class ClassifierHasher(BaseHasher):
    """Codes of the classes that a logistic regression predicts.

    Each class has one code, and a row gets the code of its predicted class. This is the baseline
    that comparisons of supervised hashing often leave out: a method that learns from class labels,
    and is judged by the same classes, should score more.

    The codes tell classes apart and nothing else. All rows of a class tie, and a row of a class
    that was not in the training rows gets the code of another class. Use it as a lower bound. For
    queries of new classes, :class:`RSHHasher` or :class:`TALRLinear` are better.

    Parameters
    ----------
    n_bits : int, default=32
        Length of a code. With fewer bits than the binary logarithm of the number of classes, some
        classes share a code.
    codes : {"auto", "one-hot", "hadamard"}, default="auto"
        ``"one-hot"``: one bit for each class, repeated until there are `n_bits`; there must be at
        least as many bits as classes. ``"hadamard"``: columns of a Hadamard matrix, of which any
        two classes differ in half; the first are the digits of the number of the class.
        ``"auto"``: one-hot codes where there are enough bits for them.
    C : float or "auto", default="auto"
        Inverse strength of the regularization, as in
        :class:`~sklearn.linear_model.LogisticRegression`. ``"auto"`` chooses among ten values by
        accuracy in three folds of at most 5,000 training rows.
    output : {"bits", "signs", "packed"}, default="bits"
        Format of :meth:`transform`: 0/1 uint8, -1/+1 int8, or packed uint8 bytes.
    random_state : int, RandomState instance or None, default=None
        Controls the folds, and the order of the columns of a Hadamard matrix.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels, sorted.
    codebook_ : ndarray of shape (n_classes, n_bits), int8
        Code of each class, -1 and +1.
    coef_ : ndarray of shape (n_classes, n_features)
        Weights of the logistic regression, for features as they are given.
    intercept_ : ndarray of shape (n_classes,)
        Offsets of the logistic regression, one for each class.
    C_ : float
        The inverse strength of the regularization that was used.
    codes_ : ndarray of shape (n_samples, ceil(n_bits / 8)), uint8
        Packed codes of the training rows.
    y_ : ndarray of shape (n_samples,)
        `y` of the training rows, their class labels.
    affinity_ : affinity object
        Relevance by equal labels, set when :meth:`score` first needs it.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, when `X` has string column names.

    References
    ----------
    A. Sablayrolles, M. Douze, N. Usunier, H. Jegou, "How should we evaluate supervised hashing?",
    ICASSP 2017.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn_hashrank import ClassifierHasher
    >>> X, y = load_digits(return_X_y=True)
    >>> hasher = ClassifierHasher(n_bits=16, random_state=0).fit(X[:1000], y[:1000])
    >>> bool(hasher.score(X[1000:], y[1000:]) > 0.75)
    True
    """

    _parameter_constraints: dict = {
        **BaseHasher._parameter_constraints,
        "codes": [StrOptions({"auto", "one-hot", "hadamard"})],
        "C": [StrOptions({"auto"}), Interval(Real, 0, None, closed="neither")],
        "random_state": ["random_state"],
    }

    def __init__(self, n_bits=32, *, codes="auto", C="auto", output="bits", random_state=None):
        self.n_bits = n_bits
        self.codes = codes
        self.C = C
        self.output = output
        self.random_state = random_state

    @property
    def n_bits_(self) -> int:  # type: ignore[override]  # follows the codebook
        """Length of the codes, whatever `n_bits` was set to after `fit`."""
        return self.codebook_.shape[1]

    @_fit_context(prefer_skip_nested_validation=True)
    @one_blas_thread()
    def fit(self, X: MatrixLike, y: Target) -> "ClassifierHasher":
        """Fit the classifier.

        Parameters
        ----------
        X : {array-like, sparse matrix, dask array} of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,) or (n_samples, 1)
            Class labels of the training rows.

        Returns
        -------
        self : ClassifierHasher
        """
        X, y = self._validate_training_data(X, y)
        random_state = check_random_state(self.random_state)
        self.classes_, numbers = _number_labels(y)
        self.codebook_ = self._new_codebook(len(self.classes_), random_state)
        space = FeatureSpace.of(Moments.of(X))
        rows = _scaled_rows(space, X)
        self.C_ = self.C if self.C != "auto" else _choose_strength(rows, numbers, random_state)
        weights, offsets = _fit_classifier(rows, numbers, self.C_)
        if sparse.issparse(rows):  # those were not centered
            offsets = offsets + (space.mean * space.scale) @ weights
        self.coef_, self.intercept_ = space.fold(weights, offsets, X.dtype)
        self._keep_database(X, y)
        return self

    def _check_training_data(self, X: Any, y: Any) -> None:
        classes, _ = _number_labels(y)
        if self.codes == "one-hot" and self.n_bits < len(classes):
            raise ValueError(
                "codes='one-hot' needs n_bits of at least the number of classes, "
                f"{len(classes)}. Got n_bits={self.n_bits}. Use codes='hadamard', which takes any "
                "number."
            )

    def _new_codebook(self, n_classes, random_state):
        codes = self.codes
        if codes == "auto":
            codes = "one-hot" if self.n_bits >= n_classes else "hadamard"
        if codes == "hadamard":
            return hadamard_codes(n_classes, self.n_bits, random_state)
        owner = np.arange(self.n_bits) % n_classes
        return np.where(owner == np.arange(n_classes)[:, None], 1, -1).astype(np.int8)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "coef_")

    def _check_fitted(self) -> None:
        n_classes = len(self.classes_)
        if len(self.coef_) != n_classes or self.codebook_.shape[:1] != (n_classes,):
            raise ValueError(
                f"coef_ and codebook_ must have a row for each of {n_classes} classes. "
                f"Got {len(self.coef_)} and {len(self.codebook_)}."
            )

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    def _project(self, X: Any) -> np.ndarray:
        scores = X @ self.coef_.T + self.intercept_
        return self.codebook_.astype(scores.dtype)[scores.argmax(axis=1)]


def _number_labels(y):
    """Distinct class labels, and the number of that of each row; refuses other forms of y."""
    if not isinstance(affinity_of_all("auto", y), LabelAffinity):
        raise ValueError(
            "ClassifierHasher learns from class labels, one for each row: y of shape (n,) or "
            f"(n, 1). Got shape {y.shape}. Label sets, label paths and target vectors are for "
            "hashers that learn from relevance, such as TALRLinear."
        )
    y = y.toarray() if sparse.issparse(y) else y
    if y.dtype.kind == "f" and np.any(y != np.floor(y)):
        raise ValueError(
            "ClassifierHasher learns from class labels, which are integers or strings. Got "
            f"non-integral numbers such as {y[y != np.floor(y)][0]}. Distances of targets are for "
            "hashers that learn from relevance, such as TALRLinear(affinity=EuclideanAffinity())."
        )
    affinity = LabelAffinity().fit(y)
    classes, numbers = np.unique(affinity.validate(y)[:, 0], return_inverse=True)
    if len(classes) < 2:  # it learns from classes of a single row as well
        check_can_learn("ClassifierHasher", affinity, y)
    return classes, numbers


def _scaled_rows(space, X):
    """Rows inside the space; large sparse rows are scaled but not centered."""
    rows = dense_if_small(X)
    if not sparse.issparse(rows):
        return space.transform(rows)
    return sparse.csr_array(rows.astype(np.float64).multiply(space.scale))


def _choose_strength(rows, numbers, random_state):
    from sklearn.model_selection import KFold

    order = random_state.permutation(len(numbers))[:_ROWS_TO_CHOOSE_BY]
    if len(order) < _N_FOLDS:
        return _STRENGTHS[len(_STRENGTHS) // 2]
    folds = [(order[train], order[test]) for train, test in KFold(_N_FOLDS).split(order)]
    correct = [_count_correct(rows, numbers, folds, strength) for strength in _STRENGTHS]
    best = int(np.argmax(correct))
    chosen, most = _STRENGTHS[best], correct[best]
    if chosen == _STRENGTHS[-1]:  # one feature in another unit makes the others small
        for strength in _WEAKER:
            n_correct = _count_correct(rows, numbers, folds, strength)
            if n_correct <= most:
                break
            chosen, most = strength, n_correct
    return chosen


def _count_correct(rows, numbers, folds, strength):
    """Rows whose class is predicted from the other folds."""
    n_correct = 0
    for train, test in folds:
        kept, there = np.unique(numbers[train], return_inverse=True)
        if len(kept) < 2:
            continue
        weights, offsets = _fit_classifier(rows[train], there, strength)
        predicted = kept[(rows[test] @ weights + offsets).argmax(axis=1)]
        n_correct += int(np.count_nonzero(predicted == numbers[test]))
    return n_correct


def _fit_classifier(rows, numbers, strength):
    """Weights (n_features, n_classes) and offsets (n_classes,) of a logistic regression."""
    from sklearn.linear_model import LogisticRegression

    classifier = LogisticRegression(C=strength, tol=_TOL, max_iter=_MAX_ITER)
    with warnings.catch_warnings():
        # Few rows of each of many classes are classes still.
        warnings.filterwarnings("ignore", "The number of unique classes is greater", UserWarning)
        classifier.fit(rows, numbers)
    weights, offsets = classifier.coef_.T, classifier.intercept_
    if weights.shape[1] == 1:  # two classes
        weights, offsets = weights * [-0.5, 0.5], offsets * [-0.5, 0.5]
    return weights, offsets
