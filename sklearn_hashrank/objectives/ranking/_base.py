"""What an objective is: a sum over ties, divided by its ideal, and the gradient of that."""

from abc import ABC, abstractmethod
from functools import lru_cache
from typing import ClassVar, NamedTuple

import numpy as np


class Ties(NamedTuple):
    """The soft ties of M queries, nearest bin first.

    Parameters
    ----------
    gain, gain_before : ndarray of shape (M, n_bins + 1)
        Gain of the items in the bin, and of those in all nearer bins.
    items, items_before : ndarray of shape (M, n_bins + 1)
        Number of items in the bin, and in all nearer bins.

    Examples
    --------
    A relevant item in each of two bins, and an irrelevant one in the second:

    >>> import numpy as np
    >>> from sklearn_hashrank.objectives import OBJECTIVES, Ties
    >>> ties = Ties(*np.array([[[1.0, 1.0]], [[0.0, 1.0]], [[1.0, 2.0]], [[0.0, 1.0]]]))
    >>> OBJECTIVES["ap", "simplified"]().tie(ties).value
    array([[1. , 0.8]])
    """

    gain: np.ndarray
    gain_before: np.ndarray
    items: np.ndarray
    items_before: np.ndarray


class TieValues(NamedTuple):
    """The contribution of each tie to the measure, and its derivative by each field of `Ties`.

    Parameters
    ----------
    value : ndarray of shape (M, n_bins + 1)
        The contributions.
    gain, gain_before, items, items_before : ndarray of shape (M, n_bins + 1) or None
        Their derivatives; ``None`` stands for zero everywhere.

    Examples
    --------
    An objective of the share of relevant items, whatever the order:

    >>> import numpy as np
    >>> from sklearn_hashrank.objectives import TieValues
    >>> gain = np.array([[1.0, 2.0]])
    >>> TieValues(gain, np.ones_like(gain), None, None, None).gain
    array([[1., 1.]])
    """

    value: np.ndarray
    gain: np.ndarray | None
    gain_before: np.ndarray | None
    items: np.ndarray | None
    items_before: np.ndarray | None


class Objective(ABC):
    """A smooth function of the soft histograms of queries, to be maximised.

    A subclass says how much an item of each level gains (`level_gain`), what the sum of all ties
    is divided by (`ideal`), and what one tie contributes, with four partial derivatives (`tie`).
    The sums over levels and bins, forward and backward, are here.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_hashrank.objectives import OBJECTIVES
    >>> counts = np.array([[[0.0, 1.0, 2.0], [2.0, 0.5, 0.5]]])
    >>> OBJECTIVES["ap", "exact"]().value(counts, np.array([0, 1]), counts.sum(axis=2)).round(3)
    array([0.935])
    """

    measure: ClassVar[str]
    relaxation: ClassVar[str]
    dtype: ClassVar[type | None] = None
    """Precision of the computation; ``None`` is that of the soft counts."""

    @abstractmethod
    def level_gain(self, levels: np.ndarray) -> np.ndarray:
        """Return the gain of an item of each level.

        Parameters
        ----------
        levels : ndarray of shape (n_levels,)
            The affinity levels, 0 for irrelevant.

        Returns
        -------
        gain : ndarray of shape (n_levels,)
        """

    @abstractmethod
    def ideal(self, levels: np.ndarray, n_items: np.ndarray) -> np.ndarray:
        """Return what the sum over the ties is divided by, that of a perfect ranking.

        Parameters
        ----------
        levels : ndarray of shape (n_levels,)
            The affinity levels, 0 for irrelevant.
        n_items : ndarray of shape (M, n_levels)
            Number of items of each level that each query is ranked against.

        Returns
        -------
        ideal : ndarray of shape (M,)
            0 where nothing is relevant.
        """

    @abstractmethod
    def tie(self, ties: Ties) -> TieValues:
        """Return the contribution of every tie and its partial derivatives.

        Parameters
        ----------
        ties : Ties
            Gain and number of items, in and before each tie.

        Returns
        -------
        values : TieValues
        """

    def value(self, counts: np.ndarray, levels: np.ndarray, n_items: np.ndarray) -> np.ndarray:
        """Return the objective of each query.

        Parameters
        ----------
        counts, levels, n_items : ndarray
            As for :meth:`value_and_gradient`.

        Returns
        -------
        value : ndarray of shape (M,)
        """
        return self.value_and_gradient(counts, levels, n_items)[0]

    def gradient(self, counts: np.ndarray, levels: np.ndarray, n_items: np.ndarray) -> np.ndarray:
        """Return the derivative of each query's value by each of its soft counts.

        Parameters
        ----------
        counts, levels, n_items : ndarray
            As for :meth:`value_and_gradient`.

        Returns
        -------
        gradient : ndarray of shape (M, n_levels, n_bins + 1)
        """
        return self.value_and_gradient(counts, levels, n_items)[1]

    def value_and_gradient(
        self, counts: np.ndarray, levels: np.ndarray, n_items: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Evaluate the objective of each query and its gradient.

        Parameters
        ----------
        counts : ndarray of shape (M, n_levels, n_bins + 1)
            Soft number of items of each level in each bin of distance, not negative.
        levels : ndarray of shape (n_levels,)
            The affinity levels, 0 for irrelevant.
        n_items : ndarray of shape (M, n_levels)
            True number of items of each level that each query is ranked against.

        Returns
        -------
        value : ndarray of shape (M,)
            0 for a query without relevant items.
        gradient : ndarray of shape (M, n_levels, n_bins + 1)
            Derivative of each query's value by each of its counts.
        """
        soft = counts if self.dtype is None else counts.astype(self.dtype, copy=False)
        gains = self.level_gain(np.asarray(levels, dtype=np.float64)).astype(soft.dtype)
        ideal = self.ideal(np.asarray(levels, dtype=np.float64), n_items)
        scale = np.divide(1.0, ideal, out=np.zeros_like(ideal), where=ideal > 0).astype(soft.dtype)

        gain, items = _sum_over_levels(soft, gains)
        nearer = _nearer_bins(soft.shape[-1], soft.dtype)
        value, by_gain, by_gain_before, by_items, by_items_before = self.tie(
            Ties(gain, gain @ nearer, items, items @ nearer)
        )

        scale_column = scale[:, None]
        to_gain = _pull_back(by_gain, by_gain_before, nearer) * scale_column
        to_items = _pull_back(by_items, by_items_before, nearer) * scale_column
        gradient = np.empty(counts.shape, counts.dtype)
        for v, level_gain in enumerate(gains):
            gradient[:, v] = to_items + level_gain * to_gain if level_gain else to_items
        return (value.sum(axis=1) * scale).astype(counts.dtype, copy=False), gradient


def _sum_over_levels(counts: np.ndarray, gains: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the gain and the number of items in each bin (M, n_bins + 1)."""
    items = counts[:, 0] + counts[:, 1] if len(gains) > 1 else counts[:, 0].copy()
    for v in range(2, len(gains)):
        items += counts[:, v]
    gain = np.zeros_like(items)
    for v, level_gain in enumerate(gains):
        if level_gain:
            gain += counts[:, v] if level_gain == 1 else level_gain * counts[:, v]
    return gain, items


def _pull_back(own: np.ndarray | None, before: np.ndarray | None, nearer: np.ndarray) -> np.ndarray:
    """Return the derivative by a bin: its own tie's, and that of all ties farther away."""
    if before is None:
        return np.zeros((1, 1), nearer.dtype) if own is None else own
    farther = before @ nearer.T
    return farther if own is None else own + farther


@lru_cache(maxsize=16)
def _nearer_bins(n: int, dtype: np.dtype) -> np.ndarray:
    """Return the matrix that sums over all nearer bins: a small GEMM beats n-step running sums."""
    return np.triu(np.ones((n, n), dtype), 1)


@lru_cache(maxsize=16)
def _discount_table(n: int) -> np.ndarray:
    return np.concatenate([[0.0], np.cumsum(1 / np.log2(np.arange(2, n + 2)))])


def cumulative_discount(n_items: int) -> np.ndarray:
    """Return S with S[n] = sum over ranks t = 1..n of 1 / log2(t + 1), for n up to `n_items`."""
    return _discount_table(1 << max(int(n_items), 1).bit_length())


def ideal_dcg(gains: np.ndarray, n_items: np.ndarray) -> np.ndarray:
    """Return the DCG of the ranking that sorts items by gain (M,), from counts (M, n_levels)."""
    best_first = np.argsort(-gains, kind="stable")
    last_rank = np.cumsum(n_items[:, best_first], axis=1)
    total = cumulative_discount(last_rank[:, -1].max(initial=0))[last_rank]
    return np.diff(total, axis=1, prepend=0.0) @ gains[best_first]
