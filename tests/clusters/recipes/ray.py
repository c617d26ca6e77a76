"""Ray: each task encodes batches of a table."""

import numpy as np
import ray

from sklearn_hashrank import load_hasher


def encoded(batch, hasher):
    packed = hasher.packed_codes(np.stack(batch["embedding"]))
    return {"id": batch["id"], "code": [code.tobytes() for code in packed]}


def encode(model, items, codes):
    rows = ray.data.read_parquet(items).select_columns(["id", "embedding"])
    rows.map_batches(encoded, fn_args=[load_hasher(model)]).write_parquet(codes)
