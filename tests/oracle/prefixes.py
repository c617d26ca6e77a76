"""The mean of an objective over prefixes, one prefix after the other."""

import numpy as np


def mean_over_prefixes(objective, prefixes, scores, level, levels):
    """Value and gradient; the gradient of a prefix is zero by the bits behind it."""
    values, gradients = [], []
    for n in prefixes:
        value, gradient = objective.value_and_gradient(scores[:, :n].copy(), level, levels)
        values.append(value)
        rest = np.zeros((len(scores), scores.shape[1] - n))
        gradients.append(np.hstack([gradient, rest]))
    return np.mean(values), np.mean(gradients, axis=0)
