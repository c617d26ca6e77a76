"""Relevance by equal labels, label paths and shared labels."""

import numpy as np
from scipy import sparse

from .. import _kernels
from ._coercion import (
    are_one_hot,
    as_classes,
    as_indicator,
    as_label_matrix,
    as_labels,
    as_rows,
    check_width,
    packed_bits,
)
from ._protocol import BaseAffinity


class _PathAffinity(BaseAffinity):
    """Rows are paths, coarse to fine; the level is how many leading labels two paths share."""

    def level_indices(self, queries, database):
        _check_comparable(queries, database)
        shared = queries[:, None, 0] == database[:, 0]
        length = shared.astype(np.uint16)
        for depth in range(1, queries.shape[1]):
            shared &= queries[:, None, depth] == database[:, depth]
            length += shared
        return length

    def paired_level_indices(self, queries, database):
        _check_comparable(queries, database)
        return np.logical_and.accumulate(queries == database, axis=1).sum(1, dtype=np.uint16)

    def group(self, rows):
        index = _prefix_numbers(rows)[-1]
        first = np.empty(int(index.max()) + 1, dtype=np.int64)
        first[index[::-1]] = np.arange(len(rows) - 1, -1, -1)
        return rows[first], index.astype(np.int32)

    def runs(self, queries, groups):
        _check_comparable(queries, groups)
        numbers = _prefix_numbers(np.concatenate([queries, groups]))
        starts, stops = [], []
        for number in numbers:
            of_query, of_group = number[: len(queries)], number[len(queries) :]
            starts.append(np.searchsorted(of_group, of_query, "left"))
            stops.append(np.searchsorted(of_group, of_query, "right"))
        end = np.full(len(queries), len(groups))
        depth = len(numbers)
        nested = [*range(depth + 1), *range(depth - 1, -1, -1)]
        return (
            np.stack([*starts, *stops[::-1], end], axis=1).astype(np.int64),
            np.array([nested], dtype=np.uint16),
        )

    def n_runs(self, n_groups):
        return 2 * len(self.levels_)


class LabelAffinity(_PathAffinity):
    """Relevant (1) when two items have the same class label, else irrelevant (0).

    Attributes
    ----------
    levels_ : ndarray of shape (2,)
        0 and 1.

    Examples
    --------
    >>> from sklearn_hashrank import LabelAffinity
    >>> y = ["cat", "dog", "cat"]
    >>> LabelAffinity().fit(y).pairwise(y[:1], y)
    array([[1., 0., 1.]])
    """

    _n_columns = 1  # more after a fit of a one-hot indicator

    def fit(self, y):
        """Check the labels; nothing is learned from them.

        Parameters
        ----------
        y : {array-like, sparse matrix} of shape (n,), (n, 1) or (n, n_classes)
            Class labels, or an indicator of 0 and 1 with exactly one 1 in every row.

        Returns
        -------
        self : LabelAffinity
        """
        y = y if sparse.issparse(y) else as_rows(y, "y")
        is_one_hot = y.ndim == 2 and y.shape[1] > 1 and y.dtype.kind in "buif" and are_one_hot(y)
        self._n_columns = y.shape[1] if is_one_hot else 1
        self.validate(y)
        self.levels_ = np.array([0.0, 1.0])
        return self

    def validate(self, y, name="y"):
        """Return labels of shape (n, 1); see :meth:`fit` for what is accepted."""
        if self._n_columns > 1:
            y = as_indicator(y, name)
            check_width(y, self._n_columns, name, "labels")
            return as_classes(y, name)[:, None]
        y = as_labels(y, name)
        if y.ndim == 1:
            y = y[:, None]
        if y.ndim != 2 or y.shape[1] != 1:
            raise ValueError(
                f"{name} must hold one class label per row, shape (n,) or (n, 1), or be an "
                f"indicator with one label in every row. Got shape {y.shape}."
            )
        return y

    def describe(self, y, name="y"):
        """Count the classes and their rows; see :meth:`BaseAffinity.describe`."""
        rows = self.validate(y, name)
        sizes = np.unique(rows, return_counts=True)[1]
        least, most = sizes.min(initial=len(rows)), sizes.max(initial=0)
        rows = f"{most:,}" if least == most else f"{least:,} to {most:,}"
        classes = "class" if len(sizes) == 1 else "classes"
        n_classes = f"{len(sizes):,} {classes} of {rows} row{'s' if most != 1 else ''}"
        return f"{name}: {n_classes}: relevant where the class is the same"


class HierarchicalAffinity(_PathAffinity):
    """Relevance is the number of leading labels that two label paths share.

    A path goes from coarse to fine: (animal, cat). Two cats have level 2, a cat and a dog 1,
    a cat and a car 0.

    Attributes
    ----------
    levels_ : ndarray of shape (depth + 1,)
        0, 1, ..., depth.

    Examples
    --------
    >>> from sklearn_hashrank import HierarchicalAffinity
    >>> paths = [[0, 3], [0, 3], [0, 5], [1, 3]]
    >>> HierarchicalAffinity().fit(paths).pairwise(paths[:1], paths)
    array([[2., 2., 1., 0.]])
    """

    def fit(self, y):
        """Take the depth of the paths.

        Parameters
        ----------
        y : array-like of shape (n, depth)
            Label paths, the coarsest label first.

        Returns
        -------
        self : HierarchicalAffinity
        """
        depth = as_label_matrix(y, "y").shape[1]
        self.levels_ = np.arange(depth + 1.0)
        return self

    def validate(self, y, name="y"):
        """Return paths of shape (n, depth); see :meth:`fit`."""
        self._check_fitted()
        y = as_label_matrix(y, name)
        check_width(y, len(self.levels_) - 1, name, "labels per path")
        return y

    def describe(self, y, name="y"):
        """Count the label paths; see :meth:`BaseAffinity.describe`."""
        paths = self.group(self.validate(y, name))[0]
        return (
            f"{name}: paths of {paths.shape[1]:,} labels, {len(paths):,} different ones: relevant "
            "where the first labels are the same"
        )


class SharedLabelAffinity(BaseAffinity):
    """Relevance is the number of labels that two items share.

    Attributes
    ----------
    levels_ : ndarray of shape (n_labels + 1,)
        0, 1, ..., the number of labels.

    Examples
    --------
    >>> from sklearn_hashrank import SharedLabelAffinity
    >>> Y = [[1, 1, 0], [1, 1, 1], [0, 1, 0], [0, 0, 1]]
    >>> SharedLabelAffinity().fit(Y).pairwise(Y[:1], Y)
    array([[2., 2., 1., 0.]])
    """

    def fit(self, y):
        """Take the number of labels.

        Parameters
        ----------
        y : {array-like, sparse matrix} of shape (n, n_labels)
            Multilabel indicator of 0 and 1.

        Returns
        -------
        self : SharedLabelAffinity
        """
        y = as_indicator(y, "y")
        n_labels = y.shape[1]
        if n_labels > np.iinfo(np.uint16).max:
            raise ValueError(f"y must have at most 65535 labels. Got {n_labels}.")
        for _ in packed_bits(y, "y"):
            pass  # every value is checked, and nothing kept
        self.levels_ = np.arange(n_labels + 1.0)
        return self

    def validate(self, y, name="y"):
        """Return label sets as bit masks, (n, ceil(n_labels / 64)) uint64."""
        self._check_fitted()
        y = as_indicator(y, name)
        check_width(y, len(self.levels_) - 1, name, "labels")
        masks = np.zeros((y.shape[0], 8 * -(-y.shape[1] // 64)), dtype=np.uint8)
        start = 0
        for bits in packed_bits(y, name):
            masks[start : start + len(bits), : bits.shape[1]] = bits
            start += len(bits)
        return masks.view(np.uint64)

    def describe(self, y, name="y"):
        """Count the labels; see :meth:`BaseAffinity.describe`."""
        masks = self.validate(y, name)
        mean = np.bitwise_count(masks).sum(dtype=np.int64) / max(1, len(masks))
        n_labels = len(self.levels_) - 1
        return f"{name}: {n_labels:,} labels, {mean:.1f} per row: relevant where labels are shared"

    def level_indices(self, queries, database):
        """Count shared bits; see :class:`BaseAffinity`."""
        shared = np.zeros((len(queries), len(database)), dtype=np.uint16)
        for word in range(queries.shape[1]):
            shared += np.bitwise_count(queries[:, word, None] & database[None, :, word])
        return shared

    def paired_level_indices(self, queries, database):
        """Count shared bits of aligned rows."""
        return np.bitwise_count(queries & database).sum(axis=1, dtype=np.uint16)

    def n_reachable_levels(self, queries):
        """One more than the labels of the query that has most."""
        return int(np.bitwise_count(queries).sum(axis=1, dtype=np.int64).max()) + 1

    def group(self, rows):
        """Number equal label sets."""
        no_groups = np.zeros(len(rows), dtype=np.int32)
        firsts, _, index = _kernels.hamming.find_equal_rows(rows, no_groups, len(rows))
        return rows[firsts], index


def _number_values(values):
    """Index of each value among the sorted distinct ones."""
    if values.dtype.kind == "i":
        low, high = int(values.min()), int(values.max())
        if high - low < max(1024, 4 * len(values)):
            shifted = values - low
            present = np.bincount(shifted) > 0
            return shifted if present.all() else (np.cumsum(present) - 1)[shifted]
    return np.unique(values, return_inverse=True)[1].ravel()


def _check_comparable(queries, database):
    kinds = {"U" if rows.dtype.kind == "O" else rows.dtype.kind for rows in (queries, database)}
    if len(kinds) > 1:
        raise ValueError(
            "the labels of queries and database must be of one kind, numbers, str or bytes. "
            f"Got dtypes {queries.dtype} and {database.dtype}. The number 1 is not the text '1'."
        )


def _prefix_numbers(paths):
    """For each depth, number the distinct prefixes in lexicographic order."""
    numbers = [_number_values(paths[:, 0])]
    for column in paths.T[1:]:
        labels = _number_values(column)
        numbers.append(_number_values(numbers[-1] * (labels.max() + 1) + labels))
    return numbers
