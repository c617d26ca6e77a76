"""The feature space of linear learners: transform rows, and fold weights into hyperplanes."""

from typing import Any, NamedTuple

import numpy as np
from numpy.random import RandomState
from scipy import sparse

from .._files.storable import storable
from .centered_rows import CenteredRows, column_means
from .moments import Moments, RowSums
from .principal_directions import directions_of_covariance, leading_directions
from .scaling import distance_scales, feature_scales

_LARGEST_FACTOR = 1e30  # larger scales leave float32, so that float64 takes over
_ROWS_TO_CHECK = 256  # enough to know the order of magnitude
_NO_VARIANCE = 1e-10  # relative to the largest


class Hyperplanes(NamedTuple):
    """Normal vectors (n_bits, n_features) and offsets (n_bits,) for raw features."""

    components_: np.ndarray
    intercept_: np.ndarray


@storable
class Basis(NamedTuple):
    """A linear map from coordinates inside to scaled features.

    Without `rest`, inside are the coordinates along the orthonormal directions, ``directions *
    gains``. With `rest`, inside are all features, multiplied by the symmetric matrix ``rest I +
    directions diag(gains - rest) directions.T``.
    """

    directions: np.ndarray
    gains: np.ndarray
    rest: float | None = None

    @property
    def n_inside(self) -> int:
        return self.directions.shape[1 if self.rest is None else 0]

    def lift(self, columns: np.ndarray) -> np.ndarray:
        """Multiply from the left: (n_inside, m) -> (n_features, m)."""
        if self.rest is None:
            return (self.directions * self.gains) @ columns
        inner = (self.gains - self.rest)[:, None] * (self.directions.T @ columns)
        return self.rest * columns + self.directions @ inner


def check_n_directions(n: int, shape: tuple[int, int]) -> None:
    """Refuse more bits than rows of this shape have principal directions."""
    for name, size in (("n_features", shape[1]), ("n_samples", shape[0])):
        if n > size:
            raise ValueError(
                f"n_bits={n} must be at most {name} = {size}, as there are no more principal "
                "directions. Use fewer bits, or LSHHasher or TALRLinear, which take any number."
            )


@storable
class FeatureSpace:
    """Centered, scaled and optionally whitened features, and the way back to hyperplanes.

    A row x lies inside at ``basis.T ((x - mean) * scale)``. Weights and offsets inside define the
    same bits as the hyperplanes of :meth:`fold` do for raw rows. Without a `scale` features stay as
    they are, without a `basis` they are the scaled features themselves. `mean_variance` is that of
    the scaled features.
    """

    def __init__(
        self,
        mean: np.ndarray,
        scale: np.ndarray | None = None,
        basis: Basis | None = None,
        mean_variance: float = 1.0,
    ):
        self.mean, self.scale, self.basis = mean, scale, basis
        self.mean_variance = mean_variance

    @classmethod
    def of(cls, moments: Moments, one_scale: bool = False) -> "FeatureSpace":
        """Space of features scaled by :func:`feature_scales`, or all by one factor."""
        scale = distance_scales(moments, False) if one_scale else feature_scales(moments)
        return cls(moments.mean, scale)

    @classmethod
    def centered(cls, X: Any) -> "FeatureSpace":
        """Space of features that are centered only.

        Some of the rows are checked for values whose squares cannot be represented.
        """
        mean = column_means(X)
        few = X[:: -(-X.shape[0] // _ROWS_TO_CHECK)]
        CenteredRows(few, mean).variances()
        return cls(mean)

    @classmethod
    def unit(cls, X: Any, *, mixed_units: bool = False) -> "FeatureSpace":
        """Space of features that are centered, and divided by one number for all.

        The mean squared length of the training rows becomes 1. Where a feature does not vary, it is
        0. With `mixed_units`, features that hide all others are brought to the unit of those first,
        see :func:`distance_scales`.
        """
        moments = Moments.of(X)
        n_varying = max(1, int(np.count_nonzero(moments.varies)))
        return cls(moments.mean, distance_scales(moments, mixed_units) / np.sqrt(n_varying))

    @classmethod
    def principal(
        cls, X: Any, n: int, random_state: RandomState, sums: RowSums | None = None
    ) -> "FeatureSpace":
        """Space of the `n` principal directions of dense or sparse rows.

        Where `sums` hold the covariance of more rows, it is theirs.

        One number is taken from `random_state`, whether the method of computation needs it or not.
        Where rows vary in fewer than `n` directions, the others are 0: rounding would decide there.
        """
        mean, n_rows = column_means(X), X.shape[0]
        seed = random_state.randint(np.iinfo(np.int32).max)
        if sums is None or sums.covariance is None:
            rows = CenteredRows(X, mean)
            variances, directions = leading_directions(rows, n, RandomState(seed))
        else:
            mean, n_rows = sums.moments.mean, sums.moments.n_rows
            variances, directions = directions_of_covariance(sums.covariance, n)
        # As of matrix_rank of numpy.
        least = max(n_rows, X.shape[1]) * np.finfo(float).eps * variances[0]
        return cls(mean, basis=Basis(directions, (variances > least).astype(float)))

    def with_components(
        self,
        X: Any,
        n_components: int | None,
        power: float,
        random_state: RandomState,
        *,
        exact_features: int,
    ) -> "FeatureSpace":
        """Space of principal components of raw rows, divided by their variance to some power.

        At most `n_components` are kept; None stands for all that have variance. Where there are
        more than `exact_features` features, `random_state` starts the search for them, see
        :func:`leading_directions`.
        """
        rows = self.rows(X)
        n = min(rows.shape if n_components is None else (n_components, *rows.shape))
        variances, directions = leading_directions(
            rows, n, random_state, exact_features=exact_features
        )
        variances = variances * (rows.shape[0] / max(1, rows.shape[0] - 1))  # unbiased
        kept = variances > _NO_VARIANCE * variances[0]
        kept[0] = True
        gains = 1 / np.maximum(variances[kept], 1e-300) ** power
        return FeatureSpace(self.mean, self.scale, Basis(directions[:, kept], gains))

    def whitened(
        self,
        rows: CenteredRows,
        variances: np.ndarray,
        shrinkage: float,
        random_state: RandomState,
        *,
        exact_features: int,
        n_directions: int,
        n_iter: int,
    ) -> "FeatureSpace":
        """Space of features multiplied by the inverse root of their shrunk covariance.

        The covariance of `rows`, which are rows of this space with the given variances, is shrunk
        by `shrinkage` in (0, 1] towards a multiple of the identity; 1 leaves the features alone.
        The inverse root is exact for at most `exact_features` features. For more of them it is
        exact in `n_directions` leading principal directions only, found in `n_iter` iterations; the
        others are taken to vary alike.
        """
        n, n_features = rows.shape
        mean_variance = float(variances.mean())
        if shrinkage == 1:
            basis = Basis(np.zeros((n_features, 0)), np.zeros(0), 1.0)
            return FeatureSpace(self.mean, self.scale, basis, mean_variance)
        wanted = n_features if n_features <= exact_features else min(n_directions, n)
        leading, directions = leading_directions(
            rows, wanted, random_state, n_iter=n_iter, exact_features=exact_features
        )
        rest = max(0.0, variances.sum() - leading.sum()) / max(1, n_features - wanted)

        def gain(variance):
            return 1 / np.sqrt((1 - shrinkage) * variance / mean_variance + shrinkage)

        basis = Basis(directions, gain(leading), float(gain(rest)))
        return FeatureSpace(self.mean, self.scale, basis, mean_variance)

    def rows(self, X: Any) -> CenteredRows:
        """Centered and scaled rows as a matrix, before the basis; sparse rows stay sparse."""
        return CenteredRows(X, self.mean, self.scale)

    def transform(self, X: Any, dtype: Any = np.float64) -> np.ndarray:
        """Rows inside, dense, (n_samples, n_inside).

        Rows of float32 are not widened for a float32 result.
        """
        if self.basis is not None:
            inside = self.rows(X) @ self.basis.lift(np.eye(self.basis.n_inside))
            return inside.astype(dtype, copy=False)
        rows = X.toarray() if sparse.issparse(X) else X
        working = np.result_type(rows.dtype, dtype)
        if self.scale is not None and self.scale.max() > _LARGEST_FACTOR:
            working = np.dtype(np.float64)
        rows = rows.astype(working, copy=False) - self.mean.astype(working)
        if self.scale is not None:
            rows *= self.scale.astype(working)
        return rows.astype(dtype, copy=False)

    def lift(self, columns: np.ndarray) -> np.ndarray:
        """Columns inside, (n_inside, m), as columns of scaled features, (n_features, m)."""
        return columns if self.basis is None else self.basis.lift(columns)

    def fold(self, weights: np.ndarray, offsets: Any, dtype: Any) -> Hyperplanes:
        """Hyperplanes for raw rows of weights (n_inside, n_bits) and offsets inside.

        ``X @ components_.T + intercept_`` equals ``transform(X) @ weights + offsets``, up to one
        common factor where the weights do not fit into `dtype` otherwise.
        """
        components = self.lift(weights).T
        if self.scale is not None:
            components = components * self.scale
        return fit_into(dtype, components, offsets - components @ self.mean)

    def unfold(
        self, components: np.ndarray, intercept: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Weights (n_features, n_bits) and offsets of given hyperplanes; the space has no basis."""
        assert self.basis is None
        weights = np.asarray(components, dtype=np.float64)
        offsets = intercept + weights @ self.mean
        if self.scale is not None:
            weights = np.divide(
                weights, self.scale, out=np.zeros_like(weights), where=self.scale > 0
            )
        return weights.T, offsets


def fit_into(dtype: Any, components: np.ndarray, intercept: np.ndarray) -> Hyperplanes:
    """Hyperplanes in a dtype, all divided by one power of two where they would overflow there.

    A bit is the sign of a projection, which a common factor does not change.
    """
    largest = max(np.abs(components).max(), np.abs(intercept).max())
    most = np.finfo(dtype).max / 4
    if most < largest < np.inf:
        factor = 2.0 ** -np.ceil(np.log2(largest / most))
        components, intercept = components * factor, intercept * factor
    return Hyperplanes(np.ascontiguousarray(components, dtype=dtype), intercept.astype(dtype))
