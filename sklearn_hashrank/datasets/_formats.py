"""File formats of image sets: idx, and the two of CIFAR-10. Nothing in a file is run."""

import gzip
import io
import pickle
import tarfile
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

_UNSIGNED_BYTE = 8
_CIFAR_SHAPE = (3, 32, 32)
_CIFAR_PIXELS = 3 * 32 * 32


def read_idx(path: Path, n_dimensions: int) -> np.ndarray:
    """Array of an idx file of bytes, plain or compressed by gzip."""
    try:
        content = path.read_bytes()
        if content[:2] == b"\x1f\x8b":
            content = gzip.decompress(content)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise _damaged(path, error) from error
    start = 4 * (1 + n_dimensions)
    if content[:4] != bytes([0, 0, _UNSIGNED_BYTE, n_dimensions]) or len(content) < start:
        raise _damaged(path, f"it is not an idx file of {n_dimensions}-dimensional bytes")
    shape = [int.from_bytes(content[i : i + 4], "big") for i in range(4, start, 4)]
    expected = int(np.prod(shape, dtype=object))
    if len(content) - start != expected:
        raise _damaged(path, f"it holds {len(content) - start} values, {expected} were announced")
    return np.frombuffer(content, np.uint8, offset=start).reshape(shape)


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
            raise _damaged(path, f"it has no {name}.bin and no {name}")
        parse = _parse_records if found else _parse_pickle
        try:
            batches.append(parse(files[name + found]))
        except Exception as error:  # a spoilt pickle may raise anything
            raise _damaged(path / f"{name}{found}", error) from error
    return batches


def _read_folder(path: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in path.glob("*_batch*")}


def _read_archive(path: Path) -> dict[str, bytes]:
    """Contents of the batches, in memory: an archive cannot write anywhere."""
    try:
        with tarfile.open(path) as archive:
            return {
                Path(member.name).name: file.read()
                for member in archive
                if "_batch" in Path(member.name).name and (file := archive.extractfile(member))
            }
    except (tarfile.TarError, EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise _damaged(path, error) from error


def _parse_records(content: bytes) -> tuple[np.ndarray, np.ndarray]:
    """Batch of the binary version: a label, then the red, the green and the blue pixels."""
    records = np.frombuffer(content, np.uint8).reshape(-1, 1 + _CIFAR_PIXELS)
    return records[:, 1:], records[:, 0]


def _parse_pickle(content: bytes) -> tuple[np.ndarray, np.ndarray]:
    """Batch of the Python version."""
    batch = _ArrayUnpickler(io.BytesIO(content), encoding="bytes").load()
    batch = {key.decode() if isinstance(key, bytes) else key: batch[key] for key in batch}
    planes = np.asarray(batch["data"], np.uint8).reshape(-1, _CIFAR_PIXELS)
    return planes, np.asarray(batch["labels"], np.uint8).reshape(len(planes))


def _encode(text: str, encoding: str) -> bytes:
    """Bytes of a text; Python 3 pickles bytes in old protocols as such calls."""
    return text.encode(encoding)


class _ArrayUnpickler(pickle.Unpickler):
    """Unpickle arrays in lists and dicts; refuse everything that could run code."""

    _ALLOWED = {
        ("numpy", "ndarray"): np.ndarray,
        ("numpy", "dtype"): np.dtype,
        ("numpy.core.multiarray", "_reconstruct"): np.zeros(0).__reduce__()[0],
        ("numpy._core.multiarray", "_reconstruct"): np.zeros(0).__reduce__()[0],
        ("_codecs", "encode"): _encode,
    }

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in self._ALLOWED:
            raise pickle.UnpicklingError(f"{module}.{name} has no place in a file of images")
        return self._ALLOWED[module, name]


def _damaged(path: Path, reason: object) -> ValueError:
    return ValueError(f"{path} cannot be read: {reason}. Delete it, or put a good copy there.")
