"""Bring what a search found into the forms of scikit-learn's neighbours."""

import numpy as np
from scipy import sparse


def graph_of(
    stops: np.ndarray, indices: np.ndarray, distances: np.ndarray, n_columns: int, mode: str
) -> sparse.csr_matrix:
    """Sparse matrix of neighbours, whose row i ends at ``stops[i]``."""
    data = distances.astype(float) if mode == "distance" else np.ones(len(indices))
    offsets = np.concatenate([[0], stops])
    return sparse.csr_matrix((data, indices, offsets), shape=(len(stops), n_columns))


def without_self(indices: np.ndarray, distances: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Drop row i from its own k + 1 neighbours; where ties crowded it out, drop the last."""
    others = indices != np.arange(len(indices))[:, None]
    others[others.all(axis=1), -1] = False
    shape = (len(indices), indices.shape[1] - 1)
    return indices[others].reshape(shape), distances[others].reshape(shape)


def as_rows(values: np.ndarray, stops: np.ndarray) -> np.ndarray:
    """Array of arrays, of which number i ends at ``stops[i]``."""
    rows = np.empty(len(stops), dtype=object)
    rows[:] = np.split(values, stops[:-1])
    return rows
