"""Qdrant, in local mode: codes as signs, compared by the inner product."""

import numpy as np
from qdrant_client import QdrantClient, models

from sklearn_hashrank.codes import unpack_codes


def search(codes, queries, n_bits, k):
    client = QdrantClient(":memory:")
    form = models.VectorParams(size=n_bits, distance=models.Distance.DOT)
    client.create_collection("items", vectors_config=form)
    signs = unpack_codes(codes, n_bits, "signs").astype(np.float32)
    client.upload_collection("items", vectors=signs, ids=range(len(codes)))
    distances, ids = [], []
    for query in unpack_codes(queries, n_bits, "signs"):
        points = client.query_points("items", query=query.tolist(), limit=k).points
        distances.append([(n_bits - point.score) / 2 for point in points])
        ids.append([point.id for point in points])
    return np.array(distances), np.array(ids)
