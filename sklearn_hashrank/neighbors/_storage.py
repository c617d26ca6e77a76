"""Codes in a file that can be mapped into memory, and that tells when it is not what was written.

A file is a preamble (magic, length and checksum of the header), a header in JSON, filled up to a
multiple of 64 bytes, and the codes: packed, each filled up with zeros to whole 8-byte words.
"""

import json
import os
import struct
import zlib
from typing import Any

import numpy as np

from ..codes import packed_width
from ..persistence import reading, write_file

_MAGIC = b"HASHRNK1"
_PREAMBLE = struct.Struct("<8sII")
_ALIGNMENT = 64
_CHUNK = 1 << 18  # words at a time


def write(path: str | os.PathLike, words: np.ndarray, n_bits: int, parameters: dict) -> None:
    """Write codes to a new file that takes the place of an old one only when it is complete."""
    header = json.dumps(
        {
            "n_bits": n_bits,
            "n_codes": len(words),
            "checksum": _checksum(words),
            "parameters": parameters,
        },
        default=int,  # integers of numpy
    ).encode()
    header += b" " * (-(_PREAMBLE.size + len(header)) % _ALIGNMENT)
    with write_file(path) as file:
        file.write(_PREAMBLE.pack(_MAGIC, len(header), zlib.crc32(header)))
        file.write(header)
        for start in range(0, len(words), _CHUNK):
            file.write(words[start : start + _CHUNK].tobytes())


def read(
    path: str | os.PathLike, mmap_mode: str | None, verify: bool
) -> tuple[np.ndarray, int, dict]:
    """Words, n_bits and parameters of a file, after every check."""
    if mmap_mode not in ("r", None):
        raise ValueError(f"mmap_mode must be 'r' or None. Got {mmap_mode!r} instead.")
    with open(path, "rb") as file:
        preamble = file.read(_PREAMBLE.size)
        if len(preamble) < _PREAMBLE.size or not preamble.startswith(_MAGIC):
            raise ValueError(f"{path} is not a file that HammingNeighbors.save wrote.")
        _, size, checksum = _PREAMBLE.unpack(preamble)
        text = file.read(min(size, os.path.getsize(path)))
    if len(text) < size or zlib.crc32(text) != checksum:
        raise ValueError(f"{path} is corrupt: its header is not what was written.")
    with reading(path, " is corrupt: its header is not what was written ({})."):
        header = json.loads(text)
        n_bits, n_codes = header["n_bits"], header["n_codes"]
        written, parameters = header["checksum"], dict(header["parameters"])
        if any(type(number) is not int or number < 1 for number in (n_bits, n_codes)):
            raise ValueError(f"{n_codes} codes of {n_bits} bits")
    shape = n_codes, -(-packed_width(n_bits) // 8)
    offset = _PREAMBLE.size + size
    expected, found = offset + 8 * shape[0] * shape[1], os.path.getsize(path)
    if found != expected:
        raise ValueError(
            f"{path} is corrupt: {n_codes} codes of {n_bits} bits take {expected} bytes. "
            f"Got {found}."
        )
    # Copy on write: nothing reaches the file, and kernels need no version for read-only arrays.
    words: Any = np.memmap(path, dtype=np.uint64, mode="c", offset=offset, shape=shape)
    words = np.asarray(words) if mmap_mode == "r" else np.array(words)
    if verify:
        if _checksum(words) != written:
            raise ValueError(f"{path} is corrupt: its codes are not what was written.")
        _check_padding(words, n_bits, path)
    return words, n_bits, parameters


def _checksum(words: np.ndarray) -> int:
    checksum = 0
    for start in range(0, len(words), _CHUNK):
        checksum = zlib.crc32(words[start : start + _CHUNK].data, checksum)
    return checksum


def _check_padding(words: np.ndarray, n_bits: int, path: Any) -> None:
    """Refuse codes with a one behind their last bit."""
    ones = np.packbits(np.arange(64 * words.shape[1]) >= n_bits).view(np.uint64)
    beyond = ones.any() and any(
        np.any(words[start : start + _CHUNK] & ones) for start in range(0, len(words), _CHUNK)
    )
    if beyond:
        raise ValueError(f"{path} has codes with non-zero bits beyond n_bits={n_bits}.")
