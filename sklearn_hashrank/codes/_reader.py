"""Reading codes of any format: every value is checked, and all become packed bytes or words."""

from typing import Any

import numpy as np

from .._utils.threads import over_rows
from ._formats import as_code_matrix, check_n_bits, check_pad_bits, packed_width

_CHUNK_BYTES = 1 << 20  # of values that stay in a cache while they are checked and packed
_VALUE_COST = 0.5  # nanoseconds of checking and packing a byte of values, measured


def pack_codes(codes: Any, n_bits: int | None = None) -> np.ndarray:
    """Pack codes of any format into bytes.

    Parameters
    ----------
    codes : array-like of shape (n, n_bits) or (n, ceil(n_bits / 8))
        Codes as bits, signs or packed bytes.
    n_bits : int, default=None
        Length of a code. Needed to recognise packed bytes; without it the values must lie in
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
    against a database of -1 and +1 are refused, also when the blocks arrive one by one.

    Parameters
    ----------
    n_bits : int or None
        Length of a code. With it the width of an array decides its format (for ``n_bits=1``,
        where every format has one column, the values do); without it the first array sets it.
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
        return _bytes_to_words(self.packed(codes, name, n_jobs))

    def packed(self, codes: Any, name: str, n_jobs: int | None = 1) -> np.ndarray:
        """Codes as packed bytes, after every check; values are packed in `n_jobs` threads."""
        codes = as_code_matrix(codes, name)
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
        """Where the ones are, and which values there are."""
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
        shown = ", ".join(str(value) for value in values[:5])
        more = f", ... ({len(values)} distinct values)" if len(values) > 5 else ""
        if self._guessed or self.n_bits is None:
            hint = "Packed bytes are recognised only when n_bits is given."
        else:
            width = packed_width(self.n_bits)
            hint = f"With n_bits={self.n_bits}, packed codes have {width} columns."
        return ValueError(
            f"{name} must hold only 0 and 1, or only -1 and +1. Got {shown}{more}. {hint}"
        )


def _pack_ones(ones: np.ndarray) -> np.ndarray:
    """Pack rows of 0 and 1."""
    if ones.shape[1] % 8 == 0 and ones.flags.c_contiguous:  # in one run, many times faster
        return np.packbits(ones.reshape(-1)).reshape(len(ones), -1)
    return np.packbits(ones, axis=1)


def _bytes_to_words(packed: np.ndarray) -> np.ndarray:
    n_rows, width = packed.shape
    n_words = -(-width // 8)
    if width == 8 * n_words and packed.flags.c_contiguous and packed.ctypes.data % 8 == 0:
        return packed.view(np.uint64)
    if width in (1, 2, 4) and packed.flags.c_contiguous:
        return packed.view(f"u{width}").astype(np.uint64)
    padded = np.zeros((n_rows, 8 * n_words), dtype=np.uint8)
    padded[:, :width] = packed
    return padded.view(np.uint64)
