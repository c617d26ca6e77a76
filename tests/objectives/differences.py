"""Gradients by finite differences."""

import numpy as np


def central_differences(function, point, step):
    gradient = np.empty_like(point)
    for index in np.ndindex(point.shape):
        ahead, behind = point.copy(), point.copy()
        ahead[index] += step
        behind[index] -= step
        gradient[index] = (function(ahead) - function(behind)) / (2 * step)
    return gradient
