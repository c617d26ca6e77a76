"""Matrices of numbers in MATLAB files of format 5 to 7.2, whatever else the files hold.

A file is a header and a list of elements: a type, a size, and that many bytes. A matrix is an
element of elements: flags, lengths, name, numbers. Compressed elements hold one of these. Only the
matrix that is asked for is read.

``scipy.io.loadmat`` reads these files as well. It ends the process (a segmentation fault) on some
that are corrupted, which ``make fuzz`` shows within 400 cases, so it cannot read files of
strangers.
"""

import math
import struct
import zlib
from pathlib import Path
from typing import IO, Protocol

import numpy as np

_HEADER, _ORDERS = 128, {b"\x00\x01IM": "<", b"\x01\x00MI": ">"}
_COMPRESSED, _MATRIX = 15, 14
_NUMBERS = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8"}
_NUMBERS |= {12: "i8", 13: "u8"}  # as they are stored
_NUMERIC_CLASSES, _COMPLEX = range(6, 16), 0x800
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


def read_matrix(path: Path, variable: str) -> np.ndarray:
    """Return the matrix of real numbers that has this name."""
    with open(path, "rb") as file:
        order = _ORDERS.get(file.read(_HEADER)[124:])
        if order is None:
            raise ValueError("it is not a MATLAB file of format 5 to 7.2")
        while tag := file.read(8):
            kind, size = struct.unpack(f"{order}II", tag)
            end = file.tell() + size
            element = _Limited(file, size)
            if kind == _COMPRESSED:
                inflated = _Inflated(element)
                kind, _ = struct.unpack(f"{order}II", _exactly(inflated, 8))
                found = _named_matrix(inflated, order, variable) if kind == _MATRIX else None
                if found is not None:
                    inflated.check_end()
            else:
                found = _named_matrix(element, order, variable) if kind == _MATRIX else None
            if found is not None:
                return found
            file.seek(end)
    raise ValueError(f"it holds no variable {variable!r}")


def _named_matrix(stream: _Bytes, order: str, variable: str) -> np.ndarray | None:
    flags = np.frombuffer(_part(stream, order), f"{order}u4")
    shape = np.frombuffer(_part(stream, order), f"{order}i4").tolist()
    if _part(stream, order) != variable.encode():
        return None
    if len(flags) != 2 or (flags[0] & 0xFF) not in _NUMERIC_CLASSES or flags[0] & _COMPLEX:
        raise ValueError(f"its {variable!r} is not a matrix of numbers")
    if len(shape) != 2 or min(shape) < 0:
        raise ValueError(f"its {variable!r} is not a matrix of numbers. Got shape {shape}")
    kind, size, small = _tag(stream, order)
    if kind not in _NUMBERS:
        raise ValueError(f"its {variable!r} is not a matrix of numbers")
    dtype = np.dtype(order + _NUMBERS[kind])
    if math.prod(shape) * dtype.itemsize != size or size > _LARGEST_MATRIX:
        raise ValueError(f"its {variable!r} has {size} bytes, and its shape is {shape}")
    content = small if small is not None else _exactly(stream, size)
    return np.frombuffer(content, dtype).reshape(shape, order="F")


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
