"""Classical projection hashers, against their papers' formulas written out."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.datasets import load_digits, make_blobs

from sklearn_hashrank import (
    CMHHasher,
    DensityHasher,
    LSHHasher,
    SKLSHHasher,
    SpectralHasher,
    SphericalHasher,
    SSHHasher,
    WTAHasher,
    retrieval_histogram,
)
from sklearn_hashrank.codes import hamming_distances, spherical_distances
from sklearn_hashrank.hashers.density import balanced_pairs
from sklearn_hashrank.hashers.spectral import longest_waves
from sklearn_hashrank.metrics import distance_histogram
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
    with pytest.raises(ValueError, match="n_candidates.*power of two.* 6 "):
        make(4, n_candidates=6).fit(digits[0])


@pytest.mark.learning
def test_two_concomitants_are_random_hyperplanes(digits):
    """The share of differing bits is the angle, and of four candidates it grows with the angle."""
    X = digits[0][:40]
    centered = X - X.mean(axis=0)
    centered /= np.linalg.norm(centered, axis=1, keepdims=True)
    angles = np.arccos(np.clip(centered @ centered.T, -1, 1))
    shares = {}
    for make in (LSHHasher(20_000), CMHHasher(20_000, n_candidates=2), CMHHasher(20_000)):
        codes = make.set_params(random_state=0).fit(X).predict(X)
        shares[repr(make)] = hamming_distances(codes, codes) / 20_000
    lsh, two, four = shares.values()
    assert_allclose(two, angles / np.pi, atol=0.02)
    assert_allclose(two, lsh, atol=0.03)
    order = np.argsort(angles, axis=None)
    assert np.diff(np.sort(four.ravel()) - four.ravel()[order]).max() < 0.03


@pytest.mark.parametrize("gamma", [1.0, 0.3])
def test_random_waves_are_those_of_the_paper(digits, gamma):
    X, _, Z, _ = digits
    hasher = SKLSHHasher(24, gamma=gamma, random_state=0).fit(X)
    random_state = np.random.RandomState(0)
    rows = random_state.permutation(len(X))[:100]
    normals = random_state.standard_normal((24, X.shape[1])) * np.sqrt(gamma)
    phases = random_state.uniform(0, 2 * np.pi, 24)
    thresholds = random_state.uniform(-1, 1, 24)
    phases = phases - normals @ X.mean(axis=0) / hasher.neighbor_distance_
    expected = oracle.shift_invariant_codes(X, Z, normals, phases, thresholds, rows, 50)
    assert_array_equal(hasher.predict(Z), expected)


def test_differing_bits_of_random_waves_estimate_the_kernel(digits):
    """The share that differs lies between the bounds of the paper's theorem."""
    X = digits[0][:80]
    hasher = SKLSHHasher(20_000, random_state=0).fit(X)
    codes = hasher.predict(X)
    share = hamming_distances(codes, codes) / 20_000
    K = np.exp(-((oracle.distances(X, X) / hasher.neighbor_distance_) ** 2) / 2)
    assert np.all(share <= np.minimum(np.sqrt(1 - K) / 2, 4 / np.pi**2 * (1 - 2 / 3 * K)) + 0.02)
    assert np.all(share >= 4 / np.pi**2 * (1 - K) - 0.02)


def test_few_rows_and_equal_ones_have_distances_too():
    X = np.repeat([[0.0, 0.0], [3.0, 4.0]], 60, axis=0)
    assert SKLSHHasher(8, random_state=0).fit(X).neighbor_distance_ == 0
    assert SKLSHHasher(8, random_state=0).fit(X[50:70]).neighbor_distance_ == pytest.approx(5)
    assert len(np.unique(SKLSHHasher(64, random_state=0).fit(X).codes_, axis=0)) == 2


@pytest.mark.parametrize(("n_bits", "n_rows"), [(2, 600), (8, 600), (16, 599), (32, 600)])
def test_spheres_are_those_of_the_paper(digits, n_bits, n_rows):
    noise = np.random.default_rng(0).normal(scale=0.1, size=digits[0].shape)  # no equal distances
    X, Z = (digits[0] + noise)[:n_rows], digits[2]
    hasher = SphericalHasher(n_bits, random_state=0).fit(X)
    random_state = np.random.RandomState(0)
    samples = [random_state.permutation(n_rows)[:5] for _ in range(n_bits)]
    start = np.array([X[sample].mean(axis=0) for sample in samples])
    centers, radii, n_iter = oracle.spheres(X, start)
    assert hasher.n_iter_ == n_iter
    assert_allclose(hasher.centers_, centers, atol=1e-8)
    codes = oracle.distances(X, centers) <= radii
    assert_array_equal(hasher.predict(X), codes)
    assert np.mean(hasher.predict(Z) != (oracle.distances(Z, centers) <= radii)) < 0.01
    assert_allclose(hasher.radii_, radii, rtol=0.01)


def test_spheres_hold_half_of_the_rows_and_share_a_quarter(digits):
    X = digits[0]
    hasher = SphericalHasher(24, random_state=0).fit(X)
    inside = hasher.predict(X).astype(int)
    assert_array_equal(inside.sum(axis=0), len(X) // 2)
    shared = (inside.T @ inside)[np.triu_indices(24, 1)] / len(X)
    assert np.abs(shared - 0.25).mean() <= 0.025
    assert shared.std() <= 0.0375
    assert hasher.n_iter_ < 100


def test_spheres_of_rows_on_a_line_end_somewhere():
    X = np.linspace(0, 1, 50)[:, None]
    hasher = SphericalHasher(16, random_state=0).fit(X)
    assert np.isfinite(hasher.centers_).all()
    assert np.isfinite(hasher.radii_).all()
    assert_array_equal(hasher.predict(X).sum(axis=0), 25)


def test_spheres_that_coincide_stay_where_they_are():
    hasher = SphericalHasher(16, random_state=0).fit(np.eye(2))
    assert hasher.n_iter_ == 1
    assert np.isfinite(hasher.centers_).all()


def test_spherical_distances_rank_as_fractions_do(digits):
    X, y, Z, z = digits
    hasher = SphericalHasher(12, random_state=0).fit(X)
    queries, database = hasher.predict(Z[:20]), hasher.predict(X)
    found = spherical_distances(queries, database)
    for row, query in zip(found, queries):
        exact = [oracle.spherical_distance(query, item) for item in database]
        assert_array_equal(
            np.unique(row, return_inverse=True)[1],
            np.unique(np.array(exact, dtype=object), return_inverse=True)[1],
        )
        assert_allclose(row, np.array(exact, dtype=float))
    signs = 2 * queries.astype(np.int8) - 1
    assert_array_equal(spherical_distances(signs, 2 * database.astype(np.int8) - 1), found)
    packed = np.packbits(queries, axis=1)
    assert_array_equal(spherical_distances(packed, database, n_bits=12), found)
    spherical = distance_histogram(found, z[:20], y).average_precision()
    plain = distance_histogram(hamming_distances(queries, database), z[:20], y)
    counted = retrieval_histogram(queries, database, z[:20], y)
    assert_allclose(plain.average_precision(), counted.average_precision())
    assert spherical.mean() != plain.average_precision().mean()


@pytest.mark.parametrize("n", [1, 8, 20])
def test_pairs_of_clusters_are_those_of_the_paper(n):
    rng = np.random.default_rng(n)
    means, sizes = rng.normal(size=(30, 5)), rng.integers(1, 40, 30)
    found = np.transpose(balanced_pairs(means, sizes, n, 3))
    assert_array_equal(found, oracle.density_pairs(means, sizes, n))


def test_bits_of_density_lie_midway_between_clusters():
    X, y = make_blobs(300, n_features=3, centers=4, cluster_std=0.1, random_state=0)
    hasher = DensityHasher(6, clusters_per_bit=0.6, n_iter=100, random_state=1).fit(X)
    codes = [np.unique(hasher.predict(X[y == label]), axis=0) for label in range(4)]
    assert [len(each) for each in codes] == [1, 1, 1, 1]
    assert len(np.unique(np.concatenate(codes), axis=0)) == 4


def test_fewer_pairs_than_bits_are_widened_and_then_repeated():
    means, sizes = np.random.default_rng(0).normal(size=(6, 2)), np.arange(1, 7)
    widened = set(zip(*balanced_pairs(means, sizes, 15, 1)))
    assert len(widened) == 15
    repeated = list(zip(*balanced_pairs(means, sizes, 20, 1)))
    assert repeated[15:] == repeated[:5]
    few = DensityHasher(40, random_state=0).fit(np.eye(3))
    assert few.components_.shape == (40, 3)
    assert len(np.unique(few.codes_, axis=0)) == 3


@pytest.mark.learning
def test_density_cuts_clusters_less_than_random_hyperplanes(digits):
    X, _, Z, z = digits
    scores = {
        make: np.mean([make(32, random_state=seed).fit(X).score(Z, z) for seed in range(3)])
        for make in (DensityHasher, LSHHasher)
    }
    assert scores[DensityHasher] > scores[LSHHasher] + 0.02


@pytest.mark.parametrize(
    "hasher",
    [
        SKLSHHasher(24),
        SpectralHasher(24),
        SphericalHasher(24),
        WTAHasher(24),
        CMHHasher(24),
        DensityHasher(24),
        SSHHasher(24),
    ],
    ids=lambda hasher: type(hasher).__name__,
)
def test_codes_do_not_depend_on_scale_and_offset(digits, hasher):
    X, y, Z, _ = digits
    rng = np.random.default_rng(0)
    X, Z = X + rng.normal(size=X.shape), Z + rng.normal(size=Z.shape)  # no equal distances
    hasher.set_params(random_state=0)
    codes = hasher.fit(X, y).predict(Z)
    assert np.mean(hasher.fit(1000 * X + 7, y).predict(1000 * Z + 7) != codes) < 1e-3
    single = hasher.fit(X.astype(np.float32), y).predict(Z.astype(np.float32))
    assert np.mean(single != codes) < 0.01
