"""Principal directions, rotations, and the two yardsticks made of them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

from sklearn_hashrank import ITQHasher, LSHHasher, PCAHasher
from sklearn_hashrank.solvers.principal import CenteredRows, principal_directions
from sklearn_hashrank.solvers.rotation import itq_rotation, random_rotation


def orthonormality(M):
    return np.abs(M @ M.T - np.eye(len(M))).max()


@settings(max_examples=20)
@given(st.integers(1, 12), st.integers(0, 1000))
def test_rotations_are_orthogonal(n, seed):
    random_state = np.random.RandomState(seed)
    start = random_rotation(n, random_state)
    assert orthonormality(start) < 1e-12
    rotation, alignment = itq_rotation(random_state.normal(size=(30, n)), start)
    assert orthonormality(rotation) < 1e-12
    assert np.all(np.diff(alignment) >= -1e-12)
    assert 1 <= len(alignment) <= 50


def test_itq_finds_the_corners_of_a_rotated_cube_nearby():
    random_state = np.random.RandomState(0)
    corners = random_state.choice([-1.0, 1.0], size=(200, 4))
    hidden = random_rotation(4, random_state)
    start = np.linalg.qr(hidden.T + 0.2 * random_state.normal(size=(4, 4)))[0]
    rotation, alignment = itq_rotation(corners @ hidden, start)
    assert alignment[0] < 1 - 1e-4
    np.testing.assert_allclose(np.abs(corners @ hidden @ rotation), 1)


def test_scale_of_the_projections_does_not_matter():
    random_state = np.random.RandomState(0)
    V, start = random_state.normal(size=(50, 5)), random_rotation(5, random_state)
    np.testing.assert_allclose(itq_rotation(V, start)[0], itq_rotation(1e6 * V, start)[0])


@pytest.mark.parametrize("n_features", [40, 1200])
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix, sparse.csr_array])
def test_principal_directions_are_those_of_scikit_learn(n_features, make):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 8)) * 3.0 ** -np.arange(8) @ rng.normal(size=(8, n_features))
    X[rng.random(X.shape) < 0.1] += 0.01
    X += 2.0 * (np.arange(n_features) % 3 == 0)
    rows = CenteredRows(make(X), X.mean(axis=0))
    variances, directions = principal_directions(rows, 4, np.random.RandomState(0))
    reference = PCA(4, svd_solver="full").fit(X)
    np.testing.assert_allclose(variances * 150 / 149, reference.explained_variance_, rtol=1e-6)
    overlap = np.abs(reference.components_ @ directions)
    np.testing.assert_allclose(overlap, np.eye(4), atol=1e-4)
    assert np.all(directions.max(axis=0) >= -directions.min(axis=0))


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix])
def test_centered_rows_are_a_matrix(make):
    rng = np.random.default_rng(0)
    X = rng.random((5000, 7)).astype(np.float32)
    rows = CenteredRows(make(X), X.mean(axis=0, dtype=float))
    dense = X.astype(float) - rows.mean
    V, U = rng.normal(size=(7, 3)), rng.normal(size=(5000, 2))
    np.testing.assert_allclose(rows @ V, dense @ V, atol=1e-9)
    np.testing.assert_allclose(rows.T @ U, dense.T @ U, atol=1e-9)
    np.testing.assert_allclose(rows.covariance(), dense.T @ dense / 5000, atol=1e-9)
    np.testing.assert_allclose(rows.variances(), (dense**2).mean(axis=0), atol=1e-9)
    some = np.array([3, 4000])
    np.testing.assert_allclose(rows.take(some) @ V, dense[some] @ V, atol=1e-9)
    np.testing.assert_allclose(rows.take(some).made_ready() @ V, dense[some] @ V, atol=1e-9)


def test_pca_bits_are_signs_of_principal_components():
    X, _ = load_digits(return_X_y=True)
    hasher = PCAHasher(n_bits=6).fit(X)
    reference = PCA(6, svd_solver="full").fit(X)
    flips = np.sign((hasher.components_ * reference.components_).sum(axis=1))
    np.testing.assert_allclose(
        hasher.components_, flips[:, None] * reference.components_, atol=1e-9
    )
    np.testing.assert_allclose(
        hasher.decision_function(X), flips * reference.transform(X), atol=1e-9
    )


def test_itq_spans_the_principal_components_and_beats_them():
    X, y = load_digits(return_X_y=True)
    pca, itq, lsh = (
        hasher.fit(X, y)
        for hasher in (
            PCAHasher(n_bits=16),
            ITQHasher(n_bits=16, random_state=0),
            LSHHasher(n_bits=16, random_state=0),
        )
    )
    assert orthonormality(itq.components_) < 1e-10
    assert orthonormality(pca.components_ @ itq.components_.T) < 1e-10
    assert itq.score(X, y) > max(pca.score(X, y), lsh.score(X, y)) + 0.1
    assert 1 <= itq.n_iter_ <= 50
    assert ITQHasher(n_bits=16, max_iter=3, random_state=0).fit(X).n_iter_ == 3


@pytest.mark.parametrize("hasher", [PCAHasher(), ITQHasher()], ids=repr)
def test_more_bits_than_features_are_refused(hasher):
    with pytest.raises(ValueError, match=r"n_bits=32 is more than n_features = 4: .* orthogonal"):
        hasher.fit(np.random.default_rng(0).normal(size=(50, 4)))


def test_bits_up_to_the_number_of_features_and_beyond_that_of_rows():
    X = np.random.default_rng(0).normal(size=(5, 12))
    for hasher in (PCAHasher(12), ITQHasher(12, random_state=0)):
        components = hasher.fit(X).components_
        assert orthonormality(components) < 1e-10
