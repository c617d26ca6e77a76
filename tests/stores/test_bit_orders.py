"""Orders of bits: the table of docs/reference/bit_orders.rst, as far as it can be run."""

import apsw
import duckdb
import faiss
import numpy as np
import psycopg
import pytest
import sqlite_vec
from sentence_transformers.util import quantize_embeddings

N_BITS = 64
BITS = np.random.default_rng(0).integers(0, 2, (50, N_BITS), dtype=np.uint8)
PACKED = np.packbits(BITS, axis=1)
BIG = [row.tobytes() for row in PACKED]
LITTLE = [row.tobytes() for row in np.packbits(BITS, axis=1, bitorder="little")]
TEXTS = ["".join(map(str, row)) for row in BITS]
SIGNS = 2.0 * BITS.astype(np.float32) - 1


@pytest.fixture
def sqlite():
    connection = apsw.Connection(":memory:")
    connection.enable_load_extension(True)
    connection.load_extension(sqlite_vec.loadable_path())
    return lambda query, *values: next(iter(connection.execute(query, values)))[0]


def test_sqlite_vec_quantizes_to_little_endian_bytes(sqlite):
    rows = [sqlite("select vec_quantize_binary(?)", row.tobytes()) for row in SIGNS]
    assert rows == LITTLE
    assert rows != BIG
    assert sqlite("select vec_quantize_binary(?)", np.zeros(8, np.float32).tobytes()) == b"\0"


def test_sqlite_vec_writes_bits_from_the_lowest(sqlite):
    shown = sqlite("select vec_to_json(vec_bit(?))", LITTLE[0])
    assert shown == str(BITS[0].tolist()).replace(" ", "")


def test_sqlite_vec_compares_both_orders_without_complaint(sqlite):
    big, little = BIG[0], LITTLE[0]
    distance = "select vec_distance_hamming(vec_bit(?), vec_bit(?))"
    assert sqlite(distance, big, big) == sqlite(distance, little, little) == 0
    assert sqlite(distance, big, little) > 10


def test_faiss_lsh_is_little_endian_and_sets_the_bit_of_zero():
    index = faiss.IndexLSH(N_BITS, N_BITS, False, False)
    index.add(SIGNS)
    codes = faiss.vector_to_array(index.codes).reshape(-1, N_BITS // 8)
    assert [row.tobytes() for row in codes] == LITTLE
    index.reset()
    index.add(np.zeros((1, N_BITS), np.float32))
    assert (faiss.vector_to_array(index.codes) == 255).all()


def test_sentence_transformers_packs_like_numpy_and_subtracts_128():
    unsigned = quantize_embeddings(SIGNS, "ubinary")
    np.testing.assert_array_equal(unsigned, PACKED)
    signed = quantize_embeddings(SIGNS, "binary")
    assert signed.dtype == np.int8
    np.testing.assert_array_equal(signed, (PACKED ^ 128).view(np.int8))
    assert not quantize_embeddings(np.zeros((1, 8), np.float32), "ubinary").any()


def test_duckdb_reads_bytes_from_the_highest_bit():
    connection = duckdb.connect()
    shown = [
        connection.execute("select cast(?::blob as bit)::varchar", (row,)).fetchone()[0]
        for row in BIG
    ]
    assert shown == TEXTS
    assert connection.execute("select get_bit('100'::bit, 0)").fetchone() == (1,)


def test_postgres_counts_bits_from_the_left(uri):
    with psycopg.connect(uri) as connection:
        (number,) = connection.execute(f"select (B'{TEXTS[0]}')::bit(64)::bigint").fetchone()
        assert number.to_bytes(8, "big", signed=True) == BIG[0]
        assert connection.execute("select get_bit(B'100', 0)").fetchone() == (1,)
