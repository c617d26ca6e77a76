"""Matrices of numbers in MATLAB files of format 5 to 7.2, whatever else the files hold.

``scipy.io.loadmat`` reads these files as well, but not those of strangers: where a corrupted file
names a type of numbers that does not exist, scipy 1.17 looks it up beyond the end of a table in C
and follows what it finds there as a pointer. Nine of 2,000 corrupted files ended the process.

A file is a header and a list of elements: a type, a size, and that many bytes. A matrix is an
element of elements: flags, lengths, name, numbers. Compressed elements hold one of these.
"""

import math
import os
import struct
import zlib
from typing import Any

import numpy as np

from .reading import open_regular, reading

_HEADER, _ORDERS = 128, {b"\x00\x01IM": "<", b"\x01\x00MI": ">"}
_COMPRESSED, _MATRIX = 15, 14
_NUMBERS = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8"}
_NUMBERS |= {12: "i8", 13: "u8"}  # as they are stored
_NUMERIC_CLASSES, _COMPLEX = range(6, 16), 0x800


def read_matrices(path: Any) -> dict[str, np.ndarray]:
    """Read all matrices of real numbers, by name; whatever else the file holds is passed over.

    Raises MalformedFileError where the file is malformed, or of format 7.3, which is HDF5.
    """
    with reading(path, ": not a MATLAB file that can be read ({})."), open_regular(path) as file:
        header = file.read(_HEADER)
        order = _ORDERS.get(header[124:])
        if order is None:
            is_newer = header.startswith(b"MATLAB 7.3")
            how = '; save it again by save(..., "-v7")' if is_newer else ""
            raise ValueError(f"it is not a MATLAB file of format 5 to 7.2{how}")
        elements = _Elements(file.read(os.fstat(file.fileno()).st_size), order)
        matrices = {}
        while elements:
            kind, content = elements.next()
            if kind == _COMPRESSED:
                kind, content = _Elements(_inflated(content), order).next()
            if kind == _MATRIX:
                name, matrix = _named_matrix(_Elements(content, order, is_padded=True))
                if matrix is not None:
                    matrices[name] = matrix
        return matrices


class _Elements:
    """Elements of a file or of a matrix, one after the other."""

    def __init__(self, content: Any, order: str, is_padded: bool = False):
        self._left, self.order, self._is_padded = memoryview(content), order, is_padded

    def __bool__(self) -> bool:
        return bool(self._left)

    def next(self) -> tuple[int, memoryview]:
        """Type and bytes of the next element."""
        tag = self._take(8)
        kind, size = struct.unpack(f"{self.order}II", tag)
        if self._is_padded and kind >> 16:  # up to four bytes stand in the tag itself
            kind, size = kind & 0xFFFF, kind >> 16
            if size > 4:
                raise ValueError("an element of four bytes announces more")
            return kind, tag[4 : 4 + size]
        content = self._take(size)
        if self._is_padded:
            self._left = self._left[-size % 8 :]
        return kind, content

    def _take(self, size: int) -> memoryview:
        if size > len(self._left):
            raise ValueError("it ends within a variable")
        taken, self._left = self._left[:size], self._left[size:]
        return taken


def _inflated(content: memoryview) -> bytes:
    inflate = zlib.decompressobj()
    whole = inflate.decompress(content)
    if not inflate.eof:  # at the end is a checksum
        raise ValueError("a compressed part is cut off")
    return whole


def _named_matrix(parts: _Elements) -> tuple[str, np.ndarray | None]:
    """Name and numbers of a matrix; no numbers where it holds anything else."""
    flags = np.frombuffer(parts.next()[1], f"{parts.order}u4")
    if len(flags) != 2 or flags[0] & 0xFF not in _NUMERIC_CLASSES or flags[0] & _COMPLEX:
        return "", None
    shape = np.frombuffer(parts.next()[1], f"{parts.order}i4").tolist()
    name = bytes(parts.next()[1]).decode("ascii", "replace")
    kind, content = parts.next()
    if kind not in _NUMBERS or len(shape) != 2 or min(shape) < 0:
        return name, None
    dtype = np.dtype(parts.order + _NUMBERS[kind])
    if math.prod(shape) * dtype.itemsize != len(content):
        raise ValueError(f"its {name!r} has {len(content)} bytes, and its shape is {shape}")
    matrix = np.frombuffer(content, dtype).reshape(shape, order="F")
    return name, matrix.astype(dtype.newbyteorder("="), copy=False)
