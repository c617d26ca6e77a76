"""The objective of a batch of scores, in which every row queries all the others."""

import numpy as np
from numpy.typing import ArrayLike

from ._base import Objective
from ._soft_histogram import SoftHistogram


class BatchObjective:
    """Mean objective of the rows of a batch, each a query against all other rows.

    Parameters
    ----------
    objective : Objective
        Function of the soft histograms.
    levels : array-like of shape (n_levels,)
        The affinity levels that indices stand for.
    n_bins : int, default=None
        Number of bins of the soft histogram; see `SoftHistogram`.
    delta : float, default=1.0
        Half width of the triangle that spreads a pair over bins; see `SoftHistogram`.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_hashrank.objectives import OBJECTIVES, BatchObjective
    >>> y = np.array([0, 0, 1, 1])
    >>> level = (y[:, None] == y).astype(np.uint8)
    >>> learned = BatchObjective(OBJECTIVES["ap", "exact"](), levels=[0, 1])
    >>> scores = np.array([[2.0, 0.1], [2.0, -0.1], [-2.0, 0.1], [-2.0, -0.1]])
    >>> value, gradient = learned.value_and_gradient(scores, level, alpha=9.0)
    >>> better, _ = learned.value_and_gradient(scores + 0.01 * gradient, level, alpha=9.0)
    >>> better > value
    True
    """

    def __init__(
        self,
        objective: Objective,
        levels: ArrayLike,
        *,
        n_bins: int | None = None,
        delta: float = 1.0,
    ):
        self.objective = objective
        self.levels = np.asarray(levels, dtype=np.float64)
        self.histogram = SoftHistogram(n_bins, delta)

    def value_and_gradient(
        self, scores: np.ndarray, level: np.ndarray, alpha: float = 1.0
    ) -> tuple[float, np.ndarray]:
        """Evaluate scores (M, n_bits) whose relaxed codes are tanh(alpha * scores).

        Parameters
        ----------
        scores : ndarray of shape (M, n_bits)
            The real projections, float32 or float64.
        level : ndarray of shape (M, M), uint8
            Index into `levels` for query q (row) and item i (column). The diagonal is ignored.
        alpha : float, default=1.0
            Steepness of the relaxed codes.

        Returns
        -------
        value : float
            Mean over all rows; a row without relevant items counts 0.
        gradient : ndarray of shape (M, n_bits)
            Its derivative by the scores.
        """
        with np.errstate(over="ignore"):  # an infinite score is a saturated bit
            codes = np.tanh(scores * scores.dtype.type(alpha))
        counts, similarity = self.histogram.counts(codes, level, len(self.levels))
        value, by_count = self.objective.value_and_gradient(
            counts, self.levels, count_levels(level, len(self.levels))
        )
        gradient = self.histogram.pull_back(codes, level, similarity, by_count)
        gradient *= 1 - codes * codes
        gradient *= alpha / len(scores)
        return float(value.mean()), gradient


def count_levels(level: np.ndarray, n_levels: int) -> np.ndarray:
    """Return how many other items of each level every row is ranked against (M, n_levels)."""
    from ..._kernels.soft_histogram import count_levels as count

    return count(level, n_levels)
