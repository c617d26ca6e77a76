"""What LLVM's vectors of words do is what a line of numpy does."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from sklearn_hashrank._kernels import _words
from sklearn_hashrank._kernels._jit import kernel
from sklearn_hashrank._kernels._words import BLOCK, PAIRS


@kernel
def put_distances(query, words, starts, stride, distances):
    for i in range(starts.size):
        _words.put_distances(query, words, starts[i], stride, distances, i * BLOCK)


@kernel
def put_cells(query, words, starts, stride, n_distances, cells):
    for i in range(starts.size):
        pair = starts[i], starts[-1 - i]
        _words.put_cells(query, words, pair, stride, n_distances, cells, i * PAIRS)


@kernel
def find_near(query, words, starts, stride, bound, are_near, found, distances):
    for i in range(starts.size):
        are_near[i] = _words.has_near(query, words, starts[i], stride, bound)
        found[i] = _words.put_near(query, words, starts[i], stride, bound, distances[i])


@kernel
def words_of(flags, starts, found):
    for i in range(starts.size):
        found[i] = _words.word_of(flags, starts[i])


@pytest.fixture(params=[1, 2, 3, 4, 5, 7, 20])
def search(request):
    """A query, codes word by word, and where blocks of them start, one of which it is near to."""
    n_words, n = request.param, 1000
    rng = np.random.default_rng(n_words)
    query = rng.integers(0, 2**64, n_words, dtype=np.uint64)
    words = rng.integers(0, 2**64, (n_words, n), dtype=np.uint64)
    words[:, 300:600:7] = query[:, None]  # beside it, complements: the largest distance there is
    words[:, 301:600:7] = ~query[:, None]
    return query, words, np.array([0, 8, 13, 299, 400, 666, n - BLOCK])


@pytest.mark.parametrize("dtype", [np.uint16, np.uint32, np.int64])
def test_distances(search, dtype):
    query, words, starts = search
    found, plain = np.empty((2, len(starts) * BLOCK), dtype)
    put_distances(query, words, starts, words.shape[1], found)
    for i, start in enumerate(starts):
        _words._plain_put_distances(query, words, start, words.shape[1], plain, i * BLOCK)
    assert_array_equal(found, plain)


def test_near_items(search):
    query, words, starts = search
    distances = np.empty((len(starts), BLOCK), np.uint32)
    are_near, found = np.empty(len(starts), bool), np.empty(len(starts), np.uint64)
    all_distances = np.bitwise_count(words ^ query[:, None]).sum(axis=0, dtype=np.int64)
    expected = all_distances[starts[:, None] + np.arange(BLOCK)]
    for bound in (0, 1, 20 * len(query), 32 * len(query), 64 * len(query), 64 * len(query) + 1):
        find_near(
            query, words, starts, words.shape[1], np.uint64(bound), are_near, found, distances
        )
        assert_array_equal(distances, expected)
        assert_array_equal(are_near, (expected < bound).any(axis=1))
        bits = np.unpackbits(found.astype("<u8").view(np.uint8), bitorder="little")
        assert_array_equal(bits.reshape(-1, BLOCK), expected < bound)
        for i, start in enumerate(starts):
            plain = query, words, start, words.shape[1], np.uint64(bound)
            assert _words._plain_has_near(*plain) == are_near[i]
            assert _words._plain_put_near(*plain, np.empty(BLOCK, np.uint32)) == found[i]


def test_words_of_flags():
    flags = np.random.default_rng(0).random(1000) < 0.3
    starts, found = np.array([0, 1, 63, 500, 1000 - BLOCK]), np.empty(5, np.uint64)
    words_of(flags, starts, found)
    for start, word in zip(starts, found):
        bits = np.unpackbits(np.array([word], "<u8").view(np.uint8), bitorder="little")
        assert_array_equal(bits, flags[start : start + BLOCK])
        assert _words._plain_word_of(flags, start) == word


def test_cells_of_pairs(search):
    query, words, starts = search
    n_distances = 64 * min(3, len(query)) + 1
    query, words = query[:3], words[:3]
    found, plain = np.empty((2, len(starts) * PAIRS), np.uint16)
    put_cells(query, words, starts, words.shape[1], np.uint64(n_distances), found)
    for i in range(len(starts)):
        pair = starts[i], starts[-1 - i]
        _words._plain_put_cells(query, words, pair, words.shape[1], n_distances, plain, i * PAIRS)
    assert_array_equal(found, plain)


@pytest.mark.parametrize("n_words", [1, 3])
def test_rooms_begin_with_a_line_of_the_cache(n_words):
    for n in (1, 64, 1000):
        room = _words.aligned_words(n_words, n)
        assert room.shape == (n_words, n)
        assert room.flags.c_contiguous
        assert room.ctypes.data % _words.LINE == 0
