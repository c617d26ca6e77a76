"""Checked files of arrays: codes, indexes and hashers.

A file has three parts:

* the content, which is one array as in a ``.npy`` file, or several as in an ``.npz`` archive, so
  that :func:`numpy.load` can open it;
* a description in JSON: the kind of file, what is said of the arrays, where they lie, and the
  SHA-256 digest of the content;
* an end of 64 bytes: a mark, the size of the content, place and size of the description, and the
  SHA-256 digest of all that comes between the content and this digest. In an archive the end is its
  comment.

The reader relies on the two digests and on the places that the description gives, and on nothing
that the headers of an archive or of numpy say.
"""

import hashlib
import json
import math
import os
import re
import struct
import sys
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import IO, Any, NamedTuple

import numpy as np

from .atomic import write_file
from .reading import open_regular

WRITERS = {
    "codes": "encode_blocks",
    "index": "HammingNeighbors.save",
    "decoded index": "DecodedNeighbors.save",
    "hasher": "save_hasher",
}
"""Kinds of file, and what writes them."""

_END = struct.Struct("<8sQQQ32s")
_MARK = b"hashrnkB"
_DIGEST_SIZE = 32
_BYTES_AT_A_TIME = 1 << 20  # bounds the memory that a digest takes
_DTYPE = re.compile(r"[<>|][biufSU]\d{1,9}")
_MALFORMED = (KeyError, TypeError, ValueError, RecursionError, OverflowError)

# The header of a .npy file is filled up to a size that numpy does not use, so that a file without
# its end is known to be truncated.
_HEADER_SIZE = 192
_PREAMBLE = b"\x93NUMPY\x01\x00" + struct.pack("<H", _HEADER_SIZE - 10)

_LABEL, _LABEL_TEXT = "sklearn-hashrank", b"sklearn_hashrank.load_hasher reads this file.\n"
_ABOUT = "about.json"
_DATE = (1980, 1, 1, 0, 0, 0)  # the same content gives the same bytes
_LONGEST_NAME = 100  # of an entry, which is the path to an attribute


class Archive(NamedTuple):
    """What is said of the arrays of a file, and the arrays."""

    about: dict[str, Any]
    arrays: list[np.ndarray]


class RowsFile:
    """A file of one array, whose rows are written block by block.

    It appears under its name when the ``with`` block ends; see :func:`write_file` for what happens
    where that fails.
    """

    def __init__(self, path: Any, kind: str, dtype: Any, n_columns: int, about: Mapping[str, Any]):
        self.path, self.n_rows = path, 0
        self._further: list[np.ndarray] = []
        self._dtype, self._n_columns = np.dtype(dtype), int(n_columns)
        self._about = {"kind": kind, **about}

    def __enter__(self) -> "RowsFile":
        self._writing = write_file(self.path, "w+b")
        self._file = self._writing.__enter__()
        self._file.seek(_HEADER_SIZE)
        return self

    def write(self, rows: np.ndarray) -> None:
        """Append rows."""
        self._file.write(np.ascontiguousarray(rows, self._dtype).data)
        self.n_rows += len(rows)

    def append(self, array: np.ndarray) -> None:
        """Put another array behind the rows, once they are complete. It is read by its place."""
        self._further.append(np.ascontiguousarray(array))

    def __exit__(self, *error: Any) -> None:
        if error[0] is not None:
            self._writing.__exit__(*error)
            return
        with ExitStack() as stack:
            stack.push(self._writing)
            shape = self.n_rows, self._n_columns
            places = [_place(_HEADER_SIZE, shape, self._dtype, "C")]
            for array in self._further:
                places.append(_place(self._file.tell(), array.shape, array.dtype, "C"))
                self._file.write(array.data)
            size = self._file.tell()
            self._file.seek(0)
            self._file.write(self._header(shape))
            about = _description(self._file, size, self._about, places)
            self._file.seek(size)
            self._file.write(about + _END.pack(_MARK, size, size, len(about), bytes(_DIGEST_SIZE)))
            _write_digest(self._file, size)

    def _header(self, shape: tuple[int, int]) -> bytes:
        facts = {"descr": self._dtype.str, "fortran_order": False, "shape": shape}
        return (_PREAMBLE + f"{facts!r}".encode()).ljust(_HEADER_SIZE - 1) + b"\n"


def write_archive(path: Any, about: Mapping[str, Any], arrays: Sequence[tuple[str, Any]]) -> None:
    """Write a hasher file, complete or not at all."""
    with write_file(path, "w+b") as file:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
            _write_entry(archive, _LABEL, _LABEL_TEXT)
            names = _distinct([name for name, _ in arrays])
            places = [
                _write_array(archive, file, name, array)
                for name, (_, array) in zip(names, arrays, strict=True)
            ]
            size = file.tell()
            text = _description(file, size, {**about, "kind": "hasher"}, places)
            file.seek(size)
            start = _write_entry(archive, _ABOUT, text)
            archive.comment = _END.pack(_MARK, size, start, len(text), bytes(_DIGEST_SIZE))
        _write_digest(file, size)


def read_archive(path: Any) -> Archive:
    """Read a file that :func:`write_archive` wrote, once its digests are found to be right."""
    with open_container(path, "hasher") as container:
        container.check_content()
        return Archive(container.about, container.arrays())


class Container:
    """An open file whose description is what was written."""

    def __init__(self, path: str, file: IO[bytes], content_size: int, about: dict[str, Any]):
        self.path, self._file, self._content_size = path, file, content_size
        self._digest, self._places = about.pop("sha256"), about.pop("arrays")
        self.about = about

    def check_content(self) -> None:
        """Read the content once, and refuse one that is not what was written."""
        if _digest(self._file, 0, self._content_size).hex() != self._digest:
            raise _changed(self.path)

    def arrays(self) -> list[np.ndarray]:
        """All arrays, in memory."""
        with malformed(self.path):
            return [self._read(**place) for place in self._places]

    def further_arrays(self) -> list[np.ndarray]:
        """The arrays behind the rows, in memory."""
        with malformed(self.path):
            return [self._read(**place) for place in self._places[1:]]

    def rows(self, dtype: Any, mode: str | None) -> np.ndarray:
        """The first array of a file, which must have this dtype and two axes.

        `mode` "r" maps it, "c" maps it to change it in memory alone, None reads it.
        """
        with malformed(self.path):
            place, *further = self._places
            shape, start = place["shape"], place["start"]
            size = (further[0]["start"] if further else self._content_size) - start
            if place != _place(_HEADER_SIZE, shape, np.dtype(dtype), "C") or len(shape) != 2:
                raise ValueError
            if any(type(n) is not int or n < 0 for n in shape):
                raise ValueError
            if math.prod(shape) * np.dtype(dtype).itemsize != size:
                raise ValueError
            if mode is None or not size:  # nothing cannot be mapped
                return self._read(**place)
            return np.memmap(self._file, dtype, mode, start, tuple(shape))  # type: ignore[call-overload]

    def _read(self, start: int, shape: list[int], dtype: str, order: str) -> np.ndarray:
        if not _DTYPE.fullmatch(dtype) or order not in ("C", "F"):
            raise ValueError
        if len(shape) > 32 or any(type(n) is not int or n < 0 for n in shape):
            raise ValueError
        kind = np.dtype(dtype)
        if not is_storable_dtype(kind):
            raise ValueError
        content = _read(self._file, start, math.prod(shape) * kind.itemsize, self._content_size)
        check_values(content, kind)
        return np.ndarray(shape, kind, content, order="F" if order == "F" else "C")


@contextmanager
def open_container(path: Any, kind: str) -> Iterator[Container]:
    """Open a file to read it, once the digest of its description is found to be right."""
    path = os.fspath(path)
    with open_regular(path) as file:
        found = _find(file, path)
        if found is None:
            raise ValueError(f"{path!r} is not a file that {WRITERS[kind]} wrote.")
        yield _of_kind(found, kind)


def description_of(path: Any, kind: str) -> dict[str, Any] | None:
    """Description of a file, whose content is not looked at; None for files of other programs."""
    path = os.fspath(path)
    with open_regular(path) as file:
        found = _find(file, path)
        return None if found is None else _of_kind(found, kind).about


@contextmanager
def malformed(path: str) -> Iterator[None]:
    """Say of a file with right digests that something else than this package made it."""
    try:
        yield
    except _MALFORMED as error:
        raise ValueError(f"{path!r} is malformed, although its checksum is right.") from error


def is_storable_dtype(dtype: np.dtype) -> bool:
    """Whether arrays of this type can be in a file."""
    return bool(_DTYPE.fullmatch(dtype.str)) and (dtype.kind not in "f" or dtype.itemsize <= 8)


def check_values(content: Any, dtype: np.dtype) -> None:
    """Raise ValueError where bytes are no values of a storable dtype: booleans, characters."""
    if dtype.kind == "b" and np.any(np.frombuffer(content, np.uint8) > 1):
        raise ValueError("a boolean is neither true nor false")
    if dtype.kind == "U" and np.any(np.frombuffer(content, dtype.str[0] + "u4") > sys.maxunicode):
        raise ValueError("a character is beyond Unicode")


def _find(file: IO[bytes], path: str) -> Container | None:
    """What the end of a file leads to; None if neither its end nor its start is of this package."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - _END.size))
    end = file.read(_END.size)
    if len(end) < _END.size or not end.startswith(_MARK):
        if _is_start(file, size):
            raise ValueError(f"{path!r} is truncated, or was changed at its end.")
        return None
    _, content_size, start, length, digest = _END.unpack(end)
    is_inside = content_size <= start <= start + length <= size - _END.size
    if not is_inside or _digest(file, content_size, size - _DIGEST_SIZE) != digest:
        raise _changed(path)
    with malformed(path):
        about = json.loads(_read(file, start, length, size))
        if type(about) is not dict or about["kind"] not in WRITERS:
            raise ValueError
        return Container(path, file, content_size, about)


def _of_kind(container: Container, kind: str) -> Container:
    if container.about["kind"] != kind:
        raise ValueError(
            f"{container.path!r} is not a file that {WRITERS[kind]} wrote, but one that "
            f"{WRITERS[container.about['kind']]} wrote."
        )
    return container


def _is_start(file: IO[bytes], size: int) -> bool:
    """Whether this is how every file begins, or what is left of it."""
    file.seek(0)
    start = file.read(30 + len(_LABEL))
    if start[: len(_PREAMBLE)] == _PREAMBLE[: len(start)]:
        return size > 0
    signature, name = b"PK\3\4", _LABEL.encode()
    if size < 30 + len(name):
        return size > 0 and signature.startswith(start[:4]) and name.startswith(start[30:])
    return start.startswith(signature) and start.endswith(name)


def _place(start: int, shape: Sequence[int], dtype: np.dtype, order: str) -> dict[str, Any]:
    return {"start": start, "shape": list(shape), "dtype": dtype.str, "order": order}


def _description(
    file: IO[bytes], size: int, about: Mapping[str, Any], places: list[dict[str, Any]]
) -> bytes:
    digest = _digest(file, 0, size).hex()
    return json.dumps({**about, "arrays": places, "sha256": digest}, allow_nan=False).encode()


def _write_digest(file: IO[bytes], start: int) -> None:
    """Write the digest of all from a place on over the last bytes of a file."""
    size = file.seek(0, os.SEEK_END) - _DIGEST_SIZE
    digest = _digest(file, start, size)
    file.seek(size)
    file.write(digest)


def _digest(file: IO[bytes], start: int, stop: int) -> bytes:
    """SHA-256 of a part of a file."""
    digest, buffer = hashlib.sha256(), memoryview(bytearray(_BYTES_AT_A_TIME))
    file.seek(start)
    while start < stop:
        n_read = file.readinto(buffer[: stop - start])  # type: ignore[attr-defined]
        if not n_read:
            break
        digest.update(buffer[:n_read])
        start += n_read
    return digest.digest()


def _read(file: IO[bytes], start: Any, length: Any, size: int) -> bytearray:
    """Bytes of a file, writable; only as many are asked for as there are."""
    if type(start) is not int or not 0 <= start <= start + length <= size:
        raise ValueError
    content = bytearray(length)
    file.seek(start)
    if file.readinto(content) != length:  # type: ignore[attr-defined]
        raise ValueError
    return content


def _write_entry(archive: zipfile.ZipFile, name: str, content: bytes) -> int:
    """Write an entry, and return where its content begins."""
    with archive.open(zipfile.ZipInfo(name, _DATE), "w") as entry:
        start: int = archive.fp.tell()  # type: ignore[union-attr]
        entry.write(content)
    return start


def _write_array(
    archive: zipfile.ZipFile, file: IO[bytes], name: str, array: np.ndarray
) -> dict[str, Any]:
    order = "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"
    flat = array.reshape(-1, order=order)  # type: ignore[call-overload]
    with archive.open(zipfile.ZipInfo(f"{name}.npy", _DATE), "w", force_zip64=True) as entry:
        header = {"descr": array.dtype.str, "fortran_order": order == "F", "shape": array.shape}
        np.lib.format.write_array_header_1_0(entry, header)
        start = file.tell()
        step = max(1, _BYTES_AT_A_TIME // max(1, array.itemsize))
        for first in range(0, len(flat), step):
            entry.write(flat[first : first + step].tobytes())
    return _place(start, array.shape, array.dtype, order)


def _distinct(names: Sequence[str]) -> list[str]:
    """Names of which none is there twice."""
    taken: dict[str, None] = {}
    for name in names:
        number, distinct = 1, name[:_LONGEST_NAME]
        while distinct in taken:
            number += 1
            distinct = f"{name[:_LONGEST_NAME]} ({number})"
        taken[distinct] = None
    return list(taken)


def _changed(path: str) -> ValueError:
    return ValueError(f"{path!r} was changed after it was written: its checksum is wrong.")
