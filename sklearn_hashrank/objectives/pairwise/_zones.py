"""Objectives that are sums over pairs: where the distance of a pair of codes should lie."""

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike


class SquaredEuclidean:
    """Sum of squared differences: four times the Hamming distance of codes of -1 and +1.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_hashrank.objectives import SquaredEuclidean
    >>> SquaredEuclidean.distances(np.array([[1.0, 1.0, -1.0], [1.0, -1.0, 1.0]]))
    array([[0., 8.],
           [8., 0.]])
    """

    @staticmethod
    def distances(codes: np.ndarray) -> np.ndarray:
        """Return the distance of every pair of rows.

        Parameters
        ----------
        codes : ndarray of shape (M, n_bits)
            Relaxed codes.

        Returns
        -------
        distances : ndarray of shape (M, M)
        """
        norms = np.einsum("ij,ij->i", codes, codes)
        distances = codes @ codes.T.copy()
        distances *= -2
        distances += norms[:, None]
        distances += norms
        return np.maximum(distances, 0, out=distances)

    @staticmethod
    def pull_back(codes: np.ndarray, slope: np.ndarray) -> np.ndarray:
        """Return the gradient to the codes.

        Parameters
        ----------
        codes : ndarray of shape (M, n_bits)
            Relaxed codes.
        slope : ndarray of shape (M, M)
            Derivative by the distance of each pair, symmetric.

        Returns
        -------
        gradient : ndarray of shape (M, n_bits)
        """
        return 2 * (slope.sum(axis=1)[:, None] * codes - slope @ codes)


class CityBlock:
    """Sum of absolute differences: twice the Hamming distance of codes of -1 and +1.

    In a bit where two codes agree the slope is zero, the mean of those of the two sides.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_hashrank.objectives import CityBlock
    >>> CityBlock.distances(np.array([[1.0, 1.0, -1.0], [1.0, -1.0, 1.0]]))
    array([[0., 4.],
           [4., 0.]])
    """

    @staticmethod
    def distances(codes: np.ndarray) -> np.ndarray:
        """Return the distance of every pair of rows.

        Parameters
        ----------
        codes : ndarray of shape (M, n_bits)
            Relaxed codes.

        Returns
        -------
        distances : ndarray of shape (M, M)
        """
        from ..._kernels.pairs import city_block_distances

        return city_block_distances(np.ascontiguousarray(codes.T))

    @staticmethod
    def pull_back(codes: np.ndarray, slope: np.ndarray) -> np.ndarray:
        """Return the gradient to the codes.

        Parameters
        ----------
        codes : ndarray of shape (M, n_bits)
            Relaxed codes.
        slope : ndarray of shape (M, M)
            Derivative by the distance of each pair, symmetric.

        Returns
        -------
        gradient : ndarray of shape (M, n_bits)
        """
        from ..._kernels.pairs import pull_back_city_block

        return pull_back_city_block(np.ascontiguousarray(codes.T), slope).T


class PairwiseObjective(ABC):
    r"""Minus the mean loss of the pairs of a batch, to be maximised.

    A pair costs half of what its distance lacks to the zone of its level, or exceeds it by, and
    `regularization` times :math:`\sum_k ||u_k| - 1|` for each of its two relaxed codes `u`. A
    subclass says how distance is measured and where the zones are.

    On its kinks, which are the ends of a zone, equal bits of a pair under the city-block distance,
    and :math:`|u_k|` of 0 or 1, the gradient has the mean of the slopes of the two sides.

    Parameters
    ----------
    levels : array-like of shape (n_levels,)
        The affinity levels that indices stand for.
    n_bits : int
        Length of a code.
    margin : float, default=2.0
        Least distance of irrelevant pairs, per bit.
    zone : tuple (low, high), default=(1/6, 1/3)
        Zone of relevant pairs, per bit.
    regularization : float, default=0.01
        Weight of the pull of relaxed codes towards -1 and +1.

    Examples
    --------
    Relevant pairs have the same code, irrelevant ones differ in every bit:

    >>> import numpy as np
    >>> from sklearn_hashrank.objectives import CityBlock, PairwiseObjective
    >>> class SameOrOpposite(PairwiseObjective):
    ...     name, metric = "same or opposite", CityBlock
    ...
    ...     def zones(self, levels):
    ...         return np.where(levels[:, None] > 0, (0, 0), (2, np.inf))
    >>> objective = SameOrOpposite(levels=[0, 1], n_bits=2)
    >>> codes = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, -1.0]])
    >>> level = np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]], dtype=np.uint8)
    >>> value, gradient = objective.value_and_gradient(codes, level)
    >>> round(value, 3)
    -0.667
    """

    name: ClassVar[str]
    metric: ClassVar[type[SquaredEuclidean] | type[CityBlock]]

    def __init__(
        self,
        levels: ArrayLike,
        n_bits: int,
        *,
        margin: float = 2.0,
        zone: tuple[float, float] = (1 / 6, 1 / 3),
        regularization: float = 0.01,
    ):
        self.margin, self.zone, self.regularization = margin, zone, regularization
        self.low, self.high = n_bits * self.zones(np.asarray(levels, dtype=np.float64)).T

    @abstractmethod
    def zones(self, levels: np.ndarray) -> np.ndarray:
        """Return the zone of each level, per bit.

        Parameters
        ----------
        levels : ndarray of shape (n_levels,)
            The affinity levels, ascending from 0.

        Returns
        -------
        zones : ndarray of shape (n_levels, 2)
            Least and largest distance that cost nothing.
        """

    def value_and_gradient(self, codes: np.ndarray, level: np.ndarray) -> tuple[float, np.ndarray]:
        """Evaluate relaxed codes.

        Parameters
        ----------
        codes : ndarray of shape (M, n_bits)
            Relaxed codes, float32 or float64.
        level : ndarray of shape (M, M), unsigned
            Index into `levels` of every ordered pair. The diagonal is ignored.

        Returns
        -------
        value : float
            Minus the mean loss of the ordered pairs of different rows.
        gradient : ndarray of shape (M, n_bits)
            Its derivative by the codes.
        """
        from ..._kernels.pairs import leave_zones

        n_pairs = max(len(codes) * (len(codes) - 1), 1)
        slope = self.metric.distances(codes)
        low, high = self.low.astype(codes.dtype), self.high.astype(codes.dtype)
        loss = leave_zones(slope, level, low, high) / n_pairs
        gradient = self.metric.pull_back(codes, slope + slope.T)
        gradient *= -1 / n_pairs

        outside = np.abs(codes) - 1
        share = 2 * self.regularization / len(codes)
        loss += share * float(np.abs(outside).sum())
        gradient -= codes.dtype.type(share) * np.sign(outside) * np.sign(codes)
        return -loss, gradient


class DSH(PairwiseObjective):
    """Deep supervised hashing: relevant pairs together, the others beyond the margin."""

    name = "dsh"
    metric = SquaredEuclidean

    def zones(self, levels: np.ndarray) -> np.ndarray:
        """Return distance 0 for relevant pairs."""
        return np.where((levels > 0)[:, None], (0.0, 0.0), (self.margin, np.inf))


class Dispersed(PairwiseObjective):
    """Relevant pairs in a buffer zone, neither farther nor nearer."""

    name = "dispersed"
    metric = CityBlock

    def zones(self, levels: np.ndarray) -> np.ndarray:
        """Return the one zone of all relevant pairs."""
        return np.where((levels > 0)[:, None], self.zone, (self.margin, np.inf))


class Hierarchical(Dispersed):
    """One buffer zone for each level, half as far with every further level."""

    name = "hierarchical"

    def zones(self, levels: np.ndarray) -> np.ndarray:
        """Return the zone for the lowest level above 0, half of it for the next, and so on."""
        rank = np.cumsum(levels > 0)
        zones = super().zones(levels)
        return np.where((rank > 1)[:, None], zones * 0.5 ** np.maximum(rank - 1, 0)[:, None], zones)
