"""Codes in the formats of others, there and back."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from sklearn_hashrank import HammingNeighbors
from sklearn_hashrank.codes import hamming_distances, unpack_codes
from sklearn_hashrank.codes._formats import FORMATS
from sklearn_hashrank.interop import (
    from_bit_strings,
    from_bytes,
    from_faiss,
    to_bit_strings,
    to_bytes,
    to_faiss,
)

codes_of_bits = arrays.arrays(
    np.uint8, st.tuples(st.integers(1, 12), st.integers(1, 70)), elements=st.integers(0, 1)
)


@given(codes_of_bits)
def test_bit_strings_are_the_literal_ones(bits):
    strings = ["".join(str(bit) for bit in row) for row in bits]
    n_bits = bits.shape[1]
    packed = np.packbits(bits, axis=1)
    assert to_bit_strings(bits) == to_bit_strings(packed, n_bits) == strings
    for output in FORMATS:
        np.testing.assert_array_equal(
            from_bit_strings(strings, output), unpack_codes(packed, n_bits, output)
        )


@given(codes_of_bits)
def test_bytes_hold_the_value_of_the_bit_string(bits):
    """What PostgreSQL calls a bit string of n bits is the number that it reads as."""
    n_bits = bits.shape[1]
    rows = to_bytes(bits)
    width = -(-n_bits // 8)
    for row, string in zip(rows, to_bit_strings(bits), strict=True):
        assert row == (int(string, 2) << (8 * width - n_bits)).to_bytes(width, "big")
    np.testing.assert_array_equal(from_bytes(rows, n_bits), bits)


@given(codes_of_bits, st.sampled_from(["big", "little"]), st.booleans())
def test_bytes_are_those_of_numpy(bits, bitorder, signed):
    """Little-endian bytes, and bytes less 128, as numpy writes them."""
    n_bits = bits.shape[1]
    expected = np.packbits(bits, axis=1, bitorder=bitorder)
    if signed:
        expected = (expected.astype(int) - 128).astype(np.int8)
    rows = to_bytes(bits, bitorder=bitorder, signed=signed)
    assert rows == [row.tobytes() for row in expected]
    for output in FORMATS:
        found = from_bytes(rows, n_bits, output, bitorder=bitorder, signed=signed)
        np.testing.assert_array_equal(
            found, unpack_codes(np.packbits(bits, axis=1), n_bits, output)
        )


def test_another_bit_order_is_refused():
    with pytest.raises(ValueError, match="bitorder must be 'big' or 'little'. Got 'middle'"):
        to_bytes([[0, 1]], bitorder="middle")
    with pytest.raises(ValueError, match="Got None"):
        from_bytes([b"a"], 8, bitorder=None)


@pytest.mark.parametrize(("options", "least"), [({"bitorder": "little"}, 0), ({"signed": True}, 4)])
def test_queries_in_another_format_than_the_database_are_wrong(options, least):
    """Silently: what comes out are distances. Hence the table in the docs."""
    bits = np.random.default_rng(0).integers(0, 2, (100, 32), dtype=np.uint8)
    queries = np.frombuffer(b"".join(to_bytes(bits, **options)), np.uint8).reshape(100, 4)
    distances = hamming_distances(queries, np.packbits(bits, axis=1), n_bits=32)
    to_itself = np.diag(distances)
    assert to_itself.min() >= least
    assert np.median(to_itself) >= 4
    assert np.any(distances != hamming_distances(bits, bits))


@pytest.mark.parametrize(
    ("strings", "message"),
    [
        ([], "at least 1. Got no strings"),
        (["", ""], r"Got lengths \[0\]"),
        (["01", "011"], r"of one length, at least 1. Got lengths \[2, 3\]"),
        ("0101", "in an iterable. Got a single str"),
        (["01", "0x"], "only 0 and 1. Got '0x', number 1"),
        (["01", "0é"], "Got '0é', number 1"),
    ],
)
def test_bad_bit_strings_are_refused(strings, message):
    with pytest.raises(ValueError, match=message):
        from_bit_strings(strings)


@pytest.mark.parametrize(
    ("rows", "n_bits", "message"),
    [
        ([b"ab", b"abc"], 16, "n_bits=16 take 2 bytes. Got 3, in row 1"),
        ([b"a"], 6, "non-zero bits beyond n_bits=6"),
        ([], 8, "are empty"),
        ([b"a"], None, "n_bits must be an int >= 1. Got None"),
        ([b"a"], 0, "n_bits must be an int >= 1"),
    ],
)
def test_bad_bytes_are_refused(rows, n_bits, message):
    with pytest.raises(ValueError, match=message):
        from_bytes(rows, n_bits)


@pytest.mark.parametrize("rows", [["a"], b"ab", [[5]], [5]])
def test_what_is_not_bytes_is_refused(rows):
    with pytest.raises(TypeError, match=r"must be an iterable of bytes. Got (str|list|int), in r"):
        from_bytes(rows, 8)


def test_anything_that_holds_bytes_is_read():
    rows = [b"a", bytearray(b"b"), memoryview(b"c"), np.array([-2], np.int8)]
    np.testing.assert_array_equal(from_bytes(rows, 8, "packed").ravel(), [97, 98, 99, 254])
    with pytest.raises(ValueError, match="n_bits=8 take 1 bytes. Got 8, in row 0"):
        from_bytes([np.array([5])], 8)


@pytest.mark.parametrize("n_bits", [5, 8, 64, 100])
@pytest.mark.parametrize("n_lists", [None, 3])
def test_faiss_gives_the_codes_back_and_their_distances(n_bits, n_lists):
    faiss = pytest.importorskip("faiss")
    bits = np.random.default_rng(0).integers(0, 2, (200, n_bits), dtype=np.uint8)
    index = to_faiss(bits, n_lists=n_lists)
    np.testing.assert_array_equal(from_faiss(index, n_bits, "bits"), bits)
    copied = faiss.deserialize_index_binary(faiss.serialize_index_binary(index))
    np.testing.assert_array_equal(from_faiss(copied, n_bits), np.packbits(bits, axis=1))
    if n_lists:
        index.nprobe = n_lists
    queries = np.packbits(bits[:7], axis=1)
    distances, found = index.search(queries, 20)
    all_distances = hamming_distances(bits[:7], bits)
    np.testing.assert_array_equal(distances, np.take_along_axis(all_distances, found, axis=1))
    ours = HammingNeighbors(20, n_bits=n_bits).fit(from_faiss(index, n_bits))
    np.testing.assert_array_equal(ours.kneighbors(queries)[0], distances)


def test_what_faiss_cannot_give_back_is_refused():
    faiss = pytest.importorskip("faiss")
    codes = np.arange(20, dtype=np.uint8)[:, None]
    with pytest.raises(TypeError, match="IndexBinaryFlat or IndexBinaryIVF. Got IndexFlatL2"):
        from_faiss(faiss.IndexFlatL2(8))
    with pytest.raises(ValueError, match="n_bits=9 does not go with an index of 8 bits"):
        from_faiss(to_faiss(codes, 8), n_bits=9)
    with pytest.raises(ValueError, match="non-zero bits beyond n_bits=3"):
        from_faiss(to_faiss(codes, 8), n_bits=3)
    with pytest.raises(ValueError, match="are empty"):
        from_faiss(faiss.IndexBinaryFlat(8))
    for n_lists in (0, 21):
        with pytest.raises(ValueError, match=rf"n_lists must be in \[1, 20\].* Got {n_lists}"):
            to_faiss(codes, 8, n_lists=n_lists)
    index = to_faiss(codes, 8, n_lists=2)
    for ids in ([100], [3]):
        index.add_with_ids(codes[:1], np.array(ids))
        with pytest.raises(ValueError, match="ids of the index must be 0, ..., 2"):
            from_faiss(index)
