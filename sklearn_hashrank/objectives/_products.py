"""Inner products of the relaxed codes of a batch, and the pull of codes towards -1 and +1."""

import numpy as np

from .. import _kernels
from .._utils.threads import over_blocks


def inner_products(codes: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
    codes_of_columns = codes.T.copy()
    products = np.empty((len(codes), len(codes)), codes.dtype)

    def multiply(rows):
        np.matmul(codes[rows], codes_of_columns, out=products[rows])

    over_blocks(multiply, len(codes), n_jobs)
    return products


def pull_back_products(
    codes: np.ndarray, slope: np.ndarray, n_jobs: int | None = None
) -> np.ndarray:
    """Return the gradient to the codes, given the derivative by each product (M, M).

    The derivatives are used up: those of a pair from both sides are added.
    """
    gradient = np.empty_like(codes)

    def multiply(rows):
        np.matmul(slope[rows], codes, out=gradient[rows])

    add_both_ways(slope, n_jobs)
    over_blocks(multiply, len(codes), n_jobs)
    return gradient


def add_both_ways(slope: np.ndarray, n_jobs: int | None = None) -> None:
    """Add the slopes of every pair from both sides (M, M), in place."""

    def add(rows):
        _kernels.pairs.add_transposed(slope, rows.start, rows.stop)

    over_blocks(add, len(slope), n_jobs)


def quantization_error(codes: np.ndarray) -> tuple[float, np.ndarray]:
    """Return the mean of (|u| - 1)^2 over all numbers, and its gradient; 0 where u = 0."""
    outside = np.abs(codes)
    outside -= 1
    gradient = outside * np.sign(codes)
    gradient *= 2 / codes.size
    return float(np.einsum("ij,ij->", outside, outside)) / codes.size, gradient
