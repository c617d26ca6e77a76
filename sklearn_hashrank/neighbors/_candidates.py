"""Candidates: what a search by the first bits finds, in order of a better distance.

That is the Hamming distance of all bits, or the asymmetric distance to the projections of a query.
"""

import numpy as np

from .. import _kernels
from .._utils.threads import over_rows
from ._searches import MISSING

# Measured nanoseconds of reading a word of a candidate and comparing it, of sorting a candidate,
# and of the asymmetric distance of one.
_WORD_COST, _CHOICE_COST, _WEIGHING_COST = 4.0, 5.0, 5.0
_KEYS = 1 << 20  # of candidates that are sorted at a time: 8 MB


def first_bits(words: np.ndarray, n_bits: int) -> np.ndarray:
    """Words of the first bits alone, one behind the other in memory."""
    n_words = -(-n_bits // 64)
    first = np.ascontiguousarray(words[:, :n_words])
    if n_bits % 64:
        kept = np.packbits(np.arange(64 * n_words) < n_bits).view(np.uint64)
        first = first & kept
    return first


def nearest_by_bits(
    queries: np.ndarray,
    codes: np.ndarray,
    places: np.ndarray,
    candidates: np.ndarray,
    k: int,
    n_jobs: int | None,
) -> tuple[np.ndarray, np.ndarray]:
    """Distances by all bits, and indices, of the `k` nearest candidates; ties by lowest index.

    `places` says where in `codes` the code of each candidate is. A candidate that is `MISSING`
    comes last, and so is its distance.
    """
    shape = len(queries), k
    distances, indices = np.empty(shape, np.int32), np.empty(shape, np.int64)
    missing = candidates == MISSING

    def choose(rows):
        keys = np.where(missing[rows], 0, candidates[rows]).astype(np.uint64)
        _kernels.nearest.put_distances_before(queries[rows], codes, places[rows], keys)
        keys[missing[rows]] = np.iinfo(np.uint64).max
        keys = np.sort(np.partition(keys, k - 1, axis=1)[:, :k], axis=1)
        _kernels.nearest.split_keys(keys, indices[rows], distances[rows])

    n_candidates = candidates.shape[1]
    cost = (_WORD_COST * codes.shape[1] + _CHOICE_COST) * n_candidates
    most = max(1, _KEYS // n_candidates)
    over_rows(choose, len(queries), n_jobs, cost=cost, most=most)
    n_there = n_candidates - np.count_nonzero(missing, axis=1)
    is_missing = np.arange(k) >= n_there[:, None]
    distances[is_missing] = indices[is_missing] = MISSING
    return distances, indices


def nearest_by_projections(
    queries: np.ndarray,
    codes: np.ndarray,
    places: np.ndarray,
    candidates: np.ndarray,
    k: int,
    n_jobs: int | None,
    projections: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Like `nearest_by_bits`, by asymmetric distances; that of a missing candidate is infinite.

    Candidates are in order of their index.
    """
    weights = np.zeros((len(queries), 64 * codes.shape[1]))
    bits = np.arange(projections.shape[1])
    weights[:, bits ^ 7] = np.abs(projections)  # the first bit of a byte is its highest
    distances = np.empty(candidates.shape)

    def weigh(rows):
        _kernels.asymmetric.sum_weights_of_differing_bits(
            queries[rows], codes, weights[rows], places[rows], distances[rows]
        )

    over_rows(weigh, len(queries), n_jobs, cost=_WEIGHING_COST * candidates.shape[1])
    distances[candidates == MISSING] = np.inf
    order = np.argsort(distances, axis=1, kind="stable")[:, :k]
    indices = np.take_along_axis(candidates, order, axis=1)
    return np.take_along_axis(distances, order, axis=1), indices
