"""Binary codes: the three public formats, and how packed codes are written in another.

A code is a row of ``n_bits`` bits. It comes as ``"bits"`` (uint8, 0 and 1), as ``"signs"``
(int8, -1 and +1) or ``"packed"`` (uint8, ``ceil(n_bits / 8)`` columns in the order of
:func:`numpy.packbits`, which is what faiss takes). Kernels see rows of ``uint64`` words.
"""

from numbers import Integral
from typing import Any

import numpy as np
from scipy import sparse

FORMATS = ("bits", "signs", "packed")


def check_n_bits(n_bits: int | None) -> int | None:
    """Return `n_bits` as an int (or None), or say what is wrong with it."""
    if n_bits is None:
        return None
    if isinstance(n_bits, (bool, np.bool_)) or not isinstance(n_bits, Integral) or n_bits < 1:
        raise ValueError(f"n_bits must be an int >= 1 or None. Got {n_bits!r} instead.")
    return int(n_bits)


def packed_width(n_bits: int) -> int:
    """Bytes of one packed code."""
    return -(-n_bits // 8)


def unpack_codes(packed: Any, n_bits: int, output: str = "bits") -> np.ndarray:
    """Write packed codes in another format.

    Parameters
    ----------
    packed : array-like of shape (n, ceil(n_bits / 8)), uint8
        Packed codes.
    n_bits : int
        Length of a code.
    output : {"bits", "signs", "packed"}, default="bits"
        The wanted format.

    Returns
    -------
    codes : ndarray
        ``(n, n_bits)`` uint8 bits or int8 signs, or the packed bytes.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_hashrank.codes import unpack_codes
    >>> unpack_codes(np.array([[160]], dtype=np.uint8), n_bits=3, output="signs")
    array([[ 1, -1,  1]], dtype=int8)
    """
    n_bits = _required_n_bits(n_bits)
    packed = as_code_matrix(packed, "packed")
    if packed.dtype != np.uint8 or packed.shape[1] != packed_width(n_bits):
        raise ValueError(
            f"packed must be uint8 with {packed_width(n_bits)} columns for n_bits={n_bits}. "
            f"Got {packed.dtype} with {packed.shape[1]} columns."
        )
    check_pad_bits(packed, n_bits, "packed")
    return write_codes(packed, n_bits, output)


def write_codes(packed: np.ndarray, n_bits: int, output: str) -> np.ndarray:
    """Like :func:`unpack_codes`, for bytes known to be valid."""
    if output not in FORMATS:
        raise ValueError(f"output must be one of {FORMATS}. Got {output!r} instead.")
    if output == "packed":
        return packed
    bits = np.unpackbits(packed, axis=1, count=n_bits)
    return bits if output == "bits" else (2 * bits.astype(np.int8) - 1)


def as_code_matrix(codes: Any, name: str) -> np.ndarray:
    """A 2-d array of codes, or say what is wrong with its form; values are not read."""
    if sparse.issparse(codes):
        raise TypeError(f"{name} must be a dense array. Got a sparse {type(codes).__name__}.")
    if isinstance(codes, np.ma.MaskedArray) and np.ma.is_masked(codes):
        raise ValueError(f"{name} are masked in places; every bit needs a value.")
    codes = np.asarray(codes)
    if codes.ndim != 2:
        raise ValueError(f"{name} must be a 2-d array, one code per row. Got shape {codes.shape}.")
    if codes.dtype.kind not in "buif":
        raise ValueError(f"{name} must be numeric or boolean. Got dtype {codes.dtype}.")
    if 0 in codes.shape:
        raise ValueError(
            f"{name} are empty: shape {codes.shape}; at least one row and one column are needed."
        )
    return codes


def check_pad_bits(packed: np.ndarray, n_bits: int, name: str) -> None:
    """Refuse packed codes with a one behind their last bit."""
    n_pad = 8 * packed.shape[1] - n_bits
    if n_pad and np.any(packed[:, -1] & np.uint8((1 << n_pad) - 1)):
        raise ValueError(
            f"{name} have non-zero bits beyond n_bits={n_bits} in their last byte; they were "
            "packed with another n_bits, or in another bit order than numpy.packbits."
        )


def _required_n_bits(n_bits: int) -> int:
    checked = check_n_bits(n_bits)
    if checked is None:
        raise ValueError("n_bits must be an int >= 1. Got None instead.")
    return checked
