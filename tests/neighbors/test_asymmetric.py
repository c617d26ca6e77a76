"""Search by real projections: against a literal scan by rounded and exact distances."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from sklearn_hashrank import HammingNeighbors, ITQHasher
from sklearn_hashrank._kernels import _words
from sklearn_hashrank.neighbors import _projections, _scan
from tests.neighbors.test_neighbors import check_rows, random_codes, searches
from tests.oracle.neighbors import nearest_by_projections, rounded_distance


def projections_of(queries, seed):
    """Projections with the signs of codes, and with exact sums: ties are ties."""
    sizes = np.random.default_rng(seed).integers(0, 15, queries.shape) / 4
    return np.where(queries == 1, sizes, -sizes)


@settings(max_examples=60)
@given(searches(), st.integers(1, 25), st.integers(1, 25), st.data())
def test_kneighbors_equal_a_literal_scan(search, k, n_candidates, data):
    queries, database = search
    k = min(k, len(database))
    n_candidates = max(k, n_candidates)
    projections = projections_of(queries, k)
    n_bits = database.shape[1]
    prefix = data.draw(st.sampled_from([None, *range(1, n_bits)]))
    passes = np.array(
        data.draw(st.lists(st.booleans(), min_size=len(database), max_size=len(database)))
    )
    index = HammingNeighbors(k, distance="asymmetric", n_candidates=n_candidates, prefix=prefix)
    index.fit(database)
    found = index.kneighbors(projections)
    check_rows(found, nearest_by_projections(projections, database, n_candidates, k, prefix))
    assert found[0].dtype == np.float64
    expected = nearest_by_projections(
        projections, database, n_candidates, k, prefix, [passes] * len(projections)
    )
    distances, places = index.kneighbors(projections, mask=passes)
    for near, at, pairs in zip(distances, places, expected, strict=True):
        n_missing = k - len(pairs)
        assert list(zip(near, at)) == pairs + [(np.inf, -1)] * n_missing


@pytest.mark.parametrize("n_bits", [1, 63, 64, 100, 128, 256, 300, 512, 1000])
@pytest.mark.parametrize("n_queries", [1, 2, 5, 70])
def test_a_scan_is_exact_for_rounded_distances(n_bits, n_queries):
    """Many codes, in several tiles, and neighbors of which many are tied."""
    n = 5000 if n_queries < 70 else 2000
    codes, rng = random_codes(n, n_bits, 1), np.random.default_rng(2)
    projections = rng.normal(size=(n_queries, n_bits))
    words = HammingNeighbors(n_bits=n_bits).fit(codes)._state[0].words()
    queries = _projections.weighted_queries(projections)
    bits = np.unpackbits(codes, axis=1, count=n_bits)
    weights = np.rint(7 * np.abs(projections) / np.abs(projections).max(axis=1, keepdims=True))
    signs = projections > 0
    differing = (bits != sign for sign in signs)
    expected = np.array([bits @ own for bits, own in zip(differing, weights, strict=True)])
    assert expected[0, 0] == rounded_distance(projections[0].tolist(), bits[0].tolist())
    for k in (1, 10, 150):
        for n_jobs in (1, 2):
            n_found, indices, distances = _scan.k_nearest(queries, words, k, n_jobs)
            order = np.argsort(expected, axis=1, kind="stable")[:, :k]
            assert (n_found == k).all()
            np.testing.assert_array_equal(indices, order)
            np.testing.assert_array_equal(distances, np.take_along_axis(expected, order, axis=1))


def test_kernels_and_queries_agree_on_the_planes():
    assert _words.PLANES == _projections.N_PLANES
    assert _projections.LARGEST_WEIGHT * _projections.LONGEST_WEIGHTED + 1 < 2**16


def test_rounding_loses_nothing_that_rescoring_does_not_find():
    """The ten nearest by exact projections, and more of the query's class than by signs."""
    X, y = load_digits(return_X_y=True)
    X, X_test, y, y_test = train_test_split(X, y, random_state=0)
    for n_bits in (16, 64):
        hasher = ITQHasher(n_bits, random_state=0).fit(X)
        codes, projections = hasher.predict(X), hasher.decision_function(X_test)
        index = HammingNeighbors(10, distance="asymmetric").fit(codes)
        found = index.kneighbors(projections)[1]
        every = index.set_params(n_candidates=len(X)).kneighbors(projections)[1]
        np.testing.assert_array_equal(found, every)
        by_signs = index.set_params(distance="hamming", n_candidates=None)
        by_signs = by_signs.kneighbors(projections > 0)[1]
        assert np.mean(y[found] == y_test[:, None]) > np.mean(y[by_signs] == y_test[:, None])


def test_files_clones_and_pickles_remember_the_distance(tmp_path):
    projections = np.random.default_rng(0).normal(size=(4, 100))
    index = HammingNeighbors(3, n_bits=100, distance="asymmetric").fit(random_codes(50, 100, 0))
    index.save(tmp_path / "index.npy")
    loaded = HammingNeighbors.load(tmp_path / "index.npy")
    assert loaded.distance == "asymmetric"
    for one, other in zip(index.kneighbors(projections), loaded.kneighbors(projections)):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("unit", [1e-300, 1.0, 1e300])
def test_the_unit_of_projections_changes_no_order(unit):
    projections = np.random.default_rng(0).normal(size=(4, 64))
    index = HammingNeighbors(20, n_bits=64, distance="asymmetric").fit(random_codes(500, 64, 0))
    expected = index.kneighbors(projections)[1]
    np.testing.assert_array_equal(index.kneighbors(projections * unit)[1], expected)
    zeros = index.kneighbors(np.zeros((1, 64)), 3)
    np.testing.assert_array_equal(zeros, [[[0, 0, 0]], [[0, 1, 2]]])


@pytest.mark.parametrize(
    ("parameters", "given", "message"),
    [
        ({}, None, "Got None"),
        ({}, [[1.0]], r"2 bits.* Got float64 of shape \(1, 1\)"),
        ({}, [[0, 1]], "floats.* Got int64"),
        ({}, [[np.nan, 1]], "projections contains NaN"),
        ({"n_candidates": 1}, [[1.0, 1.0]], "n_neighbors = 2. Got 1"),
    ],
)
def test_bad_projections_are_refused(parameters, given, message):
    index = HammingNeighbors(2, distance="asymmetric", **parameters)
    index.fit([[0, 1], [1, 1], [0, 0], [0, 1]])
    with pytest.raises(ValueError, match=message):
        index.kneighbors(given)


def test_longer_codes_than_a_scan_takes_need_a_prefix():
    codes = random_codes(20, 9400, 0)
    projections = np.random.default_rng(0).normal(size=(2, 9400))
    with pytest.raises(ValueError, match="9344 bits. Got codes of 9400"):
        HammingNeighbors(n_bits=9400, distance="asymmetric").fit(codes)
    index = HammingNeighbors(3, n_bits=9400, distance="asymmetric", prefix=9344).fit(codes)
    assert index.kneighbors(projections)[1].shape == (2, 3)
