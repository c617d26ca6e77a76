"""Read, check, pack and write binary codes in the three public formats.

A code is a row of ``n_bits`` bits. It comes as ``"bits"`` (uint8, 0 and 1), as ``"signs"``
(int8, -1 and +1) or ``"packed"`` (uint8, ``ceil(n_bits / 8)`` columns in the order of
:func:`numpy.packbits`, which is what faiss takes). Kernels see rows of ``uint64`` words.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from .._features.tensors import as_numpy
from .._utils.parameters import is_int
from .._utils.threads import over_rows

FORMATS = ("bits", "signs", "packed")

_CHUNK_BYTES = 1 << 20  # of values that stay in a cache while they are checked and packed
_VALUE_COST = 0.5  # nanoseconds of checking and packing a byte of values, measured


def check_n_bits(n_bits: int | None) -> int | None:
    """Return `n_bits` as an int (or None), or say what is wrong with it."""
    if n_bits is None:
        return None
    if not is_int(n_bits, 1):
        raise ValueError(f"n_bits must be an int >= 1 or None. Got {n_bits!r} instead.")
    return int(n_bits)


def packed_width(n_bits: int) -> int:
    """Bytes of one packed code."""
    return -(-n_bits // 8)


def unpack_codes(packed: ArrayLike, n_bits: int, output: str = "bits") -> np.ndarray:
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


def as_code_matrix(codes: ArrayLike, name: str) -> np.ndarray:
    """Return a 2-d array of codes, or say what is wrong with its form; values are not read."""
    if sparse.issparse(codes):
        raise TypeError(f"{name} must be a dense array. Got a sparse {type(codes).__name__}.")
    if isinstance(codes, np.ma.MaskedArray) and np.ma.is_masked(codes):
        raise ValueError(f"{name} are masked in places; every bit needs a value.")
    codes = as_numpy(codes, name)
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


def truncate_codes(packed: ArrayLike, n_bits: int) -> np.ndarray:
    """Keep the first bits of packed codes.

    Codes in columns of bits or signs are truncated by ``codes[:, :n_bits]``.

    Parameters
    ----------
    packed : array-like of shape (n, n_bytes), uint8
        Packed codes of at least `n_bits` bits.
    n_bits : int
        Length of the shorter codes.

    Returns
    -------
    packed : ndarray of shape (n, ceil(n_bits / 8)), uint8
        The last byte is filled with zeros.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_hashrank.codes import truncate_codes
    >>> truncate_codes(np.array([[255, 255]], dtype=np.uint8), 4)
    array([[240]], dtype=uint8)
    """
    n_bits = _required_n_bits(n_bits)
    packed = as_code_matrix(packed, "packed")
    if packed.dtype != np.uint8 or packed.shape[1] < packed_width(n_bits):
        raise ValueError(
            f"packed must be uint8 with at least {packed_width(n_bits)} columns for "
            f"n_bits={n_bits}. Got {packed.dtype} with {packed.shape[1]} columns."
        )
    shorter = packed[:, : packed_width(n_bits)].copy()
    shorter[:, -1] &= np.uint8(256 - (1 << -n_bits % 8))
    return shorter


def _required_n_bits(n_bits: int) -> int:
    checked = check_n_bits(n_bits)
    if checked is None:
        raise ValueError("n_bits must be an int >= 1. Got None instead.")
    return checked


def pack_codes(codes: ArrayLike, n_bits: int | None = None) -> np.ndarray:
    """Pack codes of any format into bytes.

    Parameters
    ----------
    codes : array-like of shape (n, n_bits) or (n, ceil(n_bits / 8))
        Codes as bits, signs or packed bytes.
    n_bits : int, default=None
        Length of a code. Needed to recognize packed bytes; without it the values must lie in
        {0, 1} or {-1, +1}.

    Returns
    -------
    packed : ndarray of shape (n, ceil(n_bits / 8)), uint8
        Bits in the order of :func:`numpy.packbits`; the last byte is filled with zeros.

    Examples
    --------
    >>> from sklearn_hashrank.codes import pack_codes
    >>> pack_codes([[1, 0, 0, 0, 0, 0, 0, 1, 1]])
    array([[129, 128]], dtype=uint8)
    """
    return CodeReader(n_bits).packed(codes, "codes")


class CodeReader:
    """Reads several arrays of codes that belong together, and judges their values together.

    One reader serves the queries and every block of the database, so that queries of 0 and 1
    against a database of -1 and +1 are refused, also when the blocks arrive one by one. With
    `n_bits` the width of an array decides its format (for ``n_bits=1``, where every format has one
    column, the values do); without it the first array sets the length.
    """

    def __init__(self, n_bits: int | None = None):
        self.n_bits = check_n_bits(n_bits)
        self._guessed = n_bits is None
        self._seen: dict[int, str] = {}  # value -> name of the array it was first seen in

    def copy(self) -> "CodeReader":
        """Return a reader that goes on from here, and of whose codes this one learns nothing."""
        other = CodeReader.__new__(CodeReader)
        other.n_bits, other._guessed, other._seen = self.n_bits, self._guessed, dict(self._seen)
        return other

    def join(self, other: "CodeReader") -> None:
        """Judge what another reader has seen together with what this one has."""
        for value, name in other._seen.items():
            self._see(value, name)

    def words(self, codes: Any, name: str, n_jobs: int | None = 1) -> np.ndarray:
        """Codes as an (n, ceil(n_bits / 64)) array of uint64 words."""
        return self.words_of(as_code_matrix(codes, name), name, n_jobs)

    def packed(self, codes: Any, name: str, n_jobs: int | None = 1) -> np.ndarray:
        """Codes as packed bytes, after every check; values are packed in `n_jobs` threads."""
        return self._packed_of(as_code_matrix(codes, name), name, n_jobs)

    def words_of(self, codes: np.ndarray, name: str, n_jobs: int | None = 1) -> np.ndarray:
        """Like `words`, of what :func:`as_code_matrix` gave, packed in `n_jobs` threads."""
        return bytes_to_words(self._packed_of(codes, name, n_jobs))

    def _packed_of(self, codes: np.ndarray, name: str, n_jobs: int | None) -> np.ndarray:
        if self.n_bits is None:
            self.n_bits = codes.shape[1]
        if self.n_bits == 1 and codes.shape[1] == 1:
            return self._pack_single_bit(codes, name)
        if codes.shape[1] == self.n_bits:
            return self._pack_values(codes, name, n_jobs)
        if not self._guessed and codes.shape[1] == packed_width(self.n_bits):
            if codes.dtype != np.uint8:
                raise ValueError(
                    f"{name} have {codes.shape[1]} columns, the width of packed codes of "
                    f"n_bits={self.n_bits}; packed codes are uint8. Got {codes.dtype} instead."
                )
            check_pad_bits(codes, self.n_bits, name)
            return codes
        accepted = f"{self.n_bits} columns (bits or signs)"
        if not self._guessed:
            accepted += f" or {packed_width(self.n_bits)} (packed bytes)"
        raise ValueError(
            f"{name} have {codes.shape[1]} columns; codes of n_bits={self.n_bits} have {accepted}."
        )

    def _pack_values(self, codes: np.ndarray, name: str, n_jobs: int | None) -> np.ndarray:
        packed = np.empty((len(codes), packed_width(codes.shape[1])), dtype=np.uint8)

        def pack(rows):
            ones, values = self._check_values(codes[rows], name)
            packed[rows] = _pack_ones(ones)
            return values

        n_bytes = codes.shape[1] * codes.dtype.itemsize
        most = max(1, _CHUNK_BYTES // n_bytes)
        for values in over_rows(pack, len(codes), n_jobs, cost=_VALUE_COST * n_bytes, most=most):
            for value in values:
                self._see(value, name)
        return packed

    def _check_values(self, codes: np.ndarray, name: str) -> tuple[np.ndarray, list[int]]:
        """Find the ones and the values that occur, in as few passes as the values allow."""
        if codes.dtype in (np.uint8, np.bool_) and codes.max() <= 1:
            return codes, sorted({int(codes.min()), int(codes.max())})
        ones = codes == 1
        rest = codes.size - np.count_nonzero(ones)
        values = [1] if rest < codes.size else []
        if rest:
            if np.count_nonzero(codes == 0) == rest:
                values.append(0)
            elif np.count_nonzero(codes == -1) == rest:
                values.append(-1)
            else:
                raise self._refusal(np.unique(codes), name)
        return ones, values

    def _see(self, value: int, name: str) -> None:
        self._seen.setdefault(value, name)
        if self._seen.keys() >= {0, -1}:
            places = ", ".join(f"{v} in the {where}" for v, where in sorted(self._seen.items()))
            raise ValueError(
                "codes that are compared must all lie in {0, 1} or all in {-1, +1}. "
                f"Got {places}."
            )

    def _pack_single_bit(self, codes: np.ndarray, name: str) -> np.ndarray:
        values = set(np.unique(codes).tolist())
        packed = set() if self._guessed else {0, 128}
        if not (values <= {0, 1} or values <= {-1, 1} or values <= packed):
            raise self._refusal(np.unique(codes), name)
        if not values <= packed:
            for value in sorted(values):
                self._see(value, name)
        return np.where(codes > 0, np.uint8(128), np.uint8(0))

    def _refusal(self, values: np.ndarray, name: str) -> ValueError:
        shown = ", ".join(f"{value:.7g}" for value in values[:5])
        more = f", ... ({len(values)} distinct values)" if len(values) > 5 else ""
        if values.dtype.kind == "f" or (values < 0).any():
            hint = "For outputs of a network pass `codes > 0`, or another threshold of yours."
        elif self._guessed or self.n_bits is None:
            hint = "Packed bytes are recognized only when n_bits is given."
        else:
            width = packed_width(self.n_bits)
            hint = f"With n_bits={self.n_bits}, packed codes have {width} columns."
        return ValueError(
            f"{name} must hold only 0 and 1, or only -1 and +1. Got {shown}{more}. {hint}"
        )


def pack_signs(projections: np.ndarray) -> np.ndarray:
    """Packed codes of real projections; zero is bit 0."""
    return _pack_ones(projections > 0)


def _pack_ones(ones: np.ndarray) -> np.ndarray:
    if ones.shape[1] % 8 == 0 and ones.flags.c_contiguous:  # in one run, many times faster
        return np.packbits(ones.reshape(-1)).reshape(len(ones), -1)
    return np.packbits(ones, axis=1)


def bytes_to_words(packed: np.ndarray) -> np.ndarray:
    n_rows, width = packed.shape
    n_words = -(-width // 8)
    if width == 8 * n_words and packed.flags.c_contiguous and packed.ctypes.data % 8 == 0:
        return packed.view(np.uint64)
    if width in (1, 2, 4) and packed.flags.c_contiguous:
        return packed.view(f"u{width}").astype(np.uint64)
    padded = np.zeros((n_rows, 8 * n_words), dtype=np.uint8)
    padded[:, :width] = packed
    return padded.view(np.uint64)
