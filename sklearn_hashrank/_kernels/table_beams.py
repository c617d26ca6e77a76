"""Codes of additive quantizers, table by table, with several of the best beginnings kept."""

import numpy as np

from ._jit import inlined, kernel


@inlined
def _insert(scores, parents, values, size, score, parent, value):
    """Put a candidate into a list sorted by falling score; return the new size."""
    place = size if size < scores.size else scores.size - 1
    while place > 0 and scores[place - 1] < score:
        scores[place] = scores[place - 1]
        parents[place] = parents[place - 1]
        values[place] = values[place - 1]
        place -= 1
    scores[place], parents[place], values[place] = score, parent, value
    return min(size + 1, scores.size)


@kernel
def search(fields, coupling, width, codes):
    """Find codes of low error by a beam search.

    The beginning of a code is extended by every entry of the next table. The beginnings of least
    error are kept, the first of those that are equal.

    Parameters
    ----------
    fields : (n, n_tables * size) float32
        Products of the rows and the entries of all tables, less half of the squared length of the
        entry.
    coupling : (n_tables * size, n_tables * size) float32
        Products of the entries, zero within each table.
    width : int, number of beginnings
    codes : (n, n_tables) int64, written
    """
    n_tables = codes.shape[1]
    size = fields.shape[1] // n_tables
    scores, found = np.empty(width, np.float32), np.empty(width, np.float32)
    begun, extended = np.empty((width, n_tables), np.int64), np.empty((width, n_tables), np.int64)
    parents, values = np.empty(width, np.int64), np.empty(width, np.int64)
    field = np.empty(size, np.float32)
    for i in range(codes.shape[0]):
        n_begun = 1
        scores[0] = 0
        for m in range(n_tables):
            start = m * size
            n_found = 0
            for b in range(n_begun):
                for v in range(size):
                    field[v] = fields[i, start + v] + scores[b]
                for p in range(m):
                    taken = coupling[p * size + begun[b, p], start : start + size]
                    for v in range(size):
                        field[v] -= taken[v]
                for v in range(size):
                    if n_found < width or field[v] > found[width - 1]:
                        n_found = _insert(found, parents, values, n_found, field[v], b, v)
            for b in range(n_found):
                for p in range(m):
                    extended[b, p] = begun[parents[b], p]
                extended[b, m] = values[b]
                scores[b] = found[b]
            begun, extended = extended, begun
            n_begun = n_found
        codes[i] = begun[0]
