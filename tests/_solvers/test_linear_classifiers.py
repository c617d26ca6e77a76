"""Squared hinges: the minimum of every bit, as scikit-learn finds it."""

import numpy as np
import pytest
from scipy import optimize
from sklearn.svm import LinearSVC

from sklearn_hashrank._solvers.linear_classifiers import fit_squared_hinges

RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(80, 5))
SIGNS = np.where(ROWS @ RNG.normal(size=(5, 3)) + RNG.normal(size=(80, 3)) > 0.3, 1.0, -1.0)


def value(weights, offset, signs, alpha):
    slack = np.maximum(0, 1 - signs * (ROWS @ weights + offset))
    return np.mean(slack**2) + alpha / 2 * weights @ weights


@pytest.mark.parametrize("alpha", [0.01, 1.0])
def test_each_bit_has_its_minimum(alpha):
    weights, offsets = fit_squared_hinges(ROWS, SIGNS, alpha, max_iter=500, tol=1e-8)
    for bit in range(3):
        found = value(weights[:, bit], offsets[bit], SIGNS[:, bit], alpha)
        expected = optimize.minimize(
            lambda p, bit=bit: value(p[1:], p[0], SIGNS[:, bit], alpha), np.zeros(6)
        )
        assert found == pytest.approx(expected.fun, abs=1e-7)


def test_directions_are_those_of_scikit_learn():
    """Whose offset is regularized a little, as a feature of a large constant."""
    weights, _ = fit_squared_hinges(ROWS, SIGNS, 0.1, max_iter=500, tol=1e-8)
    svm = LinearSVC(C=1 / 0.1 / 80, intercept_scaling=100, tol=1e-8, max_iter=100_000)
    for bit in range(3):
        expected = svm.fit(ROWS, SIGNS[:, bit]).coef_[0]
        np.testing.assert_allclose(weights[:, bit], expected, atol=2e-3)


def test_a_good_start_is_kept():
    found = fit_squared_hinges(ROWS, SIGNS, 0.1, max_iter=500, tol=1e-8)
    again = fit_squared_hinges(ROWS, SIGNS, 0.1, found, max_iter=1)
    np.testing.assert_allclose(again[0], found[0], atol=1e-5)
