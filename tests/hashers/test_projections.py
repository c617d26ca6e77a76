"""Classical projection hashers, against their papers' formulas written out."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.datasets import load_digits

from sklearn_hashrank import CMHHasher, LSHHasher, SpectralHasher, WTAHasher
from sklearn_hashrank.codes import hamming_distances
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


@pytest.mark.parametrize(("n_candidates", "n_bits"), [(2, 5), (4, 1), (4, 9), (8, 12), (16, 7)])
def test_winners_are_written_in_binary(digits, n_candidates, n_bits):
    """Pixels are often equal: the first of equal ones wins."""
    X, _, Z, _ = digits
    hasher = WTAHasher(n_bits, n_candidates=n_candidates, random_state=0).fit(X)
    expected = oracle.winner_codes(Z[:, hasher.features_], n_bits)
    assert_array_equal(hasher.predict(Z), expected)
    assert_array_equal(hasher.predict(sparse.csr_array(Z)), expected)
    for features in hasher.features_:
        assert len(set(features)) == n_candidates
    projected = CMHHasher(n_bits, n_candidates=n_candidates, random_state=0).fit(X)
    candidates = (Z - X.mean(axis=0)) @ projected.components_.T
    candidates = candidates.reshape(len(Z), n_candidates, -1).transpose(0, 2, 1)
    assert_array_equal(projected.predict(Z), oracle.winner_codes(candidates, n_bits))


def test_margins_say_how_far_a_bit_is_from_changing():
    hasher = WTAHasher(2, random_state=0).fit(np.eye(4))
    row = np.zeros((1, 4))
    row[0, hasher.features_[0]] = [1.0, 7.0, 2.0, 4.5]  # the winner is 01, 11 is second
    assert_allclose(hasher.decision_function(row), [[-2.5, 5.0]])
    row[0, hasher.features_[0]] = [0.0, 3.0, 0.0, 3.0]  # the first of equal ones is 01
    assert_array_equal(hasher.predict(row), [[0, 1]])


def test_winners_do_not_change_with_increasing_functions(digits):
    X, _, Z, _ = digits
    hasher = WTAHasher(40, random_state=0).fit(X)
    assert_array_equal(hasher.predict(np.exp(Z / 4) - 9), hasher.predict(Z))


def test_fewer_features_than_candidates_are_repeated():
    X = np.random.default_rng(0).normal(size=(50, 2))
    hasher = WTAHasher(24, n_candidates=8, random_state=0).fit(X)
    assert_array_equal(np.sort(hasher.features_, axis=1), [[0, 0, 0, 0, 1, 1, 1, 1]] * 8)
    assert len(np.unique(hasher.predict(X), axis=0)) == 2


@pytest.mark.parametrize("make", [WTAHasher, CMHHasher])
def test_candidates_must_be_a_power_of_two(make, digits):
    with pytest.raises(ValueError, match="n_candidates must be a power of two.* Got 6 instead"):
        make(4, n_candidates=6).fit(digits[0])


def test_two_concomitants_are_random_hyperplanes(digits):
    """The share of differing bits is the angle, and of four candidates it grows with the angle."""
    X = digits[0][:40]
    centred = X - X.mean(axis=0)
    centred /= np.linalg.norm(centred, axis=1, keepdims=True)
    angles = np.arccos(np.clip(centred @ centred.T, -1, 1))
    shares = {}
    for make in (LSHHasher(20_000), CMHHasher(20_000, n_candidates=2), CMHHasher(20_000)):
        codes = make.set_params(random_state=0).fit(X).predict(X)
        shares[repr(make)] = hamming_distances(codes, codes) / 20_000
    lsh, two, four = shares.values()
    assert_allclose(two, angles / np.pi, atol=0.02)
    assert_allclose(two, lsh, atol=0.03)
    order = np.argsort(angles, axis=None)
    assert np.diff(np.sort(four.ravel()) - four.ravel()[order]).max() < 0.03
