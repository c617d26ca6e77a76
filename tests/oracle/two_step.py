"""Losses of pairs of codes and binary quadratic programs, by enumeration."""

import itertools

import numpy as np


def pair_loss(loss, is_similar, distance, n_bits):
    """Loss of one pair whose codes differ in some of the bits."""
    share = distance / n_bits
    if loss == "hinge":
        return share**2 if is_similar else max(0.0, 0.5 - share) ** 2
    if loss == "ksh":
        return ((1 if is_similar else -1) - (1 - 2 * share)) ** 2
    return ((0 if is_similar else 1) - share) ** 2


def total_loss(loss, kinds, codes):
    """Loss of all pairs, from a matrix of 1 (similar), -1 (dissimilar) and 0."""
    n, n_bits = codes.shape
    total = 0.0
    for i, j in itertools.combinations(range(n), 2):
        if kinds[i, j]:
            distance = np.count_nonzero(codes[i] != codes[j])
            total += pair_loss(loss, kinds[i, j] > 0, distance, n_bits)
    return total


def energy(matrix, linear, signs):
    """Sum of a_ij z_i z_j over pairs and of l_i z_i."""
    pairs = itertools.combinations(range(len(signs)), 2)
    return sum(matrix[i, j] * signs[i] * signs[j] for i, j in pairs) + float(linear @ signs)


def lowest_energy(matrix, linear, signs, free):
    """The lowest energy, where some of the signs are free."""
    signs, lowest = np.array(signs, dtype=float), np.inf
    for values in itertools.product([-1, 1], repeat=len(free)):
        signs[free] = values
        lowest = min(lowest, energy(matrix, linear, signs))
    return lowest
