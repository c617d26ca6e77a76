"""The scan of decoded codes: equal to the last bit to scoring and sorting all items."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sklearn_hashrank import BinaryAutoencoderHasher, _kernels
from sklearn_hashrank._features.nearest_rows import METRICS
from sklearn_hashrank.neighbors import DecodedNeighbors

from ..oracle import decoded_scores

KINDS = {metric: kind for kind, metric in enumerate(("inner_product", "cosine", "euclidean"))}


def blocks_of(codes):
    size = _kernels.nibble_tables.BLOCK
    padded = np.zeros((-(-len(codes) // size) * size, codes.shape[1]), np.uint8)
    padded[: len(codes)] = codes
    return np.ascontiguousarray(padded.reshape(-1, size, codes.shape[1]).transpose(0, 2, 1))


def tables_of(rng, n_queries, n_bytes, n_values=16):
    n_parts = n_bytes if n_values == 256 else 2 * n_bytes
    return rng.normal(size=(n_queries, n_parts, n_values)).astype(np.float32)


def search(tables, offsets, codes, lengths, metric, k, candidates=None):
    n, n_queries = len(codes), len(tables)
    padded = np.full(-(-n // 64) * 64, 7, np.float32)
    padded[:n] = lengths
    found = np.empty((n_queries, k), np.int64), np.empty((n_queries, k), np.float32)
    items = tables, offsets, blocks_of(codes), padded, n
    if candidates is None:
        _kernels.nibble_tables.nearest(*items, KINDS[metric], *found)
    else:
        _kernels.nibble_tables.nearest_candidates(*items, candidates, KINDS[metric], *found)
    return found


def check(tables, offsets, codes, lengths, metric, k):
    places, scores = search(tables, offsets, codes, lengths, metric, k)
    for q in range(len(tables)):
        expected = decoded_scores.nearest(tables[q], offsets[q], codes, lengths, metric, k)
        np.testing.assert_array_equal(places[q], expected[0])
        np.testing.assert_array_equal(scores[q], expected[1])


@settings(deadline=None)
@example("cosine", 2, 233, 116, 40, 1e-44, False, 256, 1)  # products of a few subnormals
@given(
    metric=st.sampled_from(METRICS),
    n_bytes=st.sampled_from([1, 2, 3, 8, 13, 16, 32, 33]),
    n=st.integers(1, 300),
    k=st.integers(1, 300),
    n_distinct=st.sampled_from([1, 2, 40, 300]),
    size=st.sampled_from([0.0, 1e-44, 1e-30, 1.0, 1e30]),
    heavy=st.booleans(),
    n_values=st.sampled_from([16, 256]),
    seed=st.integers(0, 1000),
)
def test_equal_to_a_sort_of_all_scores(
    metric, n_bytes, n, k, n_distinct, size, heavy, n_values, seed
):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 256, (n_distinct, n_bytes), dtype=np.uint8)
    codes = codes[rng.integers(0, n_distinct, n)]
    tables = tables_of(rng, 3, n_bytes, n_values)
    if heavy:  # a few parts decide, and the steps are as large as all others
        shares = np.minimum(rng.random(tables.shape[:2]) ** -2, 1e6)  # or they overflow
        tables *= shares.astype(np.float32)[:, :, None]
    tables *= np.float32(size)
    offsets = (size * rng.normal(size=3)).astype(np.float32)
    lengths = (np.sqrt(size) * rng.random(n)).astype(np.float32)
    lengths[rng.random(n) < 0.1] = 0
    check(tables, offsets, codes, lengths, metric, min(k, n))


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize(("n_bytes", "n"), [(8, 20_000), (32, 5_000), (300, 2_000)])
def test_most_items_of_a_large_database_are_not_scored(metric, n_bytes, n):
    """Of tiles of several blocks, and of codes whose sums need larger steps than their tables."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 256, (n, n_bytes), dtype=np.uint8)
    codes[n // 2 :] = codes[: n - n // 2]  # ties far apart
    tables = tables_of(rng, 20, n_bytes)
    lengths = (1 + 0.1 * rng.random(n)).astype(np.float32)
    lengths[n // 2 :] = lengths[: n - n // 2]
    check(tables, np.zeros(20, np.float32), codes, lengths, metric, 15)


def test_items_that_get_better_and_better():
    """Every item enters, in any order of the scores."""
    codes = np.sort(np.random.default_rng(0).integers(0, 65536, 3000)).astype(">u2")
    codes = codes.view(np.uint8).reshape(-1, 2)
    tables = 16.0 ** np.arange(3, -1, -1)[None, :, None] * np.arange(16)
    tables = tables.astype(np.float32)
    for of_query in (tables, -tables):
        check(of_query, np.zeros(1, np.float32), codes, np.ones(3000), "inner_product", 100)


@pytest.mark.parametrize("n_values", [16, 256])
@pytest.mark.parametrize("metric", METRICS)
def test_candidates_have_the_scores_of_the_scan(metric, n_values):
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 256, (500, 9), dtype=np.uint8)
    tables, offsets = tables_of(rng, 4, 9, n_values), rng.normal(size=4).astype(np.float32)
    lengths = rng.random(500).astype(np.float32)
    everything = np.tile(np.arange(500), (4, 1))
    scan = search(tables, offsets, codes, lengths, metric, 500)
    ranked = search(tables, offsets, codes, lengths, metric, 500, everything)
    for a, b in zip(scan, ranked):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("n", [1, 63, 64, 65, 4097])
def test_the_index_gives_its_codes_back(n):
    X = np.random.default_rng(0).normal(size=(50, 5))
    hasher = BinaryAutoencoderHasher(13, random_state=0).fit(X)
    codes = np.random.default_rng(1).integers(0, 2, (n, 13), dtype=np.uint8)
    index = DecodedNeighbors(hasher, 1).fit(codes)
    np.testing.assert_array_equal(index.codes_, np.packbits(codes, axis=1))
    assert index.norms_.shape == (n,)
