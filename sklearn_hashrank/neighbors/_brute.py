"""Find neighbours by scanning all codes, in threads over blocks of queries."""

import threading

import numpy as np

from .. import _kernels
from .._utils.threads import count_threads, over_rows, run_in_threads

# Measured costs in nanoseconds: of a query and a word of a code when all are scanned, of putting
# aside, sorting and writing a neighbour, and of reading a word where no other query does.
PAIR_COST, _HIT_COST, READ_COST = 0.03, 4.0, 0.2
_WORTH_A_PART = 500_000.0  # nanoseconds of a query that are worth a part of the codes
# Queries of a slice, at least, as they share the reading of the codes: of one word, and of several,
# which are also put word by word.
_GROUP, _LONG_GROUP = 16, 48
_WORTH_A_SAMPLE = 100  # neighbours; a bound for fewer is found while scanning
_DEVIATIONS = 2.5  # of the rank in the sample; a limit that is too small costs a second scan
_SAMPLE = 1 << 14  # items that a first bound is taken from; more where it saves many hits
_DENSE = 0.01  # share of the codes that are searched for, from which most blocks hold one
_SHARE = 16  # one item in so many is sampled, at most

_MOST_KEPT = 1 << 20  # keys of eight bytes
_kept = threading.local()

Flat = tuple[np.ndarray, np.ndarray, np.ndarray]
Sample = tuple[np.ndarray, np.ndarray, int]
Limits = tuple[np.ndarray, np.ndarray]


def k_nearest(
    queries: np.ndarray,
    codes: np.ndarray,
    k: int,
    n_bits: int,
    n_jobs: int | None,
    passing: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Indices and distances of the `k` nearest codes, in order of (distance, index).

    Of those that are True in `passing`, of one row for all queries or one for each, at least `k`
    for each query. Threads share the queries, or the codes where there are more threads than
    queries.
    """
    sample = None
    if k >= _WORTH_A_SAMPLE and (passing is None or len(passing) == 1):
        sample = sample_of(codes, k, passing)
    n_parts = _count_parts(len(queries), codes.size, k, n_jobs)
    if n_parts > 1:
        indices, distances = _nearest_in_parts(
            queries, codes, k, n_bits, n_jobs, passing, sample, n_parts
        )
        _scan_again(distances[:, -1] > n_bits, queries, codes, n_bits, passing, indices, distances)
        return indices, distances
    indices = np.empty((len(queries), k), dtype=np.int64)
    distances = np.empty((len(queries), k), dtype=np.int32)

    def search(rows):
        own, masks = queries[rows], _of_rows(passing, rows)
        part = indices[rows], distances[rows]
        limits = likely_limits(own, sample, len(codes), n_bits)
        found = _nearest(own, codes, n_bits, limits, masks, *part)
        _scan_again(found < k, own, codes, n_bits, masks, *part)

    cost = PAIR_COST * codes.size + _HIT_COST * k
    over_rows(search, len(queries), n_jobs, cost=cost, fewest=_fewest(codes))
    return indices, distances


def _scan_again(is_short, queries, codes, n_bits, passing, indices, distances):
    """Search for queries whose limit was too small: the sample was not like the rest."""
    short = np.flatnonzero(is_short)
    if short.size:
        limits = likely_limits(short, None, len(codes), n_bits)
        shape = short.size, indices.shape[1]
        part = np.empty(shape, np.int64), np.empty(shape, np.int32)
        _nearest(queries[short], codes, n_bits, limits, _of_rows(passing, short), *part)
        indices[short], distances[short] = part


def _count_parts(n_queries, n_words, k, n_jobs):
    """Into how many parts to cut the codes, so that each is worth a thread."""
    worth = int(PAIR_COST * n_words * n_queries / (_WORTH_A_PART + _HIT_COST * k * n_queries))
    return min(count_threads(n_jobs) // n_queries, worth) if worth > 1 else 1


def _nearest_in_parts(queries, codes, k, n_bits, n_jobs, passing, sample, n_parts):
    """Search every part within the limits of all, and merge; ties keep the order of the parts.

    A distance beyond `n_bits` says that there were fewer than `k`.
    """
    limits = likely_limits(queries, sample, len(codes), n_bits)
    edges = np.arange(n_parts + 1) * len(codes) // n_parts // 64 * 64
    edges[-1] = len(codes)

    def search(part):
        start, stop = edges[part], edges[part + 1]
        indices = np.zeros((len(queries), min(k, stop - start)), np.int64)
        distances = np.empty(indices.shape, np.int32)
        masks = None if passing is None else np.ascontiguousarray(passing[:, start:stop])
        own = limits[0], limits[1] - start
        found = _nearest(queries, codes[start:stop], n_bits, own, masks, indices, distances)
        distances[np.arange(indices.shape[1]) >= found[:, None]] = n_bits + 1
        return indices + start, distances

    found = run_in_threads(search, range(n_parts), n_jobs)
    indices, distances = (np.concatenate(parts, axis=1) for parts in zip(*found))
    order = np.argsort(distances, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(indices, order, axis=1), np.take_along_axis(distances, order, axis=1)


def _of_rows(passing, rows):
    """Masks of some queries: their own, or the one of all."""
    return passing if passing is None or len(passing) == 1 else passing[rows]


def _nearest(queries, codes, n_bits, limits, passing, indices, distances):
    (n, n_words), k, kernels = codes.shape, indices.shape[1], _kernels.nearest
    group, capacity = kernels.room_for_keys(len(queries), k, n, n_words)
    keys, counts = _key_buffer((group, capacity)), kernels.room_to_count(group, n_bits)
    scratch = kernels.room_for_tile(n_words), keys, np.empty(k + 1, np.uint64), counts
    settings = k, k > _DENSE * n, kernels.count_before_line(codes)
    flat = np.ascontiguousarray(codes).reshape(-1)
    sizes, n_found = np.zeros((2, len(queries)), np.int64)
    top, until = (part.astype(np.int64) for part in limits)
    for start in range(0, len(queries), group):
        rows = slice(start, start + group)
        state = sizes[rows], top[rows], until[rows], n_found[rows], indices[rows], distances[rows]
        counts[:] = 0
        masks = _of_rows(passing, rows)
        _kernels.nearest.nearest(queries[rows], flat, *settings, masks, *scratch, *state)
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
    passing: np.ndarray | None = None,
) -> Flat:
    """How many codes lie within `radius` of each query, their indices, and their distances.

    Of those that are True in `passing`, as for `k_nearest`.
    """

    def search(rows):
        masks = np.empty((0, 0), dtype=bool) if passing is None else _of_rows(passing, rows)
        room = _kernels.nearest.room_for_tile(codes.shape[1])
        return _kernels.nearest.within(
            queries[rows], codes.reshape(-1), radius, by_distance, masks, room
        )

    cost = PAIR_COST * codes.size
    return joined(over_rows(search, len(queries), n_jobs, cost=cost, fewest=_fewest(codes)))


def _fewest(codes):
    return _GROUP if codes.shape[1] == 1 else _LONG_GROUP


def joined(parts: list[Flat]) -> Flat:
    """Results of blocks of queries, one after the other."""
    if len(parts) == 1:
        return parts[0]
    n_found, indices, distances = zip(*parts)
    return np.concatenate(n_found), np.concatenate(indices), np.concatenate(distances)


def sample_of(codes: np.ndarray, k: int, passing: np.ndarray | None = None) -> Sample | None:
    """Sample of the codes, their indices, and the rank in it that the k-th nearest likely has.

    Of the codes that pass one mask for all, where it is told. None where the sample would say
    nothing.
    """
    n_sample = min(_SAMPLE + k // 4, len(codes) // _SHARE)
    if not n_sample:
        return None
    step = len(codes) // n_sample
    taken, places = codes[::step], np.arange(0, len(codes), step)
    expected = k * len(taken) / len(codes)
    if passing is not None:
        passes = passing[0, ::step]
        taken, places = taken[passes], places[passes]
    rank = int(np.ceil(expected + _DEVIATIONS * np.sqrt(expected) + 2))
    return (np.ascontiguousarray(taken), places, rank) if rank < len(taken) else None


def likely_limits(queries: np.ndarray, sample: Sample | None, n_codes: int, n_bits: int) -> Limits:
    """Distances and indices of which the k-th of :func:`sample_of` very likely is not behind.

    In the order of both.
    """
    if sample is None:
        return np.full(len(queries), n_bits), np.full(len(queries), n_codes)
    codes, places, rank = sample
    shape = len(queries), rank
    indices, distances = np.empty(shape, np.int64), np.empty(shape, np.int32)
    unlimited = likely_limits(queries, None, len(codes), n_bits)
    _nearest(queries, codes, n_bits, unlimited, None, indices, distances)
    return distances[:, -1].astype(np.int64), places[indices[:, -1]]
