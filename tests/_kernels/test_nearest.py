"""The nearest codes, against a stable sort of all distances."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from sklearn_hashrank._kernels import nearest
from sklearn_hashrank.neighbors import _brute


def codes_of(rng, n, n_words, kind, offset):
    """Codes of uniform bits, of few different ones, or sorted, at some place in memory."""
    room = np.zeros(n * n_words + 16, dtype=np.uint64)
    first = (-room.ctypes.data % 64) // 8 + offset
    codes = room[first : first + n * n_words].reshape(n, n_words)
    codes[:] = rng.integers(0, 2**64, codes.shape, dtype=np.uint64)
    if kind == "few":
        codes[:] = codes[rng.integers(0, min(n, 5), n)]
    elif kind == "sorted":  # the first bound says nothing of the rest
        codes[:] = codes[np.argsort(np.bitwise_count(codes).sum(axis=1))]
    return codes


def sorted_pairs(query, codes):
    distances = np.bitwise_count(query ^ codes).sum(axis=1, dtype=np.int64)
    order = np.argsort(distances, kind="stable")
    return order, distances[order]


@settings(deadline=None, max_examples=60)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.one_of(st.integers(1, 200), st.integers(4000, 4200), st.integers(8000, 20_000)),
    n_words=st.sampled_from([1, 2, 4, 5]),
    kind=st.sampled_from(["uniform", "few", "sorted"]),
    offset=st.integers(0, 7),
    share=st.sampled_from([0, 1e-3, 0.05, 0.5, 1]),
)
def test_neighbours_are_those_of_a_stable_sort(seed, n, n_words, kind, offset, share):
    rng = np.random.default_rng(seed)
    codes = codes_of(rng, n, n_words, kind, offset)
    queries = rng.integers(0, 2**64, (5, n_words), dtype=np.uint64)
    queries[0] = codes[n // 2]
    queries[1] = ~np.uint64(0)
    k = max(1, int(share * n))
    indices, distances = _brute.k_nearest(queries, codes, k, 64 * n_words, 1)
    radius = int(distances[2, -1])
    n_found, flat_indices, flat_distances = _brute.all_within(
        queries, codes, radius, 64 * n_words, True, 1
    )
    stops = np.cumsum(n_found)
    for i, query in enumerate(queries):
        order, sorted_ = sorted_pairs(query, codes)
        assert_array_equal(indices[i], order[:k])
        assert_array_equal(distances[i], sorted_[:k])
        part = slice(stops[i] - n_found[i], stops[i])
        near = sorted_ <= radius
        assert_array_equal(flat_indices[part], order[near])
        assert_array_equal(flat_distances[part], sorted_[near])


@pytest.mark.parametrize("n_words", [1, 3])
@pytest.mark.parametrize("rank", [1, 7, 200, 1000])
def test_quantiles_hold_as_many_as_asked_for(n_words, rank):
    rng = np.random.default_rng(rank)
    sample = rng.integers(0, 2**64, (n_words, 640), dtype=np.uint64)
    queries = rng.integers(0, 2**64, (4, n_words), dtype=np.uint64)
    n_bits = 64 * n_words
    found = np.empty(4, dtype=np.int64)
    buffer = np.empty(640, dtype=np.min_scalar_type(n_bits + 1))
    nearest.distance_quantiles(queries, sample, rank, n_bits, buffer, found)
    for query, quantile in zip(queries, found):
        distances = np.sort(np.bitwise_count(query[:, None] ^ sample).sum(axis=0))
        assert quantile == (distances[rank - 1] if rank <= 640 else n_bits)
