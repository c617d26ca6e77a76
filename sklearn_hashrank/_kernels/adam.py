"""A step of a stochastic solver, in one pass over its arrays."""

import numpy as np

from ._jit import lean_kernel


@lean_kernel
def follow_by_adam(parameter, gradient, mean, square, shares, kept, epsilon, length):
    """Move running means of the gradient and of its square, and the parameter along the first.

    All arrays are flat. `shares` are those of a new gradient in both means; `kept` is the share of
    the parameter that decay leaves.
    """
    number = parameter.dtype.type
    of_mean, of_square = number(shares[0]), number(shares[1])
    kept, epsilon, length = number(kept), number(epsilon), number(length)
    for i in range(parameter.size):
        mean[i] += (gradient[i] - mean[i]) * of_mean
        square[i] += (gradient[i] * gradient[i] - square[i]) * of_square
        move = mean[i] / (np.sqrt(square[i]) + epsilon) * length
        parameter[i] = parameter[i] * kept + move
