"""Files of packed codes that are whole, or are refused."""

import os
import struct
import zlib
from pathlib import Path
from tokenize import TokenError
from typing import Any
from uuid import uuid4

import numpy as np

_END = struct.Struct("<8sQQ")  # mark, n_bits, CRC-32 of the codes
_MARK = b"hashrank"
_BYTES_AT_A_TIME = 1 << 24


class CodeFile:
    """A ``.npy`` file of packed codes that has its name only once it is complete.

    It is written under another name, which ends in ``.partial``. When the ``with`` block ends, the
    number of rows goes into its header, the length of a code and a checksum behind its end, and it
    is renamed, in one step; when it fails, the file is removed. Only a killed process leaves one
    behind, under the other name.

    Parameters
    ----------
    path : str or path-like
        Name of the complete file. One that exists is replaced at the end.
    n_bits : int
        Length of a code.
    """

    def __init__(self, path: Any, n_bits: int):
        self.path, self.n_bits, self.n_rows = Path(path), n_bits, 0
        self._checksum = 0
        self._partial = self.path.with_name(f"{self.path.name}.{uuid4().hex[:8]}.partial")

    def __enter__(self) -> "CodeFile":
        self._file = open(self._partial, "xb")
        self._start = self._write_header()
        return self

    def write(self, codes: np.ndarray) -> None:
        """Append rows."""
        data = np.ascontiguousarray(codes).data
        self._file.write(data)
        self._checksum = zlib.crc32(data, self._checksum)
        self.n_rows += len(codes)

    def __exit__(self, error: Any, *_: Any) -> None:
        try:
            if error is None:
                self._finish()
        finally:
            self._file.close()
            self._partial.unlink(missing_ok=True)

    def _finish(self):
        self._file.write(_END.pack(_MARK, self.n_bits, self._checksum))
        self._file.seek(0)
        end_of_header = self._write_header()
        assert end_of_header == self._start  # numpy leaves room for the number of rows
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
        os.replace(self._partial, self.path)

    def _write_header(self):
        shape = (self.n_rows, -(-self.n_bits // 8))
        header = {"descr": "|u1", "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(self._file, header)
        return self._file.tell()


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
    codes, end = _open(path)
    if not end:
        raise _incomplete(path)
    _, written, checksum = _END.unpack(end)
    if n_bits is not None and written != n_bits:
        raise ValueError(f"{os.fspath(path)!r} holds codes of n_bits={written}. Expected {n_bits}.")
    found = 0
    data = codes.reshape(-1)
    for start in range(0, len(data), _BYTES_AT_A_TIME):
        found = zlib.crc32(data[start : start + _BYTES_AT_A_TIME], found)
    if found != checksum or codes.dtype != np.uint8 or codes.shape[1:] != (-(-written // 8),):
        raise ValueError(
            f"{os.fspath(path)!r} was changed after it was written: its checksum is wrong."
        )
    return codes


def noted_n_bits(path: Any) -> int | None:
    """Length of a code that stands at the end of a file that `encode_blocks` wrote.

    None for ``.npy`` files that end with their array.
    """
    _, end = _open(path)
    return _END.unpack(end)[1] if end else None


def _open(path: Any) -> tuple[Any, bytes]:
    """Map the array of a file, and read what is behind it: nothing, or the end of a code file."""
    try:
        codes = np.load(path, mmap_mode="r")
    except (EOFError, SyntaxError, TokenError) as error:  # of a header that is none
        raise _incomplete(path) from error
    if not isinstance(codes, np.memmap):
        raise _incomplete(path)
    with open(path, "rb") as file:
        file.seek(codes.offset + codes.nbytes)
        end = file.read(_END.size + 1)
    if end and (len(end) != _END.size or not end.startswith(_MARK)):
        raise _incomplete(path)
    return codes, end


def _incomplete(path: Any) -> ValueError:
    return ValueError(f"{os.fspath(path)!r} is no complete file of codes by encode_blocks.")
