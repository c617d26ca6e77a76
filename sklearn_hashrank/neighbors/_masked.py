"""Search among the codes that a filter lets pass."""

from typing import Any

import numpy as np
from scipy import sparse

from .._features.tensors import as_host_array
from . import _brute

MISSING = -1
"""Index and distance of a neighbour that there is not, because fewer codes pass."""

# Nanoseconds of looking at a value of a mask, and of copying a word of a code that passes, about.
_FIND_COST, _COPY_COST = 0.15, 8.0
_LOOKED_AT = 4096  # values of a mask, to estimate how many pass


class Mask:
    """Which codes count, for all queries or for each.

    Parameters
    ----------
    passes : ndarray of shape (n_codes,) or (n_queries, n_codes), bool, or csr_matrix of the latter
        As :func:`read_mask` returns it.
    """

    def __init__(self, passes: Any):
        self._passes = passes

    @property
    def is_shared(self) -> bool:
        """Whether it is one for all queries."""
        return self._passes.ndim == 1

    def of_codes(self, rows: slice) -> "Mask":
        """Return the part that belongs to some of the codes."""
        return Mask(self._passes[rows] if self.is_shared else self._passes[:, rows])

    def of_rows(self, rows: slice) -> "Mask":
        """Return the part that belongs to some of the queries."""
        return self if self.is_shared else Mask(self._passes[rows])

    def of_query(self, query: int) -> np.ndarray:
        """Indices of the codes that pass for a query."""
        if self.is_shared:
            return np.flatnonzero(self._passes)
        if sparse.issparse(self._passes):
            start, stop = self._passes.indptr[query : query + 2]
            return self._passes.indices[start:stop].astype(np.int64)
        return np.flatnonzero(self._passes[query])

    def n_passing(self, n_queries: int, k: int) -> np.ndarray:
        """How many codes pass for each query; where `k` or more surely do, about how many.

        Reading all of a mask takes a tenth of the time that one query takes.
        """
        if sparse.issparse(self._passes):
            return np.diff(self._passes.indptr).astype(np.int64)
        step = max(1, self._passes.shape[-1] // _LOOKED_AT)
        n_seen = np.atleast_1d(np.count_nonzero(self._passes[..., ::step], axis=-1))
        counts = n_seen * step
        if step > 1:
            unsure = np.flatnonzero(n_seen < k)
            rows = np.atleast_2d(self._passes)
            counts[unsure] = [np.count_nonzero(rows[query]) for query in unsure]
        return np.broadcast_to(counts, n_queries)

    def of_queries(self, queries: np.ndarray) -> np.ndarray:
        """Rows of some queries, or the one of all where the mask is shared."""
        if self.is_shared:
            return np.ascontiguousarray(self._passes)[None]
        passes = self._passes if len(queries) == self._passes.shape[0] else self._passes[queries]
        return np.ascontiguousarray(passes.toarray() if sparse.issparse(passes) else passes)


def read_mask(mask: Any, n_queries: int, n_codes: int) -> Mask:
    """Return a mask that fits, or say what is wrong with it."""
    passes = mask if sparse.issparse(mask) else np.asarray(as_host_array(mask, "mask"))
    shapes = [(n_codes,), (n_queries, n_codes)]
    accepted = shapes[1:] if sparse.issparse(mask) else shapes
    is_missing = isinstance(mask, np.ma.MaskedArray) and np.ma.is_masked(mask)
    if passes.dtype != bool or passes.shape not in accepted or is_missing:
        raise ValueError(
            f"mask must be a boolean array of shape {shapes[0]}, a value for each code in the "
            f"index, or {shapes[1]}, a row for each query, which may be a sparse matrix. "
            f"Got {passes.dtype} of shape {passes.shape}{', masked in places' * is_missing}."
        )
    if sparse.issparse(passes):
        passes = sparse.csr_matrix(passes, copy=True)  # what follows changes it
        passes.eliminate_zeros()
        passes.sum_duplicates()
    return Mask(passes)


def k_nearest(
    queries: np.ndarray,
    codes: np.ndarray,
    k: int,
    n_bits: int,
    n_jobs: int | None,
    mask: Mask,
) -> tuple[np.ndarray, np.ndarray]:
    """Like ``_brute.k_nearest``, of the codes that pass; what there is not is `MISSING`."""
    shape = len(queries), k
    indices, distances = np.full(shape, MISSING, np.int64), np.full(shape, MISSING, np.int32)
    for rows, positions, n_found in _plans(mask, queries, codes, k):
        if positions is None:
            found = _brute.k_nearest(
                queries[rows],
                codes,
                n_found,
                n_bits,
                n_jobs,
                mask.of_queries(rows),
            )
            indices[rows, :n_found], distances[rows, :n_found] = found
        else:
            found = _brute.k_nearest(queries[rows], codes[positions], n_found, n_bits, n_jobs)
            indices[rows, :n_found], distances[rows, :n_found] = positions[found[0]], found[1]
    return indices, distances


def all_within(
    queries: np.ndarray,
    codes: np.ndarray,
    radius: int,
    n_bits: int,
    by_distance: bool,
    n_jobs: int | None,
    mask: Mask,
) -> _brute.Flat:
    """Like ``_brute.all_within``, of the codes that pass."""
    n_found, query = np.zeros(len(queries), np.int64), [np.empty(0, np.int64)]
    indices, distances = [np.empty(0, np.int64)], [np.empty(0, np.int32)]
    options = radius, n_bits, by_distance, n_jobs
    for rows, positions, _ in _plans(mask, queries, codes, 1):
        if positions is None:
            counts, where, far = _brute.all_within(
                queries[rows], codes, *options, mask.of_queries(rows)
            )
        else:
            counts, where, far = _brute.all_within(queries[rows], codes[positions], *options)
            where = positions[where]
        n_found[rows] = counts
        query.append(np.repeat(rows, counts))
        indices.append(where)
        distances.append(far)
    order = np.argsort(np.concatenate(query), kind="stable")
    return n_found, np.concatenate(indices)[order], np.concatenate(distances)[order]


def _plans(mask, queries, codes, k):
    """Cut the queries by how they are searched: rows, the positions to copy or None, and k.

    Where few codes pass, they are copied and searched as if there were no others; where many do,
    all are scanned, and the mask is looked up for those that are near.
    """
    n_passing = mask.n_passing(len(queries), k)
    n_found = np.minimum(k, n_passing)
    n_words = codes.shape[1]
    n_sharing = len(queries) if mask.is_shared else 1
    copied = (_FIND_COST * len(codes)) + (
        _COPY_COST + _brute.PAIR_COST * n_sharing
    ) * n_words * n_passing
    scanned = max(_brute.READ_COST, _brute.PAIR_COST * n_sharing) * codes.size
    copies = copied <= scanned
    if mask.is_shared:
        if n_found[0]:
            positions = mask.of_query(0) if copies[0] else None
            yield np.arange(len(queries)), positions, int(n_found[0])
        return
    for query in np.flatnonzero(copies & (n_found > 0)):
        yield np.array([query]), mask.of_query(query), int(n_found[query])
    for size in np.unique(n_found[~copies]):
        if size:
            yield np.flatnonzero(~copies & (n_found == size)), None, int(size)
