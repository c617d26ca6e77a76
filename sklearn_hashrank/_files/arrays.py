"""Readers of ``.npy`` and ``.npz`` files that other programs wrote."""

import math
import os
import zipfile
from typing import IO, Any

import numpy as np

from .reading import open_regular, reading

_KINDS = "biufSU"  # of dtypes: numbers, bytes and text, never objects
_VERSIONS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}
_LAST_CHARACTER, _SURROGATES = 0x10FFFF, (0xD800, 0xDFFF)
# Of zip archives: where the header of a member has the lengths of what follows it, the flag and
# the sizes of a descriptor behind the member, and the mark that the directory begins with.
_LENGTHS_OF_NAMES, _HAS_DESCRIPTOR, _DESCRIPTORS = 26, 0x8, {12, 16, 20, 24}
_DIRECTORY = b"PK\x01\x02"
_NO_NPY = ": not a .npy file of numbers or strings ({})."
_NO_NPZ = ": not a .npz file of numbers or strings ({})."


def read_array(path: Any) -> np.ndarray:
    """Map the array of a ``.npy`` file, after a look at its header."""
    with reading(path, _NO_NPY), open_regular(path) as file:
        shape, order, dtype, n_bytes = _read_header(file)
        start = file.tell()
        n_behind = os.fstat(file.fileno()).st_size - start - n_bytes
        if n_behind < 0:
            raise ValueError(f"it is truncated: {-n_behind} bytes are missing")
        if n_behind:
            raise ValueError(f"{n_behind} bytes follow the array of shape {shape}")
        array: np.ndarray
        if n_bytes:
            array = np.memmap(file, dtype, "r", start, shape, order)
        else:
            array = np.empty(shape, dtype, order)
        return _checked(array)


def read_arrays(path: Any) -> dict[str, np.ndarray]:
    """Read all arrays of a ``.npz`` file, plain or compressed, and verify their checksums."""
    arrays: dict[str, np.ndarray] = {}
    with (
        reading(path, _NO_NPZ),
        open_regular(path) as whole,
        zipfile.ZipFile(whole) as archive,
    ):
        members = archive.infolist()
        _check_that_nothing_is_left_out(members, whole)
        for member in members:
            name = member.filename.removesuffix(".npy")
            if name == member.filename or name in arrays:
                raise ValueError(f"{member.filename!r} is no array, or is there twice")
            with archive.open(member) as file:
                arrays[name] = _read_member(file)
    return arrays


def _check_that_nothing_is_left_out(members: list[zipfile.ZipInfo], file: IO[bytes]) -> None:
    """See that the members fill the archive, from its beginning to its directory.

    The checksums of an archive are those of its members. The directory has none, so that a changed
    one could leave a member out.
    """
    place, gaps = 0, {0}
    for member in sorted(members, key=lambda member: member.header_offset):
        if member.header_offset - place not in gaps:
            raise ValueError("its directory leaves something out")
        file.seek(member.header_offset + _LENGTHS_OF_NAMES)
        lengths = int.from_bytes(file.read(2), "little") + int.from_bytes(file.read(2), "little")
        place = member.header_offset + _LENGTHS_OF_NAMES + 4 + lengths + member.compress_size
        gaps = _DESCRIPTORS if member.flag_bits & _HAS_DESCRIPTOR else {0}
    file.seek(place)
    behind = file.read(max(gaps) + len(_DIRECTORY))
    if members and not any(behind[gap:].startswith(_DIRECTORY) for gap in gaps):
        raise ValueError("its directory leaves something out")


def _read_member(file: IO[bytes]) -> np.ndarray:
    shape, order, dtype, n_bytes = _read_header(file)
    content = file.read(n_bytes + 1)  # at the end of a member, zipfile verifies its checksum
    if len(content) != n_bytes:
        raise ValueError(f"an array of shape {shape} has not as many values")
    return _checked(np.frombuffer(content, dtype).reshape(shape, order=order))


def _read_header(file: IO[bytes]) -> tuple[tuple[int, ...], Any, np.dtype, int]:
    """Shape, order, dtype and number of bytes of an array, whose values come next."""
    version = np.lib.format.read_magic(file)
    if version not in _VERSIONS:
        raise ValueError(f"version {version} of the format is not supported")
    shape, is_fortran, dtype = _VERSIONS[version](file)
    if dtype.kind not in _KINDS or dtype.hasobject or dtype.itemsize == 0:
        raise ValueError(f"it holds values of dtype {dtype}")
    if min(shape, default=0) < 0:
        raise ValueError(f"it has the shape {shape}")
    return shape, "F" if is_fortran else "C", dtype, math.prod(shape) * dtype.itemsize


def _checked(array: np.ndarray) -> np.ndarray:
    """Return the array in this machine's order of bytes, if its values can be what they claim."""
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    if array.dtype.kind == "b" and array.size and array.view(np.uint8).max() > 1:
        raise ValueError("it holds values that are neither true nor false")
    if array.dtype.kind == "U" and array.size:
        characters = np.frombuffer(array.tobytes(), np.uint32)
        low, high = _SURROGATES
        if (characters > _LAST_CHARACTER).any() or (
            (characters >= low) & (characters <= high)
        ).any():
            raise ValueError("it holds text that is not Unicode")
    return array
