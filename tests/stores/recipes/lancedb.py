"""LanceDB: vectors of bytes, compared by the distance "hamming"."""

import lancedb
import numpy as np
import pyarrow as pa

from sklearn_hashrank.codes import pack_codes


def search(codes, queries, n_bits, k, path):
    packed = pack_codes(codes, n_bits)
    vectors = pa.FixedSizeListArray.from_arrays(packed.ravel(), packed.shape[1])
    rows = pa.table({"id": range(len(packed)), "code": vectors})
    table = lancedb.connect(path).create_table("items", rows)
    distances, ids = [], []
    for query in pack_codes(queries, n_bits):
        nearest = table.search(query, vector_column_name="code").distance_type("hamming")
        found = nearest.limit(k).to_arrow()
        distances.append(found["_distance"].to_numpy())
        ids.append(found["id"].to_numpy())
    return np.array(distances), np.array(ids)
