"""Distances of relaxed codes, and the way back from their slopes to the codes."""

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from ... import _kernels
from ..._utils.threads import over_blocks, over_rows

# Nanoseconds of a bit of a pair, and rows of a slice, at least: short rows of a kernel cost more.
_SIGN_COST, _FEWEST_ROWS = 0.1, 512


class SquaredEuclidean:
    """Sum of squared differences: four times the Hamming distance of codes of -1 and +1."""

    # Its slopes grow with the scores, so that steps must be short.
    learning_rates: ClassVar[Mapping[str, float]] = {"sgd": 0.03}

    @staticmethod
    def distances(codes: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
        norms = np.einsum("ij,ij->i", codes, codes)
        codes_of_columns = codes.T.copy()
        distances = np.empty((len(codes), len(codes)), codes.dtype)

        def measure(rows):
            block = np.matmul(codes[rows], codes_of_columns, out=distances[rows])
            block *= -2
            block += norms[rows, None]
            block += norms
            np.maximum(block, 0, out=block)

        over_blocks(measure, len(codes), n_jobs)
        return distances

    @staticmethod
    def pull_back(codes: np.ndarray, slope: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
        """Return the gradient to the codes; `slope` by each distance is symmetric."""
        gradient = np.empty_like(codes)

        def pull(rows):
            total = slope[rows].sum(axis=1)[:, None]
            gradient[rows] = 2 * (total * codes[rows] - slope[rows] @ codes)

        over_blocks(pull, len(codes), n_jobs)
        return gradient


class CityBlock:
    """Sum of absolute differences: twice the Hamming distance of codes of -1 and +1.

    In a bit where two codes agree the slope is zero, the mean of those of the two sides.
    """

    learning_rates: ClassVar[Mapping[str, float]] = {}

    @staticmethod
    def distances(codes: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
        n_rows, columns = len(codes), np.ascontiguousarray(codes.T)
        distances = np.zeros((n_rows, n_rows), codes.dtype)

        def measure(rows):
            _kernels.pairs.city_block_distances(columns, distances, rows.start, rows.stop)

        over_blocks(measure, n_rows, n_jobs)
        return distances

    @staticmethod
    def pull_back(codes: np.ndarray, slope: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
        """Return the gradient to the codes; `slope` by each distance is symmetric."""
        n_rows, n_bits = codes.shape
        columns = np.ascontiguousarray(codes.T)

        def pull(rows):
            # Arrays of their own: threads that write to one line of the cache wait for each other.
            gradient = np.zeros((n_bits, rows.stop - rows.start), codes.dtype)
            _kernels.pairs.pull_back_city_block(columns, slope, gradient, rows.start, rows.stop)
            return gradient.T

        cost = _SIGN_COST * columns.size
        return np.concatenate(over_rows(pull, n_rows, n_jobs, cost=cost, fewest=_FEWEST_ROWS))


METRICS = {"sqeuclidean": SquaredEuclidean, "cityblock": CityBlock}
"""Distances by the names that scipy has for them."""
