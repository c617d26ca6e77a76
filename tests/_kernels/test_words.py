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
def find_near(query, words, starts, stride, bound, found):
    for i in range(starts.size):
        for n_blocks in range(found.shape[1]):
            found[i, n_blocks] = _words.find_near(query, words, starts[i], n_blocks, stride, bound)


@kernel
def find_near_in_rows(query, codes, start, n_blocks, bound):
    return _words.find_near_in_rows(query, codes, start, n_blocks, bound)


@kernel
def append_near(query, words, starts, stride, bound, allowed, base, keys):
    end = np.uint64(0)
    for i in range(starts.size):
        end += _words.append_near(query, words, starts[i], stride, bound, allowed, base, keys, end)
    return end


@kernel
def split_words(codes, first, n_items, n_words, words, stride):
    return _words.split_words(codes, first, n_items, n_words, words, stride)


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


def bounds_of(query):
    return 0, 1, 20 * len(query), 32 * len(query), 64 * len(query), 64 * len(query) + 1


def test_blocks_with_near_items(search):
    query, words, _ = search
    starts, n, stride = np.array([0, 13, 666 - BLOCK]), 6, words.shape[1]
    distances = np.bitwise_count(words ^ query[:, None]).sum(axis=0, dtype=np.int64)
    blocks = distances[starts[:, None] + np.arange(n * BLOCK)].reshape(len(starts), n, BLOCK)
    for bound in bounds_of(query):
        found = np.empty((len(starts), n + 1), np.uint64)
        find_near(query, words, starts, stride, np.uint64(bound), found)
        for i, start in enumerate(starts):
            are_near = (blocks[i] < bound).any(axis=1)
            for n_blocks in range(n + 1):
                expected = sum(1 << b for b in np.flatnonzero(are_near[:n_blocks]).tolist())
                assert found[i, n_blocks] == expected
                plain = query, words, start, n_blocks, stride, np.uint64(bound)
                assert _words._plain_find_near(*plain) == expected


@pytest.mark.parametrize("n_words", _words.LENGTHS_OF_ROWS)
def test_blocks_with_near_items_in_rows(n_words):
    n, rng = 7, np.random.default_rng(n_words)
    query = rng.integers(0, 2**64, n_words, dtype=np.uint64)
    rows = rng.integers(0, 2**64, (n * BLOCK, n_words), dtype=np.uint64)
    rows[BLOCK + 5] = query
    rows[3 * BLOCK + 63] = query ^ np.uint64(1)
    rows[4 * BLOCK] = ~query
    distances = np.bitwise_count(rows ^ query).sum(axis=1, dtype=np.int64)
    codes, first = rows.reshape(-1), 16 * n_words
    for bound in (*bounds_of(query), 2):
        for n_blocks in range(n - 1):
            blocks = distances[16 : 16 + n_blocks * BLOCK].reshape(n_blocks, BLOCK)
            are_near = np.flatnonzero((blocks < bound).any(axis=1))
            expected = sum(1 << block for block in are_near.tolist())
            given = query, codes, first, n_blocks, np.uint64(bound)
            assert find_near_in_rows(*given) == expected
            assert _words._plain_find_near_in_rows(*given) == expected


def test_near_items_are_appended(search):
    query, words, starts = search
    distances = np.bitwise_count(words ^ query[:, None]).sum(axis=0, dtype=np.int64)
    blocks = distances[starts[:, None] + np.arange(BLOCK)]
    base, stride = np.uint64((3 << _words.INDEX_BITS) + 1000), words.shape[1]
    for allowed in (0, 2**64 - 1, 0x8000_0F0F_1234_0001):
        is_allowed = [bool(allowed >> i & 1) for i in range(BLOCK)]
        for bound in bounds_of(query):
            near = (blocks < bound) & is_allowed
            keys = (blocks << _words.INDEX_BITS) + np.arange(BLOCK) + int(base)
            options = stride, np.uint64(bound), np.uint64(allowed), base
            found = np.empty(blocks.size, np.uint64)
            end = append_near(query, words, starts, *options, found)
            assert_array_equal(found[:end], keys[near])
            plain, end = np.empty(blocks.size, np.uint64), np.uint64(0)
            for start in starts:
                end += _words._plain_append_near(query, words, start, *options, plain, end)
            assert_array_equal(plain[:end], keys[near])


@pytest.mark.parametrize("n_words", [1, 2, 3, 4, 8])
@pytest.mark.parametrize("n_items", [0, 1, 8, 23])
def test_words_are_split(n_words, n_items):
    stride, first = 30, 7
    codes = np.arange(first + n_words * n_items, dtype=np.uint64)
    words = np.full(n_words * stride, 2**63, np.uint64)
    if split_words(codes, first, n_items, n_words, words, stride):
        assert n_words in _words.LENGTHS_OF_ROWS
        words = words.reshape(n_words, stride)
        assert_array_equal(words[:, :n_items].T.ravel(), codes[first:])
        assert_array_equal(words[:, n_items:], 2**63)
    else:
        assert_array_equal(words, 2**63)


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
