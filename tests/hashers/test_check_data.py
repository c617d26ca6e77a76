"""What `fit` refuses by the kind of data, `check_data` refuses in the same words."""

import copy

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from sklearn_hashrank import (
    AGHHasher,
    ClassifierHasher,
    EuclideanAffinity,
    HierarchicalAffinity,
    ITQHasher,
    LSHHasher,
    LWHHasher,
    NeighborAffinity,
    PCAHasher,
    RSHHasher,
    SignHasher,
    SSHHasher,
    TALRLinear,
    WTAHasher,
)
from sklearn_hashrank.base import LinearHasher
from sklearn_hashrank.comparison import compare
from sklearn_hashrank.comparison._method_table import METHODS
from sklearn_hashrank.model_selection import RandomRetrievalSplit
from sklearn_hashrank.objectives import Hierarchical
from tests.instances import METHODS_HERE

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 6))
CLASSES = np.arange(40) % 4
SETS = (RNG.uniform(size=(40, 3)) < 0.5).astype(int)
KINDS = {
    "classes": (X, CLASSES),
    "column": (X, CLASSES[:, None]),
    "texts": (X, np.array(list("abcd"))[CLASSES]),
    "fractions": (X, RNG.normal(size=40)),
    "sets": (X, SETS),
    "sets of floats": (X, SETS.astype(np.float32)),
    "sparse sets": (X, sparse.csr_array(SETS)),
    "paths": (X, np.c_[CLASSES // 2, CLASSES + 2]),
    "texts in columns": (X, np.array(list("abcd"))[np.c_[CLASSES, CLASSES]]),
    "vectors": (X, RNG.normal(size=(40, 2))),
    "none": (X, None),
    "sparse": (sparse.csr_array(X), CLASSES),
    "one class": (X, np.zeros(40, dtype=int)),
    "own classes": (X, np.arange(40)),
    "one set": (X, np.ones((40, 3))),
    "unlabeled": (X, np.full(40, -1)),
    "labels of others": (X, CLASSES[:30]),
    "labels with nan": (X, np.where(CLASSES == 1, np.nan, CLASSES)),
    "one row": (X[:1], CLASSES[:1]),
    "one row, none": (X[:1], None),
    "two rows": (X[:2], CLASSES[:2]),
    "no rows": (X[:0], CLASSES[:0]),
    "few rows": (X[:5], CLASSES[:5] // 2),
    "nan": (np.where(X > 2, np.nan, X), CLASSES),
    "texts in X": (X.astype(str)[:, :2] + "a", CLASSES),
    "one axis": (X[:, 0], CLASSES),
    "one feature": (X[:, :1], CLASSES),
}
ONE_OF_EACH_CLASS = {type(METHODS[name].hasher): name for name in reversed(METHODS_HERE)}
ABOUT_BITS = ("classes", "sets", "none", "sparse", "few rows", "two rows", "one feature")


def error_of(call, *arguments):
    """What a call raises: type and text; None where it raises nothing."""
    try:
        call(*arguments)
    except Exception as error:
        return type(error), str(error)
    return None


def quick(name, n_bits):
    """The method of this name, which need not learn well."""
    hasher = METHODS[name].hasher
    wanted = {"n_bits": n_bits, "random_state": 0, "max_iter": 2, "n_estimators": 3}
    wanted |= {"C": 1.0, "n_queries": 10, "n_bytes": 1}
    own = hasher.get_params(deep=False)
    return hasher.set_params(**{key: value for key, value in wanted.items() if key in own})


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ONE_OF_EACH_CLASS.values())
def test_the_check_refuses_what_fit_does_in_the_same_words(name, monkeypatch):
    for kind, (rows, y) in KINDS.items():
        for n_bits in (4, 8) if kind in ABOUT_BITS else (4,):  # more than there are features
            hasher = quick(name, n_bits)
            before = copy.deepcopy(vars(hasher))
            checked = error_of(hasher.check_data, rows, y)
            assert vars(hasher).keys() == before.keys(), (kind, n_bits)
            assert error_of(clone(hasher).fit, rows, y) == checked, (kind, n_bits)


@pytest.mark.parametrize(
    ("hasher", "rows", "y", "message"),
    [
        (PCAHasher(8), X, None, "n_bits=8 must be at most n_features = 6"),
        (ITQHasher(6), X[:5], None, "n_bits=6 must be at most n_samples = 5"),
        (SignHasher(7), X, None, "n_bits=7 must be at most n_features = 6"),
        (RSHHasher(7, spread="orthogonal"), X, CLASSES, "n_bits=7 must be at most n_features"),
        (SSHHasher(7, orthogonal=True), X, CLASSES, "n_bits=7 must be at most n_features"),
        (SSHHasher(2), X, np.full(40, -1), "y must hold two classes or more beside -1"),
        (AGHHasher(40), X, None, "a graph of at most 40 anchors has at most 39"),
        (AGHHasher(8, n_anchors=4, n_layers=2), X, None, "of at most 4 anchors has at most 3"),
        (ClassifierHasher(3, codes="one-hot"), X, CLASSES, "at least the number of classes, 4"),
        (ClassifierHasher(3), X, SETS, "learns from class labels, one for each row"),
        (TALRLinear(objective=Hierarchical()), X, CLASSES, "Hierarchical needs superclasses"),
        (TALRLinear(objective="ap"), X, np.ones((40, 2)), "nothing to learn from"),
        (WTAHasher(4, n_candidates=3), X, None, "n_candidates must be a power of two"),
        (LSHHasher(0), X, None, "'n_bits' parameter of LSHHasher"),
        (LWHHasher(4), X, None, None),
        (TALRLinear(affinity=EuclideanAffinity()), X, None, None),
        (TALRLinear(affinity=NeighborAffinity(3)), X, CLASSES[:, None] * 1.0, None),
        (RSHHasher(affinity=HierarchicalAffinity()), X, SETS, None),
    ],
    ids=repr,
)
def test_parameters_that_must_fit_the_data(hasher, rows, y, message):
    if message is None:
        hasher.check_data(rows, y)
        clone(hasher).set_params(n_bits=4).fit(rows, y)
        return
    for call in (hasher.check_data, clone(hasher).fit):
        with pytest.raises(ValueError, match=message):
            call(rows, y)


def test_blocks_may_be_what_no_whole_can_be():
    TALRLinear(4).partial_fit(X, np.zeros(40, dtype=int))
    RSHHasher(4).partial_fit(X[:1], CLASSES[:1])


class EvenHasher(LinearHasher):
    """A hasher of somebody else, with a rule of its own."""

    def __init__(self, n_bits=4, output="bits"):
        self.n_bits = n_bits
        self.output = output

    def _check_training_data(self, X, y):
        if len(X) % 2:
            raise ValueError("the number of rows must be even")

    def fit(self, X, y=None):
        X, y = self._validate_training_data(X, y)
        self._set_hyperplanes(np.eye(self.n_bits, X.shape[1]), X.mean(axis=0), X.dtype)
        self._keep_database(X, y)
        return self


def test_a_hasher_of_ones_own_says_its_rule_once():
    EvenHasher().check_data(X)
    for call in (EvenHasher().check_data, EvenHasher().fit):
        with pytest.raises(ValueError, match="must be even"):
            call(X[:5])
    protocol = RandomRetrievalSplit(n_queries=5, n_train=31)
    with pytest.raises(ValueError, match="'even' with 4 bits"):
        compare(X, CLASSES, methods={"even": EvenHasher()}, n_bits=[4], protocol=protocol)
