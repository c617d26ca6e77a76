"""Logistic losses of triplets: a query, a relevant row, an irrelevant row.

A triplet costs log(1 + x) with x = exp(margin - positive + negative) = a * c, where a belongs to
the relevant row and c to the irrelevant one. So the exponentials of a query are as many as its
rows, not as its triplets. What is left for a triplet is a product and a division, in loops that
LLVM vectorizes. The logarithms are taken of products of many (1 + x) at a time.
"""

import numpy as np

from ._jit import kernel

_LARGEST = 300.0  # exponent of a factor; products of two are finite
_OVERFLOW = 700.0  # exponent where a product of float64 ends


@kernel
def _add_row(x, factors, slopes, products, row):
    """Add the slopes of the triplets of one relevant row, and multiply 1 + x into products.

    Return the sum of the slopes. ``row`` is scratch.
    """
    n = factors.shape[0]
    for j in range(n):
        one_more = 1.0 + x * factors[j]
        slope = 1.0 - 1.0 / one_more
        row[j] = slope
        slopes[j] += slope
        products[j] *= one_more
    while n > 1:  # one half is added to the other: no sum that waits for itself
        half = n // 2
        n -= half
        for j in range(half):
            row[j] += row[n + j]
    return row[0]


@kernel
def _slow_loss(positive, negative, margin, to_positive, to_negative):
    """The same for scores whose exponentials overflow, triplet by triplet."""
    loss = 0.0
    for i in range(positive.shape[0]):
        for j in range(negative.shape[0]):
            t = margin - positive[i] + negative[j]
            rest = np.exp(-abs(t))
            loss += max(t, 0.0) + np.log1p(rest)
            slope = (1.0 if t >= 0 else rest) / (1.0 + rest)
            to_positive[i] += slope
            to_negative[j] += slope
    return loss


@kernel
def _fast_loss(positive, negative, margin, to_positive, to_negative):
    """Return the sum of the losses of all triplets of a query; add their slopes."""
    n_positive, n_negative = positive.shape[0], negative.shape[0]
    middle = 0.5 * (negative.max() + negative.min())
    closest = margin - positive.min()
    farthest = margin - positive.max()
    spread = 0.5 * (negative.max() - negative.min())
    largest = max(abs(closest + middle), abs(farthest + middle))
    if not (spread < _LARGEST and largest < _LARGEST):
        return _slow_loss(positive, negative, margin, to_positive, to_negative)
    factors = np.exp(negative - middle)
    products = np.ones(n_negative)
    row = np.empty(n_negative)
    each = max(closest + negative.max(), 0.0) + 1.0  # log(1 + x) of any triplet is below
    at_a_time = max(int(_OVERFLOW / each), 1)
    loss = 0.0
    for i in range(n_positive):
        x = np.exp(margin - positive[i] + middle)
        to_positive[i] = _add_row(x, factors, to_negative, products, row)
        if (i + 1) % at_a_time == 0 or i + 1 == n_positive:
            for j in range(n_negative):
                loss += np.log(products[j])
                products[j] = 1.0
    return loss


@kernel
def separate(products, level, grades, margin, losses, start, stop):
    """Overwrite products (M, M) with their slopes, and sum the losses of each query.

    Rows from `start` to `stop` alone. ``grades`` ranks the levels, ascending from 0: a triplet is
    a query with two rows of different grades, of which the higher should be nearer. A query counts
    with the mean over its triplets, and not at all where it has none: ``losses`` is NaN there.
    Nobody is in a triplet with itself.
    """
    n_rows = products.shape[0]
    n_grades = grades.max() + 1
    order, scores = np.empty(n_rows, np.intp), np.empty(n_rows)
    to_higher, to_lower = np.empty(n_rows), np.empty(n_rows)
    starts = np.empty(n_grades + 1, np.intp)
    for q in range(start, stop):
        starts[:] = 0
        for i in range(n_rows):
            if i != q:
                starts[grades[level[q, i]] + 1] += 1
        for g in range(n_grades):
            starts[g + 1] += starts[g]
        next_place = starts[:n_grades].copy()
        for i in range(n_rows):
            if i != q:
                g = grades[level[q, i]]
                order[next_place[g]] = i
                scores[next_place[g]] = products[q, i]
                next_place[g] += 1
        products[q, :] = 0
        to_higher[:] = 0
        to_lower[:] = 0
        n_triplets, loss = 0, 0.0
        for g in range(1, n_grades):
            first, last = starts[g], starts[g + 1]
            if first == 0 or first == last:
                continue
            n_triplets += first * (last - first)
            loss += _fast_loss(
                scores[first:last], scores[:first], margin, to_higher[first:last], to_lower[:first]
            )
        if n_triplets == 0:
            losses[q] = np.nan
            continue
        losses[q] = loss / n_triplets
        for k in range(starts[n_grades]):
            products[q, order[k]] = (to_higher[k] - to_lower[k]) / n_triplets
