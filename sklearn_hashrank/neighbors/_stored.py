"""Hold the codes of an index, and choose between scanning them and looking into tables."""

import numpy as np

from ..codes._formats import CodeReader, packed_width
from . import _brute, _masked
from ._first_bits import first_bits
from ._masked import Mask
from ._multi_index import SubstringTables, least_queries

_MOST_IN_TABLES = 1 << 32  # codes that tables can number


class StoredCodes:
    """Codes in blocks, as a reader has read them.

    Tables of their substrings, and codes of their first bits, are made when needed.
    """

    def __init__(self, blocks: list[np.ndarray], reader: CodeReader):
        self.blocks, self.reader = blocks, reader
        self.n_bits: int = reader.n_bits  # type: ignore[assignment]
        self.tables: SubstringTables | None = None
        self._first: StoredCodes | None = None

    def __len__(self) -> int:
        return sum(map(len, self.blocks))

    def __getstate__(self) -> dict:
        return {**self.__dict__, "tables": None, "_first": None}  # which are made again

    def words(self) -> np.ndarray:
        """All codes, (n, n_words)."""
        if len(self.blocks) > 1:
            self.blocks = [np.concatenate(self.blocks)]
        return self.blocks[0]

    def without(self, rows: np.ndarray) -> "StoredCodes":
        """Return the codes but for some rows, in the same order."""
        return StoredCodes([np.delete(self.words(), rows, axis=0)], self.reader)

    def first_bits(self, n_bits: int) -> "StoredCodes":
        """Codes of the first bits of each code, in an array of their own."""
        if self._first is None or self._first.n_bits != n_bits:
            self._first = StoredCodes([first_bits(self.words(), n_bits)], CodeReader(n_bits))
        return self._first

    def words_of(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Codes among which those of some rows are, and where the code of each row is."""
        return self.words(), rows

    def queries(self, codes: object, n_jobs: int | None) -> np.ndarray:
        """Words of queries in any format that goes with the codes."""
        reader = self.reader.copy()  # what one query holds says nothing about the next
        return np.ascontiguousarray(reader.words(codes, "query codes", n_jobs))

    def k_nearest(
        self,
        queries: np.ndarray,
        k: int,
        algorithm: str,
        n_jobs: int | None,
        mask: Mask | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Indices and distances of the `k` nearest codes, in order of (distance, index)."""
        words = self.words()
        if mask is not None:  # tables hold the codes that do not pass, too
            return _masked.k_nearest(queries, words, k, self.n_bits, n_jobs, mask)
        if self._may_use_tables(queries, algorithm):
            tables = self._substring_tables(n_jobs)
            if algorithm == "multi_index" or tables.pays(
                tables.likely_radius(queries, k, self.n_bits), len(queries)
            ):
                return tables.k_nearest(queries, k, self.n_bits)
        return _brute.k_nearest(queries, words, k, self.n_bits, n_jobs)

    def all_within(
        self,
        queries: np.ndarray,
        radius: int,
        by_distance: bool,
        algorithm: str,
        n_jobs: int | None,
        mask: Mask | None = None,
    ) -> _brute.Flat:
        """How many codes lie within `radius` of each query, their indices, and their distances."""
        if mask is not None:
            options = radius, self.n_bits, by_distance, n_jobs, mask
            return _masked.all_within(queries, self.words(), *options)
        if self._may_use_tables(queries, algorithm):
            tables = self._substring_tables(n_jobs)
            if tables.pays(radius, len(queries)) or (
                algorithm == "multi_index" and tables.cost(radius) <= tables.allowed_cost
            ):
                tables.build(radius)
                if tables.cost(radius) <= tables.allowed_cost:  # which is better known by now
                    return tables.all_within(queries, radius, by_distance)
        return _brute.all_within(queries, self.words(), radius, self.n_bits, by_distance, n_jobs)

    def _may_use_tables(self, queries: np.ndarray, algorithm: str) -> bool:
        if algorithm == "brute" or len(self) >= _MOST_IN_TABLES:
            return False
        is_built = self.tables is not None and self.tables.n_built > 0
        return algorithm == "multi_index" or is_built or len(queries) >= least_queries(queries)

    def _substring_tables(self, n_jobs: int | None) -> SubstringTables:
        if self.tables is None:
            self.tables = SubstringTables(self.words(), packed_width(self.n_bits), n_jobs)
        self.tables.n_jobs = n_jobs
        return self.tables
