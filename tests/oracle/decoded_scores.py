"""Nearest codes by sums over their bits: every item scored, and all of them sorted."""

import numpy as np


def nibble_tables(weights):
    """For each nibble and each of its values, the weights of its ones less those of its zeros."""
    weights = np.asarray(weights, np.float32).reshape(-1, 4)
    tables = np.zeros((len(weights), 16), np.float32)
    for bit in range(4):
        tables -= weights[:, bit, None]
    for bit in range(4):
        tables[:, np.arange(16) >> bit & 1 == 1] += np.float32(2) * weights[:, 3 - bit, None]
    return tables


def scores(weights, offset, codes, lengths, metric):
    """Scores of all items, in float32 and in the order of additions that is promised."""
    tables = nibble_tables(weights)
    nibbles = np.stack([codes >> 4, codes & 15], axis=2).reshape(len(codes), -1)
    parts = [np.zeros(len(codes), np.float32) for _ in range(4)]
    n_whole = nibbles.shape[1] // 4 * 4
    for nibble in range(nibbles.shape[1]):
        place = nibble % 4 if nibble < n_whole else nibble - n_whole
        parts[place] += tables[nibble, nibbles[:, nibble]]
    found = (parts[0] + parts[1]) + (parts[2] + parts[3]) + np.float32(offset)
    if metric == "cosine":
        return np.divide(found, lengths, out=np.zeros_like(found), where=lengths > 0)
    return found - lengths * lengths if metric == "euclidean" else found


def nearest(weights, offset, codes, lengths, metric, k):
    """The k best in order of (score, place), and their scores."""
    found = scores(weights, offset, codes, lengths, metric)
    order = np.lexsort((np.arange(len(found)), -found))[:k]
    return order, found[order]
