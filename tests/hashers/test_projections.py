"""Classical projection hashers, against their papers' formulas written out."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_digits

from sklearn_hashrank import SpectralHasher
from sklearn_hashrank.hashers.sh import longest_waves
from tests.oracle import projections as oracle


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(X))
    X, y = X[order], y[order]
    return X[:600], y[:600], X[600:900], y[600:900]


@pytest.mark.parametrize("n_bits", [1, 16, 60, 90])
def test_spectral_codes_are_those_of_the_paper(digits, n_bits):
    X, _, Z, _ = digits
    found = SpectralHasher(n_bits).fit(X).predict(Z)
    assert oracle.up_to_whole_bits(found, oracle.spectral_codes(X, Z, n_bits)) == 0


def test_longest_waves_come_first_and_wide_directions_have_several():
    directions, modes, frequencies = longest_waves(np.array([4.0, 1.1, 2.5]), 6)
    assert_array_equal(directions, [0, 2, 0, 0, 2, 1])
    assert_array_equal(modes, [1, 1, 2, 3, 2, 1])
    assert_allclose(frequencies, np.pi * modes / np.array([4, 2.5, 4, 4, 2.5, 1.1]))
    for found in longest_waves(np.zeros(2), 3):
        assert len(found) == 3


def test_spectral_bits_beyond_the_features_are_further_waves():
    X = np.random.default_rng(0).uniform(size=(200, 1))
    hasher = SpectralHasher(4).fit(X)
    assert_array_equal(hasher.modes_, [1, 2, 3, 4])
    runs = np.abs(np.diff(hasher.predict(np.sort(X, axis=0)).astype(int), axis=0)).sum(axis=0)
    assert_array_equal(runs, [1, 2, 3, 4])
