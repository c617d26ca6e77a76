"""A checked file of arrays and of what is said of them.

The file is an ``.npz`` archive that :func:`numpy.load` can open: one entry for each array and one,
in JSON, for the rest. Its comment, which is the end of the file, says where the JSON is and holds a
SHA-256 digest of all that comes before. The reader relies on the digest and on the places that the
JSON gives, and on nothing that an archive or a header of numpy says.
"""

import hashlib
import json
import math
import os
import re
import struct
import sys
import zipfile
from collections.abc import Mapping, Sequence
from typing import IO, Any, NamedTuple

import numpy as np

from ._atomic import write_file

_END = struct.Struct("<8sQQ32s")  # mark, place and size of the JSON, SHA-256 of all before it
_MARK = b"hashrnkA"
_DIGEST_SIZE = 32
_LABEL, _LABEL_TEXT = "sklearn-hashrank", b"sklearn_hashrank.load_hasher reads this file.\n"
_ABOUT = "about.json"
_DATE = (1980, 1, 1, 0, 0, 0)  # the same content gives the same bytes
_DTYPE = re.compile(r"[<>|][biufSU]\d{1,9}")
_BYTES_AT_A_TIME = 1 << 24
_LONGEST_NAME = 100


class Archive(NamedTuple):
    """What is in a file.

    Attributes
    ----------
    about : dict
        What JSON can hold.
    arrays : list of ndarray
        Of numbers, booleans, strings or bytes.
    """

    about: dict[str, Any]
    arrays: list[np.ndarray]


def is_storable_dtype(dtype: np.dtype) -> bool:
    """Whether arrays of this type can be in an archive."""
    return bool(_DTYPE.fullmatch(dtype.str)) and (dtype.kind not in "f" or dtype.itemsize <= 8)


def write_archive(path: Any, about: Mapping[str, Any], arrays: Sequence[tuple[str, Any]]) -> None:
    """Write a file, complete or not at all.

    Parameters
    ----------
    path : str or path-like
        The file.
    about : mapping
        What JSON can hold; the key ``"arrays"`` is taken.
    arrays : sequence of tuple (name, array)
        Their dtypes must be storable. Names are for people who open the file by numpy.
    """
    with write_file(path, "w+b") as file:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
            _write_entry(archive, _LABEL, _LABEL_TEXT)
            names = _distinct([name for name, _ in arrays])
            places = [
                _write_array(archive, file, name, array)
                for name, (_, array) in zip(names, arrays, strict=True)
            ]
            text = json.dumps({**about, "arrays": places}, allow_nan=False).encode()
            start = _write_entry(archive, _ABOUT, text)
            archive.comment = _END.pack(_MARK, start, len(text), bytes(_DIGEST_SIZE))
        file.flush()
        size = file.seek(0, os.SEEK_END) - _DIGEST_SIZE
        digest = _digest(file, size)
        file.seek(size)
        file.write(digest)


def read_archive(path: Any) -> Archive:
    """Read a file that :func:`write_archive` wrote, once its digest is found to be right.

    Parameters
    ----------
    path : str or path-like
        The file.

    Returns
    -------
    archive : Archive

    Raises
    ------
    ValueError
        Where the file was written by something else, is truncated or was changed.
    """
    path = os.fspath(path)
    with open(path, "rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - _END.size))
        end = file.read(_END.size)
        if len(end) < _END.size or not end.startswith(_MARK):
            file.seek(0)
            if _is_start(file.read(30 + len(_LABEL)), size):
                raise ValueError(f"{path!r} is truncated, or was changed at its end.")
            raise ValueError(f"{path!r} is not a file that save_hasher wrote.")
        _, start, length, digest = _END.unpack(end)
        if _digest(file, size - _DIGEST_SIZE) != digest:
            raise ValueError(f"{path!r} was changed after it was written: its checksum is wrong.")
        try:
            return _read_contents(file, start, length, size)
        except (KeyError, TypeError, ValueError, RecursionError, OverflowError) as error:
            raise ValueError(f"{path!r} is malformed, although its checksum is right.") from error


def _read_contents(file: IO[bytes], start: int, length: int, size: int) -> Archive:
    about = json.loads(_read(file, start, length, size))
    if type(about) is not dict:
        raise ValueError
    arrays = [_read_array(file, size, **place) for place in about.pop("arrays")]
    return Archive(about, arrays)


def _read_array(
    file: IO[bytes], size: int, start: int, shape: list[int], dtype: str, order: str
) -> np.ndarray:
    if not _DTYPE.fullmatch(dtype) or order not in ("C", "F"):
        raise ValueError
    if len(shape) > 32 or any(type(n) is not int or n < 0 for n in shape):
        raise ValueError
    kind = np.dtype(dtype)
    if not is_storable_dtype(kind):
        raise ValueError
    content = _read(file, start, math.prod(shape) * kind.itemsize, size)
    check_values(content, kind)
    return np.ndarray(shape, kind, content, order="F" if order == "F" else "C")


def check_values(content: Any, dtype: np.dtype) -> None:
    """Raise ValueError where bytes are no values of a storable dtype: booleans, characters."""
    if dtype.kind == "b" and np.any(np.frombuffer(content, np.uint8) > 1):
        raise ValueError("a boolean is neither true nor false")
    if dtype.kind == "U" and np.any(np.frombuffer(content, dtype.str[0] + "u4") > sys.maxunicode):
        raise ValueError("a character is beyond Unicode")


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
    return {"start": start, "shape": array.shape, "dtype": array.dtype.str, "order": order}


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


def _digest(file: IO[bytes], size: int) -> bytes:
    """SHA-256 of the first bytes of a file."""
    digest = hashlib.sha256()
    file.seek(0)
    while size > 0 and (content := file.read(min(size, _BYTES_AT_A_TIME))):
        digest.update(content)
        size -= len(content)
    return digest.digest()


def _is_start(start: bytes, size: int) -> bool:
    """Whether this is how every file begins, or what is left of it."""
    signature, name = b"PK\3\4", _LABEL.encode()
    if size < 30 + len(name):
        return size > 0 and signature.startswith(start[:4]) and name.startswith(start[30:])
    return start.startswith(signature) and start.endswith(name)
