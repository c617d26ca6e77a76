"""DuckDB: the type BIT, of any length."""

import duckdb
import numpy as np
import pyarrow as pa

from sklearn_hashrank.codes import unpack_codes


def as_text(codes, n_bits):
    return ["".join(map(str, row)) for row in unpack_codes(codes, n_bits)]


def search(codes, queries, n_bits, k):
    connection = duckdb.connect()
    rows = pa.table({"id": range(len(codes)), "code": as_text(codes, n_bits)})
    connection.register("rows", rows)
    connection.execute("create table items as select id, code::bit as code from rows")
    nearest = """
        select bit_count(xor(code, ?::bit)) as distance, id from items
        order by distance, id limit ?
    """
    found = [
        connection.execute(nearest, (query, k)).fetchall() for query in as_text(queries, n_bits)
    ]
    distances, ids = np.moveaxis(np.array(found), 2, 0)
    return distances, ids


def search_by_prefix(codes, queries, n_bits, k, prefix, n_candidates):
    connection = duckdb.connect()
    strings = as_text(codes, n_bits)
    firsts = [string[:prefix] for string in strings]
    rows = pa.table({"id": range(len(codes)), "first": firsts, "code": strings})
    connection.register("rows", rows)
    connection.execute(
        "create table items as select id, first::bit as first, code::bit as code from rows"
    )
    nearest = """
        with candidates as (
            select id, code from items order by bit_count(xor(first, ?::bit)), id limit ?
        )
        select bit_count(xor(code, ?::bit)) as distance, id from candidates
        order by distance, id limit ?
    """
    found = [
        connection.execute(nearest, (query[:prefix], n_candidates, query, k)).fetchall()
        for query in as_text(queries, n_bits)
    ]
    distances, ids = np.moveaxis(np.array(found), 2, 0)
    return distances, ids
