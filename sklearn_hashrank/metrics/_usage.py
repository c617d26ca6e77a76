"""How codes use the Hamming space."""

from collections.abc import Iterator
from typing import Any

from ..codes import CodeCounter, CodeReader
from ..measures import CodeUsage, usage_of


def code_usage(codes: Any, *, n_bits: int | None = None) -> CodeUsage:
    """How a set of codes uses the space of all codes.

    Parameters
    ----------
    codes : array-like of shape (n, n_columns) or iterator of such
        Codes as bits, signs or packed bytes. Of an iterator only the distinct codes are held.
    n_bits : int, default=None
        Length of a code; needed for packed codes.

    Returns
    -------
    usage : CodeUsage
        ``n_items``, ``n_distinct``, ``occupancy`` (share of all ``2 ** n_bits`` codes that occur),
        ``collision_rate`` (share of the pairs of items that have the same code), ``entropy`` of
        the distribution of codes in bits, ``bit_balance`` (share of ones of each bit),
        ``bit_correlation``, and the distinct ``codes``, packed, with their ``counts``.

    Examples
    --------
    >>> from sklearn_hashrank.metrics import code_usage
    >>> usage = code_usage([[0, 0], [0, 0], [0, 1], [1, 1]])
    >>> usage.n_distinct, usage.occupancy, usage.entropy
    (3, 0.75, 1.5)
    >>> usage.bit_balance
    array([0.25, 0.5 ])
    """
    reader, counter = CodeReader(n_bits), CodeCounter()
    for block in codes if isinstance(codes, Iterator) else (codes,):
        counter.add(reader.words(block, "codes"))
    if reader.n_bits is None or not counter:
        raise ValueError("codes are empty; at least one block of codes is needed.")
    words, counts = counter.finish()
    return usage_of(words, counts, reader.n_bits)
