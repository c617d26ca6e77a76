"""Neighbours by scanning all codes, in threads over blocks of queries."""

import numpy as np

from .._utils.threads import over_rows

PAIR_COST = 0.05  # nanoseconds of a query and a word of a code when all are scanned, measured
_SAMPLE = 1 << 14  # items that a first bound is taken from, and k more, as many hits cost more
_SHARE = 16  # one item in so many is sampled, at most

Flat = tuple[np.ndarray, np.ndarray, np.ndarray]


def k_nearest(
    queries: np.ndarray, codes: np.ndarray, k: int, n_bits: int, n_jobs: int | None
) -> tuple[np.ndarray, np.ndarray]:
    """Indices and distances of the `k` nearest codes, in order of (distance, index)."""
    indices = np.empty((len(queries), k), dtype=np.int64)
    distances = np.empty((len(queries), k), dtype=np.int32)

    def search(rows):
        limits = likely_limits(queries[rows], codes, k, n_bits)
        found = _nearest(queries[rows], codes, n_bits, limits, indices[rows], distances[rows])
        short = rows.start + np.flatnonzero(found < k)  # the sample was not like the rest
        if short.size:
            part = np.empty((short.size, k), np.int64), np.empty((short.size, k), np.int32)
            _nearest(queries[short], codes, n_bits, np.full(short.size, n_bits), *part)
            indices[short], distances[short] = part

    over_rows(search, len(queries), n_jobs, cost=PAIR_COST * codes.size)
    return indices, distances


def _nearest(queries, codes, n_bits, limits, indices, distances):
    from .._kernels.nearest import nearest

    n_found = np.empty(len(queries), dtype=np.int64)
    buffer = distance_buffer(n_bits)
    nearest(queries, codes, indices.shape[1], limits, buffer, indices, distances, n_found)
    return n_found


def all_within(
    queries: np.ndarray,
    codes: np.ndarray,
    radius: int,
    n_bits: int,
    by_distance: bool,
    n_jobs: int | None,
) -> Flat:
    """How many codes lie within `radius` of each query, their indices, and their distances."""
    from .._kernels.nearest import within

    def search(rows):
        return within(queries[rows], codes, radius, by_distance, distance_buffer(n_bits))

    return joined(over_rows(search, len(queries), n_jobs, cost=PAIR_COST * codes.size))


def joined(parts: list[Flat]) -> Flat:
    """Results of blocks of queries, one after the other."""
    if len(parts) == 1:
        return parts[0]
    n_found, indices, distances = zip(*parts)
    return np.concatenate(n_found), np.concatenate(indices), np.concatenate(distances)


def distance_buffer(n_bits: int) -> np.ndarray:
    """Room for the distances of a tile, in the smallest type that holds n_bits + 1."""
    from .._kernels.nearest import TILE

    return np.empty(TILE, dtype=np.min_scalar_type(n_bits + 1))


def likely_limits(queries: np.ndarray, codes: np.ndarray, k: int, n_bits: int) -> np.ndarray:
    """Distances that `k` codes very likely lie within, from a sample of the codes."""
    from .._kernels.nearest import distance_quantiles

    limits = np.full(len(queries), n_bits)
    n_sample = min(_SAMPLE + k, len(codes) // _SHARE)
    expected = k * n_sample / len(codes)
    rank = int(np.ceil(expected + np.sqrt(expected) + 4))
    if rank < n_sample:
        step = len(codes) // n_sample
        sample = np.ascontiguousarray(codes[::step][:n_sample].T)
        buffer = np.empty(n_sample, dtype=np.min_scalar_type(n_bits + 1))
        counts = np.empty(n_bits + 1, dtype=np.int64)
        distance_quantiles(queries, sample, rank, buffer, counts, limits)
    return limits
