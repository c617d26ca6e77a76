"""Graded relevance by distance between vectors."""

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from .. import _kernels
from .._features.nearest_rows import products
from .._utils.parameters import is_int
from ._coercion import as_vectors, check_width
from ._protocol import BaseAffinity
from ._vector_products import squared_distances, squared_norms, unit_of


class EuclideanAffinity(BaseAffinity):
    """Graded relevance by Euclidean distance, for targets or unlabelled features.

    The thresholds are distances between rows of the training set: with the defaults, the closest
    5 % of all pairs have level 1 or more, the closest 0.1 % level 10. A level holds where
    distance <= threshold, decided on distances summed directly from the differences, so that
    neither block sizes nor the order of rows can change it.

    Parameters
    ----------
    percentiles : sequence of float, default=(5, 1, 0.2, 0.1)
        Percentage of training pairs within each threshold, descending.
    levels : sequence of float, default=(1, 2, 5, 10)
        Relevance within each threshold, ascending and positive.
    max_samples : int or None, default=5000
        Thresholds come from all pairs of at most this many rows, sampled by
        `random_state` when there are more. None: all rows.
    random_state : int, RandomState instance or None, default=0
        Samples the rows.

    Attributes
    ----------
    levels_ : ndarray of shape (n_thresholds + 1,)
        0 and `levels`.
    thresholds_ : ndarray of shape (n_thresholds,)
        Largest distance of each level, in the order of `levels`.

    Examples
    --------
    >>> from sklearn_hashrank import EuclideanAffinity
    >>> y = [[0.0], [1.0], [3.0], [7.0]]
    >>> affinity = EuclideanAffinity(percentiles=(50, 20), levels=(1, 2)).fit(y)
    >>> affinity.thresholds_
    array([3., 2.])
    >>> affinity.pairwise(y[:1], y)
    array([[2., 2., 1., 0.]])
    """

    block_rows = 1 << 13

    def __init__(
        self,
        percentiles=(5, 1, 0.2, 0.1),
        levels=(1, 2, 5, 10),
        *,
        max_samples=5000,
        random_state=0,
    ):
        self.percentiles = percentiles
        self.levels = levels
        self.max_samples = max_samples
        self.random_state = random_state

    def fit(self, y):
        """Set the thresholds.

        Parameters
        ----------
        y : {array-like, sparse matrix} of shape (n,) or (n, n_features)
            Targets or features; at least two rows.

        Returns
        -------
        self : EuclideanAffinity
        """
        percentiles, levels = self._check_parameters()
        y = as_vectors(y, "y")
        if y.shape[0] < 2:
            raise ValueError(
                "EuclideanAffinity needs at least two rows to measure distances. "
                f"Got n_samples = {y.shape[0]}."
            )
        if self.max_samples is not None and y.shape[0] > self.max_samples:
            random_state = check_random_state(self.random_state)
            y = y[random_state.choice(y.shape[0], self.max_samples, replace=False)]
        y = y.astype(float)
        self._n_features = y.shape[1]
        # Working in units of a power of two is exact, and squares cannot overflow or vanish.
        first_unit = unit_of(abs(y).max() if y.shape[1] else 0)
        y = y / first_unit
        self._center = np.asarray(y.mean(axis=0)).ravel()
        largest = abs(y - self._center).max(initial=0) if not sparse.issparse(y) else 1.0
        with np.errstate(over="ignore"):
            self._unit = unit_of(min(first_unit * unit_of(largest), np.finfo(float).max))
        scale = first_unit / self._unit
        self._center = self._center * scale
        quantiles = self._quantiles_of_squared_distances(y * scale, percentiles)
        self._squared_thresholds = quantiles
        with np.errstate(over="ignore"):  # two numbers may be farther apart than floats reach
            self.thresholds_ = np.sqrt(quantiles) * self._unit
        self.levels_ = np.concatenate([[0.0], levels])
        return self

    def _check_parameters(self):
        wrong = (
            "percentiles and levels must be sequences of numbers of the same length, at least 1. "
            f"Got {self.percentiles!r} and {self.levels!r}."
        )
        try:
            percentiles = np.asarray(self.percentiles, dtype=float)
            levels = np.asarray(self.levels, dtype=float)
        except (TypeError, ValueError) as error:
            raise ValueError(wrong) from error
        if percentiles.ndim != 1 or percentiles.shape != levels.shape or not percentiles.size:
            raise ValueError(wrong)
        in_range = percentiles[0] <= 100 and percentiles[-1] > 0
        if not in_range or not np.all(np.diff(percentiles) < 0):
            raise ValueError(
                f"percentiles must descend within (0, 100]. Got {self.percentiles!r} instead."
            )
        if not (np.all(np.diff(levels) > 0) and levels[0] > 0 and np.isfinite(levels[-1])):
            raise ValueError(f"levels must ascend from above 0. Got {self.levels!r} instead.")
        if self.max_samples is not None and not is_int(self.max_samples, 2):
            raise ValueError(
                f"max_samples must be None or an int >= 2. Got {self.max_samples!r} instead."
            )
        return percentiles, levels

    def _quantiles_of_squared_distances(self, y, percentiles):
        """Order statistics of the squared distances of all pairs, exact."""
        n = y.shape[0]
        [(rows, norms)] = self._with_norms(y)
        first_pair = np.concatenate([[0], np.cumsum(np.arange(n - 1, 0, -1))])  # of each row
        approximate = np.empty(first_pair[-1], dtype=np.float32)
        for start in range(0, n, 512):
            squared = -2.0 * products(rows[start : start + 512], rows[start:])
            squared += norms[start : start + 512, None] + norms[start:]
            for i, row in enumerate(squared[: n - 1 - start]):
                begin, end = first_pair[start + i : start + i + 2]
                approximate[begin:end] = row[i + 1 :]
        # Rounded first: 7 % of 300 pairs are 21, not the next after 21.000000000000004.
        n_within = np.ceil(np.round(percentiles * len(approximate) / 100, 6)).astype(np.int64)
        ranks = np.maximum(n_within - 1, 0)
        near = np.partition(approximate, np.unique(ranks))[ranks].astype(float)
        slack = 2 * self._rounding * norms.max() + 4 * np.finfo(np.float32).eps * near
        quantiles = np.empty(len(ranks))
        for value in np.unique(near):
            tolerance = slack[near == value][0]
            n_below = np.count_nonzero(approximate < value - tolerance)
            pairs = np.flatnonzero(np.abs(approximate - value) <= tolerance)
            left = np.searchsorted(first_pair, pairs, side="right") - 1
            exact = squared_distances(y, y, left, pairs - first_pair[left] + left + 1)
            wanted = ranks[near == value] - n_below
            quantiles[near == value] = np.partition(exact, wanted)[wanted]
        return quantiles

    def validate(self, y, name="y"):
        """Return float64 rows, dense or CSR, in the affinity's own unit of length."""
        self._check_fitted()
        y = as_vectors(y, name)
        check_width(y, self._n_features, name, "features")
        return y.astype(float) / self._unit

    def describe(self, y, name="y"):
        """Name the width of the vectors and the distance; see :meth:`BaseAffinity.describe`."""
        self._check_fitted()
        n_features = as_vectors(y, name).shape[1]
        return (
            f"{name}: vectors of {n_features:,} number{'s' * (n_features > 1)}: relevant within a "
            f"distance of {self.thresholds_.max():.3g}"
        )

    def level_indices(self, queries, database):
        """Compare squared distances with the thresholds; see :class:`BaseAffinity`."""
        (query_rows, query_norms), (rows, norms) = self._with_norms(queries, database)
        product = products(query_rows, rows)
        if _kernels.pays("distances", product.size):
            levels, unsure = _kernels.distances.levels_from_products(
                product, query_norms, norms, self._squared_thresholds, self._rounding
            )
        else:
            sizes = query_norms[:, None] + norms
            squared = sizes - 2.0 * product
            levels = np.zeros(product.shape, dtype=np.uint16)
            unsure = np.zeros(product.shape, dtype=bool)
            for threshold in self._squared_thresholds:
                levels += squared <= threshold
                unsure |= np.abs(squared - threshold) <= self._rounding * sizes
        i, j = np.nonzero(unsure)
        levels[i, j] = self._count_thresholds(squared_distances(queries, database, i, j))
        return levels

    def paired_level_indices(self, queries, database):
        """Compare aligned rows."""
        pairs = np.arange(queries.shape[0])
        return self._count_thresholds(squared_distances(queries, database, pairs, pairs))

    def digest(self, queries):
        """Name the thresholds and their levels; see :class:`BaseAffinity`."""
        return self._digest_of(self.thresholds_, self.levels_)

    def _count_thresholds(self, squared):
        return (squared[:, None] <= self._squared_thresholds).sum(axis=1, dtype=np.uint16)

    @property
    def _rounding(self):
        """Bound on the error of a squared distance from a product, relative to the norms."""
        return 4 * (self._n_features + 4) * np.finfo(float).eps

    def _with_norms(self, *blocks):
        """Rows and squared norms of each block, near the origin where no block is sparse."""
        shift = not any(map(sparse.issparse, blocks))
        for rows in blocks:
            rows = rows - self._center if shift else rows
            yield rows, squared_norms(rows)
