"""Nothing that is learned depends on what fresh memory happens to hold."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone

from sklearn_hashrank import LWHHasher
from tests.instances import HASHERS

RNG = np.random.default_rng(0)
X = RNG.normal(size=(90, 6))
Y = np.arange(90) % 3
LOSSES = [LWHHasher(4, n_queries=40, loss=loss, random_state=0) for loss in ("ap", "ndcg", "auc")]


@pytest.fixture
def poisoned(monkeypatch):
    """Fresh arrays of floats hold NaN, and integers the largest of their kind."""
    empty, empty_like = np.empty, np.empty_like

    def fill(array):
        if array.dtype.kind in "fc":
            array.fill(np.nan)
        elif array.dtype.kind in "iu":
            array.fill(np.iinfo(array.dtype).max)
        return array

    def poison():
        monkeypatch.setattr(np, "empty", lambda *a, **k: fill(empty(*a, **k)))
        monkeypatch.setattr(np, "empty_like", lambda *a, **k: fill(empty_like(*a, **k)))

    return poison


@pytest.mark.parametrize("hasher", [*HASHERS, *LOSSES], ids=repr)
def test_fresh_memory_is_written_before_it_is_read(hasher, poisoned):
    expected = clone(hasher).fit(X, Y).decision_function(X)
    poisoned()
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        found = clone(hasher).fit(X, Y).decision_function(X)
    assert_array_equal(found, expected)
