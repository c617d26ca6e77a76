"""What is searched for, and what was found, whatever holds the codes.

A search is scanned for (`scan`) or looked up in tables of substrings (`look_up`), and what was
found in parts of the codes is put together (`merged`). Codes, masks and chunks know no more of it.
"""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from . import _scan

if TYPE_CHECKING:
    from ._multi_index import SubstringTables

MISSING = -1
"""Index and distance of a neighbor that there is not, because fewer codes pass a mask."""


class Found(NamedTuple):
    """How many neighbors each query has, and their indices and distances, query after query."""

    n_found: np.ndarray
    indices: np.ndarray
    distances: np.ndarray

    def rows(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Indices and distances with `k` columns; behind those that were found, `MISSING`."""
        shape = len(self.n_found), k
        if self.indices.size == shape[0] * k:
            return self.indices.reshape(shape), self.distances.reshape(shape)
        is_there = np.arange(k) < self.n_found[:, None]
        indices, distances = np.full(shape, MISSING, np.int64), np.full(shape, MISSING, np.int32)
        indices[is_there], distances[is_there] = self.indices, self.distances
        return indices, distances

    @property
    def queries(self) -> np.ndarray:
        """The query of each neighbor."""
        return np.repeat(np.arange(len(self.n_found)), self.n_found)

    def where(self, is_kept: np.ndarray) -> "Found":
        """Return the neighbors that are True."""
        n_found = np.bincount(self.queries[is_kept], minlength=len(self.n_found))
        return Found(n_found, self.indices[is_kept], self.distances[is_kept])


class Nearest(NamedTuple):
    """Search for the `k` nearest codes, in order of (distance, index)."""

    k: int

    def scan(
        self,
        queries: np.ndarray,
        codes: np.ndarray,
        n_jobs: int | None,
        passing: np.ndarray | None = None,
    ) -> Found:
        k = min(self.k, len(codes))
        n_found, indices, distances = _scan.k_nearest(queries, codes, k, n_jobs, passing)
        if passing is None:  # as many as there can be
            return Found(n_found, indices.reshape(-1), distances.reshape(-1))
        is_there = np.arange(k) < n_found[:, None]
        return Found(n_found, indices[is_there], distances[is_there])

    def look_up(self, tables: "SubstringTables", queries: np.ndarray, always: bool) -> Found | None:
        """What tables find, where that is asked for or costs less than a scan."""
        if not always:
            radius = tables.likely_radius(queries, self.k)
            if not tables.pays(radius, len(queries)):
                return None
        return Found(*tables.k_nearest(queries, self.k))

    def merged(self, parts: list[Found]) -> Found:
        """The nearest of all parts, each of later codes than the one before."""
        found = _in_order(parts, by_distance=True)
        starts = np.cumsum(found.n_found) - found.n_found
        place = np.arange(len(found.indices)) - np.repeat(starts, found.n_found)
        return found.where(place < self.k)


class Within(NamedTuple):
    """Search for all codes within a radius, in order of (distance, index), or else of index."""

    radius: int
    by_distance: bool

    @property
    def k(self) -> int:
        """A mask that one code passes is worth a scan."""
        return 1

    def scan(
        self,
        queries: np.ndarray,
        codes: np.ndarray,
        n_jobs: int | None,
        passing: np.ndarray | None = None,
    ) -> Found:
        return Found(
            *_scan.all_within(queries, codes, self.radius, self.by_distance, n_jobs, passing)
        )

    def look_up(self, tables: "SubstringTables", queries: np.ndarray, always: bool) -> Found | None:
        """What tables find, where that is asked for or costs less than a scan."""
        may_pay = tables.pays(self.radius, len(queries))
        if may_pay or (always and tables.cost(self.radius) <= tables.allowed_cost):
            tables.build(self.radius)
            if tables.cost(self.radius) <= tables.allowed_cost:  # which is better known by now
                return Found(*tables.all_within(queries, self.radius, self.by_distance))
        return None

    def merged(self, parts: list[Found]) -> Found:
        """All of the parts, each of later codes than the one before."""
        return _in_order(parts, self.by_distance)


Search = Nearest | Within


def _in_order(parts: list[Found], by_distance: bool) -> Found:
    """Put the neighbors of each query together; equal ones keep the order of the parts."""
    query = np.concatenate([part.queries for part in parts])
    indices = np.concatenate([part.indices for part in parts])
    distances = np.concatenate([part.distances for part in parts])
    order = np.lexsort((distances, query)) if by_distance else np.argsort(query, kind="stable")
    n_found = np.sum([part.n_found for part in parts], axis=0)
    return Found(n_found, indices[order], distances[order])
