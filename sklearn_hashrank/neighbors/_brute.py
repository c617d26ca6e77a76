"""Find neighbours by scanning all codes, in threads over blocks of queries."""

import threading

import numpy as np

from .. import _kernels
from .._utils.threads import over_rows

# Measured costs in nanoseconds: of a query and a word of a code when all are scanned, and of
# putting aside, sorting and writing a neighbour.
PAIR_COST, _HIT_COST = 0.05, 5.0
_GROUP = 16  # queries of a slice, at least: they share the reading of the codes
_SAMPLE = 1 << 14  # items that a first bound is taken from, and k more, as many hits cost more
_SHARE = 16  # one item in so many is sampled, at most

_MOST_KEPT = 1 << 20  # keys of eight bytes
_kept = threading.local()

Flat = tuple[np.ndarray, np.ndarray, np.ndarray]


def k_nearest(
    queries: np.ndarray, codes: np.ndarray, k: int, n_bits: int, n_jobs: int | None
) -> tuple[np.ndarray, np.ndarray]:
    """Indices and distances of the `k` nearest codes, in order of (distance, index)."""
    indices = np.empty((len(queries), k), dtype=np.int64)
    distances = np.empty((len(queries), k), dtype=np.int32)
    sample = sample_of(codes, k)

    def search(rows):
        limits = likely_limits(queries[rows], sample, n_bits)
        found = _nearest(queries[rows], codes, n_bits, limits, indices[rows], distances[rows])
        short = rows.start + np.flatnonzero(found < k)  # the sample was not like the rest
        if short.size:
            part = np.empty((short.size, k), np.int64), np.empty((short.size, k), np.int32)
            _nearest(queries[short], codes, n_bits, np.full(short.size, n_bits), *part)
            indices[short], distances[short] = part

    cost = PAIR_COST * codes.size + _HIT_COST * k
    over_rows(search, len(queries), n_jobs, cost=cost, fewest=_GROUP)
    return indices, distances


def _nearest(queries, codes, n_bits, limits, indices, distances):
    shape = _kernels.nearest.key_shape(len(queries), indices.shape[1], len(codes))
    n_found = np.empty(len(queries), dtype=np.int64)
    n_before = _kernels.nearest.items_before_line(codes)
    scratch = _kernels.nearest.room_to_search(codes.shape[1], n_bits, shape[1])
    _kernels.nearest.nearest(
        queries, codes, n_before, limits, indices, distances, n_found, _key_buffer(shape), *scratch
    )
    return n_found


def _key_buffer(shape):
    """Room for keys, kept by every thread, as new pages take as long as a small search."""
    size = shape[0] * shape[1]
    keys = getattr(_kept, "keys", None)
    if keys is None or keys.size < size:
        keys = np.empty(size, np.uint64)
        if size <= _MOST_KEPT:
            _kept.keys = keys
    return keys[:size].reshape(shape)


def all_within(
    queries: np.ndarray,
    codes: np.ndarray,
    radius: int,
    n_bits: int,
    by_distance: bool,
    n_jobs: int | None,
) -> Flat:
    """How many codes lie within `radius` of each query, their indices, and their distances."""

    def search(rows):
        return _kernels.nearest.within(queries[rows], codes, radius, by_distance)

    cost = PAIR_COST * codes.size
    return joined(over_rows(search, len(queries), n_jobs, cost=cost, fewest=_GROUP))


def joined(parts: list[Flat]) -> Flat:
    """Results of blocks of queries, one after the other."""
    if len(parts) == 1:
        return parts[0]
    n_found, indices, distances = zip(*parts)
    return np.concatenate(n_found), np.concatenate(indices), np.concatenate(distances)


def sample_of(codes: np.ndarray, k: int) -> tuple[np.ndarray, int] | None:
    """Sample of the codes, word-major, and the rank in it that the `k` nearest very likely have.

    None where the sample would say nothing.
    """
    n_sample = min(_SAMPLE + k, len(codes) // _SHARE)
    n_sample -= n_sample % _kernels.nearest.BLOCK
    expected = k * n_sample / len(codes)
    rank = int(np.ceil(expected + np.sqrt(expected) + 4))
    if rank >= n_sample:
        return None
    step = len(codes) // n_sample
    sample = _kernels.nearest.aligned_words(codes.shape[1], n_sample)
    sample[:] = codes[::step][:n_sample].T
    return sample, rank


def likely_limits(
    queries: np.ndarray, sample: tuple[np.ndarray, int] | None, n_bits: int
) -> np.ndarray:
    """Distances that as many codes very likely lie within as :func:`sample_of` was asked for."""
    limits = np.full(len(queries), n_bits)
    if sample is not None:
        words, rank = sample
        distances = np.empty(words.shape[1], dtype=np.min_scalar_type(n_bits + 1))
        _kernels.nearest.distance_quantiles(queries, words, rank, n_bits, distances, limits)
    return limits
