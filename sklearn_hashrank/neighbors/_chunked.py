"""Search codes that are not in memory, chunk by chunk. Results are merged exactly."""

import copy
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from .._features.block_rows import in_memory, is_dask_array, source
from .._features.out_of_memory import StoredRows
from ..codes._formats import CodeReader
from ._candidates import first_bits
from ._mask import Mask, scan_passing
from ._searches import Found, Search

_BLOCK_BYTES = 1 << 26  # of the codes of files that are scanned at a time


def are_chunked(codes: Any) -> bool:
    """Whether codes are searched chunk by chunk: those of dask arrays and of files."""
    return is_dask_array(codes) or isinstance(codes, StoredRows)


class ChunkedCodes:
    """Codes of a dask array or of files, with the searches of `StoredCodes`.

    Chunks are scanned, whatever `algorithm` is. Those of a dask array are tasks, of which dask
    decides what runs where; their sizes have to be known. Codes of files are read in blocks, whose
    queries `n_jobs` threads share. `reader` is one that goes with the codes.
    """

    def __init__(self, codes: Any, reader: CodeReader):
        if np.isnan(codes.shape[0]):
            raise ValueError(
                "the chunks of the dask array have unknown sizes, so that neighbors have no "
                "numbers. Call compute_chunk_sizes() on it first."
            )
        self.reader = reader.copy()
        tried = reader.copy()
        tried.packed(np.zeros((1, *codes.shape[1:]), codes.dtype), "codes")
        self.n_bits: int = tried.n_bits  # type: ignore[assignment]
        self.reader.n_bits = self.n_bits  # as every chunk and all queries have
        self._codes = codes

    def __len__(self) -> int:
        return int(self._codes.shape[0])

    def words(self) -> np.ndarray:
        """All codes, in memory."""
        return self._read(in_memory(self._codes[:]))

    def first_bits(self, n_bits: int) -> "ChunkedCodes":
        """Codes of the first bits of each code, cut when a chunk is searched."""
        shorter = copy.copy(self)
        shorter.n_bits = n_bits
        return shorter

    def words_of(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Codes of some rows, and where the code of each row is among them."""
        distinct, places = np.unique(rows, return_inverse=True)
        return self._read(in_memory(self._codes[distinct])), places.reshape(rows.shape)

    def queries(self, codes: Any, n_jobs: int | None) -> np.ndarray:
        """Words of queries in any format that goes with the codes."""
        words = self.reader.copy().words(codes, "query codes", n_jobs)
        return np.ascontiguousarray(words)

    def find(
        self,
        search: Search,
        queries: np.ndarray,
        algorithm: str,
        n_jobs: int | None,
        mask: Mask | None = None,
    ) -> Found:
        """Scan every chunk, and merge."""
        n_jobs = 1 if is_dask_array(self._codes) else n_jobs
        options = search, queries, self.n_bits, self.reader, mask, n_jobs
        n_rows = max(1, _BLOCK_BYTES // max(1, self._codes.shape[1]))
        rows = source(self._codes, batch_size=n_rows)
        return search.merged(rows.sum(partial(_find_in_chunk, options)).parts)

    def _read(self, codes: Any) -> np.ndarray:
        return np.ascontiguousarray(self.reader.copy().words(codes, "codes"))


class _FoundInChunks(NamedTuple):
    """What was found in some chunks, with the reader that has seen their values."""

    search: Search
    parts: list[Found]
    reader: CodeReader

    def __add__(self, later: "_FoundInChunks") -> "_FoundInChunks":  # type: ignore[override]
        parts = [*self.parts, *later.parts]
        # Merged when as many came as there were, so that each is sorted a few times only.
        if sum(len(part.indices) for part in parts[1:]) >= len(parts[0].indices):
            parts = [self.search.merged(parts)]
        reader = self.reader.copy()
        reader.join(later.reader)
        return _FoundInChunks(self.search, parts, reader)


def _find_in_chunk(options, codes, y, first):
    """Search a chunk whose first row has the number `first`."""
    search, queries, n_bits, reader, mask, n_jobs = options
    reader = reader.copy()
    words = np.ascontiguousarray(reader.words(np.asarray(codes), "codes"))
    if n_bits < (reader.n_bits or n_bits):
        words = first_bits(words, n_bits)
    if mask is not None:
        mask = mask.of_codes(slice(first, first + len(words)))
    found = scan_passing(search, queries, words, n_jobs, mask)
    return _FoundInChunks(search, [found._replace(indices=found.indices + first)], reader)
