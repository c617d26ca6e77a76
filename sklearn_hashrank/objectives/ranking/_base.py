"""Ranking objectives: from scores to soft histograms, to a sum over ties, and back."""

from abc import abstractmethod
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from ... import _kernels
from ...affinity._neighbors import NeighborAffinity
from .._base import BaseObjective
from ._soft_histogram import SoftHistogram, count_levels
from ._ties import SoftTies, TieValues

_SAFE = 2.0**100  # gains beyond it, or below its inverse, are summed in float64
_MOST_BINS = 16  # of "auto": coarse bins rank better than one per bit, see the page on TALRLinear
# If nearest rows are relevant: coarser bins cannot tell them from those a little farther away.
_MOST_BINS_OF_NEIGHBORS = 64


class RankingObjective(BaseObjective):
    """A smooth function of the soft histograms of a batch, to be maximized.

    Every row of a batch is a query against all the others. A subclass says what one tie
    contributes, with four partial derivatives (:meth:`tie`). Unless relevance is yes or no, it also
    says what an item of each level gains (:meth:`level_gain`) and what the sum over the ties is
    divided by (:meth:`ideal`). The sums over pairs, levels and bins, forward and backward, are
    here. A subclass with further parameters writes a constructor that sets them. Parameters of this
    class that the constructor leaves out have their defaults.

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

    Attributes
    ----------
    alpha_ : float
        Steepness of the relaxed codes now: `alpha`, or what :meth:`anneal` has made of it.
    measure : str or None
        The measure that early stopping looks at: "ap", "ndcg" or another registered one that needs
        no codes. None: the objective itself, as it is at the end of the training.

    Examples
    --------
    The share of relevant items that are in the nearest bin:

    >>> import numpy as np
    >>> from sklearn_hashrank.objectives import RankingObjective, TieValues
    >>> class FirstBin(RankingObjective):
    ...     def tie(self, ties):
    ...         first = (ties.before == 0).astype(ties.gain.dtype)
    ...         return TieValues(ties.gain * first, first, None, None, None)
    >>> y = np.array([0, 0, 1, 1])
    >>> level = (y[:, None] == y).astype(np.uint8)
    >>> scores = np.array([[2.0, 0.1], [2.0, -0.1], [-2.0, 0.1], [-2.0, -0.1]])
    >>> value, gradient = FirstBin().value_and_gradient(scores, level, np.array([0.0, 1.0]))
    >>> better, _ = FirstBin().value_and_gradient(scores + gradient, level, np.array([0.0, 1.0]))
    >>> better > value
    True
    """

    _parameter_constraints: ClassVar[dict] = {
        "alpha": [Interval(Real, 0, None, closed="neither")],
        "alpha_end": [None, Interval(Real, 0, None, closed="neither")],
        "n_bins": [StrOptions({"auto"}), None, Interval(Integral, 1, None, closed="left")],
        "delta": [Interval(Real, 0, None, closed="neither")],
        "n_jobs": [None, Integral],
    }

    dtype: ClassVar[type | None] = None
    """Precision that ties are given to :meth:`tie` in; ``None`` is that of the scores."""

    # For subclasses whose constructor leaves them out.
    alpha: float = 2.0
    alpha_end: float | None = None
    n_bins: int | str | None = "auto"
    delta: float = 1.0
    n_jobs: int | None = None

    def __init__(
        self,
        *,
        alpha: float = 2.0,
        alpha_end: float | None = None,
        n_bins: int | str | None = "auto",
        delta: float = 1.0,
        n_jobs: int | None = None,
    ):
        self.alpha = alpha
        self.alpha_end = alpha_end
        self.n_bins = n_bins
        self.delta = delta
        self.n_jobs = n_jobs

    @property
    def alpha_(self) -> float:
        """Steepness of the relaxed codes now."""
        return self.__dict__.get("_annealed_alpha", self.alpha)

    def anneal(self, progress: float) -> None:
        """Change the steepness geometrically from `alpha` to `alpha_end`, if that is not None.

        Parameters
        ----------
        progress : float
            Share of the training that is done, from 0 to 1.
        """
        self._annealed_alpha = self.alpha
        if self.alpha_end is not None:
            self._annealed_alpha *= (self.alpha_end / self.alpha) ** progress

    @abstractmethod
    def tie(self, ties: SoftTies) -> TieValues:
        """Return the contribution of every tie and its partial derivatives.

        Parameters
        ----------
        ties : SoftTies
            Gain and number of items, in and before each tie.

        Returns
        -------
        values : TieValues
        """

    def level_gain(self, levels: np.ndarray) -> np.ndarray:
        """Return the gain of an item of each level: 1 where it is relevant.

        Parameters
        ----------
        levels : ndarray of shape (n_levels,)
            The affinity levels, 0 for irrelevant.

        Returns
        -------
        gain : ndarray of shape (n_levels,)
        """
        return (levels > 0).astype(np.float64)

    def ideal(self, levels: np.ndarray, n_items: np.ndarray) -> np.ndarray:
        """Return what the sum over the ties is divided by: the number of relevant items.

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
        return n_items[:, levels > 0].sum(axis=1).astype(np.float64)

    def value_and_gradient(
        self, scores: np.ndarray, level: np.ndarray, levels: np.ndarray
    ) -> tuple[float, np.ndarray]:
        """Evaluate the objective of a batch and its gradient.

        Parameters
        ----------
        scores : ndarray of shape (M, n_bits)
            The real projections, float32 or float64. The relaxed codes are ``tanh(alpha *
            scores)``.
        level : ndarray of shape (M, M), unsigned
            Index into `levels` for query q (row) and item i (column). The diagonal is ignored.
        levels : ndarray of shape (n_levels,)
            The affinity levels, 0 for irrelevant.

        Returns
        -------
        value : float
            Mean over all rows; a row without relevant items counts 0.
        gradient : ndarray of shape (M, n_bits)
            Its derivative by the scores.
        """
        levels = np.asarray(levels, dtype=np.float64)
        histogram = SoftHistogram(self.bins_of(scores.shape[1]), self.delta, n_jobs=self.n_jobs)
        with np.errstate(over="ignore"):  # an infinite score is a saturated bit
            codes = np.tanh(scores * scores.dtype.type(self.alpha_))
        counts, similarity = histogram.counts(codes, level, len(levels))
        n_items = count_levels(level, len(levels), self.n_jobs)
        value, by_count = self.evaluate_counts(counts, levels, n_items)
        gradient = histogram.pull_back(codes, level, similarity, by_count)
        gradient *= 1 - codes * codes
        gradient *= self.alpha_ / len(scores)
        return float(value.mean()), gradient

    def evaluate_counts(
        self, counts: np.ndarray, levels: np.ndarray, n_items: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Evaluate the objective of each query as a function of its soft counts.

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
        levels = np.asarray(levels, dtype=np.float64)
        gains, ideal = self.level_gain(levels), self.ideal(levels, n_items)
        given, dtype = counts.dtype, counts.dtype
        if any(gain and not 1 / _SAFE < abs(gain) < _SAFE for gain in gains.tolist()):
            dtype = np.dtype(np.float64)
        counts, gains = np.ascontiguousarray(counts, dtype), gains.astype(dtype)
        n_rows, _, n_bins = counts.shape
        scale = np.divide(1.0, ideal, out=np.zeros_like(ideal), where=ideal > 0)

        fields = np.empty((4, n_rows, n_bins), dtype)
        _kernels.soft_ties.sum_counts(counts, gains, *fields)
        ties = SoftTies(*fields.astype(self.dtype or dtype, copy=False))
        values = self.tie(ties)
        _check_tie_values(type(self).__name__, values, ties.gain.shape)
        derivatives = (
            np.zeros((n_rows, n_bins), dtype) if by is None else np.ascontiguousarray(by, dtype)
            for by in values[1:]
        )
        gradient = np.empty_like(counts)
        scratch = np.empty((2, n_bins), dtype)
        _kernels.soft_ties.pull_back_ties(
            *derivatives, gains, scale.astype(dtype), gradient, scratch
        )
        value = values[0] @ np.ones(n_bins, ties.gain.dtype)  # faster than a sum of each row
        if given != dtype:
            with np.errstate(over="ignore"):  # by items of a level that is far above the others
                gradient = gradient.astype(given)
        return (value * scale).astype(given), gradient

    def bind(self, affinity: Any, y: Any) -> None:
        """Set what ``n_bins="auto"`` stands for: at most 64 bins if nearest rows are relevant.

        Parameters
        ----------
        affinity : affinity object
            Fitted on the training rows.
        y : array-like with n_rows rows
            Not used.
        """
        learns_neighbors = isinstance(affinity, NeighborAffinity)
        self._most_bins = _MOST_BINS_OF_NEIGHBORS if learns_neighbors else _MOST_BINS

    def bins_of(self, n_bits: int) -> Any:
        """Return the `n_bins` of the soft histogram of codes of some length.

        Parameters
        ----------
        n_bits : int
            Length of a code.

        Returns
        -------
        n_bins : int or None
            None: one step per bit.
        """
        most = self.__dict__.get("_most_bins", _MOST_BINS)
        return min(n_bits, most) if self.n_bins == "auto" else self.n_bins


def _check_tie_values(name, values, shape):
    """Refuse what is not one number for each tie; only derivatives may be None."""
    n_fields = len(TieValues._fields)
    if not isinstance(values, tuple) or len(values) != n_fields:
        length = f" of length {len(values)}" if isinstance(values, tuple) else ""
        raise ValueError(
            f"{name}.tie must return TieValues, {n_fields} arrays of shape {shape} or None. "
            f"Got an object of type {type(values).__name__}{length} instead."
        )
    for field, array in zip(TieValues._fields, values):
        if np.shape(array) != shape and (array is not None or field == TieValues._fields[0]):
            raise ValueError(
                f"{field} of the TieValues that {name}.tie returns must be an array of shape "
                f"{shape}, as those it is given. Got shape {np.shape(array)} instead."
            )
