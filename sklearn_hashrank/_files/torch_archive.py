"""Tensors in files that ``torch.save`` wrote, read without torch and without running anything.

Such a file is a zip archive: ``data.pkl``, a pickle of what was saved, and the numbers of each
storage in a member of their own. The pickle is read by an unpickler that knows four names, which
make dicts and arrays. Whatever else a pickle asks for is refused.
"""

import math
import pickle
import zipfile
from collections import OrderedDict
from typing import Any

import numpy as np

from .reading import open_regular, reading

_DTYPES = {
    "DoubleStorage": "f8",
    "FloatStorage": "f4",
    "HalfStorage": "f2",
    "LongStorage": "i8",
    "IntStorage": "i4",
    "ShortStorage": "i2",
    "CharStorage": "i1",
    "ByteStorage": "u1",
    "BoolStorage": "?",
    "BFloat16Storage": "u2",  # the upper half of a float32
}
_LONGEST_PICKLE = 1 << 24  # bytes, of names and shapes
_ORDERS = {b"little": "<", b"big": ">"}
_NO_TENSORS = ": not a file of tensors that torch.save wrote ({})."


def read_tensors(path: Any) -> dict[str, np.ndarray]:
    """Read the tensors of a file that ``torch.save`` wrote.

    Parameters
    ----------
    path : str or path-like
        A file of torch 1.6 or later that holds a tensor, or a dict, list or tuple of tensors.

    Returns
    -------
    tensors : dict of str to ndarray
        By their keys, by "0", "1", ... of a list, and by "" where the file is a single tensor.

    Raises
    ------
    MalformedFileError
        Where the file is malformed, or holds objects or anything but tensors.
    """
    with (
        reading(path, _NO_TENSORS),
        open_regular(path) as whole,
        _opened(whole) as archive,
    ):
        members = {member.filename: member for member in archive.infolist()}
        pickles = [name for name in members if name.endswith("/data.pkl")]
        if len(pickles) != 1:
            raise ValueError("it has no data.pkl; save it by torch 1.6 or later")
        if any(member.compress_type != zipfile.ZIP_STORED for member in members.values()):
            raise ValueError("its members are compressed")
        folder = pickles[0].removesuffix("data.pkl")
        if members[pickles[0]].file_size > _LONGEST_PICKLE:
            raise ValueError("its data.pkl is too long for a few tensors")
        order = b"little"
        if f"{folder}byteorder" in members:
            order = archive.read(f"{folder}byteorder")
        with archive.open(pickles[0]) as file:
            saved = _Unpickler(file, archive, folder, _ORDERS[order]).load()
        return _by_name(saved)


def _opened(file: Any) -> zipfile.ZipFile:
    if not zipfile.is_zipfile(file):
        raise ValueError("it is no zip archive; save it by torch 1.6 or later")
    return zipfile.ZipFile(file)


def _by_name(saved: Any) -> dict[str, np.ndarray]:
    if isinstance(saved, np.ndarray):
        return {"": saved}
    items = saved.items() if isinstance(saved, dict) else enumerate(saved)
    tensors = {str(name): each for name, each in items if isinstance(each, np.ndarray)}
    if not tensors:
        raise ValueError("it holds no tensor")
    return tensors


class _Storage:
    """The numbers of a storage, which tensors view."""

    def __init__(self, numbers: np.ndarray):
        self.numbers = numbers


class _Unpickler(pickle.Unpickler):
    """Makes arrays, dicts and lists; no other object can come out of it."""

    def __init__(self, file: Any, archive: zipfile.ZipFile, folder: str, order: str):
        super().__init__(file)
        self._archive, self._folder, self._order = archive, folder, order
        self._storages: dict[str, _Storage] = {}

    def find_class(self, module: str, name: str) -> Any:
        """Return what one of the known names stands for, or refuse the name."""
        if module == "torch" and name in _DTYPES:
            return name
        known = {
            ("collections", "OrderedDict"): OrderedDict,
            ("torch._utils", "_rebuild_tensor_v2"): _tensor,
            ("torch._utils", "_rebuild_parameter"): _parameter,
        }
        if (module, name) not in known:
            raise ValueError(
                f"it holds {module}.{name}; save tensors, as by torch.save(tensor.cpu(), path)"
            )
        return known[module, name]

    def persistent_load(self, key: Any) -> _Storage:
        """Return the storage that a tensor refers to."""
        kind, dtype, name, _, n_numbers = key
        if kind != "storage" or dtype not in _DTYPES or not str(name).isdecimal():
            raise ValueError("it refers to something that is no storage")
        if name not in self._storages:
            content = self._archive.read(f"{self._folder}data/{name}")
            numbers = np.frombuffer(content, np.dtype(self._order + _DTYPES[dtype]))
            if len(numbers) != n_numbers:
                raise ValueError(f"storage {name} has not as many numbers as the file says")
            numbers = numbers.astype(numbers.dtype.newbyteorder("="))
            if dtype == "BFloat16Storage":
                numbers = (numbers.astype(np.uint32) << 16).view(np.float32)
            self._storages[name] = _Storage(numbers)
        return self._storages[name]


def _tensor(storage: Any, offset: int, shape: tuple, strides: tuple, *_: Any) -> np.ndarray:
    """Copy the numbers of a tensor out of its storage, after a look at where they lie."""
    numbers = storage.numbers
    lengths, steps = [int(n) for n in shape], [int(n) for n in strides]
    if len(lengths) != len(steps) or min([offset, *lengths, *steps]) < 0:
        raise ValueError(f"a tensor of shape {shape} and strides {strides}")
    last = offset + sum((n - 1) * step for n, step in zip(lengths, steps))
    if 0 in lengths:
        return np.empty(lengths, numbers.dtype)
    if last >= len(numbers) or math.prod(lengths) > len(numbers):
        raise ValueError(f"a tensor of shape {shape} lies outside of its storage")
    in_bytes = [step * numbers.itemsize for step in steps]
    view = np.lib.stride_tricks.as_strided(numbers[offset:], lengths, in_bytes, writeable=False)
    return view.copy()


def _parameter(tensor: Any, *_: Any) -> Any:
    return tensor
