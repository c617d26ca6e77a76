"""Search codes that are not in memory, chunk by chunk. Results are merged exactly."""

import copy
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from .._features.block_rows import in_memory, is_dask_array, source
from .._features.out_of_memory import StoredRows
from ..codes._formats import CodeReader
from . import _brute, _masked
from ._first_bits import first_bits
from ._masked import Mask

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
                "the chunks of the dask array have unknown sizes, so that neighbours have no "
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

    def k_nearest(
        self,
        queries: np.ndarray,
        k: int,
        algorithm: str,
        n_jobs: int | None,
        mask: Mask | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Indices and distances of the `k` nearest codes, in order of (distance, index)."""
        found = self._search(_nearest, queries, k, mask, n_jobs)
        return found.indices, found.distances

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
        found = self._search(_within, queries, radius, mask, n_jobs)
        numbers = np.arange(len(queries))
        query = np.concatenate([np.repeat(numbers, n_found) for n_found, _, _ in found.parts])
        indices = np.concatenate([part for _, part, _ in found.parts])
        distances = np.concatenate([part for _, _, part in found.parts])
        order = np.lexsort((distances, query)) if by_distance else np.argsort(query, kind="stable")
        n_found = np.sum([part for part, _, _ in found.parts], axis=0)
        return n_found, indices[order], distances[order]

    def _search(
        self,
        search: Callable[..., Any],
        queries: np.ndarray,
        limit: int,
        mask: Mask | None,
        n_jobs: int | None,
    ) -> Any:
        """Sum over the chunks of what a search finds, up to `limit` neighbours or this far."""
        n_jobs = 1 if is_dask_array(self._codes) else n_jobs
        options = (queries, limit, self.n_bits, self.reader, mask, n_jobs)
        n_rows = max(1, _BLOCK_BYTES // max(1, self._codes.shape[1]))
        rows = source(self._codes, batch_size=n_rows)
        return rows.sum(partial(_search_chunk, search, options))

    def _read(self, codes: Any) -> np.ndarray:
        return np.ascontiguousarray(self.reader.copy().words(codes, "codes"))


class _Nearest(NamedTuple):
    """The nearest of some chunks, with the reader that has seen their values."""

    indices: np.ndarray
    distances: np.ndarray
    k: int
    reader: CodeReader

    def __add__(self, other: "_Nearest") -> "_Nearest":  # type: ignore[override]
        """Merge with the nearest of later chunks; ties keep their order."""
        distances = np.concatenate([self.distances, other.distances], axis=1)
        indices = np.concatenate([self.indices, other.indices], axis=1)
        missing = indices == _masked.MISSING
        order = np.lexsort((distances, missing))[:, : self.k]  # stable, as ties keep their order
        return _Nearest(
            np.take_along_axis(indices, order, axis=1),
            np.take_along_axis(distances, order, axis=1),
            self.k,
            _joined(self.reader, other.reader),
        )


class _Within(NamedTuple):
    """What lies within a radius in some chunks, with the reader that has seen their values."""

    parts: list[_brute.Flat]
    reader: CodeReader

    def __add__(self, other: "_Within") -> "_Within":  # type: ignore[override]
        """Put the parts of later chunks behind those of the earlier ones."""
        return _Within(self.parts + other.parts, _joined(self.reader, other.reader))


def _joined(reader: CodeReader, later: CodeReader) -> CodeReader:
    """Reader that has judged the values of both together."""
    reader = reader.copy()
    reader.join(later)
    return reader


def _search_chunk(search, options, codes, y, first):
    return search(codes, first, *options)


def _nearest(codes, first, queries, k, n_bits, reader, mask, n_jobs):
    """The nearest codes of a chunk, whose first row has the number `first`."""
    words, reader = _words_of(codes, reader)
    if n_bits < (reader.n_bits or n_bits):
        words = first_bits(words, n_bits)
    options = queries, words, min(k, len(words)), n_bits, n_jobs
    if mask is None:
        indices, distances = _brute.k_nearest(*options)
    else:
        part = mask.of_codes(slice(first, first + len(words)))
        indices, distances = _masked.k_nearest(*options, part)
    indices[indices != _masked.MISSING] += first
    return _Nearest(indices, distances, k, reader)


def _within(codes, first, queries, radius, n_bits, reader, mask, n_jobs):
    """The codes of a chunk within a radius, by index."""
    words, reader = _words_of(codes, reader)
    options = queries, words, radius, n_bits, False, n_jobs
    if mask is None:
        n_found, indices, distances = _brute.all_within(*options)
    else:
        part = mask.of_codes(slice(first, first + len(words)))
        n_found, indices, distances = _masked.all_within(*options, part)
    return _Within([(n_found, indices + first, distances)], reader)


def _words_of(codes: Any, reader: CodeReader) -> tuple[np.ndarray, CodeReader]:
    reader = reader.copy()
    return np.ascontiguousarray(reader.words(np.asarray(codes), "codes")), reader
