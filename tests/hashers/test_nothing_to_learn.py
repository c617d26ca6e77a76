"""Hashers that learn from `y` refuse, by one rule, a `y` that teaches nothing."""

import numpy as np
import pytest
from sklearn.base import clone

from sklearn_hashrank import (
    EuclideanAffinity,
    FastHasher,
    KSHHasher,
    LWHHasher,
    NeighborAffinity,
    RSHHasher,
    TALRLinear,
)
from tests.instances import ENCODERS, HASHERS, needs_y, takes_labels_only

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 6))
SUPERVISED = [
    hasher for hasher in HASHERS if needs_y(hasher) or "affinity" in hasher.get_params(deep=False)
]
every_supervised = pytest.mark.parametrize("hasher", SUPERVISED, ids=repr)
ONE_OF_EACH_CHECK = {type(each)._check_training_data: each for each in SUPERVISED}.values()
every_check = pytest.mark.parametrize("hasher", ONE_OF_EACH_CHECK, ids=repr)


def test_there_are_such_hashers():
    assert len(SUPERVISED) >= 12


@every_supervised
def test_one_class_is_nothing_to_learn_for_any(hasher):
    with pytest.raises(ValueError, match=r"nothing to learn from: .* y: "):
        clone(hasher).fit(X, np.zeros(40, dtype=int))


@every_check
@pytest.mark.parametrize(
    "y",
    [
        np.array(["a"] * 40),
        np.arange(40),
        np.ones((40, 3)),
        np.eye(40),
        np.zeros((40, 3), dtype=np.float32),
        np.full((40, 2), 7),
        np.full((40, 2), 0.5),
    ],
    ids=["text", "distinct", "same-set", "own-set", "no-label", "one-path", "one-vector"],
)
def test_nothing_to_learn_is_one_error(hasher, y):
    if takes_labels_only(hasher) and len(np.unique(y, axis=0)) == len(y):
        clone(hasher).fit(X, y)  # its classes may have a single row each
        return
    message = r"has nothing to learn from: .* All pairs have level .* y: "
    if y.ndim > 1 and takes_labels_only(hasher):
        message = "learns from class labels"
    with pytest.raises(ValueError, match=message):
        clone(hasher).fit(X, y)


@pytest.mark.parametrize("hasher", ENCODERS, ids=repr)
def test_two_classes_of_which_one_is_a_single_row_are_learned_from(hasher):
    y = np.zeros(40, dtype=int)
    y[-1] = 1
    clone(hasher).fit(X, y)


def test_sets_that_all_share_a_label_teach_by_their_grades():
    y = np.ones((40, 3), dtype=int)
    y[:20, 1:] = 0
    for hasher in (TALRLinear(2, max_iter=2, random_state=0), RSHHasher(2, random_state=0)):
        hasher.fit(X, y)
    for hasher in (TALRLinear(2, objective="ap"), LWHHasher(2), KSHHasher(2), FastHasher(2)):
        with pytest.raises(ValueError, match="level 1, 3.*y: 3 "):
            hasher.fit(X, y)


@pytest.mark.parametrize("y", [None, X[:, ::2], np.ones((40, 2))], ids=["X", "vectors", "equal"])
@every_check
def test_neighbors_that_are_all_rows_teach_nothing(hasher, y):
    if "affinity" not in hasher.get_params(deep=False):
        return
    all_near = NeighborAffinity(5 if y is not None and y.std() == 0 else 39, metric="euclidean")
    message = r"has nothing to learn from: .* All pairs have level 1. .* nearest rows are relevant"
    with pytest.raises(ValueError, match=message):
        clone(hasher).set_params(affinity=all_near).fit(X, y)


def test_more_neighbors_than_rows_teach_by_the_nearer_ones():
    y = NeighborAffinity((5, 500))
    TALRLinear(2, affinity=y, max_iter=2, random_state=0).fit(X)
    with pytest.raises(ValueError, match="All pairs have level 1, 2"):
        KSHHasher(2, affinity=y).fit(X)


def test_blocks_of_one_class_are_fine():
    y = np.arange(40) // 20
    hasher = TALRLinear(2, random_state=0)
    for part in (slice(0, 20), slice(20, 40)):
        hasher.partial_fit(X[part], y[part])
    TALRLinear(2, max_iter=2, affinity=EuclideanAffinity()).fit(X)
