"""Literal, slow versions of soft histograms and of the relaxed and discrete tie-aware measures.

One query at a time, counts as nested lists ``c[level][bin]``, sums written as in the papers.
"""

import math

from scipy.integrate import quad


def soft_counts(codes, level, n_levels, n_bins, delta):
    """Return c[query][level][bin] by visiting every bin of every pair."""
    n_rows, n_bits = codes.shape
    width = n_bits / n_bins
    counts = [[[0.0] * (n_bins + 1) for _ in range(n_levels)] for _ in range(n_rows)]
    for q in range(n_rows):
        for i in range(n_rows):
            if i == q:
                continue
            distance = (n_bits - float(codes[q] @ codes[i])) / 2
            for d in range(n_bins + 1):
                kernel = max(0.0, 1 - abs(distance - d * width) / (delta * width))
                counts[q][level[q][i]][d] += kernel / max(1.0, delta)
    return counts


def _totals(counts):
    return [sum(column) for column in zip(*counts)]


def _relevant(counts, levels):
    n_bins = len(counts[0])
    return [sum(row[d] for row, v in zip(counts, levels) if v > 0) for d in range(n_bins)]


def _gains(counts, levels):
    n_bins = len(counts[0])
    return [sum((2**v - 1) * row[d] for row, v in zip(counts, levels)) for d in range(n_bins)]


def n_relevant(levels, n_items):
    """Return the number of relevant items."""
    return sum(n for n, v in zip(n_items, levels) if v > 0)


def ideal_dcg(levels, n_items):
    """Return the DCG of the best order, item by item."""
    best = sorted((v for n, v in zip(n_items, levels) for _ in range(n)), reverse=True)
    return sum((2**v - 1) / math.log2(t + 1) for t, v in enumerate(best, start=1))


def _ratio(relevant, items, floor):
    if items <= 1:
        return 0.0
    return min(max((relevant - 1) / max(items - 1, floor), 0.0), 1.0)


def simplified_ap(counts, levels, n_items, floor):
    """Sum of c+_d (C+_{d-1} + C+_d + 1) / (C_{d-1} + C_d + 1), over N_rel."""
    relevant, items = _relevant(counts, levels), _totals(counts)
    total = 0.0
    for d in range(len(items)):
        above = sum(relevant[:d]) + sum(relevant[: d + 1]) + 1
        total += relevant[d] * above / (sum(items[:d]) + sum(items[: d + 1]) + 1)
    return total / n_relevant(levels, n_items)


def _integral_ap(counts, levels, n_items, floor, log):
    relevant, items = _relevant(counts, levels), _totals(counts)
    total = 0.0
    for d in range(len(items)):
        before = sum(items[:d])
        rho = _ratio(relevant[d], items[d], floor)
        bracket = sum(relevant[:d]) + 1 - rho * (before + 1)
        share = relevant[d] / max(items[d], floor)
        total += relevant[d] * rho + share * bracket * log(before, before + items[d])
    return total / n_relevant(levels, n_items)


def arxiv_ap(counts, levels, n_items, floor):
    """Equation (7) of the arXiv version."""

    def log(before, after):
        return math.log(max(after, floor) / (before + 1))

    return _integral_ap(counts, levels, n_items, floor, log)


def cvpr_ap(counts, levels, n_items, floor):
    """Equation (11) of the CVPR version."""

    def log(before, after):
        return math.log(max(after, floor) / max(before, floor))

    return _integral_ap(counts, levels, n_items, floor, log)


def as_printed(counts, levels, n_items):
    """Equation (7) of the arXiv version, poles and all."""
    relevant, items = _relevant(counts, levels), _totals(counts)
    total = 0.0
    for d in range(len(items)):
        before, after = sum(items[:d]), sum(items[: d + 1])
        rho = (relevant[d] - 1) / (items[d] - 1)
        log = math.log(after / (before + 1))
        bracket = sum(relevant[:d]) + 1 - rho * (before + 1)
        total += relevant[d] * rho + relevant[d] / items[d] * bracket * log
    return total / n_relevant(levels, n_items)


def exact_ap(counts, levels, n_items, floor):
    """Sum over t = a+1..b of 1/t as the integral of (x^a - x^b) / (1 - x) over [0, 1]."""
    relevant, items = _relevant(counts, levels), _totals(counts)
    total = 0.0
    for d in range(len(items)):
        if items[d] == 0:
            continue
        before, after = sum(items[:d]), sum(items[: d + 1])
        rho = _ratio(relevant[d], items[d], 1e-300)
        harmonic = quad(lambda x, a=before, b=after: (x**a - x**b) / (1 - x), 0, 1, limit=200)[0]
        bracket = sum(relevant[:d]) + 1 - rho * (before + 1)
        total += relevant[d] / items[d] * (rho * items[d] + bracket * harmonic)
    return total / n_relevant(levels, n_items)


def simplified_ndcg(counts, levels, n_items, floor):
    """Sum of g_d / log2(C_{d-1} + (c_d + 1) / 2 + 1), over the ideal."""
    gains, items = _gains(counts, levels), _totals(counts)
    dcg = sum(
        gains[d] / math.log2(sum(items[:d]) + (items[d] + 1) / 2 + 1) for d in range(len(items))
    )
    return dcg / ideal_dcg(levels, n_items)


def _integral_ndcg(counts, levels, n_items, floor, limits):
    gains, items = _gains(counts, levels), _totals(counts)
    dcg = 0.0
    for d in range(len(items)):
        lower, upper = limits(sum(items[:d]), sum(items[: d + 1]))
        integral = quad(lambda t: 1 / math.log(t), lower, upper)[0]
        dcg += math.log(2) * gains[d] / max(items[d], floor) * integral
    return dcg / ideal_dcg(levels, n_items)


def arxiv_ndcg(counts, levels, n_items, floor):
    """Equation (8) of the arXiv version."""
    return _integral_ndcg(
        counts, levels, n_items, floor, lambda before, after: (before + 2, max(after, floor) + 1)
    )


def cvpr_ndcg(counts, levels, n_items, floor):
    """Equation (12) of the CVPR version."""

    def limits(before, after):
        return max(before, floor) + 1, max(after, floor) + 1

    return _integral_ndcg(counts, levels, n_items, floor, limits)


def exact_ndcg(counts, levels, n_items, floor):
    """The cumulative discount between two ranks is a straight line."""

    def cumulative(x):
        rank = math.floor(x)
        whole = sum(1 / math.log2(t + 1) for t in range(1, rank + 1))
        return whole + (x - rank) / math.log2(rank + 2)

    gains, items = _gains(counts, levels), _totals(counts)
    dcg = 0.0
    for d in range(len(items)):
        if items[d] > 0:
            span = cumulative(sum(items[: d + 1])) - cumulative(sum(items[:d]))
            dcg += gains[d] / items[d] * span
    return dcg / ideal_dcg(levels, n_items)


def mutual_information(counts, levels, n_items, floor):
    """H(D) - H(D|C) of the MIHash paper, in bits, times the share of the items in the bins."""

    def entropy(numbers):
        shares = [x / sum(numbers) for x in numbers]
        return -sum(p * math.log2(p) for p in shares if p > 0)

    relevant, items = _relevant(counts, levels), _totals(counts)
    irrelevant = [c - r for c, r in zip(items, relevant)]
    prior = sum(relevant) / sum(items)
    conditional = prior * entropy(relevant) + (1 - prior) * entropy(irrelevant)
    return (entropy(items) - conditional) * sum(items) / sum(n_items)


RELAXATIONS = {
    ("ap", "simplified"): simplified_ap,
    ("ap", "arxiv"): arxiv_ap,
    ("ap", "cvpr"): cvpr_ap,
    ("ap", "exact"): exact_ap,
    ("ndcg", "simplified"): simplified_ndcg,
    ("ndcg", "arxiv"): arxiv_ndcg,
    ("ndcg", "cvpr"): cvpr_ndcg,
    ("ndcg", "exact"): exact_ndcg,
    ("mi", "exact"): mutual_information,
}


def discrete_counts(codes, level, n_levels, query):
    """Return n[level][distance] of the other rows, codes in {-1, +1}."""
    n_bits = codes.shape[1]
    counts = [[0] * (n_bits + 1) for _ in range(n_levels)]
    for i in range(len(codes)):
        if i != query:
            distance = int((codes[query] != codes[i]).sum())
            counts[level[query][i]][distance] += 1
    return counts


def discrete_ap(counts, levels):
    """Tie-aware AP: equation (6) of the CVPR version, rank by rank."""
    relevant, items = _relevant(counts, levels), _totals(counts)
    total = 0.0
    for d in range(len(items)):
        before, relevant_before = sum(items[:d]), sum(relevant[:d])
        for t in range(before + 1, before + items[d] + 1):
            others = (relevant[d] - 1) / (items[d] - 1) if items[d] > 1 else 0.0
            expected = relevant_before + (t - before - 1) * others + 1
            total += relevant[d] / items[d] * expected / t
    return total / sum(relevant)


def discrete_ndcg(counts, levels):
    """Tie-aware NDCG: equation (7) of the CVPR version, rank by rank."""
    gains, items = _gains(counts, levels), _totals(counts)
    dcg = 0.0
    for d in range(len(items)):
        before = sum(items[:d])
        for t in range(before + 1, before + items[d] + 1):
            dcg += gains[d] / items[d] / math.log2(t + 1)
    return dcg / ideal_dcg(levels, [sum(row) for row in counts])


DISCRETE = {"ap": discrete_ap, "ndcg": discrete_ndcg}
