"""PostgreSQL 14 or later: the type bit(n), without an extension."""

import numpy as np
import psycopg

from sklearn_hashrank.codes import unpack_codes


def as_text(codes, n_bits):
    return ["".join(map(str, row)) for row in unpack_codes(codes, n_bits)]


def search(codes, queries, n_bits, k, uri):
    with psycopg.connect(uri) as connection:
        connection.execute(f"create temporary table items (id int, code bit({n_bits}))")
        with connection.cursor().copy("copy items from stdin") as copy:
            for row in enumerate(as_text(codes, n_bits)):
                copy.write_row(row)
        nearest = f"""
            select bit_count(code # %s::bit({n_bits})) as distance, id from items
            order by distance, id limit %s
        """
        found = [
            connection.execute(nearest, (query, k)).fetchall() for query in as_text(queries, n_bits)
        ]
    distances, ids = np.moveaxis(np.array(found), 2, 0)
    return distances, ids
