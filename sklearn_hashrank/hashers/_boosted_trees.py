"""Boosted trees for every bit, stored as arrays."""

from numbers import Integral
from typing import Any

import numpy as np
from numpy.random import RandomState
from scipy import sparse
from sklearn.utils._param_validation import Interval

from .. import _kernels
from .._files.storable import storable
from .._utils.threads import over_rows

CONSTRAINTS: dict = {
    "n_estimators": [Interval(Integral, 1, None, closed="left")],
    "max_depth": [Interval(Integral, 1, 20, closed="both")],
    "max_features": [Interval(Integral, 1, None, closed="left")],
}
"""Of the parameters of hashers that :func:`options_of` takes."""

_FEW_ROWS = 5  # of either target: a node with so many is not split
_MOST_BINS = 64
_ROWS_FOR_BINS = 10_000  # enough to tell quantiles
_MOST_NUMBERS = 1 << 29  # bytes of all features in bins
_COST = 15.0  # nanoseconds of a tree and a row
_ROWS_OF_SPARSE = 1 << 22


def options_of(hasher: Any) -> dict[str, int]:
    """Options of :meth:`TreeEnsembles.boost_bit` that the parameters of a hasher stand for."""
    return {
        "n_trees": hasher.n_estimators,
        "depth": hasher.max_depth,
        "n_tried": hasher.max_features,
        "few": _FEW_ROWS,
    }


class BinnedFeatures:
    """Features of training rows in bins of about equally many rows.

    Of sparse rows with so many features that the bins would not fit into 512 MB, those features are
    kept that have most entries.
    """

    def __init__(self, X: Any):
        n, n_features = X.shape
        self.kept = np.arange(n_features)
        most = max(1, _MOST_NUMBERS // n)
        if n_features > most:
            is_sparse = sparse.issparse(X)
            entries = np.bincount(X.indices, minlength=n_features) if is_sparse else X.std(axis=0)
            self.kept = np.sort(np.argsort(-entries, kind="stable")[:most])
        self.columns = np.empty((len(self.kept), n), dtype=np.uint8)
        self.edges: list[np.ndarray] = []
        columns = _SparseColumns(X) if sparse.issparse(X) else X.T
        for i, feature in enumerate(self.kept):
            column = columns[feature].astype(np.float64)
            edges = _find_edges(column)
            self.edges.append(edges)
            self.columns[i] = np.searchsorted(edges, column, side="left")
        self.n_bins = np.array([len(edges) + 1 for edges in self.edges])


class _SparseColumns:
    """Columns of a sparse matrix, each as an array."""

    def __init__(self, X):
        self.matrix = sparse.csc_array(X)
        self.matrix.sum_duplicates()

    def __getitem__(self, feature):
        stored = slice(*self.matrix.indptr[feature : feature + 2])
        column = np.zeros(self.matrix.shape[0], dtype=self.matrix.dtype)
        column[self.matrix.indices[stored]] = self.matrix.data[stored]
        return column


def _find_edges(column):
    """Thresholds between bins, at most 63: a value belongs below the first that it is not above."""
    values = np.unique(column[:: -(-len(column) // _ROWS_FOR_BINS)])
    if len(values) > _MOST_BINS:
        ordered = np.sort(column[:: -(-len(column) // _ROWS_FOR_BINS)])
        places = np.linspace(0, len(ordered) - 1, _MOST_BINS + 1)[1:-1].astype(int)
        lower = np.unique(ordered[places])
        lower = lower[lower < values[-1]]
        upper = values[np.searchsorted(values, lower, side="right")]
    else:
        lower, upper = values[:-1], values[1:]
    middle = lower / 2 + upper / 2
    return np.where((middle > lower) & (middle < upper), middle, lower)


@storable
class TreeEnsembles:
    """Boosted trees of several bits.

    Attributes
    ----------
    feature : ndarray of shape (n_nodes,), int32
        The feature that a node looks at.
    threshold : ndarray of shape (n_nodes,), float64
        Rows up to the threshold go left.
    child : ndarray of shape (n_nodes,), int32
        Left child, counted from the root of the tree; the right one comes next. 0 for a leaf.
    value : ndarray of shape (n_nodes,), float64
        What a leaf adds to the score.
    tree_starts : ndarray of shape (n_trees,), int64
        The root of each tree.
    bit_starts : ndarray of shape (n_bits + 1,), int64
        The first tree of each bit.
    """

    def __init__(self) -> None:
        self.feature, self.child = np.empty(0, np.int32), np.empty(0, np.int32)
        self.threshold, self.value = np.empty(0), np.empty(0)
        self.tree_starts, self.bit_starts = np.empty(0, np.int64), np.zeros(1, np.int64)

    def boost_bit(
        self,
        binned: BinnedFeatures,
        targets: np.ndarray,
        weights: np.ndarray,
        random_state: RandomState,
        *,
        n_trees: int,
        depth: int,
        n_tried: int,
        few: int,
    ) -> np.ndarray:
        """Add at most `n_trees` trees of one more bit; return their scores of the training rows.

        Targets are -1 and +1. A node looks at `n_tried` features at most; one with at most `few`
        rows of either target is a leaf.
        """
        n_features, n = binned.columns.shape
        # A leaf holds a row at least, and a node that is split more than `few` of each target.
        largest = min(2 ** (depth + 1) - 1, 2 * n - 1)
        arrays = (
            *(np.empty(n_trees * largest, np.int32) for _ in range(3)),
            np.empty(n_trees * largest),
        )
        scores = np.empty(n)
        sizes = _kernels.trees.boost(
            binned.columns,
            binned.n_bins,
            targets,
            weights.astype(np.float64),
            n_trees,
            depth,
            min(n_tried, n_features),
            few,
            random_state.randint(1, np.iinfo(np.int32).max),
            arrays,
            scores,
        )
        feature, cut, child, value = (array[: sizes.sum()] for array in arrays)
        first_edges = np.concatenate([[0], np.cumsum(binned.n_bins - 1)])
        edges = np.concatenate([*binned.edges, [0.0]])
        threshold = np.where(child > 0, edges[first_edges[feature] + cut * (child > 0)], 0.0)
        bit = TreeEnsembles()
        bit.feature, bit.threshold = binned.kept[feature].astype(np.int32), threshold
        bit.child, bit.value = child, value
        bit.tree_starts, bit.bit_starts = np.cumsum(sizes) - sizes, np.array([0, len(sizes)])
        self.extend(bit)
        return scores

    def extend(self, other: "TreeEnsembles") -> None:
        """Add the trees of the bits of another, after those that there are."""
        tree_starts = other.tree_starts + len(self.feature)
        bit_starts = other.bit_starts[1:] + len(self.tree_starts)
        self.tree_starts = np.concatenate([self.tree_starts, tree_starts])
        self.bit_starts = np.concatenate([self.bit_starts, bit_starts])
        self.feature = np.concatenate([self.feature, other.feature])
        self.threshold = np.concatenate([self.threshold, other.threshold])
        self.child = np.concatenate([self.child, other.child])
        self.value = np.concatenate([self.value, other.value])

    def check(self, n_bits: int, n_features: int) -> None:
        """Refuse arrays that are no trees, which a walk through them would not survive."""
        nodes = self.feature, self.threshold, self.child, self.value
        n_nodes, n_trees = len(self.feature), len(self.tree_starts)
        ends = np.append(self.tree_starts, n_nodes)
        sizes, dtypes = np.diff(ends), [array.dtype.str for array in (*nodes, *self._starts())]
        are_arrays = dtypes == ["<i4", "<f8", "<i4", "<f8", "<i8", "<i8"]
        are_arrays = are_arrays and all(array.shape == (n_nodes,) for array in nodes)
        if not are_arrays or ends[0] != 0 or (sizes < 1).any():
            raise ValueError("trees_ holds arrays that do not fit together.")
        inside = np.arange(n_nodes) - np.repeat(self.tree_starts, sizes)
        is_leaf = self.child == 0
        is_right = (self.child > inside) & (self.child + 1 < np.repeat(sizes, sizes))
        is_known = (self.feature >= 0) & (self.feature < n_features)
        bits = self.bit_starts
        are_bits = len(bits) == n_bits + 1 and bits[0] == 0 and bits[-1] == n_trees
        if not (is_leaf | is_right).all() or not is_known.all():
            raise ValueError("trees_ holds a node without a place in its tree or its features.")
        if not are_bits or (np.diff(bits) < 0).any():
            raise ValueError(f"trees_ must hold trees of {n_bits} bits.")

    def _starts(self):
        return self.tree_starts, self.bit_starts

    def scores(self, X: Any, n_jobs: int | None) -> np.ndarray:
        """Sum the votes of the trees, (n_samples, n_bits); sparse rows are made dense in blocks."""
        n, n_features = X.shape
        result = np.empty((n, len(self.bit_starts) - 1))

        def fill(rows: slice) -> None:
            block = X[rows].toarray() if sparse.issparse(X) else X[rows]
            arrays = self.feature, self.threshold, self.child, self.value
            _kernels.trees.sum_votes(
                np.ascontiguousarray(block), *arrays, *self._starts(), result[rows]
            )

        most = max(1, _ROWS_OF_SPARSE // n_features) if sparse.issparse(X) else None
        over_rows(fill, n, n_jobs, cost=_COST * max(1, len(self.tree_starts)), most=most)
        return result
