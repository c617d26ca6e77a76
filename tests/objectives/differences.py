"""Gradients by finite differences."""

import numpy as np


def differences(function, point, ahead, behind):
    """Return (f(point + ahead e) - f(point - behind e)) / (ahead + behind) for every unit e."""
    gradient = np.empty_like(point)
    for index in np.ndindex(point.shape):
        forward, backward = point.copy(), point.copy()
        forward[index] += ahead
        backward[index] -= behind
        gradient[index] = (function(forward) - function(backward)) / (ahead + behind)
    return gradient


def central_differences(function, point, step):
    return differences(function, point, step, step)
