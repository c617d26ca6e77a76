"""Find neighbors by scanning all codes, in threads over blocks of queries."""

import math
import threading

import numpy as np

from .. import _kernels
from .._utils.threads import count_threads, over_rows, run_in_threads
from ._projections import LARGEST_WEIGHT

# Measured costs in nanoseconds: of a query and a word of a code when all are scanned, of putting
# aside, sorting and writing a neighbor, and of reading a word where no other query does.
PAIR_COST, _HIT_COST, READ_COST = 0.03, 4.0, 0.2
WEIGHTED_PAIR_COST = 0.1  # of a query whose bits have weights
_WORTH_A_PART = 500_000.0  # nanoseconds of a query that are worth a part of the codes
# Queries of a slice, at least, as they share the reading of the codes: of one word, and of several,
# which are also put word by word.
_GROUP, _LONG_GROUP = 16, 48
_WORTH_A_SAMPLE = 100  # neighbors; a bound for fewer is found while scanning
_DEVIATIONS = 2.5  # of the rank in the sample; a limit that is too small costs a second scan
_SAMPLE = 1 << 14  # items that a first bound is taken from; more where it saves many hits
_DENSE = 0.01  # share of the codes that are searched for, from which most blocks hold one
_SHARE = 16  # one item in so many is sampled, at most

_MOST_KEPT = 1 << 21  # keys of eight bytes
_kept = threading.local()

_Three = tuple[np.ndarray, np.ndarray, np.ndarray]
Sample = tuple[np.ndarray, np.ndarray | None, int, int]
Limits = tuple[np.ndarray, np.ndarray]


def k_nearest(
    queries: np.ndarray,
    codes: np.ndarray,
    k: int,
    n_jobs: int | None,
    passing: np.ndarray | None = None,
) -> _Three:
    """Numbers of neighbors, and indices and distances of the `k` nearest codes in `k` columns.

    In order of (distance, index). Queries with a third axis are weighted, see ``_projections.py``.
    With masks, of one row for all queries or one for each, only of
    the codes that are True in `passing`; where fewer than `k` are, what is behind them means
    nothing. Threads share the queries, or the codes where there are more threads than queries.
    """
    sample = None
    if k >= _WORTH_A_SAMPLE and (passing is None or len(passing) == 1):
        sample = sample_of(codes, k, passing)
    limits = likely_limits(queries, sample, len(codes), n_jobs)
    n_parts = _count_parts(len(queries), codes.size, k, n_jobs)
    if n_parts > 1:
        found = _nearest_in_parts(queries, codes, k, n_jobs, passing, limits, n_parts)
    else:
        n_found = np.empty(len(queries), np.int64)
        indices = np.empty((len(queries), k), dtype=np.int64)
        distances = np.empty((len(queries), k), dtype=np.int32)
        found = n_found, indices, distances

        def search(rows):
            own, masks = queries[rows], _of_rows(passing, rows)
            part = indices[rows], distances[rows]
            own_limits = [limit[rows] for limit in limits]
            n_found[rows] = _nearest(own, codes, own_limits, masks, *part)

        cost = _pair_cost(queries) * codes.size + _HIT_COST * k
        over_rows(search, len(queries), n_jobs, cost=cost, fewest=_fewest(codes))
    if sample is not None:
        _scan_again(queries, codes, passing, *found)
    if passing is None and (found[0] < k).any():
        raise RuntimeError(
            f"a scan found {found[0].min()} of {k} neighbors. The codes, perhaps a mapped file, "
            "were changed during the search."
        )
    return found


def _scan_again(queries, codes, passing, n_found, indices, distances):
    """Search for queries whose limit was too small: the sample was not like the rest."""
    short = np.flatnonzero(n_found < indices.shape[1])
    if short.size:
        limits = _no_limits(queries[short], len(codes))
        part = indices[short], distances[short]
        masks = _of_rows(passing, short)
        n_found[short] = _nearest(queries[short], codes, limits, masks, *part)
        indices[short], distances[short] = part


def _count_parts(n_queries, n_words, k, n_jobs):
    """Into how many parts to cut the codes, so that each is worth a thread."""
    worth = int(PAIR_COST * n_words * n_queries / (_WORTH_A_PART + _HIT_COST * k * n_queries))
    return min(count_threads(n_jobs) // n_queries, worth) if worth > 1 else 1


def _nearest_in_parts(queries, codes, k, n_jobs, passing, limits, n_parts):
    """Search every part within the limits of all, and merge; ties keep the order of the parts."""
    # Whole blocks of the kernel, of 64 codes.
    edges = np.arange(n_parts + 1) * len(codes) // n_parts // 64 * 64
    edges[-1] = len(codes)

    def search(part):
        start, stop = edges[part], edges[part + 1]
        indices = np.zeros((len(queries), min(k, stop - start)), np.int64)
        distances = np.empty(indices.shape, np.int32)
        masks = None if passing is None else np.ascontiguousarray(passing[:, start:stop])
        own = limits[0], limits[1] - start
        found = _nearest(queries, codes[start:stop], own, masks, indices, distances)
        behind_all = _farthest(queries) + 1
        distances[np.arange(indices.shape[1]) >= found[:, None]] = behind_all
        return found[:, None], indices + start, distances

    found = run_in_threads(search, range(n_parts), n_jobs)
    counts, indices, distances = (np.concatenate(parts, axis=1) for parts in zip(*found))
    order = np.argsort(distances, axis=1, kind="stable")[:, :k]
    indices, distances = (np.take_along_axis(a, order, axis=1) for a in (indices, distances))
    return np.minimum(counts.sum(axis=1), k), indices, distances


def _of_rows(passing, rows):
    """Masks of some queries: their own, or the one of all."""
    return passing if passing is None or len(passing) == 1 else passing[rows]


def _nearest(queries, codes, limits, passing, indices, distances):
    (n, n_words), k, kernels = codes.shape, indices.shape[1], _kernels.nearest
    group, capacity = kernels.room_for_keys(len(queries), k, n, n_words, _farthest(queries))
    keys, counts = _key_buffer((group, capacity)), kernels.room_to_count(group, _farthest(queries))
    scratch = kernels.room_for_tile(n_words), keys, np.empty(k + 1, np.uint64), counts
    settings = k, k > _DENSE * n, kernels.count_before_line(codes)
    flat = np.ascontiguousarray(codes).reshape(-1)
    sizes, n_found = np.zeros((2, len(queries)), np.int64)
    top, until = (part.copy() for part in limits)
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
    by_distance: bool,
    n_jobs: int | None,
    passing: np.ndarray | None = None,
) -> _Three:
    """How many codes lie within `radius` of each query, their indices, and their distances.

    One behind the other, query after query; `passing` is as for `k_nearest`.
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


def joined(parts: list[_Three]) -> _Three:
    """Results of blocks of queries, one after the other."""
    if len(parts) == 1:
        return parts[0]
    n_found, indices, distances = zip(*parts)
    return np.concatenate(n_found), np.concatenate(indices), np.concatenate(distances)


def sample_of(codes: np.ndarray, k: int, passing: np.ndarray | None = None) -> Sample | None:
    """Every so many-th of the codes, and the rank among them that the k-th nearest likely has.

    Of the codes that pass one mask for all, where it is told: then their numbers are the second
    part. The third is the number of codes for each of the sample. None where the sample would say
    nothing.
    """
    n_sample = min(_SAMPLE + k // 4, len(codes) // _SHARE)
    if not n_sample:
        return None
    step = len(codes) // n_sample
    taken, numbers = codes[::step], None
    expected = k * len(taken) / len(codes)
    if passing is not None:
        numbers = np.flatnonzero(passing[0, ::step])
        taken = taken[numbers]
    rank = math.ceil(expected + _DEVIATIONS * math.sqrt(expected) + 2)
    return (np.ascontiguousarray(taken), numbers, step, rank) if rank < len(taken) else None


def likely_limits(
    queries: np.ndarray, sample: Sample | None, n_codes: int, n_jobs: int | None
) -> Limits:
    """Distances and indices of which the k-th of :func:`sample_of` very likely is not behind.

    In the order of both. Found for all queries before any is searched for: a thread that begins to
    search needs the interpreter once, instead of waiting for the others again and again.
    """
    top, until = _no_limits(queries, n_codes)
    if sample is None:
        return top, until
    codes, numbers, step, rank = sample

    def search(rows):
        shape = len(queries[rows]), rank
        found = np.empty(shape, np.int64), np.empty(shape, np.int32)
        unlimited = _no_limits(queries[rows], len(codes))
        _nearest(queries[rows], codes, unlimited, None, *found)
        last, top[rows] = found[0][:, -1], found[1][:, -1]
        until[rows] = step * (last if numbers is None else numbers[last])

    cost = _pair_cost(queries) * codes.size + _HIT_COST * rank
    over_rows(search, len(queries), n_jobs, cost=cost, fewest=_fewest(codes))
    return top, until


def _no_limits(queries, n_codes):
    n = len(queries)
    return np.full(n, _farthest(queries), np.int64), np.full(n, n_codes, np.int64)


def _farthest(queries):
    """Largest distance of any words to queries.

    It counts bits behind the last one of a code, too: those of a mapped file that was changed may
    be ones, and a distance that the kernel has no room for would be lost.
    """
    n_bits = 64 * queries.shape[1]
    return n_bits if queries.ndim == 2 else LARGEST_WEIGHT * n_bits


def _pair_cost(queries):
    return PAIR_COST if queries.ndim == 2 else WEIGHTED_PAIR_COST
