"""Batches that every objective must survive."""

import numpy as np

LEVELS = np.array([0.0, 1.0, 3.0])
N_ROWS, N_BITS = 10, 5


def shared_labels(n_rows, rng):
    labels = rng.integers(0, 2, (n_rows, 4))
    return np.minimum(labels @ labels.T, 2).astype(np.uint8)


def batch(name, rng):
    """Return scores (M, b) and level indices (M, M)."""
    scores = rng.normal(size=(N_ROWS, N_BITS))
    level = shared_labels(N_ROWS, rng)
    if name == "empty bins":
        scores = np.abs(scores) + 1.0  # everything is close: the far bins are empty
    elif name == "single positives":
        level = np.zeros_like(level)
        level[np.arange(N_ROWS), (np.arange(N_ROWS) + 1) % N_ROWS] = 2
    elif name == "without positives":
        level[::2] = 0
    elif name == "only positives":
        level[:] = 1
    elif name == "saturated bits":
        scores[:, :2] = 60 * np.sign(scores[:, :2])
    return scores, level


BATCHES = [
    "random",
    "empty bins",
    "single positives",
    "without positives",
    "only positives",
    "saturated bits",
]
