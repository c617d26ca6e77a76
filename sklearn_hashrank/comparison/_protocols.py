"""Protocols by name, drawn anew for every seed."""

from typing import Any

import numpy as np

from ._runner import Split


class PerClass:
    def __init__(self, n_queries=100, n_train=500):
        self.n_queries, self.n_train = n_queries, n_train

    def __repr__(self):
        return f"PerClass(n_queries={self.n_queries}, n_train={self.n_train})"


def draw_split(protocol: Any, X: Any, y: Any, seed: int) -> Split:
    protocol = protocol or PerClass(20, 100)
    random_state = np.random.RandomState(seed)
    query, database, train = [], [], []
    for label in np.unique(y):
        rows = random_state.permutation(np.flatnonzero(y == label))
        query.append(rows[: protocol.n_queries])
        database.append(rows[protocol.n_queries :])
        train.append(rows[protocol.n_queries :][: protocol.n_train])
    return Split(*(np.sort(np.concatenate(rows)) for rows in (train, query, database)))
