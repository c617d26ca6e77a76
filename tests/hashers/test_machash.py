"""MACHasher: the penalized objective goes down, z meets h(X), and two steps are not enough."""

import functools
import itertools

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning

from sklearn_hashrank import LabelAffinity, MACHasher
from sklearn_hashrank.hashers._similar_pairs import sample_pairs
from sklearn_hashrank.hashers.machash import AuxiliaryCodes


@functools.cache
def digits():
    return load_digits(return_X_y=True)


def new_codes(n=40, n_bits=4):
    y = np.arange(n) % 4
    affinity = LabelAffinity().fit(y)
    targets = affinity.validate(y)
    pairs = sample_pairs("it", affinity, targets, 5, 8, np.random.RandomState(0))
    return AuxiliaryCodes(pairs, n_bits, np.random.RandomState(1))


def literal_loss(graph, signs):
    """Sum of (z_n . z_m - b y_nm) ** 2 over pairs."""
    n, n_bits = signs.shape
    return sum(
        (signs[i] @ signs[j] - n_bits * graph[i, j]) ** 2
        for i, j in itertools.combinations(range(n), 2)
        if graph[i, j]
    )


def test_loss_is_that_of_the_formula():
    codes = new_codes()
    graph = codes.pairs.graph.toarray().astype(float)
    signs = np.random.default_rng(0).choice([-1.0, 1.0], (40, 4))
    expected = literal_loss(graph, signs) / np.count_nonzero(np.triu(graph)) / 4**2
    assert codes.loss(signs) == pytest.approx(expected)


def test_the_products_are_those_of_the_codes():
    codes = new_codes()
    codes.start(2)
    codes.sweep(np.ones((40, 4)), 0.1)
    firsts, seconds = codes.pairs.firsts, codes.pairs.graph.indices
    expected = (codes.signs[firsts] * codes.signs[seconds]).sum(axis=1)
    np.testing.assert_array_equal(codes._products, expected)


def test_a_step_lowers_the_penalized_loss_as_far_as_one_row_can():
    """After a step no single row of the bit is better the other way round."""
    codes = new_codes(n=24, n_bits=2)
    graph = codes.pairs.graph.toarray().astype(float)
    codes.start(1)
    rng = np.random.default_rng(0)
    given = rng.choice([-1.0, 1.0], (24, 2))
    for _ in range(6):
        codes.sweep(given, 0.0)
    found = literal_loss(graph, codes.signs)
    for row in range(24):
        other = codes.signs.copy()
        other[row, -1] *= -1
        assert literal_loss(graph, other) >= found
    codes.sweep(given, 1e6)
    np.testing.assert_array_equal(codes.signs, given)


def test_codes_meet_the_hash_functions():
    X, y = digits()
    X, y = X[:600], y[:600]
    hasher = MACHasher(8, random_state=0).fit(X, y)
    assert hasher.converged_
    assert hasher.history_["violation"][-1] == 0
    assert hasher.history_["violation"][0] > 0.02
    assert hasher.n_iter_ == len(hasher.history_["loss"])
    assert hasher.loss_ == min(hasher.history_["loss"])


@pytest.mark.learning
def test_more_than_two_steps_lower_the_loss():
    X, y = digits()
    hasher = MACHasher(16, random_state=0).fit(X[:900], y[:900])
    assert hasher.loss_ < hasher.history_["loss"][0] - 0.002
    assert hasher.score(X[900:], y[900:]) > 0.7


def test_end_of_rounds_is_said():
    X, y = digits()
    with pytest.warns(ConvergenceWarning, match="max_iter=1 "):
        hasher = MACHasher(8, max_iter=1, random_state=0).fit(X[:300], y[:300])
    assert not hasher.converged_


@pytest.mark.learning
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("y", ["label sets", "distances", None])
def test_any_relevance_teaches(y):
    X, labels = digits()
    X, labels = X[:300], labels[:300]
    sets = np.c_[labels % 2, labels % 2 == 0, labels < 3].astype(int)
    y = {"label sets": sets, "distances": X, None: None}[y]
    hasher = MACHasher(8, random_state=0).fit(X, y)
    random = np.random.default_rng(0).permutation(len(X))
    assert hasher.score(X, y) > 1.2 * hasher.score(X[random], X if y is None else y)
