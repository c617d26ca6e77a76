"""sqlite-vec, through apsw, whose SQLite can load extensions on every platform."""

import apsw
import numpy as np
import sqlite_vec

from sklearn_hashrank.codes import pack_codes


def search(codes, queries, n_bits, k):
    connection = apsw.Connection(":memory:")
    connection.enable_load_extension(True)
    connection.load_extension(sqlite_vec.loadable_path())
    n_stored = 8 * -(-n_bits // 8)  # whole bytes; the bits beyond n_bits are zeros
    connection.execute(f"create virtual table items using vec0(code bit[{n_stored}])")
    connection.executemany(
        "insert into items (rowid, code) values (?, vec_bit(?))",
        ((i, row.tobytes()) for i, row in enumerate(pack_codes(codes, n_bits))),
    )
    nearest = "select distance, rowid from items where code match vec_bit(?) and k = ?"
    rows = [
        list(connection.execute(nearest, (query.tobytes(), k)))
        for query in pack_codes(queries, n_bits)
    ]
    found = np.array(rows)  # (n_queries, k, 2)
    return found[:, :, 0], found[:, :, 1].astype(int)
