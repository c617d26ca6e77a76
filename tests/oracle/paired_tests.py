"""Tests of paired values by enumeration: every change of signs, every exchange of systems."""

from itertools import permutations, product
from statistics import mean


def randomization_p_value(a, b):
    """Twice the smaller share of the changes of sign with a mean as small, or as large."""
    differences = [x - y for x, y in zip(a, b)]
    observed = mean(differences)
    means = [
        mean(s * d for s, d in zip(signs, differences))
        for signs in product((-1, 1), repeat=len(differences))
    ]
    as_small = sum(m <= observed + 1e-12 for m in means) / len(means)
    as_large = sum(m >= observed - 1e-12 for m in means) / len(means)
    return min(1.0, 2 * min(as_small, as_large))


def tukey_p_values(systems):
    """Share of the exchanges whose best and worst are as far apart as two systems."""
    n_systems, n_queries = len(systems), len(systems[0])
    orders = list(permutations(range(n_systems)))
    ranges = []
    for chosen in product(orders, repeat=n_queries):
        means = [mean(systems[chosen[q][s]][q] for q in range(n_queries)) for s in range(n_systems)]
        ranges.append(max(means) - min(means))
    means = [mean(values) for values in systems]
    return [
        [sum(r >= abs(x - y) - 1e-12 for r in ranges) / len(ranges) for y in means] for x in means
    ]


def holm(p_values):
    """By its definition: the smallest of m p-values times m, the next times m - 1, never less."""
    corrected, largest = {}, 0.0
    for place, number in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        largest = max(largest, min(1.0, (len(p_values) - place) * p_values[number]))
        corrected[number] = largest
    return [corrected[number] for number in range(len(p_values))]
