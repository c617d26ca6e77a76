"""Anchors, kernels with them and weights of anchor graphs, against the formulas row by row."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from sklearn_hashrank._features import anchors as anchors_module
from sklearn_hashrank._features.anchor_weights import AnchorWeights
from sklearn_hashrank._features.anchors import Anchors
from sklearn_hashrank._features.kernel_features import KernelFeatures
from tests.oracle import anchors as oracle

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 5)) * [1, 2, 3, 4, 5] + 10
X[RNG.random(X.shape) < 0.4] = 0
NEW = RNG.normal(size=(7, 5)) * 5
CHOICES = {"random": Anchors.random, "kmeans": Anchors.kmeans}


def choose(rows, n=6, how="random"):
    return CHOICES[how](rows, n, np.random.RandomState(0))


def test_random_anchors_are_rows():
    anchors = choose(X)
    assert anchors.raw.shape == (6, 5)
    assert all(np.abs(X - row).sum(axis=1).min() < 1e-10 for row in anchors.raw)
    assert len(np.unique(anchors.raw.round(6), axis=0)) == 6


def test_means_of_clusters_are_nearer_than_random_rows():
    def spread(anchors):
        return anchors.squared_distances(X).min(axis=1).mean()

    assert spread(choose(X, 10, "kmeans")) < spread(choose(X, 10))


@pytest.mark.parametrize("how", CHOICES)
def test_there_are_at_most_as_many_anchors_as_rows(how):
    assert choose(X[:3], 10, how).n == 3
    equal = np.ones((4, 2))
    assert np.isfinite(choose(equal, 3, how).squared_distances(equal)).all()


def test_clusters_of_equal_rows_are_one_anchor():
    rows = np.repeat(X[:2], 5, axis=0)
    assert choose(rows, 4, "kmeans").n == 2


@pytest.mark.parametrize("how", CHOICES)
@pytest.mark.parametrize("big", [False, True], ids=["made dense", "kept sparse"])
def test_sparse_rows_have_the_same_distances(how, big, monkeypatch):
    if big:
        monkeypatch.setattr(anchors_module, "dense_if_small", lambda rows: rows)
    rows, new = sparse.csr_array(X), sparse.csr_array(NEW)
    found, expected = choose(rows, how=how), choose(X, how=how)
    assert_allclose(found.raw, expected.raw, atol=1e-9)
    assert_allclose(found.squared_distances(new), expected.squared_distances(NEW), atol=1e-9)


def test_mean_squared_distance_is_that_of_all_pairs():
    anchors = choose(X)
    assert anchors.mean_squared_distance == pytest.approx(anchors.squared_distances(X).mean())


@pytest.mark.parametrize("how", CHOICES)
@pytest.mark.parametrize("gamma", [0.5, 2.0])
def test_kernels_are_those_of_the_formula(how, gamma):
    anchors = choose(X, how=how)
    features = KernelFeatures.centered(X, anchors, gamma)
    expected = oracle.kernels(NEW, X, anchors.raw, gamma)
    assert_allclose(features.transform(NEW), expected, atol=1e-10)
    assert_allclose(features.transform(X).mean(axis=0), 0, atol=1e-12)
    weights = RNG.normal(size=(anchors.n, 3))
    assert_allclose(features.project(NEW, weights, 2.0), expected @ weights + 2, atol=1e-10)


@pytest.mark.parametrize("n_nearest", [1, 2, 6, 9])
def test_weights_are_those_of_the_formula(n_nearest):
    anchors = choose(X)
    weights = AnchorWeights.of(X, anchors, n_nearest).transform(NEW)
    expected = oracle.anchor_weights(NEW, X, anchors.raw, n_nearest)
    assert_allclose(weights.toarray(), expected, atol=1e-10)
    assert weights.nnz == len(NEW) * min(n_nearest, 6)


def test_weights_of_far_rows_do_not_underflow():
    weights = AnchorWeights.of(X, choose(X), 2).transform(1e6 * NEW)
    assert_allclose(weights.sum(axis=1), 1)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_equal_distances_do_not_depend_on_the_block(make):
    """Rows of categories are equally far from many anchors, where rounding would choose."""
    rows = np.hstack([np.eye(5)[RNG.integers(0, 5, 60)], np.eye(3)[RNG.integers(0, 3, 60)]])
    graph = AnchorWeights.of(rows, choose(rows, 30), 3)
    together = graph.transform(make(rows)).toarray()
    for i in range(len(rows)):
        assert_allclose(graph.transform(rows[i : i + 1]).toarray()[0], together[i], atol=1e-12)


def test_blocks_change_nothing(monkeypatch):
    rows = np.tile(X, (5, 1))
    features = KernelFeatures.centered(rows, choose(rows), 1.0)
    graph = AnchorWeights.of(rows, choose(rows), 2)
    expected = features.means, features.transform(rows), graph.transform(rows).toarray()
    monkeypatch.setattr("sklearn_hashrank._features.row_slices._BLOCK_NUMBERS", 1)
    features = KernelFeatures.centered(rows, choose(rows), 1.0)
    graph = AnchorWeights.of(rows, choose(rows), 2)
    assert_allclose(features.means, expected[0], atol=1e-12)
    assert_allclose(features.transform(rows), expected[1], atol=1e-12)
    assert_allclose(graph.transform(rows).toarray(), expected[2], atol=1e-12)


@pytest.mark.parametrize("how", CHOICES)
def test_float32_stays_float32(how):
    narrow = X.astype(np.float32)
    features = KernelFeatures.centered(narrow, choose(narrow, how=how), 1.0)
    assert features.transform(narrow).dtype == np.float32
    assert features.project(narrow, np.ones((6, 2), np.float32)).dtype == np.float32
    expected = KernelFeatures.centered(X, choose(X, how=how), 1.0)
    assert_allclose(features.transform(narrow), expected.transform(X), atol=1e-5)
    assert AnchorWeights.of(narrow, choose(narrow), 2).transform(narrow).dtype == np.float32


@pytest.mark.parametrize("scale", [1e-140, 1e-30, 1e30, 1e140])
def test_scale_and_offset_change_nothing(scale):
    expected = KernelFeatures.centered(X, choose(X), 1.0).transform(X)
    rows = scale * (X + 7)
    assert_allclose(KernelFeatures.centered(rows, choose(rows), 1.0).transform(rows), expected)
    expected = AnchorWeights.of(X, choose(X), 2).transform(X).toarray()
    assert_allclose(AnchorWeights.of(rows, choose(rows), 2).transform(rows).toarray(), expected)


def test_rows_whose_squares_overflow_are_far_from_all_anchors():
    features = KernelFeatures.centered(X, choose(X), 2.0)
    far = np.full((2, 5), 1e300)
    for rows in (far, sparse.csr_array(far)):
        assert_array_equal(features.transform(rows) + features.means, 0)
    weights = AnchorWeights.of(X, choose(X), 2).transform(far)
    assert_allclose(weights.sum(axis=1), 1)


def test_all_kernels_of_equal_rows_are_zero():
    for value in (0.0, 0.1, 1e20):
        rows = np.full((9, 3), value)
        features = KernelFeatures.centered(rows, choose(rows), 2.0)
        assert_array_equal(features.transform(np.vstack([rows, X[:, :3]])), 0)
