"""Scores of codes that are sums over their bits, looked up byte by byte."""

import numpy as np

from ._jit import inlined, kernel


@inlined
def look_up(tables, code):
    """Sum of the tables at the bytes of a code, always in the same order."""
    n_bytes = code.size
    whole = n_bytes - n_bytes % 4
    a = b = c = d = np.float32(0)
    for byte in range(0, whole, 4):
        a += tables[byte, code[byte]]
        b += tables[byte + 1, code[byte + 1]]
        c += tables[byte + 2, code[byte + 2]]
        d += tables[byte + 3, code[byte + 3]]
    for byte in range(whole, n_bytes):
        a += tables[byte, code[byte]]
    return (a + b) + (c + d)


@kernel
def fill_tables(weights, tables):
    """Sum, for each value of each byte, the weights of its ones less those of its zeros.

    Parameters
    ----------
    weights : (8 * n_bytes,) float32, in the order of the bits of packed codes
    tables : (n_bytes, 256) float32, written
    """
    for byte in range(tables.shape[0]):
        table = tables[byte]
        total = np.float32(0)
        for bit in range(8):
            total -= weights[8 * byte + bit]
        table[0] = total
        for bit in range(8):
            twice = np.float32(2) * weights[8 * byte + 7 - bit]
            size = 1 << bit
            for value in range(size):
                table[size + value] = table[value] + twice


@kernel
def nearest(tables, offset, codes, factors, shifts, places, scores):
    """Find the codes of the highest scores, ``(sum of the tables + offset) * factor + shift``.

    Parameters
    ----------
    tables : (n_bytes, 256) float32
    offset : float32
    codes : (n, n_bytes) uint8
    factors, shifts : (n,) float32 each
    places : (k,) int64, written in order of (score, place)
    scores : (k,) float32, written
    """
    k = places.size
    scores[:] = -np.inf
    for i in range(codes.shape[0]):
        score = (look_up(tables, codes[i]) + offset) * factors[i] + shifts[i]
        if i >= k and not score > scores[k - 1]:
            continue
        at = min(i, k - 1)
        while at > 0 and score > scores[at - 1]:
            scores[at], places[at] = scores[at - 1], places[at - 1]
            at -= 1
        scores[at], places[at] = score, i
