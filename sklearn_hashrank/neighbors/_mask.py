"""Search among the codes that a filter lets pass."""

from typing import Any

import numpy as np
from scipy import sparse

from .._features.tensors import as_host_array
from ._scan import PAIR_COST, READ_COST
from ._searches import Found, Search

# Nanoseconds of looking at a value of a mask, and of copying a word of a code that passes, about.
_FIND_COST, _COPY_COST = 0.15, 8.0
_LOOKED_AT = 4096  # values of a mask, to estimate how many pass


class Mask:
    """Which codes count, for all queries or for each: an array or a CSR matrix of booleans."""

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


def scan_passing(
    search: Search,
    queries: np.ndarray,
    codes: np.ndarray,
    n_jobs: int | None,
    mask: Mask | None,
) -> Found:
    """Scan the codes that pass a mask, or all.

    Where few codes pass, they are copied and searched as if there were no others; where many do,
    all are scanned, and the mask is looked up for those that are near.
    """
    if mask is None:
        return search.scan(queries, codes, n_jobs)
    are_copied = _costs_less_to_copy(mask, queries, codes, search.k)
    every = np.arange(len(queries))
    if mask.is_shared:
        groups = [(every, bool(are_copied[0]))]
    else:
        groups = [(every[[query]], True) for query in np.flatnonzero(are_copied)]
        if not are_copied.all():
            groups.append((np.flatnonzero(~are_copied), False))
    parts = []
    for rows, is_copied in groups:
        if is_copied:
            positions = mask.of_query(rows[0])
            found = search.scan(queries[rows], codes[positions], n_jobs)
            found = found._replace(indices=positions[found.indices])
        else:
            found = search.scan(queries[rows], codes, n_jobs, mask.of_queries(rows))
        parts.append(found)
    if len(parts) == 1:
        return parts[0]
    rows = np.concatenate([rows for rows, _ in groups])
    n_found, indices, distances = (np.concatenate(values) for values in zip(*parts))
    order = np.argsort(np.repeat(rows, n_found), kind="stable")
    return Found(n_found[np.argsort(rows)], indices[order], distances[order])


def _costs_less_to_copy(mask, queries, codes, k):
    """Whether to copy the codes that pass for each query."""
    n_passing = mask.n_passing(len(queries), k)
    n_words = codes.shape[1]
    n_sharing = len(queries) if mask.is_shared else 1
    copied = (_FIND_COST * len(codes)) + (_COPY_COST + PAIR_COST * n_sharing) * n_words * n_passing
    return copied <= max(READ_COST, PAIR_COST * n_sharing) * codes.size
