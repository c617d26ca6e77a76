"""Counts of Hamming distances by runs of items, against one pair after the other."""

import numpy as np
import pytest

from sklearn_hashrank._kernels import hamming

LENGTHS = {
    "one": lambda rng: np.ones(3000, dtype=int),
    "short": lambda rng: rng.integers(0, 40, 300),
    "around what is counted by pairs": lambda rng: rng.integers(2000, 4400, 12),
    "long": lambda rng: np.array([40_001, 0, 3, 70_001, 2_047, 32_768]),
}


def random_words(rng, n, n_bits):
    bits = rng.integers(0, 2, (n, -(-n_bits // 64) * 64), dtype=np.uint8)
    bits[:, n_bits:] = 0
    return np.packbits(bits, axis=1, bitorder="little").view(np.uint64)


def literal_counts(queries, items, weights, item_levels, n_levels, n_bits):
    counts = np.zeros((len(queries), n_levels, n_bits + 1), dtype=np.int64)
    for count, query, levels in zip(counts, queries, item_levels):
        distances = np.bitwise_count(query ^ items).sum(axis=1, dtype=np.int64)
        np.add.at(count, (levels, distances), weights)
    return counts


def count_runs(queries, words, weights, kinds, stops, levels, counts):
    n_queries, n_levels, n_distances = counts.shape
    n_words, n = words.shape
    room = hamming.room_for_words(n_words, n)
    room[:, :n] = words
    is_weighted = weights is not None
    scratch = hamming.room_to_count(n_queries, n, n_levels, n_distances, is_weighted)
    flat = counts.reshape(n_queries, -1)
    hamming.count_runs(queries, room, weights, kinds, stops, levels, flat, *scratch)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", LENGTHS)
@pytest.mark.parametrize("n_bits", [1, 7, 32, 64, 65, 128, 180, 200, 256, 300])
def test_counts_are_those_of_one_pair_after_the_other(n_bits, name, weighted):
    rng = np.random.default_rng(0)
    stops = np.cumsum(np.stack([LENGTHS[name](rng) for _ in range(2)]), axis=1)
    stops[1] = stops[1] * stops[0, -1] // stops[1, -1]  # the second kind of query: other runs
    n, n_levels = int(stops[0, -1]), 3
    levels = rng.integers(0, n_levels, stops.shape).astype(np.uint16)
    kinds = np.array([1, 0, 1])
    items, queries = random_words(rng, n, n_bits), random_words(rng, 3, n_bits)
    items[: n // 3] = queries[0]  # many items in one cell
    weights = rng.integers(1, 9, n) if weighted else np.ones(n, dtype=np.int64)
    found = np.ones((3, n_levels, n_bits + 1), dtype=np.int64)
    given = weights if weighted else None
    count_runs(queries, items.T, given, kinds, stops, levels, found)
    of_items = [np.repeat(levels[k], np.diff(stops[k], prepend=0)) for k in kinds]
    expected = literal_counts(queries, items, weights, of_items, n_levels, n_bits)
    np.testing.assert_array_equal(found, 1 + expected)


@pytest.mark.parametrize("n_bits", [8, 64, 128])
def test_no_count_overflows_where_all_items_are_equal(n_bits):
    """More pairs than 16 bits count, by themselves and as a sum over tiles."""
    n = 400_001
    words = np.zeros((-(-n_bits // 64), n), dtype=np.uint64)
    counts = np.zeros((1, 1, n_bits + 1), dtype=np.int64)
    stops, levels = np.array([[n]]), np.zeros((1, 1), dtype=np.uint16)
    query = np.zeros((1, len(words)), np.uint64)
    count_runs(query, words, None, np.zeros(1, int), stops, levels, counts)
    assert counts[0, 0, 0] == counts.sum() == n


def test_rows_that_were_made_to_collide_are_sorted_instead():
    """All rows in one place of the table: a search of it would take the square of their number."""
    rng, n = np.random.default_rng(0), 1500
    candidates = rng.integers(0, 2**64, 8_000_000, dtype=np.uint64)
    mix = getattr(hamming._mix, "py_func", hamming._mix)
    slots = mix(mix(candidates)) & np.uint64(4095)
    rows = candidates[slots == 7][:n, None]
    rows = np.ascontiguousarray(rows[rng.integers(0, len(rows), n)])
    groups = np.zeros(n, np.int32)
    firsts, repeats = np.empty((2, n), np.int64)
    index = np.empty(n, np.int32)
    state = np.full(4096, -1, np.int32), firsts, repeats, index
    assert hamming.number_equal_rows(rows, groups, *state) == hamming._TOO_MANY_PROBES
    firsts, repeats, index = hamming.find_equal_rows(rows, groups, n)
    assert firsts.tolist() == sorted(firsts.tolist())
    np.testing.assert_array_equal(rows[firsts][index], rows)
    np.testing.assert_array_equal(repeats, np.bincount(index))
    assert len(np.unique(rows)) == len(firsts)
    assert hamming.find_equal_rows(rows, groups, len(firsts) - 1)[0].size == 0
