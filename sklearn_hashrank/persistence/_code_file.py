"""Files of packed codes: arrays of numpy with their code length and a checksum behind them."""

import os
import re
import struct
import zlib
from contextlib import ExitStack
from typing import IO, Any, NamedTuple

import numpy as np

from ._atomic import write_file

# A file is a header, the codes and an end. The header is one of a .npy file, filled up to a size
# that numpy does not use, so that a file without its end is known to be truncated.
_HEADER_SIZE = 192
_PREAMBLE = b"\x93NUMPY\x01\x00" + struct.pack("<H", _HEADER_SIZE - 10)
_FACTS = "{{'descr': '|u1', 'fortran_order': False, 'shape': ({}, {}), }}"
_HEADER = re.compile(
    re.escape(_PREAMBLE)
    + rb"\{'descr': '\|u1', 'fortran_order': False, 'shape': \((\d{1,19}), (\d{1,19})\), \} +\n"
)
_END = struct.Struct("<8sQQQ")  # mark, n_bits, n_rows, CRC-32 of the codes and of these numbers
_MARK = b"hashrnk2"
_BYTES_AT_A_TIME = 1 << 24


class CodeFile:
    """A ``.npy`` file of packed codes that has its name only once it is complete.

    When the ``with`` block ends, the number of rows goes into the header, and the length of a code
    and a checksum behind the codes. See :func:`write_file` for what happens where it fails.

    Parameters
    ----------
    path : str or path-like
        Name of the complete file. One that exists is replaced at the end.
    n_bits : int
        Length of a code.
    """

    def __init__(self, path: Any, n_bits: int):
        self.path, self.n_bits, self.n_rows = path, n_bits, 0
        self._checksum = 0

    def __enter__(self) -> "CodeFile":
        self._writing = write_file(self.path)
        self._file = self._writing.__enter__()
        self._file.seek(_HEADER_SIZE)
        return self

    def write(self, codes: np.ndarray) -> None:
        """Append rows."""
        data = np.ascontiguousarray(codes).data
        self._file.write(data)
        self._checksum = zlib.crc32(data, self._checksum)
        self.n_rows += len(codes)

    def __exit__(self, *error: Any) -> None:
        if error[0] is not None:
            self._writing.__exit__(*error)
            return
        with ExitStack() as stack:
            stack.push(self._writing)
            self._file.write(_end(self.n_bits, self.n_rows, self._checksum))
            self._file.seek(0)
            self._file.write(_header(self.n_rows, self.n_bits))


def load_codes(path: Any, n_bits: int | None = None) -> np.ndarray:
    """Map a file that `encode_blocks` wrote, after a look at every byte.

    Parameters
    ----------
    path : str or path-like
        The file.
    n_bits : int, default=None
        Length that the codes must have; None accepts any.

    Returns
    -------
    codes : memmap of shape (n_samples, ceil(n_bits / 8)), uint8
        Packed codes, read-only.

    Raises
    ------
    ValueError
        Where the file is truncated, was changed, holds codes of another length, or was written by
        something else.

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy as np
    >>> from sklearn_hashrank import LSHHasher
    >>> from sklearn_hashrank.codes import load_codes
    >>> X = np.random.default_rng(0).normal(size=(100, 8))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "codes.npy")
    ...     _ = LSHHasher(n_bits=16, random_state=0).fit(X).encode_blocks(X, out=path)
    ...     load_codes(path, n_bits=16).shape
    (100, 2)
    """
    with open(os.fspath(path), "rb") as file:  # all is read from one file, though it be replaced
        facts = _read_facts(file, path)
        if facts is None:
            raise ValueError(
                f"{os.fspath(path)!r} is not a file of codes that encode_blocks wrote."
            )
        codes = _map(file, facts.shape)
    found = 0
    data: Any = codes.reshape(-1)
    for start in range(0, len(data), _BYTES_AT_A_TIME):
        found = zlib.crc32(data[start : start + _BYTES_AT_A_TIME], found)
    if _end(facts.n_bits, facts.shape[0], found) != facts.end:
        raise _changed(path)
    if n_bits is not None and facts.n_bits != n_bits:
        raise ValueError(
            f"{os.fspath(path)!r} holds codes of n_bits={facts.n_bits}. Expected {n_bits}."
        )
    return codes


def noted_n_bits(path: Any) -> int | None:
    """Length of the codes in a file that `encode_blocks` wrote; None for other files.

    Only the size of the file, its header and its end are looked at: :func:`load_codes` looks at the
    rest.

    Parameters
    ----------
    path : str or path-like
        The file.

    Returns
    -------
    n_bits : int or None

    Raises
    ------
    ValueError
        Where `encode_blocks` wrote the file, but it is truncated or was changed.
    """
    with open(os.fspath(path), "rb") as file:
        facts = _read_facts(file, path)
    return None if facts is None else facts.n_bits


class _Facts(NamedTuple):
    shape: tuple[int, int]
    n_bits: int
    end: bytes


def _read_facts(file: IO[bytes], path: Any) -> _Facts | None:
    """What header and end of a file say, if they agree; None if neither is of a code file."""
    size = os.fstat(file.fileno()).st_size
    header = file.read(_HEADER_SIZE)
    file.seek(max(0, size - _END.size))
    end = file.read(_END.size)
    shape = _HEADER.fullmatch(header)
    has_end = len(end) == _END.size and end.startswith(_MARK)
    if shape is None:
        if size < _HEADER_SIZE and _PREAMBLE.startswith(header[: len(_PREAMBLE)]):
            raise _truncated(path)
        if has_end or header.startswith(_PREAMBLE):
            raise _changed(path)
        return None
    n_rows, width = map(int, shape.groups())
    expected = _HEADER_SIZE + n_rows * width + _END.size
    if size < expected and not has_end:
        raise _truncated(path)
    if size != expected or not has_end:
        raise _changed(path)
    _, n_bits, rows_at_the_end, _ = _END.unpack(end)
    if rows_at_the_end != n_rows or -(-n_bits // 8) != width:
        raise _changed(path)
    return _Facts((n_rows, width), n_bits, end)


def _header(n_rows: int, n_bits: int) -> bytes:
    facts = _PREAMBLE + _FACTS.format(n_rows, -(-n_bits // 8)).encode()
    return facts.ljust(_HEADER_SIZE - 1) + b"\n"


def _end(n_bits: int, n_rows: int, checksum: int) -> bytes:
    checksum = zlib.crc32(struct.pack("<QQ", n_bits, n_rows), checksum)
    return _END.pack(_MARK, n_bits, n_rows, checksum)


def _map(file: IO[bytes], shape: tuple[int, int]) -> np.ndarray:
    if 0 in shape:  # which cannot be mapped
        return np.zeros(shape, np.uint8)
    return np.memmap(file, np.uint8, "r", _HEADER_SIZE, shape)


def _truncated(path: Any) -> ValueError:
    return ValueError(f"{os.fspath(path)!r} is truncated: the end of the file is missing.")


def _changed(path: Any) -> ValueError:
    return ValueError(
        f"{os.fspath(path)!r} was changed after it was written: its checksum is wrong."
    )
