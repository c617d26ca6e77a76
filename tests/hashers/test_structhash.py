"""StructHasher: hyperplanes worth most, weights that rank, any relevance."""

import functools

import numpy as np
import pytest
from sklearn.datasets import load_digits

from sklearn_hashrank import ITQHasher, StructHasher, load_hasher, save_hasher
from sklearn_hashrank.codes import hamming_distances, weighted_distances
from sklearn_hashrank.hashers.structhash import find_hyperplane
from sklearn_hashrank.metrics import distance_histogram


@functools.cache
def digits():
    return load_digits(return_X_y=True)


@functools.cache
def fitted(loss="auc"):
    X, y = digits()
    return StructHasher(16, loss=loss, n_queries=100, random_state=0).fit(X[:600], y[:600])


@pytest.mark.slow
@pytest.mark.learning
@pytest.mark.parametrize("loss", ["auc", "ap", "ndcg"])
def test_codes_rank_well(loss):
    X, y = digits()
    assert fitted(loss).score(X[600:], y[600:]) > 0.65
    assert ITQHasher(16, random_state=0).fit(X[:600]).score(X[600:], y[600:]) < 0.65


@pytest.mark.learning
def test_weights_rank_too():
    X, y = digits()
    hasher = fitted()
    assert hasher.weights_.shape == (16,)
    assert (hasher.weights_ >= 0).all()
    assert np.count_nonzero(hasher.weights_) > 5
    codes = hasher.transform(X[600:])
    distances = weighted_distances(codes, codes, hasher.weights_)
    h = distance_histogram(distances, y[600:], exclude_self=True)
    assert h.average_precision().mean() > 0.6


def test_slack_falls_with_more_bits():
    history = fitted().history_
    assert len(history["slack"]) == len(history["objective"]) == 16
    assert history["slack"][-1] < 0.5 * history["slack"][0]
    assert history["objective"][-1] < 0.4 * history["objective"][0]  # .28 +- .02 over seeds


def test_hyperplane_is_near_the_best_one():
    """In two dimensions all directions and offsets can be tried."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(40, 2))
    queries, labels = np.arange(10), np.arange(40) % 3
    worth = np.where(labels[queries, None] == labels, 2.0, -1.0)
    rows += 1.5 * np.array([[0, 0], [1, 0], [0.5, 1]])[labels]
    rows -= rows.mean(axis=0)

    def value(weights, offset):
        bits = np.where(rows @ weights + offset > 0, 1, -1)
        return bits[queries] @ worth @ bits

    found = value(*find_hyperplane(rows, queries, worth, 1e-4))
    best = max(
        value(np.array([np.cos(angle), np.sin(angle)]), offset)
        for angle in np.linspace(0, 2 * np.pi, 60)
        for offset in np.linspace(-3, 3, 40)
    )
    assert found > 0.6 * best


def test_nothing_worth_anything_gives_a_hyperplane():
    rows = np.random.default_rng(0).normal(size=(20, 3))
    weights, offset = find_hyperplane(rows, np.arange(5), np.zeros((5, 20)), 1e-3)
    assert np.isfinite(weights).all()
    assert np.isfinite(offset)


def test_all_bits_differ_also_after_the_problem_is_solved():
    X, y = digits()
    hasher = StructHasher(24, C=2.0, random_state=0).fit(X[:300], y[:300])
    codes = hasher.predict(X)
    assert len(np.unique(codes.T, axis=0)) > 12


def test_files_keep_the_weights(tmp_path):
    save_hasher(tmp_path / "hasher.npz", fitted())
    loaded = load_hasher(tmp_path / "hasher.npz")
    np.testing.assert_array_equal(loaded.weights_, fitted().weights_)


@pytest.mark.learning
@pytest.mark.parametrize("y", ["label sets", "distances", None])
def test_any_relevance_teaches(y):
    X, labels = digits()
    X, labels = X[:300], labels[:300]
    sets = np.c_[labels % 2, labels % 2 == 0, labels < 3].astype(int)
    y = {"label sets": sets, "distances": X, None: None}[y]
    hasher = StructHasher(8, random_state=0).fit(X, y)
    random = np.random.default_rng(0).permutation(len(X))
    assert hasher.score(X, y) > 1.2 * hasher.score(X[random], X if y is None else y)


def test_threads_change_nothing():
    X, y = digits()
    one, two = (StructHasher(2, random_state=0, n_jobs=n).fit(X, y) for n in (1, 2))
    np.testing.assert_array_equal(one.components_, two.components_)


def test_weighted_distances_sum_weights():
    rng = np.random.default_rng(0)
    queries, database = rng.integers(0, 2, (5, 70)), rng.integers(0, 2, (8, 70))
    weights = rng.random(70)
    found = weighted_distances(queries, database, weights)
    expected = ((queries[:, None] != database) * weights).sum(axis=2)
    np.testing.assert_allclose(found, expected)
    packed = np.packbits(queries, axis=1), np.packbits(database, axis=1)
    np.testing.assert_array_equal(weighted_distances(*packed, weights, n_bits=70), found)
    equal = weighted_distances(queries, database, np.ones(70))
    np.testing.assert_array_equal(equal, hamming_distances(queries, database))
    with pytest.raises(ValueError, match="70.* 3"):
        weighted_distances(queries, database, [1, 2, 3])
    with pytest.raises(ValueError, match=r"of shape \(n_bits,\)"):
        weighted_distances(queries, database, np.ones((1, 70)))
