"""Centered rows and their principal directions, dense and sparse."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.decomposition import PCA

from sklearn_hashrank._features.centered_rows import CenteredRows
from sklearn_hashrank._features.principal_directions import leading_directions


@pytest.mark.parametrize("n_features", [40, 1200])
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix, sparse.csr_array])
def test_principal_directions_are_those_of_scikit_learn(n_features, make):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 8)) * 3.0 ** -np.arange(8) @ rng.normal(size=(8, n_features))
    X[rng.random(X.shape) < 0.1] += 0.01
    X += 2.0 * (np.arange(n_features) % 3 == 0)
    rows = CenteredRows(make(X), X.mean(axis=0))
    variances, directions = leading_directions(rows, 4, np.random.RandomState(0))
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
