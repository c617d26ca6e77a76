"""Boosted trees for every bit, stored as arrays, which a file can hold without a pickle."""

from collections.abc import Sequence
from numbers import Integral
from typing import Any, NamedTuple

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
"""Of the parameters that hashers by trees share."""

_FEW_ROWS = 5  # of either target: a node with so many is not split
_MOST_BINS = 64  # a bin fits into a byte, and its number into the caches
_ROWS_FOR_BINS = 10_000  # enough to tell quantiles
_MOST_NUMBERS = 1 << 29  # bytes of all features in bins
_COST = 15.0  # nanoseconds of a tree and a row
_ROWS_OF_SPARSE = 1 << 22  # numbers of sparse rows that are made dense at a time


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

    def boost(
        self,
        targets: np.ndarray,
        weights: np.ndarray,
        random_state: RandomState,
        *,
        n_estimators: int,
        max_depth: int,
        max_features: int,
    ) -> tuple["TreeEnsembles", np.ndarray]:
        """Trees of one bit, of which the training rows should have signs, and their scores."""
        n_features, n = self.columns.shape
        # A leaf holds a row at least, and a node that is split more than a few of each target.
        largest = min(2 ** (max_depth + 1) - 1, 2 * n - 1)
        arrays = (
            *(np.empty(n_estimators * largest, np.int32) for _ in range(3)),
            np.empty(n_estimators * largest),
        )
        scores = np.empty(n)
        sizes = _kernels.trees.boost(
            self.columns,
            self.n_bins,
            targets,
            weights.astype(np.float64),
            n_estimators,
            max_depth,
            min(max_features, n_features),
            _FEW_ROWS,
            random_state.randint(1, np.iinfo(np.int32).max),
            arrays,
            scores,
        )
        feature, cut, child, value = (array[: sizes.sum()] for array in arrays)
        first_edges = np.concatenate([[0], np.cumsum(self.n_bins - 1)])
        edges = np.concatenate([*self.edges, [0.0]])
        threshold = np.where(child > 0, edges[first_edges[feature] + cut * (child > 0)], 0.0)
        trees = TreeEnsembles(
            self.kept[feature].astype(np.int32),
            threshold,
            child,
            value,
            np.cumsum(sizes) - sizes,
            np.array([0, len(sizes)]),
        )
        return trees, scores


class _SparseColumns:
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


def _ascend(starts: np.ndarray, stop: int, least: int) -> bool:
    """Whether numbers go from 0 to `stop` in steps of at least `least`."""
    are_inside = (starts >= 0).all() and (starts <= stop).all()  # else steps could wrap around
    has_ends = bool(are_inside) and starts[0] == 0 and starts[-1] == stop
    return bool(has_ends and (np.diff(starts) >= least).all())


@storable
class TreeEnsembles(NamedTuple):
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

    feature: np.ndarray
    threshold: np.ndarray
    child: np.ndarray
    value: np.ndarray
    tree_starts: np.ndarray
    bit_starts: np.ndarray

    @classmethod
    def joined(cls, parts: Sequence["TreeEnsembles"]) -> "TreeEnsembles":
        """The bits of all parts, one after the other."""
        features, thresholds, children, values, tree_starts, bit_starts = zip(*parts)
        first_nodes = np.cumsum([0, *map(len, features)])
        first_trees = np.cumsum([0, *map(len, tree_starts)])
        return cls(
            np.concatenate(features),
            np.concatenate(thresholds),
            np.concatenate(children),
            np.concatenate(values),
            np.concatenate([starts + first for starts, first in zip(tree_starts, first_nodes)]),
            np.concatenate(
                [[0], *(starts[1:] + first for starts, first in zip(bit_starts, first_trees))]
            ),
        )

    def first(self, n_bits: int) -> "TreeEnsembles":
        bit_starts = self.bit_starts[: n_bits + 1]
        tree_starts = np.append(self.tree_starts, len(self.feature))[: bit_starts[-1] + 1]
        nodes = slice(tree_starts[-1])
        return TreeEnsembles(
            self.feature[nodes].copy(),
            self.threshold[nodes].copy(),
            self.child[nodes].copy(),
            self.value[nodes].copy(),
            tree_starts[:-1],
            bit_starts.copy(),
        )

    def check(self, n_bits: int, n_features: int) -> None:
        """Refuse arrays that are no trees, which a walk through them would not survive."""
        nodes = self.feature, self.threshold, self.child, self.value
        are_arrays = all(isinstance(array, np.ndarray) and array.ndim == 1 for array in self)
        dtypes = ["<i4", "<f8", "<i4", "<f8", "<i8", "<i8"]
        if not are_arrays or [array.dtype.str for array in self] != dtypes:
            raise ValueError("trees_ holds arrays that do not fit together.")
        n_nodes, n_trees = len(self.feature), len(self.tree_starts)
        roots = np.append(self.tree_starts, n_nodes)
        if any(len(array) != n_nodes for array in nodes) or not _ascend(roots, n_nodes, least=1):
            raise ValueError("trees_ holds arrays that do not fit together.")
        sizes = np.diff(roots)
        inside = np.arange(n_nodes) - np.repeat(self.tree_starts, sizes)
        left = self.child.astype(np.int64)  # in 32 bits, the child after the largest is negative
        is_right = (left > inside) & (left + 1 < np.repeat(sizes, sizes))
        is_known = (self.feature >= 0) & (self.feature < n_features)
        if not ((left == 0) | is_right).all() or not is_known.all():
            raise ValueError("trees_ holds a node without a place in its tree or its features.")
        if len(self.bit_starts) != n_bits + 1 or not _ascend(self.bit_starts, n_trees, least=0):
            raise ValueError(f"trees_ must hold trees of {n_bits} bits.")

    def scores(self, X: Any, n_jobs: int | None) -> np.ndarray:
        """Sum the votes of the trees, (n_samples, n_bits); sparse rows are made dense in blocks."""
        n, n_features = X.shape
        result = np.empty((n, len(self.bit_starts) - 1))

        def fill(rows: slice) -> None:
            block = X[rows].toarray() if sparse.issparse(X) else X[rows]
            _kernels.trees.sum_votes(np.ascontiguousarray(block), *self, result[rows])

        most = max(1, _ROWS_OF_SPARSE // n_features) if sparse.issparse(X) else None
        over_rows(fill, n, n_jobs, cost=_COST * max(1, len(self.tree_starts)), most=most)
        return result
