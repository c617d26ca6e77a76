"""Find neighbors by tables of substrings, where that costs less than scanning."""

from math import comb

import numpy as np

from .. import _kernels
from .._utils.threads import over_rows, run_in_threads
from ._scan import PAIR_COST, joined, k_nearest, likely_limits, sample_of

# Measured costs in nanoseconds: of a list of items, and of an item on it, which wait for memory; of
# an item that is put into a table.
_PROBE, _ITEM, _BUILD = 20.0, 20.0, 30.0
_ALWAYS_ALLOWED = 1e5  # nanoseconds of a query that need not be compared to scanning
_MOST_TABLES = 16
_SHORTEST, _LONGEST = 8, 24  # bits of a substring
_TRIED = 32  # queries that say how far the neighbors are


def least_queries(queries: np.ndarray) -> float:
    """How many queries it takes for the first table to pay, if searching it cost nothing."""
    return _BUILD / (PAIR_COST * queries.shape[1])


class SubstringTables:
    """Tables of the substrings of codes of `n_bytes` packed bytes, built when first needed."""

    def __init__(self, codes: np.ndarray, n_bytes: int, n_jobs: int | None):
        self.codes, self.n_jobs = codes, n_jobs
        n, n_bits = len(codes), 8 * n_bytes
        about = min(max(round(np.log2(n)), _SHORTEST), _LONGEST)
        m = max(1, round(n_bits / about), -(-n_bits // _LONGEST))
        edges = np.arange(m + 1) * n_bits // m
        self.starts, self.lengths = edges[:-1], np.diff(edges)
        # Where lists start, and the lists: replaced together, so that threads never see a mixture.
        self.tables = (
            np.empty((0, (1 << self.lengths.max()) + 2), dtype=np.uint32),
            np.empty((0, n), dtype=np.uint32),
        )
        self.list_sizes = n / 2.0**self.lengths  # mean size of the list that a query looks into

    @property
    def n_built(self) -> int:
        return len(self.tables[0])

    @property
    def n_steps(self) -> int:
        """Steps that the tables can take; after so many, all items are found or it ends."""
        m = len(self.starts)
        return m * (int(self.lengths.max()) + 1) if m <= _MOST_TABLES else _MOST_TABLES

    def n_probes(self, n_steps: int) -> np.ndarray:
        """How many lists each step looks into."""
        m = len(self.starts)
        return np.array([float(comb(int(self.lengths[s % m]), s // m)) for s in range(n_steps)])

    def cost(self, radius: int) -> float:
        """Nanoseconds of finding all within `radius` of a query; infinite if it cannot be done."""
        if radius >= self.n_steps:
            return np.inf
        sizes = self.list_sizes[np.arange(radius + 1) % len(self.starts)]
        return float(self.n_probes(radius + 1) @ (_PROBE + _ITEM * sizes))

    @property
    def allowed_cost(self) -> float:
        """Nanoseconds of a query above which it is better to scan all codes."""
        return max(PAIR_COST * self.codes.size, _ALWAYS_ALLOWED)

    def pays(self, radius: int, n_queries: int) -> bool:
        """Whether building what is missing and searching costs less than scanning."""
        missing = max(0, self._n_needed(radius) - self.n_built)
        gain = n_queries * (PAIR_COST * self.codes.size - self.cost(radius))
        return gain > _BUILD * len(self.codes) * missing

    def build(self, radius: int) -> None:
        """Build the tables that `radius` needs and that are missing."""
        old_offsets, old_order = self.tables
        built, needed = len(old_order), self._n_needed(radius)
        if needed <= built:
            return
        offsets = np.zeros((needed, old_offsets.shape[1]), dtype=np.uint32)
        order = np.zeros((needed, old_order.shape[1]), dtype=np.uint32)
        offsets[:built], order[:built] = old_offsets, old_order

        def fill(t):
            _kernels.substrings.fill_table(
                self.codes, self.starts[t], self.lengths[t], offsets[t], order[t]
            )

        run_in_threads(fill, range(built, needed), self.n_jobs)
        for t in range(built, needed):
            sizes = np.diff(offsets[t, : (1 << self.lengths[t]) + 1]).astype(float)
            self.list_sizes[t] = sizes @ sizes / len(self.codes)  # of an item, not of a value
        self.tables = offsets, order

    def _n_needed(self, radius: int) -> int:
        return min(len(self.starts), radius + 1, _MOST_TABLES)

    def all_within(
        self, queries: np.ndarray, radius: int, by_distance: bool
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Like ``_scan.all_within``, after `build`."""
        tables = self.starts, self.lengths, *self.tables

        def search(rows):
            return _kernels.substrings.within_by_tables(
                queries[rows], self.codes, *tables, radius, by_distance
            )

        return joined(over_rows(search, len(queries), self.n_jobs, cost=self.cost(radius)))

    def likely_radius(self, queries: np.ndarray, k: int) -> int:
        """Distance that the `k` nearest codes of most queries lie within."""
        few = np.ascontiguousarray(queries[:: -(-len(queries) // _TRIED)])
        sample = sample_of(self.codes, k)
        top, _ = likely_limits(few, sample, len(self.codes), self.n_jobs)
        return int(np.median(top))

    def k_nearest(self, queries: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return keys and bounds of the k nearest; queries are scanned for if that costs less."""
        self.build(self.n_steps)
        tables = self.starts, self.lengths, *self.tables
        budget = self.allowed_cost / _ITEM
        n_probes = self.n_probes(self.n_steps)
        means = len(self.codes) / 2.0 ** self.lengths[np.arange(self.n_steps) % len(self.starts)]
        n_probes = n_probes[: np.searchsorted(np.cumsum(n_probes * (1 + means)), budget)]
        indices = np.empty((len(queries), k), dtype=np.int64)
        distances = np.empty((len(queries), k), dtype=np.int32)
        found = np.zeros(len(queries), dtype=bool)

        def search(rows):
            results = indices[rows], distances[rows], found[rows]
            _kernels.substrings.nearest_by_tables(
                queries[rows], self.codes, *tables, n_probes, budget, *results
            )

        search(slice(0, _TRIED))
        n_left = len(queries) - _TRIED
        if n_left > 0 and found[:_TRIED].mean() > 0.5:
            over_rows(
                lambda rows: search(slice(_TRIED + rows.start, _TRIED + rows.stop)),
                n_left,
                self.n_jobs,
                cost=PAIR_COST * self.codes.size,
            )
        far = np.flatnonzero(~found)
        if far.size:
            _, indices[far], distances[far] = k_nearest(queries[far], self.codes, k, self.n_jobs)
        return np.full(len(queries), k), indices.reshape(-1), distances.reshape(-1)
