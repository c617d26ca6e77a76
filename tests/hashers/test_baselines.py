"""The baselines: random hyperplanes, principal directions, iterative quantization."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

from sklearn_hashrank import ITQHasher, LSHHasher, PCAHasher
from sklearn_hashrank._solvers.rotation import itq_rotation, random_rotation, rotate_to_signs
from sklearn_hashrank.codes import hamming_distances


@pytest.fixture(scope="module")
def digits():
    return load_digits(return_X_y=True)


def test_hyperplanes_estimate_the_angle_between_rows(digits):
    X = digits[0][:60]
    codes = LSHHasher(n_bits=20_000, random_state=0).fit(X).predict(X)
    centered = X - X.mean(axis=0)
    centered /= np.linalg.norm(centered, axis=1, keepdims=True)
    angles = np.arccos(np.clip(centered @ centered.T, -1, 1))
    assert_allclose(hamming_distances(codes, codes) / 20_000, angles / np.pi, atol=0.02)


@pytest.mark.parametrize(
    "make", [LSHHasher, PCAHasher, partial(PCAHasher, rotation="random"), ITQHasher]
)
def test_codes_do_not_depend_on_scale_and_offset(digits, make):
    X = digits[0]
    codes = make(16, random_state=0).fit(X).predict(X)
    changed = make(16, random_state=0).fit(1000 * X + 7).predict(1000 * X + 7)
    assert np.mean(codes != changed) < 1e-3


@pytest.mark.learning
def test_random_rotation_keeps_the_principal_subspace_and_spreads_its_variance(digits):
    X, y = digits
    rotated = PCAHasher(16, rotation="random", random_state=0).fit(X, y)
    assert_allclose(rotated.components_ @ rotated.components_.T, np.eye(16), atol=1e-10)
    space = PCA(16).fit(X).components_
    assert_allclose(rotated.components_ @ space.T @ space, rotated.components_, atol=1e-8)
    plain = PCAHasher(16, random_state=0).fit(X, y)
    variances = [hasher.decision_function(X).var(axis=0) for hasher in (rotated, plain)]
    assert_allclose(variances[0].sum(), variances[1].sum())
    assert variances[0].max() < 0.7 * variances[1].max()
    assert rotated.score(X, y) > plain.score(X, y) + 0.1
    other = PCAHasher(16, rotation="random", random_state=1).fit(X, y)
    assert np.any(other.codes_ != rotated.codes_)


def test_principal_directions_are_those_of_scikit_learn(digits):
    X = digits[0]
    hasher = PCAHasher(8).fit(X)
    pca = PCA(8).fit(X)
    assert_allclose(hasher.decision_function(X), pca.transform(X), atol=1e-8)


@given(st.integers(1, 6), st.integers(0, 2**32 - 1))
def test_rotation_is_orthogonal_and_its_error_never_rises(n, seed):
    V = np.random.default_rng(seed).normal(size=(40, n))
    errors = []
    for max_iter in range(6):
        R, _ = itq_rotation(V, max_iter, np.random.RandomState(seed))
        assert_allclose(R.T @ R, np.eye(n), atol=1e-10)
        projections = V @ R
        errors.append(np.sum((np.where(projections > 0, 1, -1) - projections) ** 2))
    assert np.all(np.diff(errors) <= 1e-9)


def test_one_rotation_is_the_procrustes_optimum():
    rng = np.random.default_rng(0)
    V = rng.normal(size=(50, 3))
    start = random_rotation(3, np.random.RandomState(1))
    signs = np.where(V @ start > 0, 1.0, -1.0)
    R, _ = itq_rotation(V, 1, np.random.RandomState(1))
    best = np.sum((signs - V @ R) ** 2)
    for seed in range(200):
        other = random_rotation(3, np.random.RandomState(seed))
        assert np.sum((signs - V @ other) ** 2) >= best - 1e-9


def test_it_ends_when_the_codes_no_longer_change():
    V = np.random.default_rng(0).normal(size=(50, 3))
    rotation, n_iter = itq_rotation(V, 1000, np.random.RandomState(1))
    assert n_iter < 100
    again, _ = itq_rotation(V, n_iter + 50, np.random.RandomState(1))
    assert_array_equal(again, rotation)


def test_fewer_dimensions_than_bits_are_rotated_to_signs_too():
    rng = np.random.default_rng(0)
    V, start = rng.normal(size=(50, 3)), np.linalg.qr(rng.normal(size=(5, 5)))[0][:3]
    errors = []
    for max_iter in range(8):
        R, _ = rotate_to_signs(V, start, max_iter)
        assert_allclose(R @ R.T, np.eye(3), atol=1e-12)
        errors.append(np.sum((np.where(V @ R > 0, 1.0, -1.0) - V @ R) ** 2))
    assert np.all(np.diff(errors) <= 1e-9)
    assert errors[-1] < errors[0]


def test_random_rotations_are_uniform():
    draws = [random_rotation(2, np.random.RandomState(seed)) for seed in range(400)]
    assert_allclose(np.mean(draws, axis=0), 0, atol=0.1)
    assert_array_equal(
        np.unique([random_rotation(1, np.random.RandomState(s)) for s in range(9)]), [-1, 1]
    )


@pytest.mark.learning
def test_itq_spans_the_principal_directions_and_beats_them(digits):
    X, y = digits
    pca, itq = (make(24, random_state=0).fit(X, y) for make in (PCAHasher, ITQHasher))
    assert_allclose(itq.components_ @ itq.components_.T, np.eye(24), atol=1e-8)
    span = pca.components_.T @ pca.components_
    assert_allclose(itq.components_ @ span, itq.components_, atol=1e-8)
    assert itq.score(X, y) > pca.score(X, y) + 0.02
    assert itq.score(X, y) > LSHHasher(24, random_state=0).fit(X, y).score(X, y)


@pytest.mark.parametrize("make", [PCAHasher, ITQHasher])
def test_sparse_rows_stay_sparse(make):
    X = sparse.random_array((200, 3000), density=0.01, random_state=0, format="csr")
    hasher = make(8, random_state=0).fit(X)
    assert hasher.transform(X).shape == (200, 8)
    assert 0.3 < hasher.transform(X).mean() < 0.7


@pytest.mark.parametrize("make", [PCAHasher, ITQHasher])
@pytest.mark.parametrize("n_features", [12, 1200])
@pytest.mark.filterwarnings("ignore:all rows of X are equal")
def test_all_zero_rows_dense_and_sparse(make, n_features):
    zeros = np.zeros((30, n_features))
    dense, from_sparse = (make(8, random_state=0).fit(X) for X in (zeros, sparse.csr_array(zeros)))
    assert_array_equal(dense.components_, from_sparse.components_)
    assert not dense.components_.any()  # they vary in no direction
    assert_array_equal(dense.transform(zeros), 0)


@pytest.mark.parametrize("make", [PCAHasher, ITQHasher])
def test_more_bits_than_directions_are_refused(make, digits):
    with pytest.raises(ValueError, match="n_bits=65 .*n_features = 64.* LSHHasher"):
        make(65).fit(digits[0])
    with pytest.raises(ValueError, match="n_bits=20 .*n_samples = 10"):
        make(20).fit(digits[0][:10])
    with pytest.raises(ValueError, match="'max_iter'.*ITQHasher"):
        ITQHasher(4, max_iter=0).fit(digits[0])


def test_directions_without_variance_have_no_bit():
    """Rounding would choose the bits, and choose others for a row that is encoded alone."""
    X = np.random.default_rng(0).normal(size=(50, 3))
    X = np.column_stack([X, X[:, 0] + X[:, 1], X[:, 1] - 2 * X[:, 2]])
    hasher = PCAHasher(n_bits=5, random_state=0).fit(X)
    assert_allclose(hasher.components_ @ hasher.components_.T, np.diag([1, 1, 1, 0, 0]), atol=1e-12)
    assert not hasher.predict(X)[:, 3:].any()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("constant", [0.0, 1e-10, 1e5, 1e10])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_constant_features_carry_nothing_of_random_hyperplanes(dtype, constant, form):
    X = np.random.default_rng(0).normal(size=(200, 8)).astype(dtype)
    expected = LSHHasher(32, random_state=0).fit(form(np.c_[X, np.zeros(200, dtype)]))
    rows = form(np.c_[X, np.full(200, constant, dtype)])
    found = LSHHasher(32, random_state=0).fit(rows)
    np.testing.assert_array_equal(found.components_, expected.components_)
    np.testing.assert_array_equal(found.components_[:, -1], 0)
    np.testing.assert_array_equal(found.codes_, expected.codes_)
