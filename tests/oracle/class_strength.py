"""The share of rows whose nearest other row is of their class, pair by pair."""

import math


def share_with_own_nearest(rows, class_of):
    """Share over all rows, which are lists of numbers; of equally near rows the first counts."""
    found = 0
    for i, row in enumerate(rows):
        others = [j for j in range(len(rows)) if j != i]
        nearest = min(others, key=lambda j: math.dist(row, rows[j]))
        found += class_of[nearest] == class_of[i]
    return found / len(rows)
