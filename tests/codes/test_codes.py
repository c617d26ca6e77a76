"""Formats of codes, packing and distances."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from sklearn_hashrank._utils import threads
from sklearn_hashrank.codes import (
    _formats as _code_formats,
)
from sklearn_hashrank.codes import (
    hamming_distances,
    pack_codes,
    spherical_distances,
    unpack_codes,
    weighted_distances,
)
from sklearn_hashrank.codes._formats import CodeReader
from sklearn_hashrank.metrics import distance_histogram, tie_aware_average_precision_score
from tests.oracle.histograms import hamming_distance

WIDTHS = [1, 2, 7, 8, 9, 31, 32, 63, 64, 65, 100, 128, 1024]


def random_bits(n, n_bits, seed=0):
    return np.random.default_rng(seed).integers(0, 2, (n, n_bits), dtype=np.uint8)


@pytest.mark.parametrize("n_bits", WIDTHS)
def test_formats_round_trip(n_bits):
    bits = random_bits(20, n_bits)
    packed = pack_codes(bits)
    np.testing.assert_array_equal(packed, np.packbits(bits, axis=1))
    np.testing.assert_array_equal(unpack_codes(packed, n_bits), bits)
    signs = unpack_codes(packed, n_bits, output="signs")
    assert signs.dtype == np.int8
    np.testing.assert_array_equal(signs, 2 * bits.astype(int) - 1)
    for same in (signs, signs.astype(float), bits.astype(bool), bits.astype(np.int64), packed):
        np.testing.assert_array_equal(pack_codes(same, n_bits=n_bits), packed)
    for same in (signs, bits.astype(bool), bits.astype(np.float32), bits.tolist()):
        np.testing.assert_array_equal(pack_codes(same), packed)


@pytest.mark.parametrize("n_bits", WIDTHS)
def test_distances_equal_literal_ones(n_bits):
    queries, database = random_bits(5, n_bits, 1), random_bits(7, n_bits, 2)
    expected = [[hamming_distance(q, d) for d in database] for q in queries]
    np.testing.assert_array_equal(hamming_distances(queries, database), expected)
    signs = 2 * database.astype(np.int8) - 1
    packed_queries = np.packbits(queries, axis=1)
    np.testing.assert_array_equal(hamming_distances(packed_queries, signs, n_bits), expected)


@given(st.integers(1, 70), st.integers(0, 2**32 - 1))
def test_words_keep_distances_of_any_memory_layout(n_bits, seed):
    bits = random_bits(6, n_bits, seed)
    expected = [[hamming_distance(a, b) for b in bits] for a in bits]
    wide = np.packbits(np.repeat(bits, 2, axis=0), axis=1)
    for packed in (wide[::2], np.asfortranarray(wide[::2])):
        np.testing.assert_array_equal(hamming_distances(packed, packed, n_bits), expected)
    packed.setflags(write=False)
    np.testing.assert_array_equal(hamming_distances(packed, packed, n_bits), expected)


def test_all_ones_fit_either_value_set():
    reader = CodeReader()
    ones = np.ones((2, 4), dtype=np.int8)
    np.testing.assert_array_equal(reader.packed(ones, "queries"), [[240], [240]])
    reader.packed(-ones, "first block")
    with pytest.raises(
        ValueError, match=r"Got -1 in the first block, 0 in the second, 1 in the queries"
    ):
        reader.packed(0 * ones, "second")


def test_a_copy_of_a_reader_goes_its_own_way():
    reader = CodeReader()
    ones = np.ones((2, 4), dtype=np.int8)
    reader.packed(ones, "queries")
    first, second = reader.copy(), reader.copy()
    first.packed(-ones, "first")
    second.packed(0 * ones, "second")
    reader.join(first)
    with pytest.raises(ValueError, match=r"Got -1 in the first, 0 in the second, 1 in the queries"):
        reader.join(second)


@pytest.mark.parametrize("n_jobs", [1, 3])
@pytest.mark.parametrize("n_bits", [1, 12, 64])
def test_chunks_and_threads_change_nothing(n_bits, n_jobs, monkeypatch):
    monkeypatch.setattr(_code_formats, "_CHUNK_BYTES", 100)
    monkeypatch.setattr(threads, "_WORTH_A_TASK", 1)
    bits = random_bits(150, n_bits)
    expected = np.packbits(bits, axis=1)
    signs = 2 * bits.astype(np.int8) - 1
    forms = [bits, bits.astype(bool), np.asfortranarray(bits), signs, signs.astype(float)]
    for codes in [*forms, np.repeat(bits, 2, axis=0)[::2]]:
        packed = CodeReader().packed(codes, "codes", n_jobs)
        np.testing.assert_array_equal(packed, expected)
    signs[149] = 0
    for codes in (signs, np.where(np.arange(150)[:, None] == 149, 3, bits)):
        with pytest.raises(ValueError, match="must hold only 0 and 1|must all lie in"):
            CodeReader().packed(codes, "codes", n_jobs)


@pytest.mark.parametrize(
    ("values", "expected"), [([0, 1], [0, 128]), ([-1, 1], [0, 128]), ([0, 128], [0, 128])]
)
def test_one_bit_is_told_by_its_values(values, expected):
    codes = np.array(values, dtype=np.int16)[:, None]
    np.testing.assert_array_equal(pack_codes(codes, n_bits=1).ravel(), expected)


def test_one_bit_refuses_mixed_and_other_values():
    with pytest.raises(ValueError, match="Got 1, 128"):
        pack_codes([[1], [128]], n_bits=1)
    with pytest.raises(ValueError, match=r"Got 0, 2\."):
        pack_codes([[0], [2]], n_bits=1)
    with pytest.raises(ValueError, match="Got 128"):
        pack_codes([[128]])


@pytest.mark.parametrize(
    ("codes", "n_bits", "message"),
    [
        ([[0, 1, 2]], None, r"only 0 and 1, or only -1 and \+1. Got 0, 1, 2. Packed .* n_bits"),
        ([[0, 1, -1]], None, "Got -1, 0, 1"),
        ([[0.5, 1.0]], None, "Got 0.5, 1.*codes > 0"),
        ([[np.nan, 1.0]], None, "Got 1, nan"),
        (np.arange(40).reshape(4, 10), None, r"Got 0, 1, 2, 3, 4, ... \(40 distinct values\)"),
        (np.arange(16, dtype=np.uint8).reshape(2, 8), 8, "With n_bits=8, packed codes have 1 col"),
        ([[0, 1, 1]], 2, r"3 columns; codes of n_bits=2 have 2 columns .* or 1 \(packed bytes\)"),
        (np.zeros((2, 8), np.uint8), 100, r"8 columns; .* 100 columns .* or 13 \(packed"),
        (np.zeros((2, 2), np.int64), 16, "packed codes are uint8. Got int64"),
        (np.array([[1]], dtype=np.uint8), 7, "non-zero bits beyond n_bits=7"),
        ([0, 1], None, r"2-d array, one code per row. Got shape \(2,\)"),
        (np.zeros((0, 8)), None, r"are empty: shape \(0, 8\)"),
        (np.zeros((8, 0)), None, r"are empty: shape \(8, 0\)"),
        ([["0", "1"]], None, "numeric or boolean. Got dtype <U1"),
        ([[0, 1]], 0, "n_bits must be an int >= 1 or None. Got 0"),
        ([[0, 1]], -3, "Got -3"),
        ([[0, 1]], True, "Got True"),
        ([[0, 1]], 2.0, "Got 2.0"),
    ],
)
def test_bad_codes_are_refused(codes, n_bits, message):
    with pytest.raises(ValueError, match=message):
        pack_codes(codes, n_bits)


def test_sparse_codes_are_refused():
    with pytest.raises(TypeError, match="codes .* csr_matrix"):
        pack_codes(sparse.csr_matrix((2, 8)))


def test_different_widths_are_refused():
    with pytest.raises(ValueError, match="database codes .* 9 .* n_bits=8"):
        hamming_distances(np.zeros((1, 8)), np.zeros((1, 9)))


def test_queries_and_database_are_judged_together():
    with pytest.raises(ValueError, match=r"Got -1 in the database codes, 0 in the query codes"):
        hamming_distances([[0, 1]], [[-1, 1]])


@pytest.mark.parametrize(
    ("packed", "n_bits", "output", "message"),
    [
        (
            np.zeros((1, 2), np.uint8),
            8,
            "bits",
            "uint8 with 1 columns for n_bits=8. Got uint8 with 2",
        ),
        (np.zeros((1, 1), int), 8, "bits", "Got int64 with 1 columns"),
        (np.full((1, 1), 1, np.uint8), 4, "bits", "non-zero bits beyond n_bits=4"),
        (np.zeros((1, 1), np.uint8), 8, "words", "output must be one of .* Got 'words'"),
        (np.zeros((1, 1), np.uint8), None, "bits", "n_bits must be an int >= 1. Got None"),
    ],
)
def test_bad_packed_codes_are_refused(packed, n_bits, output, message):
    with pytest.raises(ValueError, match=message):
        unpack_codes(packed, n_bits, output)


@pytest.mark.parametrize(
    "distances",
    [
        hamming_distances,
        spherical_distances,
        lambda queries, database, n_bits=None: weighted_distances(
            queries, database, np.arange(12.0), n_bits
        ),
    ],
    ids=["hamming", "spherical", "weighted"],
)
def test_formats_may_differ_where_the_length_is_given(distances):
    rng = np.random.default_rng(0)
    bits = rng.integers(0, 2, (9, 12), dtype=np.uint8)
    formats = bits, 2 * bits.astype(np.int8) - 1, pack_codes(bits)
    expected = distances(bits[:3], bits)
    for queries in formats:
        for database in formats:
            np.testing.assert_array_equal(distances(queries[:3], database, 12), expected)
    with pytest.raises(ValueError, match=r"all lie in \{0, 1\} or all in \{-1, \+1\}"):
        distances(formats[0], formats[1])


class OnAnotherDevice:
    """A tensor whose numbers numpy cannot read."""

    def __array__(self, dtype=None, copy=None):
        raise TypeError("can't convert cuda:0 device type tensor to numpy")


class OfTheStandard:
    """A tensor that is read by DLPack alone, as the array API standard has it."""

    def __init__(self, array):
        self._array = array

    def __dlpack__(self, **options):
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()


def test_tensors_are_converted_or_refused_with_what_to_do():
    bits = np.array([[0, 1, 1], [1, 1, 1]], dtype=np.int8)
    np.testing.assert_array_equal(pack_codes(OfTheStandard(bits)), pack_codes(bits))
    with pytest.raises(
        TypeError, match=r"codes cannot be read .*cuda:0.* Convert the .* to the host"
    ):
        pack_codes(OnAnotherDevice())
    with pytest.raises(TypeError, match="query codes cannot be read"):
        tie_aware_average_precision_score([0, 1], OnAnotherDevice())
    with pytest.raises(TypeError, match="distances cannot be read"):
        distance_histogram(OnAnotherDevice(), [0], [0, 1])


@pytest.mark.parametrize("n_bits", [True, False, np.True_, 1.0, "8", 0])
def test_lengths_that_are_no_integers_are_refused(n_bits):
    with pytest.raises(ValueError, match="n_bits"):
        pack_codes([[1], [0]], n_bits)
    with pytest.raises(ValueError, match="n_bits"):
        unpack_codes(np.zeros((1, 1), np.uint8), n_bits)
