"""StructHasher by trees: bits worth most, trees that give them, weights that rank."""

import functools
from itertools import product

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits

from sklearn_hashrank import StructHasher, load_hasher, save_hasher
from sklearn_hashrank.hashers._boosted_trees import BinnedFeatures, TreeEnsembles
from sklearn_hashrank.hashers.structhash import find_bits


@functools.cache
def digits():
    return load_digits(return_X_y=True)


def by_trees(n_bits, **options):
    return StructHasher(n_bits, functions="trees", random_state=0, **options)


@functools.cache
def fitted(loss="auc"):
    X, y = digits()
    hasher = by_trees(8, loss=loss, n_estimators=20, n_queries=100)
    return hasher.fit(X[:600], y[:600])


@pytest.mark.learning
@pytest.mark.parametrize("loss", ["auc", "ap", "ndcg"])
def test_codes_rank_well(loss):
    X, y = digits()
    # .62 to .72, with .07 over seeds and processors; chance is .1
    assert fitted(loss).score(X[600:], y[600:]) > 0.3


def test_slack_falls_and_weights_are_kept():
    history, weights = fitted().history_, fitted().weights_
    assert len(history["slack"]) == len(history["objective"]) == len(weights) == 8
    assert history["slack"][-1] < 0.5 * history["slack"][0]
    assert (weights >= 0).all()
    assert weights.any()


def test_bits_are_worth_most_of_all():
    """Of few rows all bits can be tried."""
    rng = np.random.default_rng(0)
    found, best = 0.0, 0.0
    for _ in range(20):
        queries, worth = rng.permutation(10)[:4], rng.normal(size=(4, 10))
        signs, weights = find_bits(worth, queries, np.random.RandomState(0))
        assert set(signs) <= {-1.0, 1.0}
        assert weights.mean() == pytest.approx(1)
        found += signs[queries] @ worth @ signs
        best += max(
            np.array(bits)[queries] @ worth @ bits for bits in product((-1.0, 1.0), repeat=10)
        )
    assert found > 0.97 * best


def test_a_bit_weighs_what_it_is_worth():
    worth = np.array([[5.0, -2.0, 0.0], [1.0, 7.0, 0.0]])  # of the rows 0 and 1
    _, weights = find_bits(worth, np.array([0, 1]), np.random.RandomState(0))
    np.testing.assert_allclose(weights, [1.5, 1.5, 0])


def test_bits_that_are_worth_nothing():
    signs, weights = find_bits(np.zeros((3, 9)), np.arange(3), np.random.RandomState(0))
    assert len(signs) == 9
    np.testing.assert_array_equal(weights, np.ones(9))


def test_trees_of_bits_are_put_together_and_cut_off():
    X, y = digits()
    binned, parts, scores = BinnedFeatures(X[:200]), [], []
    for bit in range(3):
        targets = np.where(y[:200] % (bit + 2) == 0, 1.0, -1.0)
        random_state = np.random.RandomState(bit)
        options = {"n_estimators": 4, "max_depth": 3, "max_features": 20}
        trees, of_bit = binned.boost(targets, np.ones(200), random_state, **options)
        parts.append(trees)
        scores.append(of_bit)
    whole = TreeEnsembles.joined(parts)
    for n_bits in (1, 2, 3):
        first = whole.first(n_bits)
        first.check(n_bits, X.shape[1])
        found = first.scores(X[:200], None)
        np.testing.assert_allclose(found, np.column_stack(scores[:n_bits]))


def test_all_bits_differ_also_after_the_problem_is_solved():
    X, y = digits()
    hasher = by_trees(16, n_estimators=5, C=2.0).fit(X[:300], y[:300])
    assert len(np.unique(hasher.predict(X).T, axis=0)) > 10


def test_files_give_the_same_codes(tmp_path):
    X, _ = digits()
    save_hasher(tmp_path / "hasher.npz", fitted())
    loaded = load_hasher(tmp_path / "hasher.npz")
    np.testing.assert_array_equal(loaded.weights_, fitted().weights_)
    np.testing.assert_array_equal(loaded.predict(X), fitted().predict(X))
    assert loaded.n_bits_ == 8


def test_sparse_rows_and_threads_give_the_same_codes():
    X, y = digits()
    hasher = by_trees(3, n_estimators=3)
    codes = hasher.fit(X[:200], y[:200]).predict(X)
    np.testing.assert_array_equal(hasher.fit(sparse.csr_array(X[:200]), y[:200]).predict(X), codes)
    hasher.set_params(n_jobs=2)
    np.testing.assert_array_equal(hasher.fit(X[:200], y[:200]).predict(X), codes)


@pytest.mark.learning
@pytest.mark.parametrize("y", ["label sets", "distances", None])
def test_any_relevance_teaches(y):
    X, labels = digits()
    X, labels = X[:300], labels[:300]
    sets = np.c_[labels % 2, labels % 2 == 0, labels < 3].astype(int)
    y = {"label sets": sets, "distances": X, None: None}[y]
    hasher = by_trees(6, n_estimators=5).fit(X, y)
    shuffled = np.random.default_rng(0).permutation(len(X))
    assert hasher.score(X, y) > 1.1 * hasher.score(X[shuffled], X if y is None else y)


def test_trees_have_no_hyperplanes():
    with pytest.raises(TypeError, match="functions='hyperplanes'"):
        fitted().hyperplanes()
