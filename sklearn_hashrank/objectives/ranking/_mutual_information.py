"""Mutual information of distance and relevance. Relevant means level > 0."""

import numpy as np

from ._base import RankingObjective
from ._ties import SoftTies, TieValues

# Smallest number of items that a logarithm is taken of: the slope is infinite in a bin without any.
_FEWEST = 1e-6


class MutualInformation(RankingObjective):
    """How much a distance tells about relevance, in bits.

    I(D; C) = H(D) - H(D | C), with D the bin of an item and C whether it is relevant. As a sum over
    bins it is sum_d [c+_d log2(c+_d N / (c_d N+)) + c-_d log2(c-_d N / (c_d N-))] / N. A query
    without relevant items, or without irrelevant ones, contributes nothing. With ``delta`` other
    than 1 the information is multiplied by the share of the items that the bins hold.

    Parameters
    ----------
    alpha : float, default=2.0
        Steepness of the relaxed codes ``tanh(alpha * scores)``, for scores of about unit variance.
        The arXiv version writes them as ``2 * sigmoid(a * scores) - 1``, with `a` twice this.
    alpha_end : float or None, default=None
        Steepness at the end of the training; it changes geometrically. None: it does not change.
    n_bins : int, "auto" or None, default="auto"
        Steps between the first and the last bin of the soft histogram. ``"auto"`` is the smaller
        of the number of bits and 16, or 64 when learning from nearest rows. None is one step per
        bit, as published.
    delta : float, default=1.0
        Half-width of the triangular bins, in bins.
    n_jobs : int or None, default=None
        Threads over the rows of large batches. None means 1 unless in a
        :obj:`joblib.parallel_config` context, -1 means all processors. Results do not depend on it.

    References
    ----------
    .. [1] F. Cakir, K. He, S. A. Bargal, S. Sclaroff, "MIHash: online hashing with mutual
       information", ICCV 2017.

    Examples
    --------
    Half of the items are relevant, and the distance says which:

    >>> import numpy as np
    >>> from sklearn_hashrank.objectives import MutualInformation
    >>> counts = np.array([[[0.0, 0.0, 3.0], [2.0, 1.0, 0.0]]])
    >>> n_items = counts.sum(axis=2)
    >>> MutualInformation().evaluate_counts(counts, np.array([0, 1]), n_items)[0].round(3)
    array([1.])
    """

    dtype = np.float64

    def ideal(self, levels: np.ndarray, n_items: np.ndarray) -> np.ndarray:
        """Return the number of items, and 0 where all or none of them are relevant."""
        total, relevant = n_items.sum(axis=1), super().ideal(levels, n_items)
        return np.where((relevant > 0) & (relevant < total), total, 0).astype(np.float64)

    def tie(self, ties: SoftTies) -> TieValues:
        """Return the contributions of the ties."""
        relevant, irrelevant = ties.gain, np.maximum(ties.total - ties.gain, 0)
        by_relevant = _information(relevant, ties.total)
        by_irrelevant = _information(irrelevant, ties.total)
        value = relevant * by_relevant + irrelevant * by_irrelevant
        return TieValues(value, by_relevant - by_irrelevant, None, by_irrelevant, None)


def _information(some: np.ndarray, total: np.ndarray) -> np.ndarray:
    """Return what a bin tells of each of some items in it: log2 of share / share of all."""
    with_floor = np.maximum(some, _FEWEST) / np.maximum(total, _FEWEST)
    overall = some.sum(axis=1, keepdims=True), total.sum(axis=1, keepdims=True)
    return np.log2(with_floor * np.maximum(overall[1], _FEWEST) / np.maximum(overall[0], _FEWEST))
