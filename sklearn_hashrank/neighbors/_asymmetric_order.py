"""Order candidates by their asymmetric distance to the projections of a query."""

import numpy as np

from .. import _kernels
from .._utils.threads import over_rows

_CANDIDATE_COST = 5.0  # nanoseconds of a candidate, measured


def nearest_candidates(
    queries: np.ndarray,
    codes: np.ndarray,
    projections: np.ndarray,
    candidates: np.ndarray,
    missing: np.ndarray,
    k: int,
    n_jobs: int | None,
) -> tuple[np.ndarray, np.ndarray]:
    """Places among the candidates of the `k` nearest, the first of ties, and their distances.

    Where a candidate is missing, whatever it is, the distance is infinite.
    """
    weights = np.zeros((len(queries), 64 * codes.shape[1]))
    bits = np.arange(projections.shape[1])
    weights[:, bits ^ 7] = np.abs(projections)  # the first bit of a byte is its highest
    distances = np.empty(candidates.shape)

    def score(rows):
        _kernels.asymmetric.sum_weights_of_differing_bits(
            queries[rows], codes, weights[rows], candidates[rows], distances[rows]
        )

    over_rows(score, len(queries), n_jobs, cost=_CANDIDATE_COST * candidates.shape[1])
    distances[missing] = np.inf
    order = np.argsort(distances, axis=1, kind="stable")[:, :k]
    return order, np.take_along_axis(distances, order, 1)
