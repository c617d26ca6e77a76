"""Convert codes to strings of 0 and 1 and to bytes, in the bit orders that databases use.

Most vector stores want whole bytes. Codes of another length are filled up with zeros, which changes
no distance, and `n_bits` takes the zeros off on the way back. A table in ``docs/stores.rst`` says
which order each of them takes.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..codes._formats import CodeReader, check_n_bits, packed_width, unpack_codes, write_codes

_HIGHEST_BIT = np.uint8(0x80)  # subtracting 128 from a byte flips it


def to_bit_strings(codes: Any, n_bits: int | None = None) -> list[str]:
    """Write each code as a string of 0 and 1.

    That is a literal of PostgreSQL's ``bit(n)``, which pgvector compares by ``<~>``.

    Parameters
    ----------
    codes : array-like of shape (n, n_columns)
        Codes as bits, signs or packed bytes.
    n_bits : int, default=None
        Length of a code; needed for packed bytes.

    Returns
    -------
    strings : list of str
        `n_bits` characters each, the first bit leftmost.

    Examples
    --------
    >>> from sklearn_hashrank.interop import to_bit_strings
    >>> to_bit_strings([[1, -1, -1], [1, 1, -1]])
    ['100', '110']
    """
    packed, n_bits = read_packed(codes, n_bits)
    text = (write_codes(packed, n_bits, "bits") + ord("0")).tobytes().decode("ascii")
    return [text[start : start + n_bits] for start in range(0, len(text), n_bits)]


def from_bit_strings(strings: Iterable[str], output: str = "bits") -> np.ndarray:
    """Read codes written as strings of 0 and 1.

    Parameters
    ----------
    strings : iterable of str
        Strings of 0 and 1, all of one length, the first bit leftmost.
    output : {"bits", "signs", "packed"}, default="bits"
        Format of the codes: 0/1 uint8, -1/+1 int8, or packed uint8 bytes.

    Returns
    -------
    codes : ndarray
        One row for each code; see :func:`sklearn_hashrank.codes.unpack_codes`.

    Examples
    --------
    >>> from sklearn_hashrank.interop import from_bit_strings
    >>> from_bit_strings(["100", "110"])
    array([[1, 0, 0],
           [1, 1, 0]], dtype=uint8)
    """
    if isinstance(strings, str):
        raise ValueError("bit strings must come in an iterable. Got a single str.")
    strings = list(strings)
    lengths = {len(string) for string in strings}
    if len(lengths) != 1 or 0 in lengths:
        found = f"lengths {sorted(lengths)[:5]}" if lengths else "no strings"
        raise ValueError(f"bit strings must be of one length, at least 1. Got {found}.")
    n_bits = lengths.pop()
    for i, string in enumerate(strings):
        if string.strip("01"):
            raise ValueError(
                f"bit strings must hold only 0 and 1. Got {string[:40]!r}, number {i}."
            )
    text = np.frombuffer("".join(strings).encode("ascii"), dtype=np.uint8)
    bits = (text - ord("0")).reshape(-1, n_bits)
    return bits if output == "bits" else write_codes(np.packbits(bits, axis=1), n_bits, output)


def to_bytes(
    codes: Any, n_bits: int | None = None, *, bitorder: str = "big", signed: bool = False
) -> list[bytes]:
    r"""Write each code as packed bytes.

    Parameters
    ----------
    codes : array-like of shape (n, n_columns)
        Codes as bits, signs or packed bytes.
    n_bits : int, default=None
        Length of a code; needed for packed bytes.
    bitorder : {"big", "little"}, default="big"
        Whether the first bit of a code is the highest bit of its first byte, as
        :func:`numpy.packbits` has it by default, or the lowest.
    signed : bool, default=False
        Subtract 128 from every byte and write it as a signed integer, as the precision "binary" of
        sentence-transformers does. Stores that read the bytes of :func:`numpy.packbits` as signed
        integers, such as Vespa and Elasticsearch, need no conversion: leave it False.

    Returns
    -------
    rows : list of bytes
        ``ceil(n_bits / 8)`` bytes each; bits beyond `n_bits` are zeros.

    Examples
    --------
    >>> from sklearn_hashrank.interop import to_bytes
    >>> to_bytes([[0, 1, 0, 0, 0, 0, 0, 1, 1]])
    [b'A\x80']
    >>> to_bytes([[0, 1, 0, 0, 0, 0, 0, 1, 1]], bitorder="little")
    [b'\x82\x01']
    """
    _check_bitorder(bitorder)
    packed, _ = read_packed(codes, n_bits)
    if bitorder == "little":
        packed = _reverse_bits(packed)
    if signed:
        packed = packed ^ _HIGHEST_BIT
    return [row.tobytes() for row in packed]


def from_bytes(
    rows: Iterable[bytes],
    n_bits: int,
    output: str = "bits",
    *,
    bitorder: str = "big",
    signed: bool = False,
) -> np.ndarray:
    r"""Read codes written as packed bytes.

    Parameters
    ----------
    rows : iterable of bytes
        ``ceil(n_bits / 8)`` bytes each.
    n_bits : int
        Length of a code, which the bytes do not tell.
    output : {"bits", "signs", "packed"}, default="bits"
        Format of the codes: 0/1 uint8, -1/+1 int8, or packed uint8 bytes.
    bitorder : {"big", "little"}, default="big"
        Whether the first bit of a code is the highest bit of its first byte, or the lowest.
    signed : bool, default=False
        Whether 128 was subtracted from every byte; see :func:`to_bytes`.

    Returns
    -------
    codes : ndarray
        One row for each code; see :func:`sklearn_hashrank.codes.unpack_codes`.

    Examples
    --------
    >>> from sklearn_hashrank.interop import from_bytes
    >>> from_bytes([b"A\x80"], n_bits=9)
    array([[0, 1, 0, 0, 0, 0, 0, 1, 1]], dtype=uint8)
    >>> from_bytes([b"\x82\x01"], n_bits=9, bitorder="little")
    array([[0, 1, 0, 0, 0, 0, 0, 1, 1]], dtype=uint8)
    """
    _check_bitorder(bitorder)
    rows = list(rows)
    width = packed_width(check_n_bits(n_bits) or 1)
    for i, row in enumerate(rows):
        try:
            n_bytes = memoryview(row).nbytes
        except TypeError as error:
            raise TypeError(
                f"rows must be an iterable of bytes. Got {type(row).__name__}, in row {i}."
            ) from error
        if n_bytes != width:
            raise ValueError(
                f"codes of n_bits={n_bits} take {width} bytes. Got {n_bytes}, in row {i}."
            )
    packed = np.frombuffer(b"".join(rows), dtype=np.uint8).reshape(-1, width)
    if signed:
        packed = packed ^ _HIGHEST_BIT
    if bitorder == "little":
        packed = _reverse_bits(packed)
    return unpack_codes(packed, n_bits, output)


def read_packed(codes: Any, n_bits: int | None) -> tuple[np.ndarray, int]:
    """Packed codes, after every check, and the length of one."""
    reader = CodeReader(n_bits)
    packed = np.ascontiguousarray(reader.packed(codes, "codes"))
    return packed, int(reader.n_bits or 0)


def _check_bitorder(bitorder: str) -> None:
    if bitorder not in ("big", "little"):
        raise ValueError(f"bitorder must be 'big' or 'little'. Got {bitorder!r} instead.")


def _reverse_bits(packed: np.ndarray) -> np.ndarray:
    return np.packbits(np.unpackbits(packed, axis=1), axis=1, bitorder="little")
