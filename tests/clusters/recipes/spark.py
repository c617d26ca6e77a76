"""Spark: each task encodes its part of a table."""

import numpy as np
import pandas as pd

from sklearn_hashrank import load_hasher


def encode(spark, model, items, codes):
    def encoded(tables):
        hasher = load_hasher(model)  # once in each task
        for table in tables:
            packed = hasher.packed_codes(np.stack(table["embedding"]))
            yield pd.DataFrame({"id": table["id"], "code": [code.tobytes() for code in packed]})

    rows = spark.read.parquet(items).select("id", "embedding")
    rows.mapInPandas(encoded, "id long, code binary").write.parquet(codes)
