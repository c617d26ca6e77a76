"""Histograms of any distances."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sklearn_hashrank import EuclideanAffinity, retrieval_histogram
from sklearn_hashrank.codes import hamming_distances
from sklearn_hashrank.metrics import distance_histogram


@pytest.fixture
def coded():
    rng = np.random.default_rng(0)
    return rng.integers(0, 2, (30, 6)).astype(np.uint8), rng.integers(0, 3, 30)


@pytest.mark.parametrize("measure", ["average_precision", "ndcg", "reciprocal_rank"])
@pytest.mark.parametrize("ties", ["expected", "optimistic", "pessimistic"])
@pytest.mark.parametrize("increasing", [np.asarray, np.log1p, lambda d: d / 3])
def test_hamming_distances_give_what_codes_do(coded, measure, ties, increasing):
    codes, y = coded
    distances = increasing(hamming_distances(codes, codes))
    found = distance_histogram(distances, y, exclude_self=True)
    expected = retrieval_histogram(codes, codes, y, y, exclude_self=True)
    assert_allclose(found.measure(measure, ties=ties), expected.measure(measure, ties=ties))


def test_levels_are_those_of_the_affinity():
    y = np.arange(10.0)[:, None]
    affinity = EuclideanAffinity()
    found = distance_histogram(np.abs(y - y.T), y, affinity=affinity)
    assert_array_equal(found.counts.sum(axis=(1, 2)), 10)
    assert len(found.levels) > 2
    assert_allclose(found.ndcg(), 1)


def test_distances_that_cannot_be_ranked_are_refused():
    with pytest.raises(ValueError, match="distances must be numbers. Got NaN"):
        distance_histogram([[np.nan, 1.0]], [0], [0, 1])
    with pytest.raises(ValueError, match="database y must have one row per database code, 2"):
        distance_histogram([[0.0, 1.0]], [0], [0, 1, 1])
    with pytest.raises(ValueError, match="needs the queries to be the database"):
        distance_histogram([[0.0, 1.0]], [0])
    with pytest.raises(ValueError, match=r"order of the arguments is \(distances, .* shape \(1,\)"):
        distance_histogram([0], [[0.0, 1.0]], [0, 1])
    infinite = distance_histogram([[np.inf, 1.0]], [0], [0, 1])
    assert_allclose(infinite.average_precision(), 0.5)


@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_large_integers_are_not_rounded(dtype):
    distances = np.array([[2**53 + 1, 2**53]], dtype=dtype)
    for given in (distances, distances.tolist()):
        h = distance_histogram(given, [1], [0, 1])
        assert_array_equal(h.counts, [[[0, 1], [1, 0]]])
        assert_allclose(h.average_precision(), 1)


def test_objects_are_refused():
    with pytest.raises(ValueError, match=r"distances .*None"):
        distance_histogram([[None, 1.0]], [1], [0, 1])
