"""Matrices of numbers in MATLAB files of format 5 to 7.2, whatever else the files hold.

A file is a header and a list of elements: a type, a size, and that many bytes. A matrix is an
element of elements: flags, lengths, name, numbers. Compressed elements hold one of these. Of a
matrix that is not asked for, only the name is read.

``scipy.io.loadmat`` reads these files as well. It ends the process (a segmentation fault) on some
that are corrupted, which ``make fuzz`` shows within 400 cases, so it cannot read files of
strangers.
"""

import math
import struct
import zlib
from collections.abc import Callable, Iterator
from typing import IO, Any, Protocol

import numpy as np

from .reading import open_regular, reading

_HEADER, _ORDERS = 128, {b"\x00\x01IM": "<", b"\x01\x00MI": ">"}
_COMPRESSED, _MATRIX = 15, 14
_NUMBERS = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8"}
_NUMBERS |= {12: "i8", 13: "u8"}  # as they are stored
_NUMERIC_CLASSES, _OPAQUE, _COMPLEX = range(6, 16), 17, 0x800
_LONGEST_PART, _LARGEST_MATRIX = 1 << 12, 1 << 33  # bytes
_AT_A_TIME = 1 << 20


class _Bytes(Protocol):
    def read(self, size: int) -> bytes:
        """Read so many bytes, or fewer at the end."""


class _Limited:
    """The bytes of one element of a file."""

    def __init__(self, file: IO[bytes], size: int):
        self._file, self._left = file, size

    def read(self, size: int) -> bytes:
        parts = []
        while size and (part := self._file.read(min(size, self._left, _AT_A_TIME))):
            parts.append(part)
            size, self._left = size - len(part), self._left - len(part)
        return b"".join(parts)


class _Inflated:
    """The same of a compressed element."""

    def __init__(self, source: _Limited):
        self._source, self._inflate = source, zlib.decompressobj()

    def read(self, size: int) -> bytes:
        parts = []
        while size and not self._inflate.eof:
            waiting = self._inflate.unconsumed_tail or self._source.read(_AT_A_TIME)
            part = self._inflate.decompress(waiting, min(size, _AT_A_TIME))
            if not waiting and not part:
                break
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def check_end(self) -> None:
        """Read what follows, whose end is a checksum."""
        while self.read(_AT_A_TIME):
            pass
        if not self._inflate.eof:
            raise ValueError("a compressed part is cut off")


def read_matrix(path: Any, variable: str) -> np.ndarray:
    """Return the matrix of real numbers that has this name.

    Parameters
    ----------
    path : str or path-like
        A MATLAB file of format 5 to 7.2.
    variable : str
        Name of the matrix. No other is read.

    Returns
    -------
    matrix : ndarray of shape (n_rows, n_columns)

    Raises
    ------
    ValueError
        Where the file is malformed or has no such matrix.
    """
    for name, matrix in _matrices(path, lambda name: name == variable):
        if isinstance(matrix, str):
            raise ValueError(f"its {name!r} {matrix}")
        return matrix
    raise ValueError(f"it holds no variable {variable!r}")


def read_matrices(path: Any) -> dict[str, np.ndarray]:
    """Read all matrices of real numbers; whatever else the file holds is passed over.

    Parameters
    ----------
    path : str or path-like
        A MATLAB file of format 5 to 7.2.

    Returns
    -------
    matrices : dict of str to ndarray
        By the names of the variables.

    Raises
    ------
    MalformedFileError
        Where the file is malformed.
    """
    with reading(path, ": not a MATLAB file that can be read ({})."):
        found = _matrices(path, lambda name: True)
        return {name: matrix for name, matrix in found if not isinstance(matrix, str)}


def _matrices(
    path: Any, is_wanted: Callable[[str], bool]
) -> Iterator[tuple[str, np.ndarray | str]]:
    """Yield each matrix that is wanted by its name, or say why it cannot be read."""
    with open_regular(path) as file:
        header = file.read(_HEADER)
        order = _ORDERS.get(header[124:])
        if order is None:
            is_newer = header.startswith(b"MATLAB 7.3")
            how = '; save it again by save(..., "-v7")' if is_newer else ""
            raise ValueError(f"it is not a MATLAB file of format 5 to 7.2{how}")
        while tag := file.read(8):
            kind, size = struct.unpack(f"{order}II", tag)
            end = file.tell() + size
            element = _Limited(file, size)
            stream: _Bytes = element
            if kind == _COMPRESSED:
                stream = inflated = _Inflated(element)
                kind, _ = struct.unpack(f"{order}II", _exactly(stream, 8))
            if kind == _MATRIX:
                name, matrix = _named_matrix(stream, order, is_wanted)
                if matrix is not None:
                    if stream is not element:
                        inflated.check_end()
                    yield name, matrix
            file.seek(end)


def _named_matrix(
    stream: _Bytes, order: str, is_wanted: Callable[[str], bool]
) -> tuple[str, np.ndarray | str | None]:
    """Name of a matrix, and its numbers if it is wanted, or why it has none."""
    flags = np.frombuffer(_part(stream, order), f"{order}u4")
    if len(flags) == 2 and flags[0] & 0xFF == _OPAQUE:  # an object, which has no shape
        return "", None
    shape = np.frombuffer(_part(stream, order), f"{order}i4").tolist()
    name = _part(stream, order).decode("ascii", "replace")
    if not is_wanted(name):
        return name, None
    if len(flags) != 2 or (flags[0] & 0xFF) not in _NUMERIC_CLASSES or flags[0] & _COMPLEX:
        return name, "is not a matrix of numbers"
    if len(shape) != 2 or min(shape) < 0:
        return name, f"is not a matrix of numbers. Got shape {shape}"
    kind, size, small = _tag(stream, order)
    if kind not in _NUMBERS:
        return name, "is not a matrix of numbers"
    dtype = np.dtype(order + _NUMBERS[kind])
    if math.prod(shape) * dtype.itemsize != size or size > _LARGEST_MATRIX:
        raise ValueError(f"its {name!r} has {size} bytes, and its shape is {shape}")
    content = small if small is not None else _exactly(stream, size)
    numbers = np.frombuffer(content, dtype).reshape(shape, order="F")
    return name, numbers.astype(dtype.newbyteorder("="), copy=False)


def _part(stream: _Bytes, order: str) -> bytes:
    """Flags, lengths or name of a matrix."""
    _, size, small = _tag(stream, order)
    if small is not None:
        return small
    if size > _LONGEST_PART:
        raise ValueError(f"a name or a shape of {size} bytes")
    return _exactly(stream, size + -size % 8)[:size]


def _tag(stream: _Bytes, order: str) -> tuple[int, int, bytes | None]:
    """Type and size of an element; its bytes, too, where they are so few that they are in there."""
    tag = _exactly(stream, 8)
    kind, size = struct.unpack(f"{order}II", tag)
    if kind >> 16:
        size = kind >> 16
        if size > 4:
            raise ValueError("an element of four bytes announces more")
        return kind & 0xFFFF, size, tag[4 : 4 + size]
    return kind, size, None


def _exactly(stream: _Bytes, size: int) -> bytes:
    content = stream.read(size)
    if len(content) < size:
        raise ValueError("it ends within a variable")
    return content
