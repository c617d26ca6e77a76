"""KLSH, AGH, KSH, BRE and TALR on kernels, against the formulas and in their limits."""

import functools

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits, make_blobs, make_circles
from sklearn.pipeline import make_pipeline

from sklearn_hashrank import (
    AGHHasher,
    BREHasher,
    KLSHHasher,
    KSHHasher,
    LabelAffinity,
    LSHHasher,
    SharedLabelAffinity,
    TALRKernel,
    TALRLinear,
    load_hasher,
    save_hasher,
)
from sklearn_hashrank._features.anchor_weights import AnchorWeights
from sklearn_hashrank._features.anchors import Anchors
from sklearn_hashrank.affinity._neighbors import NeighborAffinity
from sklearn_hashrank.hashers.agh import graph_eigenvectors, second_thresholds
from sklearn_hashrank.hashers.bre import Embedding, Pairs, sample_pairs
from sklearn_hashrank.hashers.ksh import Similarity, ascend, learn_weights
from tests.oracle import anchors as anchor_oracle
from tests.oracle import kernel_hashing as oracle

KERNEL_HASHERS = [
    KLSHHasher(n_bits=12, n_anchors=50, random_state=0),
    KSHHasher(n_bits=12, n_anchors=50, n_labeled=150, max_iter=20, random_state=0),
    AGHHasher(n_bits=12, n_anchors=60, random_state=0),
    AGHHasher(n_bits=13, n_layers=2, n_anchors=60, random_state=0),
    BREHasher(n_bits=12, n_sampled=150, random_state=0),
    TALRKernel(n_bits=12, n_anchors=50, max_iter=5, random_state=0),
]
every_hasher = pytest.mark.parametrize("hasher", KERNEL_HASHERS, ids=repr)


@functools.cache
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:300], y[:300], X[300:500], y[300:500]


@functools.cache
def fitted(number):
    X, y, *_ = digits()
    return clone(KERNEL_HASHERS[number]).fit(X, y)


@pytest.mark.parametrize("number", range(len(KERNEL_HASHERS)))
def test_a_file_holds_all_that_encoding_needs(number, tmp_path):
    _, _, new, y = digits()
    hasher = fitted(number)
    for training_rows in (True, False):
        save_hasher(tmp_path / "hasher.npz", hasher, training_rows=training_rows)
        loaded = load_hasher(tmp_path / "hasher.npz")
        assert_array_equal(loaded.transform(new), hasher.transform(new))
        assert loaded.score(new, y) == hasher.score(new, y)


@pytest.mark.parametrize("number", range(len(KERNEL_HASHERS)))
def test_blocks_have_the_same_codes(number):
    _, _, new, _ = digits()
    hasher = fitted(number)
    assert_array_equal(hasher.encode_blocks(new, batch_size=37, n_jobs=2), hasher.packed_codes(new))
    assert_array_equal(hasher.encode_blocks(sparse.csr_array(new)), hasher.packed_codes(new))


@pytest.mark.learning
@every_hasher
def test_scale_and_offset_change_no_quality(hasher):
    X, y, new, y_new = digits()
    moved = clone(hasher).fit(1000 * X + 7, y).score(1000 * new + 7, y_new)
    assert moved == pytest.approx(clone(hasher).fit(X, y).score(new, y_new), abs=0.005)


def test_klsh_weights_are_those_of_the_formula():
    X, *_ = digits()
    hasher = KLSHHasher(n_bits=5, n_anchors=40, random_state=0).fit(X)
    K = hasher._features.of_anchors()
    random_state = np.random.RandomState(0)
    random_state.permutation(len(X))  # the anchors
    subsets = [random_state.permutation(40)[:10] for _ in range(5)]
    expected = oracle.klsh_weights(K, subsets)
    assert_allclose(hasher.dual_coef_.T, expected, atol=1e-6 * np.abs(expected).max())
    centered = anchor_oracle.kernels(X[:9], X, hasher.anchors_, 0.5)
    assert_allclose(hasher.decision_function(X[:9]), centered @ expected, atol=1e-6)


@pytest.mark.learning
def test_klsh_keeps_similarity_of_the_kernel():
    X, y = make_circles(400, factor=0.3, noise=0.02, random_state=0)
    kernel = KLSHHasher(n_bits=32, gamma=2, random_state=0).fit(X, y).score(X, y)
    assert kernel > LSHHasher(n_bits=32, random_state=0).fit(X, y).score(X, y) + 0.1


def graph():
    X, *_ = digits()
    anchors = Anchors.kmeans(X, 40, np.random.RandomState(0))
    Z = AnchorWeights.of(X, anchors, 3).transform(X)
    return Z, Z.sum(axis=0)


def test_functions_of_the_graph_are_those_of_the_formula():
    Z, sizes = graph()
    values, functions = graph_eigenvectors(Z, sizes)
    expected_values, expected, _ = oracle.agh(Z.toarray(), 8)
    assert_allclose(values[:8], expected_values, atol=1e-12)
    signs = np.sign((functions[:, :8] * expected).sum(axis=0))
    assert_allclose(functions[:, :8] * signs, expected, atol=1e-6)
    assert_allclose(np.mean((Z @ functions) ** 2, axis=0), 1)


def test_second_thresholds_minimize_the_laplacian_on_both_sides():
    Z, sizes = graph()
    expected = oracle.agh(Z.toarray(), 6)
    assert_allclose(second_thresholds(Z, sizes, expected[1]), expected[2], atol=1e-8)


def test_anchors_without_rows_have_no_part():
    Z, sizes = graph()
    padded = sparse.csr_array(sparse.hstack([Z, sparse.csr_array((Z.shape[0], 2))]))
    values, functions = graph_eigenvectors(padded, np.append(sizes, [0, 0]))
    expected = graph_eigenvectors(Z, sizes)
    assert_allclose(values, expected[0])
    assert_array_equal(functions[-2:], 0)
    assert np.isfinite(second_thresholds(padded, np.append(sizes, [0, 0]), functions)).all()


def test_rows_far_from_a_function_have_bit_zero_of_it():
    X, y = make_blobs(200, centers=5, cluster_std=0.1, center_box=(-50, 50), random_state=0)
    hasher = AGHHasher(n_bits=8, n_anchors=60, random_state=0).fit(X, y)
    projections = hasher.decision_function(X)
    assert (projections == 0).mean() > 0.3
    assert_array_equal(AGHHasher(n_bits=8, n_anchors=60, random_state=0).fit(7 * X).codes_,
                       hasher.codes_)  # fmt: skip


@pytest.mark.parametrize("n_bits", [1, 2, 7, 8])
def test_two_layers_give_any_number_of_bits(n_bits):
    X, y, new, _ = digits()
    hasher = AGHHasher(n_bits=n_bits, n_layers=2, random_state=0).fit(X, y)
    n_vectors = -(-n_bits // 2)
    assert hasher.transform(new).shape == (len(new), n_bits)
    assert len(hasher.eigenvalues_) == n_vectors == hasher.thresholds_.shape[1]
    first = AGHHasher(n_bits=n_vectors, random_state=0).fit(X, y)
    assert_array_equal(hasher.transform(new)[:, :n_vectors], first.transform(new))


@pytest.mark.filterwarnings("ignore:all rows of X are equal")
def test_more_bits_take_more_anchors_until_there_are_none():
    X, *_ = digits()
    assert AGHHasher(n_bits=40, random_state=0).fit(X).transform(X).shape[1] == 40
    with pytest.raises(ValueError, match="299 eigenvectors"):
        AGHHasher(n_bits=299, random_state=0).fit(X)
    with pytest.raises(ValueError, match="n_samples = 5"):
        AGHHasher(n_bits=2).fit(np.ones((5, 3)))


def similarity(y):
    affinity = LabelAffinity().fit(y)
    return Similarity.of(affinity, affinity.validate(y))


def test_similarity_is_that_of_the_matrix():
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=20)
    S = np.where(y[:, None] == y, 1.0, -1.0) * 4
    found, codes = similarity(y), np.sign(rng.normal(size=(20, 2)))
    found.scale = 4
    for code in codes.T:
        found.explain(code)
    expected = S - codes @ codes.T
    columns = rng.normal(size=(20, 3))
    assert_allclose(found @ columns, expected @ columns)
    assert_allclose(found @ columns[:, 0], expected @ columns[:, 0])
    assert found.quadratic(columns[:, 0]) == pytest.approx(columns[:, 0] @ expected @ columns[:, 0])


def test_similarity_takes_label_sets():
    Y = np.array([[1, 0, 0], [1, 1, 0], [0, 0, 1], [1, 0, 0]])
    affinity = SharedLabelAffinity().fit(Y)
    found = Similarity.of(affinity, affinity.validate(Y)) @ np.eye(4)
    assert_array_equal(found, [[1, 1, -1, 1], [1, 1, -1, 1], [-1, -1, 1, -1], [1, 1, -1, 1]])


@pytest.mark.learning
@pytest.mark.parametrize("hasher", [KERNEL_HASHERS[1], KERNEL_HASHERS[4], KERNEL_HASHERS[5]])
def test_supervised_ones_learn_from_nearest_rows(hasher):
    X, *_ = digits()
    hasher = clone(hasher).set_params(affinity=NeighborAffinity())
    by_chance = LSHHasher(n_bits=1, random_state=0).fit(X, X)
    by_chance.affinity_ = NeighborAffinity()
    assert hasher.fit(X).score(X) > by_chance.score(X, X) + 0.1


def test_ksh_learns_what_the_formulas_say():
    rng = np.random.default_rng(0)
    y = rng.integers(4, size=60)
    K = rng.normal(size=(60, 8)) + np.eye(8)[y] + np.eye(8)[2 * y]
    S = np.where(y[:, None] == y, 1, -1)
    found, n_steps = learn_weights(K, similarity(y), 5, 30, 1e-2)
    expected = oracle.ksh(K, S, 5, 30, 1e-2)
    signs = np.sign((found * expected).sum(axis=0))
    assert_allclose(found * signs, expected, atol=1e-6 * np.abs(expected).max())
    assert 1 <= n_steps <= 30


def test_ascent_never_ends_below_its_start():
    rng = np.random.default_rng(1)
    y = rng.integers(3, size=50)
    K, S = rng.normal(size=(50, 6)), similarity(y)

    def value(weights):
        return S.quadratic(np.tanh(K @ weights / 2))

    start = rng.normal(size=6)
    assert value(ascend(K, S, start, 100, 1e-3)[0]) > value(start)


@pytest.mark.learning
def test_ksh_survives_anchors_that_are_equal():
    X, y, new, y_new = digits()
    twice = np.vstack([X[:60], X[:60]])
    hasher = KSHHasher(n_bits=8, max_iter=20, random_state=0).fit(twice, np.tile(y[:60], 2))
    assert np.isfinite(hasher.dual_coef_).all()
    assert hasher.score(new, y_new) > 0.3


def test_ksh_leaves_nothing_to_rounding_where_classes_give_the_same_eigenvalue():
    """Classes of one size, and as many anchors as rows."""
    generator = np.random.default_rng(0)
    y = np.arange(80) % 8
    X = generator.integers(0, 16, size=(80, 30)).astype(float)
    hasher = KSHHasher(n_bits=6, random_state=0)
    codes = clone(hasher).fit(X, y).predict(X)
    for rows in (sparse.csr_array(X), X * (1 + 1e-15), np.asfortranarray(X)):
        assert_array_equal(clone(hasher).fit(rows, y).predict(X), codes)


def test_bre_weight_is_the_best_of_all_intervals():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(25, 6))
    kernel = rows @ rows.T
    first, second = sample_pairs(25, 0.3, np.random.RandomState(0))
    targets = rng.random(len(first))
    embedding = Embedding(kernel, Pairs.of(first, second, targets, 25))
    embedding.start(4, 5, np.random.RandomState(0))
    pairs = list(zip(first, second))
    assert embedding.loss == pytest.approx(oracle.bre_loss(embedding.bits, pairs, targets))
    for bit, place in [(0, 0), (1, 3), (0, 4), (3, 2), (2, 1), (0, 0)]:
        weight, loss = oracle.bre_best_weight(
            kernel, embedding.basis, embedding.weights, embedding.bits, bit, place, pairs, targets
        )
        embedding.improve(bit, place)
        assert embedding.weights[bit, place] == pytest.approx(weight)
        assert embedding.loss == pytest.approx(loss)


def test_pairs_know_the_pairs_of_every_row():
    first, second = sample_pairs(12, 0.25, np.random.RandomState(0))
    assert (first != second).all()
    pairs = Pairs.of(first, second, np.zeros(len(first)), 12)
    for row in range(12):
        part = slice(pairs.starts[row], pairs.starts[row + 1])
        numbers = np.flatnonzero((first == row) | (second == row))
        assert_array_equal(np.sort(pairs.numbers[part]), numbers)
        for other, number in zip(pairs.neighbors[part], pairs.numbers[part]):
            assert {first[number], second[number]} == {row, other}


@pytest.mark.learning
def test_bre_with_labels_learns_labels_and_without_them_distances():
    X, y, new, y_new = digits()
    hasher = BREHasher(n_bits=16, random_state=0)
    labeled, unlabeled = clone(hasher).fit(X, y), clone(hasher).fit(X)
    assert labeled.score(new, y_new) > 0.5
    unit = new - X.mean(axis=0)
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    bits = unlabeled.predict(new).astype(float)
    hamming = (bits[:, None] != bits).mean(axis=2)
    assert np.corrcoef(hamming.ravel(), (1 - unit @ unit.T).ravel())[0, 1] > 0.7
    assert unlabeled.loss_ < 0.01


def test_bre_does_not_depend_on_labels_that_no_pair_shares():
    X, y, *_ = digits()
    hasher, sets = BREHasher(n_bits=8, random_state=0), np.eye(10, dtype=int)[y]
    by_label, by_set = clone(hasher).fit(X, y), clone(hasher).fit(X, sets)
    assert_array_equal(by_set.predict(X), by_label.predict(X))


@pytest.mark.learning
def test_talr_on_kernels_is_better_than_on_the_features():
    X, y, new, y_new = digits()
    kernel = TALRKernel(n_bits=16, max_iter=20, random_state=0).fit(X, y).score(new, y_new)
    linear = TALRLinear(n_bits=16, max_iter=20, random_state=0).fit(X, y).score(new, y_new)
    assert kernel > linear + 0.02


def test_dropout_of_kernels_does_not_grow_with_the_number_of_anchors():
    X, y, *_ = digits()
    n_rows = 300

    def weights(n_anchors, **more):
        hasher = TALRKernel(4, n_anchors=n_anchors, max_iter=2, random_state=0, **more)
        return hasher.fit(X[:n_rows], y[:n_rows]).dual_coef_

    for n_anchors, dropout in ((n_rows, 0.1), (n_rows // 2, 0.1), (n_rows // 10, 0.0)):
        assert_array_equal(weights(n_anchors), weights(n_anchors, dropout=dropout))


@pytest.mark.learning
def test_talr_on_kernels_learns_from_distances_and_from_label_sets():
    X, y, *_ = digits()
    hasher = TALRKernel(n_bits=16, n_anchors=100, max_iter=10, random_state=0)
    for rows in (X, sparse.csr_array(X)):
        unlabeled = clone(hasher).fit(rows)
        assert not hasattr(unlabeled, "y_")
        assert unlabeled.score(rows) > 0.6
    assert not {"codes_", "y_"} & set(vars(unlabeled._model))
    sets = np.eye(10, dtype=int)[y]
    sets[0, :2] = 1  # with one label in every row they would be classes
    hasher.fit(X, sets)
    assert isinstance(hasher.affinity_, SharedLabelAffinity)


def test_talr_on_kernels_takes_all_that_talr_takes():
    of_linear = set(TALRLinear().get_params())
    assert set(TALRKernel().get_params()) == of_linear | {"n_anchors", "gamma"}


def test_talr_on_kernels_goes_on_from_the_last_fit():
    X, y, *_ = digits()
    hasher = TALRKernel(n_bits=8, n_anchors=100, max_iter=3, random_state=0, warm_start=True)
    first = hasher.fit(X, y).history_["objective"][0]
    anchors = hasher.anchors_
    assert hasher.fit(X, y).history_["objective"][0] > first + 0.05
    assert_array_equal(hasher.anchors_, anchors)


def test_pipelines_and_threads_change_nothing():
    X, y, new, _ = digits()
    hasher = TALRKernel(n_bits=8, n_anchors=50, max_iter=3, random_state=0)
    expected = clone(hasher).fit(X, y).transform(new)
    found = make_pipeline("passthrough", clone(hasher).set_params(n_jobs=2)).fit(X, y)
    assert_array_equal(found.transform(new), expected)


def test_talr_on_kernels_refuses_a_single_row_by_its_own_name():
    with pytest.raises(ValueError, match="TALRKernel.*two rows"):
        TALRKernel(4).fit(np.ones((1, 3)), [1])


def test_workers_are_sent_what_encodes_and_no_more():
    X, y, *_ = digits()
    hasher = TALRKernel(n_bits=4, n_anchors=50, max_iter=1, random_state=0).fit(X, y)
    light = hasher._for_encoding()
    assert set(vars(light)) - set(hasher.get_params()) == {
        "_features",
        "dual_coef_",
        "intercept_",
        "fitted_with_y_",
        "n_features_in_",
        "n_iter_",
        "batch_size_",
        "group_size_",
        "weight_decay_",
        "dropout_",
    }
    assert_array_equal(light.predict(X), hasher.predict(X))
