"""Find which rows share a code."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .. import _kernels
from ._formats import CodeReader, bytes_to_words


class EqualCodes(NamedTuple):
    """Distinct codes, with the rows that have each.

    Parameters
    ----------
    codes : ndarray of shape (n_distinct, ceil(n_bits / 8)), uint8
        The distinct codes, packed, in order of the first row that has each.
    ids : ndarray of shape (n,), int64
        Numbers of the rows, code by code, in ascending order within a code.
    starts : ndarray of shape (n_distinct + 1,), int64
        The rows with code number i are ``ids[starts[i] : starts[i + 1]]``.

    Examples
    --------
    >>> from sklearn_hashrank.codes import group_equal
    >>> groups = group_equal([[0, 1], [1, 1], [0, 1]])
    >>> groups.ids_of(0)
    array([0, 2])
    """

    codes: np.ndarray
    ids: np.ndarray
    starts: np.ndarray

    def ids_of(self, number: int) -> np.ndarray:
        """Rows that have a code.

        Parameters
        ----------
        number : int
            Row of `codes`; -1, a missing result of an index, has no ids.

        Returns
        -------
        ids : ndarray of int64
            In ascending order.
        """
        if not -1 <= number < len(self.codes):
            raise IndexError(
                f"number must be less than {len(self.codes)}, or -1, for no code. Got {number}."
            )
        ids = self.ids[self.starts[number] : self.starts[number + 1]]
        return ids if number >= 0 else self.ids[:0]


def group_equal(codes: ArrayLike, n_bits: int | None = None) -> EqualCodes:
    """Find the distinct codes, and the rows that share each.

    Short codes repeat. An index of the distinct codes is smaller than one of all rows, and a graph
    index such as HNSW does not fill its neighbour lists with copies of one code.

    Parameters
    ----------
    codes : array-like of shape (n, n_columns)
        Codes as bits, signs or packed bytes.
    n_bits : int, default=None
        Length of a code; needed for packed bytes.

    Returns
    -------
    groups : EqualCodes
        The named tuple ``(codes, ids, starts)``.

    Examples
    --------
    >>> from sklearn_hashrank.codes import group_equal
    >>> groups = group_equal([[0, 1], [1, 1], [0, 1], [1, 1], [1, 0]])
    >>> groups.codes.ravel()
    array([ 64, 192, 128], dtype=uint8)
    >>> groups.ids
    array([0, 2, 1, 3, 4])
    >>> groups.starts
    array([0, 2, 4, 5])
    """
    packed = CodeReader(n_bits).packed(codes, "codes")
    words = bytes_to_words(packed)
    firsts, repeats, number = _kernels.hamming.find_equal_rows(
        words, np.zeros(len(words), np.int32), len(words)
    )
    ids = np.argsort(number, kind="stable")
    return EqualCodes(packed[firsts], ids, np.concatenate([[0], np.cumsum(repeats)]))
