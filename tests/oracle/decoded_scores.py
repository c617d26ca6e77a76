"""Nearest codes by sums of tables: every item scored, and all of them sorted."""

import numpy as np


def scores(tables, offset, codes, lengths, metric):
    """Scores of all items, in float32 and in the order of additions that is promised."""
    values = codes
    if tables.shape[1] == 16:
        values = np.stack([codes >> 4, codes & 15], axis=2).reshape(len(codes), -1)
    parts = [np.zeros(len(codes), np.float32) for _ in range(4)]
    n_whole = values.shape[1] // 4 * 4
    for part in range(values.shape[1]):
        place = part % 4 if part < n_whole else part - n_whole
        parts[place if tables.shape[1] == 16 else 0] += tables[part, values[:, part]]
    found = (parts[0] + parts[1]) + (parts[2] + parts[3]) + np.float32(offset)
    if metric == "cosine":
        return np.divide(found, lengths, out=np.zeros_like(found), where=lengths > 0)
    return found - lengths * lengths if metric == "euclidean" else found


def nearest(tables, offset, codes, lengths, metric, k):
    """The k best in order of (score, place), and their scores."""
    found = scores(tables, offset, codes, lengths, metric)
    order = np.lexsort((np.arange(len(found)), -found))[:k]
    return order, found[order]
