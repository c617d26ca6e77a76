import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from sklearn_hashrank.objectives import SoftHistogram
from sklearn_hashrank.objectives.ranking._soft_histogram import count_levels
from tests.objectives.ranking.batches import shared_labels
from tests.oracle.relaxations import soft_counts

BINNINGS = [(6, 1.0), (6, 0.5), (6, 2.0), (4, 1.0), (9, 1.5), (12, 3.0), (1, 1.0), (5, 0.8)]


def relaxed_codes(rng, n_rows=12, n_bits=6, dtype=np.float64):
    return np.tanh(2 * rng.normal(size=(n_rows, n_bits))).astype(dtype)


@pytest.mark.parametrize(("n_bins", "delta"), BINNINGS)
def test_counts_are_those_of_visiting_every_bin(n_bins, delta):
    rng = np.random.default_rng(0)
    codes, level = relaxed_codes(rng), shared_labels(12, rng)
    counts, _ = SoftHistogram(n_bins, delta).counts(codes, level, 3)
    assert_allclose(counts, soft_counts(codes, level, 3, n_bins, delta), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("n_bins", "delta"), BINNINGS)
def test_single_precision_agrees_with_double(n_bins, delta):
    rng = np.random.default_rng(1)
    codes, level = relaxed_codes(rng, dtype=np.float32), shared_labels(12, rng)
    histogram = SoftHistogram(n_bins, delta)
    single, similarity = histogram.counts(codes, level, 3)
    double, double_similarity = histogram.counts(codes.astype(np.float64), level, 3)
    assert single.dtype == np.float32
    assert_allclose(single, double, atol=1e-5)
    direction = rng.normal(size=single.shape)
    pulled = histogram.pull_back(codes, level, similarity, direction.astype(np.float32))
    expected = histogram.pull_back(codes.astype(float), level, double_similarity, direction)
    assert pulled.dtype == np.float32
    assert_allclose(pulled, expected, atol=1e-4)


@pytest.mark.parametrize(("n_bins", "delta"), BINNINGS)
def test_pull_back_is_the_transposed_derivative(n_bins, delta):
    rng = np.random.default_rng(2)
    codes, level = relaxed_codes(rng), shared_labels(12, rng)
    histogram = SoftHistogram(n_bins, delta)
    counts, similarity = histogram.counts(codes, level, 3)
    direction, move = rng.normal(size=counts.shape), rng.normal(size=codes.shape)
    step = 1e-6
    ahead = histogram.counts(codes + step * move, level, 3)[0]
    behind = histogram.counts(codes - step * move, level, 3)[0]
    numeric = np.vdot(direction, ahead - behind) / (2 * step)
    analytic = np.vdot(histogram.pull_back(codes, level, similarity, direction), move)
    assert_allclose(analytic, numeric, rtol=1e-6)


@given(seed=st.integers(0, 10**6), n_bins=st.integers(1, 12))
def test_every_pair_counts_once_when_delta_is_one(seed, n_bins):
    rng = np.random.default_rng(seed)
    codes, level = relaxed_codes(rng), shared_labels(12, rng)
    counts, _ = SoftHistogram(n_bins).counts(codes, level, 3)
    assert counts.min() >= 0
    assert_allclose(counts.sum(axis=2), count_levels(level, 3), atol=1e-12)


def test_binary_codes_give_the_integer_histogram():
    codes = np.array([[1.0, 1, 1], [1, 1, -1], [-1, -1, -1]])
    level = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]], dtype=np.uint8)
    for delta in (0.3, 1.0):
        counts, _ = SoftHistogram(None, delta).counts(codes, level, 2)
        assert_array_equal(counts[0], [[0, 0, 0, 1], [0, 1, 0, 0]])
        assert_array_equal(counts[1], [[0, 0, 0, 0], [0, 1, 1, 0]])


def test_nobody_retrieves_itself():
    codes = np.ones((5, 4))
    counts, _ = SoftHistogram().counts(codes, np.zeros((5, 5), np.uint8), 1)
    assert_array_equal(counts[:, 0, 0], 4.0)


def test_order_of_the_rows_does_not_matter():
    rng = np.random.default_rng(3)
    codes, level = relaxed_codes(rng), shared_labels(12, rng)
    order = rng.permutation(12)
    counts, _ = SoftHistogram().counts(codes, level, 3)
    permuted, _ = SoftHistogram().counts(codes[order], level[np.ix_(order, order)], 3)
    assert_allclose(permuted, counts[order], atol=1e-12)


def test_count_levels_leaves_the_row_itself_out():
    level = np.array([[2, 0, 1], [0, 0, 0], [1, 1, 1]], dtype=np.uint8)
    assert_array_equal(count_levels(level, 3), [[1, 1, 0], [2, 0, 0], [0, 2, 0]])


def test_nan_is_refused():
    codes = relaxed_codes(np.random.default_rng(0))
    codes[3, 2] = np.nan
    with pytest.raises(ValueError, match="codes contain NaN"):
        SoftHistogram().counts(codes, np.zeros((12, 12), dtype=np.uint8), 1)
