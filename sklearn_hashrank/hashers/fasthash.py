"""FastHash: codes by block graph cuts, then a classifier for each bit."""

from functools import partial
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import _fit_context, clone
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import has_fit_parameter

from .._features.moments import Moments
from .._solvers.binary_quadratic import minimize_by_cuts, minimize_spectrally
from .._utils.threads import one_blas_thread
from .._utils.types import MatrixLike, Target
from ..affinity._protocol import BaseAffinity
from ..base import BaseHasher
from ._boosted_trees import CONSTRAINTS, BinnedFeatures, TreeEnsembles
from ._similar_pairs import sample_pairs
from ._supervised import LearnsFromRelevance

__all__ = ["FastHasher"]

_ROUNDS = 2  # over the blocks, which are cut one at a time while the others stay


class FastHasher(LearnsFromRelevance, BaseHasher):
    r"""Two steps for each bit: find the bits of the training rows, then learn them by a classifier.

    Let h be the number of bits in which two rows differ so far, and r the number of bits with the
    new one. The first step minimizes the sum of a loss of h / r over sampled pairs, which is a
    binary quadratic program in the new bit: block graph cuts solve it for one group of similar rows
    at a time [1]_. The second step learns the bit from the features by boosted trees, or by any
    classifier of scikit-learn. The bits of the next round are learned given what the classifier
    says, so that they correct it. The first bits of a long code are therefore those of a short one.

    Trees look at the order of the values of a feature alone, so that neither scale nor offset of
    the features matters. Encoding costs `n_estimators` trees for each bit: this is slower than a
    linear hasher by a factor of hundreds.

    Parameters
    ----------
    n_bits : int, default=32
        Length of a code. It may exceed the number of features.
    affinity : "auto" or affinity object, default="auto"
        How `y` says what is relevant: pairs of a level above 0 are similar. See
        :mod:`sklearn_hashrank.affinity`.
    loss : {"hinge", "ksh", "bre"}, default="hinge"
        Loss of a similar and of a dissimilar pair. ``"hinge"``: :math:`(h/r)^2` and
        :math:`\max(0, 1/2 - h/r)^2`. ``"ksh"``: the squared difference of :math:`1 - 2h/r` to 1 and
        to -1. ``"bre"``: that of h / r to 0 and to 1.
    code_step : {"graph-cut", "spectral"}, default="graph-cut"
        How the first step is solved: by block graph cuts, or by an eigenvector and descent in the
        cube.
    estimator : classifier or None, default=None
        Cloned for every bit. It is given weights of the rows where its `fit` takes
        `sample_weight`. None: boosted trees. :func:`~sklearn_hashrank.save_hasher` stores boosted
        trees as arrays, and refuses other classifiers.
    n_estimators : int, default=200
        Largest number of boosted trees of a bit.
    max_depth : int, default=4
        Largest depth of a tree.
    max_features : int, default=200
        Number of features that a node of a tree tries, sampled anew for every node.
    n_similar, n_dissimilar : int, default=100
        Number of partners of each training row, sampled from the rows that are similar to it and
        from those that are not.
    output : {"bits", "signs", "packed"}, default="bits"
        Format of :meth:`transform`: 0/1 uint8, -1/+1 int8, or packed uint8 bytes.
    random_state : int, RandomState instance or None, default=None
        Samples the pairs, orders the blocks, and seeds the classifiers.
    n_jobs : int or None, default=None
        Threads over the rows that trees encode. None means 1 unless in a
        :obj:`joblib.parallel_config` context, -1 means all processors. The result does not depend
        on it.

    Attributes
    ----------
    trees_ : TreeEnsembles
        The boosted trees of all bits.
    estimators_ : list of classifiers
        One for each bit, in place of `trees_`; only where `estimator` is not None.
    affinity_ : affinity object
        The affinity that was learned from, fitted on the training rows.
    training_errors_ : ndarray of shape (n_bits,)
        Share of the training rows whose bit the classifier gets wrong.
    n_bits_ : int
        Length of the codes, whatever `n_bits` was set to after `fit`.
    codes_ : ndarray of shape (n_samples, ceil(n_bits / 8)), uint8
        Packed codes of the training rows.
    y_ : array-like
        `y` of the training rows; absent where it was None.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, when `X` has string column names.

    References
    ----------
    .. [1] G. Lin, C. Shen, Q. Shi, A. van den Hengel, D. Suter, "Fast supervised hashing with
       decision trees for high-dimensional data", CVPR 2014.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn_hashrank import FastHasher
    >>> X, y = load_digits(return_X_y=True)
    >>> hasher = FastHasher(n_bits=16, n_estimators=50, random_state=0).fit(X[:500], y[:500])
    >>> bool(hasher.score(X[500:], y[500:]) > 0.75)
    True
    """

    _is_graded = False
    _parameter_constraints: dict = {
        **BaseHasher._parameter_constraints,
        "affinity": [StrOptions({"auto"}), BaseAffinity],
        "loss": [StrOptions({"hinge", "ksh", "bre"})],
        "code_step": [StrOptions({"graph-cut", "spectral"})],
        "estimator": [None, HasMethods(["fit", "predict"])],
        **CONSTRAINTS,
        "n_similar": [Interval(Integral, 1, None, closed="left")],
        "n_dissimilar": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
        "n_jobs": [None, Integral],
    }

    def __init__(
        self,
        n_bits=32,
        *,
        affinity="auto",
        loss="hinge",
        code_step="graph-cut",
        estimator=None,
        n_estimators=200,
        max_depth=4,
        max_features=200,
        n_similar=100,
        n_dissimilar=100,
        output="bits",
        random_state=None,
        n_jobs=None,
    ):
        self.n_bits = n_bits
        self.affinity = affinity
        self.loss = loss
        self.code_step = code_step
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.max_depth = max_depth
        self.max_features = max_features
        self.n_similar = n_similar
        self.n_dissimilar = n_dissimilar
        self.output = output
        self.random_state = random_state
        self.n_jobs = n_jobs

    @_fit_context(prefer_skip_nested_validation=False)
    @one_blas_thread()
    def fit(self, X: MatrixLike, y: Target | None = None) -> "FastHasher":
        """Learn the bits one after the other.

        Parameters
        ----------
        X : {array-like, sparse matrix, dask array} of shape (n_samples, n_features)
            Training rows.
        y : array-like with n_samples rows, default=None
            What `affinity` compares; None: `X` itself.

        Returns
        -------
        self : FastHasher
        """
        X, y = self._validate_training_data(X, y)
        random_state = check_random_state(self.random_state)
        Moments.of(X)  # refuses what no hasher takes
        self._fit_affinity_once(X, y)
        targets = self.affinity_.validate(X if y is None else y)
        counts = self.n_similar, self.n_dissimilar
        pairs = sample_pairs(type(self).__name__, self.affinity_, targets, *counts, random_state)
        learn = self._learner_of_bits(X, random_state)
        distances = np.zeros(pairs.graph.nnz, dtype=np.int64)
        functions, errors = [], []
        for bit in range(self.n_bits):
            matrix = pairs.matrix(pair_coefficients(self.loss, pairs.graph.data, distances, bit))
            wanted = self._find_bit(matrix, pairs, random_state)
            weights = abs(matrix).sum(axis=0)
            weights = weights / weights.mean() if weights.any() else np.ones_like(weights)
            function, scores = learn(wanted, weights)
            learned = np.where(scores > 0, 1.0, -1.0)
            functions.append(function)
            errors.append(np.mean(learned != wanted))
            distances += learned[pairs.firsts] != learned[pairs.graph.indices]
        self.training_errors_ = np.array(errors)
        self.n_bits_ = self.n_bits
        self.__dict__.pop("trees_", None)
        self.__dict__.pop("estimators_", None)
        if self.estimator is None:
            self.trees_ = TreeEnsembles.joined(functions)
        else:
            self.estimators_ = functions
        self._keep_database(X, y)
        return self

    def _learner_of_bits(self, X, random_state):
        """Return ``learn(wanted, weights)``, which gives a function and its scores of the rows."""
        if self.estimator is None:
            options = {
                "n_estimators": self.n_estimators,
                "max_depth": self.max_depth,
                "max_features": self.max_features,
            }
            return partial(BinnedFeatures(X).boost, random_state=random_state, **options)

        def learn(wanted, weights):
            model = clone(self.estimator)
            if model.get_params().get("random_state", 0) is None:
                model.set_params(random_state=random_state.randint(np.iinfo(np.int32).max))
            weighted = has_fit_parameter(model, "sample_weight")
            options = {"sample_weight": weights} if weighted else {}
            model.fit(X, (wanted > 0).astype(np.int64), **options)
            return model, _decide(model, X)

        return learn

    def _find_bit(self, matrix, pairs, random_state):
        n = matrix.shape[0]
        linear = np.zeros(n)
        if self.code_step == "spectral":
            signs = minimize_spectrally(matrix, linear, random_state)
        else:
            signs = minimize_by_cuts(
                matrix, linear, pairs.blocks, np.ones(n), _ROUNDS, random_state
            )
        if (signs == signs[0]).all():  # no pair asks for more: give half of the blocks a 1
            n_blocks = len(pairs.blocks.starts) - 1
            of_block = random_state.permutation(n_blocks) % 2 * 2.0 - 1
            signs[pairs.blocks.rows] = np.repeat(of_block, np.diff(pairs.blocks.starts))
        return signs

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "training_errors_")

    def _check_fitted(self) -> None:
        if hasattr(self, "trees_"):
            self.trees_.check(self.n_bits_, self.n_features_in_)

    def _project(self, X: Any) -> np.ndarray:
        if hasattr(self, "trees_"):
            scores = self.trees_.scores(X, self.n_jobs)
        else:
            scores = np.column_stack([_decide(model, X) for model in self.estimators_])
        return scores.astype(X.dtype, copy=False)


def pair_coefficients(
    loss: str, kinds: np.ndarray, distances: np.ndarray, n_before: int
) -> np.ndarray:
    """By how much an equal new bit costs more than a differing one, for every pair.

    `kinds` is 1 for similar pairs and -1 for dissimilar ones, `distances` the bits in which they
    differ so far, of `n_before`. The result holds whole numbers: losses are multiplied by four
    times the square of the number of bits.
    """
    r = n_before + 1
    h = np.arange(r + 1)
    similar, dissimilar = {
        "hinge": (4 * h**2, np.maximum(0, r - 2 * h) ** 2),
        "ksh": (16 * h**2, 16 * (r - h) ** 2),
        "bre": (4 * h**2, 4 * (r - h) ** 2),
    }[loss]
    return np.where(kinds > 0, -np.diff(similar)[distances], -np.diff(dissimilar)[distances]) * 1.0


def _decide(model, X):
    """A number for each row, above 0 where the classifier says 1."""
    if hasattr(model, "decision_function"):
        return model.decision_function(X)
    if hasattr(model, "predict_proba"):
        return model.predict_proba(X)[:, 1] - 0.5
    return 2.0 * model.predict(X) - 1
