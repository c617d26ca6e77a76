"""Objectives that are sums over pairs: where the distance of a pair of codes should lie."""

from abc import abstractmethod
from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval

from ... import _kernels
from ..._utils.threads import over_blocks
from ...affinity._labels import HierarchicalAffinity
from .._base import BaseObjective
from .._products import add_both_ways
from ._distances import METRICS


class PairwiseObjective(BaseObjective):
    r"""Minus the mean loss of the pairs of a batch, to be maximized.

    The relaxed codes are the scores themselves. A pair costs half of what its distance lacks to the
    zone of its level, or exceeds it by, and `regularization` times :math:`\sum_k ||u_k| - 1|` for
    each of its two relaxed codes `u`. A subclass says how distance is measured (`metric`) and where
    the zones are (:meth:`zones`). A subclass with further parameters writes a constructor that sets
    them. Parameters of this class that the constructor leaves out have their defaults.

    On its kinks, which are the ends of a zone, equal bits of a pair under the city-block distance,
    and :math:`|u_k|` of 0 or 1, the gradient has the mean of the slopes of the two sides.

    Parameters
    ----------
    margin : float, default=2.0
        Least distance of irrelevant pairs, per bit.
    zone : tuple (low, high), default=(1/6, 1/3)
        Zone of relevant pairs, per bit.
    regularization : float, default=0.01
        Weight of the pull of relaxed codes towards -1 and +1.
    n_jobs : int or None, default=None
        Threads over the rows of large batches. None means 1 unless in a
        :obj:`joblib.parallel_config` context, -1 means all processors. Results do not depend on it.

    Attributes
    ----------
    metric : {"sqeuclidean", "cityblock"}
        Distance of two relaxed codes. For codes of -1 and +1 it is 4 or 2 times the Hamming
        distance.

    Examples
    --------
    Relevant pairs have the same code, irrelevant ones differ in every bit:

    >>> import numpy as np
    >>> from sklearn_hashrank.objectives import PairwiseObjective
    >>> class SameOrOpposite(PairwiseObjective):
    ...     metric = "cityblock"
    ...
    ...     def zones(self, levels):
    ...         return np.where(levels[:, None] > 0, (0, 0), (2, np.inf))
    >>> scores = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, -1.0]])
    >>> level = np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]], dtype=np.uint8)
    >>> value, gradient = SameOrOpposite().value_and_gradient(scores, level, np.array([0.0, 1.0]))
    >>> round(value, 3)
    -0.667
    """

    _parameter_constraints: ClassVar[dict] = {
        "margin": [Interval(Real, 0, None, closed="left")],
        "zone": [tuple, list],
        "regularization": [Interval(Real, 0, None, closed="left")],
        "n_jobs": [None, Integral],
    }

    metric: ClassVar[str]

    # For subclasses whose constructor leaves them out.
    margin: float = 2.0
    zone: tuple[float, float] = (1 / 6, 1 / 3)
    regularization: float = 0.01
    n_jobs: int | None = None

    def __init__(
        self,
        *,
        margin: float = 2.0,
        zone: tuple[float, float] = (1 / 6, 1 / 3),
        regularization: float = 0.01,
        n_jobs: int | None = None,
    ):
        self.margin = margin
        self.zone = zone
        self.regularization = regularization
        self.n_jobs = n_jobs

    @property
    def learning_rates(self) -> Mapping[str, float]:  # type: ignore[override]
        """Those that suit the metric."""
        return self._distance.learning_rates

    @property
    def _distance(self):
        if self.metric not in METRICS:
            raise ValueError(
                f"{type(self).__name__}.metric must be one of {', '.join(map(repr, METRICS))}. "
                f"Got {self.metric!r}."
            )
        return METRICS[self.metric]

    @abstractmethod
    def zones(self, levels: np.ndarray) -> np.ndarray:
        """Return the zone of each level, per bit.

        Parameters
        ----------
        levels : ndarray of shape (n_levels,)
            The affinity levels, ascending from 0.

        Returns
        -------
        zones : ndarray of shape (n_levels, 2) or (n_levels, n_zones, 2)
            Least and largest distance that cost nothing. Of several zones a pair pays for each.
        """

    def value_and_gradient(
        self, scores: np.ndarray, level: np.ndarray, levels: np.ndarray
    ) -> tuple[float, np.ndarray]:
        """Evaluate the objective of a batch and its gradient.

        Parameters
        ----------
        scores : ndarray of shape (M, n_bits)
            The real projections, float32 or float64, which are the relaxed codes.
        level : ndarray of shape (M, M), unsigned
            Index into `levels` of every ordered pair. The diagonal is ignored.
        levels : ndarray of shape (n_levels,)
            The affinity levels, ascending from 0.

        Returns
        -------
        value : float
            Minus the mean loss of the ordered pairs of different rows.
        gradient : ndarray of shape (M, n_bits)
            Its derivative by the scores.
        """
        _check_zone(self.zone)
        n_rows, n_bits = scores.shape
        n_pairs = max(n_rows * (n_rows - 1), 1)
        zones = np.asarray(self.zones(np.asarray(levels, dtype=np.float64)))
        several = zones[:, None] if zones.ndim == 2 else zones
        if several.shape != (len(levels), *several.shape[1:2], 2) or not np.all(
            several[..., 0] <= several[..., 1]
        ):
            raise ValueError(
                f"{type(self).__name__}.zones must return (low, high) with low <= high for every "
                f"level, in an array of shape {(len(levels), 2)} or ({len(levels)}, n_zones, 2). "
                f"Got {zones.tolist()} instead."
            )
        low, high = np.ascontiguousarray((n_bits * several).T, dtype=scores.dtype)
        metric = self._distance
        slope = metric.distances(scores, self.n_jobs)
        losses = np.empty(n_rows)

        def leave(rows):
            _kernels.pairs.leave_zones(slope, level, low, high, losses, rows.start, rows.stop)

        over_blocks(leave, n_rows, self.n_jobs)
        add_both_ways(slope, self.n_jobs)
        loss = sum(losses.tolist()) / n_pairs
        gradient = metric.pull_back(scores, slope, self.n_jobs)
        gradient *= -1 / n_pairs

        outside = np.abs(scores) - 1
        share = 2 * self.regularization / n_rows
        loss += share * float(np.abs(outside).sum())
        gradient -= scores.dtype.type(share) * np.sign(outside) * np.sign(scores)
        return -loss, gradient


def _check_zone(zone):
    ends = np.asarray(zone)
    numbers = ends.shape == (2,) and ends.dtype.kind in "iuf"
    if not numbers or not 0 <= ends[0] <= ends[1] < np.inf:
        raise ValueError(
            f"zone must be two distances per bit, 0 <= low <= high. Got {zone!r} instead."
        )


class DSH(PairwiseObjective):
    """Deep supervised hashing: relevant pairs together, the others beyond the margin.

    Distances are squared Euclidean: 4 times the Hamming distance of codes of -1 and +1.

    Parameters
    ----------
    margin : float, default=2.0
        Least distance of irrelevant pairs, per bit.
    zone : tuple (low, high), default=(1/6, 1/3)
        Zone of relevant pairs, per bit.
    regularization : float, default=0.01
        Weight of the pull of relaxed codes towards -1 and +1.
    n_jobs : int or None, default=None
        Threads over the rows of large batches. None means 1 unless in a
        :obj:`joblib.parallel_config` context, -1 means all processors. Results do not depend on it.

    Examples
    --------
    >>> from sklearn_hashrank import DispersionHasher
    >>> from sklearn_hashrank.objectives import DSH
    >>> hasher = DispersionHasher(n_bits=8, objective=DSH(margin=1.0))
    >>> hasher.set_params(objective__margin=1.5).objective
    DSH(margin=1.5)
    """

    metric = "sqeuclidean"

    def zones(self, levels: np.ndarray) -> np.ndarray:
        """Return distance 0 for relevant pairs."""
        return np.where((levels > 0)[:, None], (0.0, 0.0), (self.margin, np.inf))


class Dispersed(PairwiseObjective):
    """Relevant pairs in a buffer zone, neither farther nor nearer.

    Distances are city-block: 2 times the Hamming distance of codes of -1 and +1.

    Parameters
    ----------
    margin : float, default=1.0
        Least distance of irrelevant pairs, per bit.
    zone : tuple (low, high), default=(1/3, 2/3)
        Zone of relevant pairs, per bit.
    regularization : float, default=0.01
        Weight of the pull of relaxed codes towards -1 and +1.
    n_jobs : int or None, default=None
        Threads over the rows of large batches. None means 1 unless in a
        :obj:`joblib.parallel_config` context, -1 means all processors. Results do not depend on it.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_hashrank.objectives import Dispersed
    >>> Dispersed(margin=1.0, zone=(1 / 3, 2 / 3)).zones(np.array([0.0, 1.0])).round(2)
    array([[1.  ,  inf],
           [0.33, 0.67]])
    """

    metric = "cityblock"

    def __init__(
        self,
        *,
        margin: float = 1.0,
        zone: tuple[float, float] = (1 / 3, 2 / 3),
        regularization: float = 0.01,
        n_jobs: int | None = None,
    ):
        super().__init__(margin=margin, zone=zone, regularization=regularization, n_jobs=n_jobs)

    def zones(self, levels: np.ndarray) -> np.ndarray:
        """Return the one zone of all relevant pairs."""
        return np.where((levels > 0)[:, None], self.zone, (self.margin, np.inf))


class Hierarchical(Dispersed):
    """One buffer zone for each level, half as far with every further level.

    A pair pays for the zone of its own level. The printed loss is :class:`Nested`.

    Distances are city-block: 2 times the Hamming distance of codes of -1 and +1.

    Parameters
    ----------
    margin : float, default=1.0
        Least distance of irrelevant pairs, per bit.
    zone : tuple (low, high), default=(2/3, 1)
        Zone of relevant pairs, per bit.
    regularization : float, default=0.01
        Weight of the pull of relaxed codes towards -1 and +1.
    n_jobs : int or None, default=None
        Threads over the rows of large batches. None means 1 unless in a
        :obj:`joblib.parallel_config` context, -1 means all processors. Results do not depend on it.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_hashrank.objectives import Hierarchical
    >>> Hierarchical(zone=(0.25, 0.5)).zones(np.array([0.0, 1.0, 2.0]))
    array([[2.   ,   inf],
           [0.25 , 0.5  ],
           [0.125, 0.25 ]])
    """

    def __init__(
        self,
        *,
        margin: float = 1.0,
        zone: tuple[float, float] = (2 / 3, 1.0),
        regularization: float = 0.01,
        n_jobs: int | None = None,
    ):
        super().__init__(margin=margin, zone=zone, regularization=regularization, n_jobs=n_jobs)

    def check_affinity(self, affinity: Any, guessed: bool) -> None:
        """Refuse an affinity without superclasses.

        Parameters
        ----------
        affinity : affinity object
            Fitted on the training rows.
        guessed : bool
            Whether it was chosen by the form of `y`, which then has to be label paths.
        """
        n_levels = np.count_nonzero(affinity.levels_ > 0)
        if n_levels < 2 or (guessed and not isinstance(affinity, HierarchicalAffinity)):
            levels = "level" if n_levels == 1 else "levels"
            raise ValueError(
                f"{type(self).__name__} needs superclasses: y as label paths of shape "
                "(n_samples, depth), integers, the superclass first, with depth >= 2 "
                "(and affinity=HierarchicalAffinity() where all are 0 or 1). "
                f"Got {type(affinity).__name__} with {n_levels} {levels} above 0."
            )

    def zones(self, levels: np.ndarray) -> np.ndarray:
        """Return the zone for the lowest level above 0, half of it for the next, and so on."""
        rank = np.cumsum(levels > 0)
        zones = super().zones(levels)
        return np.where((rank > 1)[:, None], zones * 0.5 ** np.maximum(rank - 1, 0)[:, None], zones)


class Nested(Hierarchical):
    """The zones of :class:`Hierarchical`, of which a pair pays for that of every label it shares.

    This is the printed loss. A pair of one class is one of a superclass as well: of 24 bits, at the
    city-block distances 0, 2 and 12 it costs 3, 1 and 6, and with :class:`Hierarchical` 1, 0 and 4.
    The zones of a class and of its superclass share one distance only, so that every pair of a
    class pays at all others, and is pulled to that one.

    Parameters
    ----------
    margin : float, default=2.0
        Least distance of irrelevant pairs, per bit.
    zone : tuple (low, high), default=(1/6, 1/3)
        Zone of relevant pairs, per bit.
    regularization : float, default=0.01
        Weight of the pull of relaxed codes towards -1 and +1.
    n_jobs : int or None, default=None
        Threads over the rows of large batches. None means 1 unless in a
        :obj:`joblib.parallel_config` context, -1 means all processors. Results do not depend on it.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_hashrank.objectives import Nested
    >>> zones = Nested(zone=(0.25, 0.5)).zones(np.array([0.0, 1.0, 2.0]))
    >>> zones[2]
    array([[0.25 , 0.5  ],
           [0.125, 0.25 ]])
    """

    def __init__(
        self,
        *,
        margin: float = 2.0,
        zone: tuple[float, float] = (1 / 6, 1 / 3),
        regularization: float = 0.01,
        n_jobs: int | None = None,
    ):
        super().__init__(margin=margin, zone=zone, regularization=regularization, n_jobs=n_jobs)

    def zones(self, levels: np.ndarray) -> np.ndarray:
        """Return the zones of a level and of all levels above 0 that are below it."""
        own = super().zones(levels)
        relevant = np.flatnonzero(levels > 0)
        zones = np.tile((0.0, np.inf), (len(levels), max(1, len(relevant)), 1))
        zones[:, 0] = own
        for place, level in enumerate(relevant):
            zones[level:, place] = own[level]
        return zones
