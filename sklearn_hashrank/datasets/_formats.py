"""File formats of image sets: idx, and the binary version of CIFAR."""

import gzip
import math
import tarfile
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np

from .._files.reading import reading

_UNSIGNED_BYTE = 8
_CIFAR_SHAPE = (3, 32, 32)
_CIFAR_PIXELS = 3 * 32 * 32
_LARGEST_BATCH = 1 << 28  # bytes; those of CIFAR-10 have 31 million, of CIFAR-100 154
_BYTES_AT_A_TIME = 1 << 20
_DAMAGED = " cannot be read: {}. Delete it, or put a good copy there."


def read_idx(path: Path, n_dimensions: int) -> np.ndarray:
    """Array of an idx file of bytes, plain or compressed by gzip."""
    with reading(path, _DAMAGED), _decompressed(path) as file:
        header = _read(file, 4 * (1 + n_dimensions))
        announced = bytes([0, 0, _UNSIGNED_BYTE, n_dimensions])
        if header[:4] != announced or len(header) < 4 * (1 + n_dimensions):
            raise ValueError(f"it is not an idx file of {n_dimensions}-dimensional bytes")
        shape = [int.from_bytes(header[i : i + 4], "big") for i in range(4, len(header), 4)]
        expected = math.prod(shape)
        content = _read(file, expected)
        n_found = len(content) + _skip_to_end(file)
        if n_found != expected:
            raise ValueError(f"it holds {n_found} values, {expected} were announced")
        return np.frombuffer(content, np.uint8).reshape(shape)


def read_cifar(
    path: Path, names: Sequence[str], n_labels: int = 1
) -> tuple[np.ndarray, np.ndarray]:
    """Images (n, 32, 32, 3) and labels (n, n_labels) of the named batches, one after the other.

    `path` is the archive of the binary version, or the folder that it unpacks to. A single label is
    no column: labels are (n,) then.
    """
    files = read_members(path, {f"{name}.bin" for name in names})
    batches = [_parse_batch(path, files, f"{name}.bin", n_labels) for name in names]
    planes = np.concatenate([planes for planes, _ in batches])
    images = planes.reshape(-1, *_CIFAR_SHAPE).transpose(0, 2, 3, 1)
    labels = np.concatenate([labels for _, labels in batches])
    return np.ascontiguousarray(images), labels[:, 0] if n_labels == 1 else labels


def read_members(path: Path, names: Collection[str]) -> dict[str, bytes]:
    """Contents of those of the named files that a folder or an archive holds.

    In memory: an archive cannot write anywhere.
    """
    return _read_folder(path, names) if path.is_dir() else _read_archive(path, names)


def _parse_batch(
    path: Path, files: dict[str, bytes], name: str, n_labels: int
) -> tuple[np.ndarray, np.ndarray]:
    """Labels, then the red, the green and the blue pixels of every image."""
    if name not in files:
        with reading(path, _DAMAGED):
            raise ValueError(f"it has no {name}")
    with reading(path / name, _DAMAGED):
        records = np.frombuffer(files[name], np.uint8).reshape(-1, n_labels + _CIFAR_PIXELS)
        return records[:, n_labels:], records[:, :n_labels]


def _read_folder(path: Path, names: Collection[str]) -> dict[str, bytes]:
    files = {}
    for name in names:
        if (path / name).is_file():
            with reading(path / name, _DAMAGED), open(path / name, "rb") as content:
                files[name] = _read_batch(content)
    return files


def _read_archive(path: Path, names: Collection[str]) -> dict[str, bytes]:
    batches: dict[str, bytes] = {}
    with reading(path, _DAMAGED), _decompressed(path) as file:
        with tarfile.open(fileobj=file, mode="r:") as archive:
            for member in archive:
                name = Path(member.name).name
                if name not in names or not member.isreg():
                    continue
                if name in batches or member.issparse():
                    raise ValueError(f"{name} is there twice, or has holes")
                content = archive.extractfile(member)
                assert content is not None  # of a regular file
                batches[name] = _read_batch(content)
                if len(batches[name]) != member.size:
                    raise ValueError(f"{name} is truncated")
        _skip_to_end(file)
    return batches


@contextmanager
def _decompressed(path: Path) -> Iterator[Any]:
    with open(path, "rb") as plain:
        is_compressed = plain.read(2) == b"\x1f\x8b"
        plain.seek(0)
        yield gzip.GzipFile(fileobj=plain) if is_compressed else plain


def _read_batch(file: IO[bytes]) -> bytes:
    content = _read(file, _LARGEST_BATCH + 1)
    if len(content) > _LARGEST_BATCH:
        raise ValueError(f"a batch has more than {_LARGEST_BATCH:,} bytes")
    return content


def _read(file: IO[bytes], most: int) -> bytes:
    """Read up to a number of bytes, however many are announced."""
    parts = []
    while most and (part := file.read(min(most, _BYTES_AT_A_TIME))):
        parts.append(part)
        most -= len(part)
    return b"".join(parts)


def _skip_to_end(file: IO[bytes]) -> int:
    """Count the bytes that are left. At the end of a file, gzip verifies its checksum."""
    count = 0
    while part := file.read(_BYTES_AT_A_TIME):
        count += len(part)
    return count
