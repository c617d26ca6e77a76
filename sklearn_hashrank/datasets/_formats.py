"""File formats of image sets: idx, and the two of CIFAR-10. Nothing in a file is run."""

import gzip
import math
import tarfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np

from ..persistence import reading
from ._pickles import read_batch

_UNSIGNED_BYTE = 8
_CIFAR_SHAPE = (3, 32, 32)
_CIFAR_PIXELS = 3 * 32 * 32
_LARGEST_BATCH = 1 << 28  # bytes; those of CIFAR-10 have 31 million
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


def read_cifar(path: Path, names: Iterable[str]) -> tuple[np.ndarray, np.ndarray]:
    """Images (n, 32, 32, 3) and labels of the named batches, one after the other.

    `path` is the archive of the binary or of the Python version, or the folder that it unpacks to.
    """
    batches = _read_batches(path, names)
    planes = np.concatenate([planes for planes, _ in batches])
    images = planes.reshape(-1, *_CIFAR_SHAPE).transpose(0, 2, 3, 1)
    return np.ascontiguousarray(images), np.concatenate([labels for _, labels in batches])


def _read_batches(path: Path, names: Iterable[str]) -> list[tuple[np.ndarray, np.ndarray]]:
    files = _read_folder(path) if path.is_dir() else _read_archive(path)
    batches = []
    for name in names:
        found = next((ending for ending in (".bin", "") if name + ending in files), None)
        if found is None:
            with reading(path, _DAMAGED):
                raise ValueError(f"it has no {name}.bin and no {name}")
        parse = _parse_records if found else _parse_pickle
        with reading(path / f"{name}{found}", _DAMAGED):
            batches.append(parse(files[name + found]))
    return batches


def _read_folder(path: Path) -> dict[str, bytes]:
    batches = {}
    for file in path.glob("*_batch*"):
        with open(file, "rb") as content:
            batches[file.name] = _read_batch(content)
    return batches


def _read_archive(path: Path) -> dict[str, bytes]:
    """Contents of the batches, in memory: an archive cannot write anywhere."""
    batches: dict[str, bytes] = {}
    with reading(path, _DAMAGED), _decompressed(path) as file:
        with tarfile.open(fileobj=file, mode="r:") as archive:
            for member in archive:
                name = Path(member.name).name
                if "_batch" not in name or not member.isreg():
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


def _parse_records(content: bytes) -> tuple[np.ndarray, np.ndarray]:
    """Batch of the binary version: a label, then the red, the green and the blue pixels."""
    records = np.frombuffer(content, np.uint8).reshape(-1, 1 + _CIFAR_PIXELS)
    return records[:, 1:], records[:, 0]


def _parse_pickle(content: bytes) -> tuple[np.ndarray, np.ndarray]:
    """Batch of the Python version."""
    batch = read_batch(content)
    planes, labels = batch.get("data"), batch.get("labels")
    if not isinstance(planes, np.ndarray) or planes.shape[1:] != (_CIFAR_PIXELS,):
        raise ValueError(f"it holds no array 'data' of {_CIFAR_PIXELS} columns")
    if isinstance(labels, list):
        if any(type(label) is not int or not 0 <= label < 256 for label in labels):
            raise ValueError("its labels are no numbers from 0 to 255")
        labels = np.array(labels, np.uint8)
    if not isinstance(labels, np.ndarray) or labels.shape != planes.shape[:1]:
        raise ValueError(f"it holds no list of {len(planes)} labels")
    return planes, labels
