"""Measures of what lies within a Hamming radius of a query, as their papers print them.

Codes are tuples of bits; ``levels`` says how relevant each item of the database is.
"""

from collections import Counter
from fractions import Fraction
from itertools import combinations
from math import comb, log2

from tests.oracle.histograms import hamming_distance


def within(query, database, levels, radius):
    """Codes and levels of the items within `radius`."""
    return [(c, v) for c, v in zip(database, levels) if hamming_distance(query, c) <= radius]


def lookup_precision(query, database, levels, radius=2):
    ball = within(query, database, levels, radius)
    return sum(v > 0 for _, v in ball) / len(ball) if ball else 0.0


def lookup_recall(query, database, levels, radius=2):
    ball = within(query, database, levels, radius)
    return sum(v > 0 for _, v in ball) / sum(v > 0 for v in levels)


def average_cumulative_gain(query, database, levels, radius=3):
    ball = within(query, database, levels, radius)
    return sum(v for _, v in ball) / len(ball) if ball else 0.0


def local_group_average_precision(query, database, levels, radius=2):
    total = Fraction(0)
    for k in range(radius + 1):
        ball = within(query, database, levels, k)
        if not ball:
            continue
        precision = Fraction(sum(v > 0 for _, v in ball), len(ball))
        area = len(ball)
        fullest = max(Counter(code for code, _ in ball).values())
        rectangle = fullest * sum(comb(len(query), i) for i in range(k + 1))
        total += precision * Fraction(area, rectangle)
    return float(total / (radius + 1))


LOOKUPS = {
    "lookup_precision": lookup_precision,
    "lookup_recall": lookup_recall,
    "average_cumulative_gain": average_cumulative_gain,
    "local_group_average_precision": local_group_average_precision,
}


def coded(ties):
    """A query, the codes and the levels of items whose distances are those of their ties."""
    n_bits = len(ties) - 1
    codes, levels = [], []
    for distance, tie in enumerate(ties):
        places = list(combinations(range(n_bits), distance))
        for number, level in enumerate(tie):
            ones = places[number * number % len(places)]
            codes.append(tuple(int(bit in ones) for bit in range(n_bits)))
            levels.append(level)
    return (0,) * n_bits, codes, levels


def peaks(query, codes):
    """Largest number of items that share one code, at each distance."""
    of_code = Counter(codes)
    return [
        max([n for code, n in of_code.items() if hamming_distance(query, code) == d], default=0)
        for d in range(len(query) + 1)
    ]


def code_statistics(codes):
    """Distinct codes, occupancy, collision rate and entropy, pair by pair."""
    n, n_bits = len(codes), len(codes[0])
    counts = Counter(codes).values()
    same = sum(a == b for a, b in combinations(codes, 2))
    return (
        len(counts),
        len(counts) / 2**n_bits,
        same / comb(n, 2) if n > 1 else 0.0,
        -sum(c / n * log2(c / n) for c in counts),
    )
