"""Hold the codes of an index, and choose between scanning them and looking into tables."""

import numpy as np

from ..codes._formats import CodeReader, packed_width
from ._candidates import first_bits
from ._mask import Mask, scan_passing
from ._multi_index import SubstringTables, least_queries
from ._searches import Found, Search

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
        blocks = self.blocks  # another thread may put them together, too
        if len(blocks) > 1:
            self.blocks = blocks = [np.concatenate(blocks)]
        return blocks[0]

    def without(self, rows: np.ndarray) -> "StoredCodes":
        """Return the codes but for some rows, in the same order."""
        return StoredCodes([np.delete(self.words(), rows, axis=0)], self.reader)

    def first_bits(self, n_bits: int) -> "StoredCodes":
        first = self._first  # another thread may put that of another length there
        if first is None or first.n_bits != n_bits:
            first = StoredCodes([first_bits(self.words(), n_bits)], CodeReader(n_bits))
            self._first = first
        return first

    def words_of(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Codes among which those of some rows are, and where the code of each row is."""
        return self.words(), rows

    def queries(self, codes: object, n_jobs: int | None) -> np.ndarray:
        """Words of queries in any format that goes with the codes."""
        reader = self.reader.copy()  # what one query holds says nothing about the next
        return np.ascontiguousarray(reader.words(codes, "query codes", n_jobs))

    def find(
        self,
        search: Search,
        queries: np.ndarray,
        algorithm: str,
        n_jobs: int | None,
        mask: Mask | None = None,
    ) -> Found:
        """Look up tables where that costs less or is asked for, else scan."""
        words = self.words()
        # With a mask, tables hold the codes that do not pass, too. Of weighted queries, which have
        # a third axis, they know no distances.
        if mask is None and queries.ndim == 2 and self._may_use_tables(queries, algorithm):
            tables = self.tables  # another thread may put others there, of the same codes
            if tables is None:
                self.tables = tables = SubstringTables(words, packed_width(self.n_bits), n_jobs)
            tables.n_jobs = n_jobs
            found = search.look_up(tables, queries, algorithm == "multi_index")
            if found is not None:
                return found
        return scan_passing(search, queries, words, n_jobs, mask)

    def _may_use_tables(self, queries: np.ndarray, algorithm: str) -> bool:
        if algorithm == "brute" or len(self) >= _MOST_IN_TABLES:
            return False
        is_built = self.tables is not None and self.tables.n_built > 0
        return algorithm == "multi_index" or is_built or len(queries) >= least_queries(queries)
