"""Where linear hashers start to learn: rotated principal directions, then random ones."""

import numpy as np

from .._features.centered_rows import CenteredRows
from .._features.principal_directions import leading_directions
from .._solvers.rotation import itq_rotation

_ITERATIONS = 20  # of the rotation, which learning goes on from
_DOUBT = 10  # rows that the unit variance of a random direction counts as


def start_directions(
    rows: np.ndarray, n_bits: int, random_state: np.random.RandomState
) -> np.ndarray:
    """Return directions (n_features, n_bits): projections of scaled rows have unit variance."""
    weights = random_state.standard_normal((rows.shape[1], n_bits)).astype(np.float32)
    n_principal = min(n_bits, rows.shape[1], rows.shape[0] - 1)
    centered = CenteredRows(rows, rows.mean(axis=0, dtype=np.float64))
    seed = random_state.randint(np.iinfo(np.int32).max)  # taken whether it is needed or not
    _, directions = leading_directions(centered, n_principal, np.random.RandomState(seed))
    directions = directions.astype(np.float32)
    rotation, _ = itq_rotation(rows @ directions, _ITERATIONS, random_state)
    weights[:, :n_principal] = directions @ rotation
    variance = np.mean((rows @ weights) ** 2, axis=0)
    # What few rows say of a random direction is little: features may vary that did not in them.
    expected = (weights[:, n_principal:] ** 2).sum(axis=0)
    share = _DOUBT / (len(rows) + _DOUBT)
    variance[n_principal:] += share * (expected - variance[n_principal:])
    return weights / np.sqrt(np.where(variance > 0, variance, 1))
