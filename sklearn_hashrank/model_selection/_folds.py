"""Cross-validation folds for hashers, each with the same mix of classes or labels."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.model_selection import BaseCrossValidator, KFold, StratifiedKFold
from sklearn.utils import check_random_state
from sklearn.utils.validation import _num_samples

from ._classes import class_members, class_numbers
from ._splits import check_count


class RetrievalKFold(BaseCrossValidator):
    """Shuffled folds for hashers, stratified by whatever `y` is.

    scikit-learn stratifies the folds of an integer `cv` for classifiers only, and shuffles none.
    Where rows are sorted by class, a fold may then hold one class: every row is relevant to every
    other, and any code scores 1.

    Class labels and label paths are stratified by
    :class:`~sklearn.model_selection.StratifiedKFold`; multilabel indicators, and classes that all
    have fewer rows than there are folds, by iterative stratification [1]_: the rarest label goes
    first, each of its rows to the fold that still wants most of it. Targets, rows without `y`, and
    rows of which no two have the same label, such as the row numbers of
    :class:`~sklearn_hashrank.PrecomputedAffinity`, are only shuffled.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds, at least 2.
    random_state : int, RandomState instance or None, default=None
        Controls how the rows are shuffled.

    References
    ----------
    .. [1] K. Sechidis, G. Tsoumakas, I. Vlahavas, "On the stratification of multi-label data",
       ECML PKDD 2011, algorithm 1.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_hashrank.model_selection import RetrievalKFold
    >>> Y = np.tile([[1, 1, 0], [0, 1, 0], [0, 0, 1], [0, 1, 1]], (6, 1))
    >>> folds = RetrievalKFold(n_splits=3, random_state=0)
    >>> [Y[test].sum(axis=0).tolist() for _, test in folds.split(Y, Y)]
    [[2, 6, 4], [2, 6, 4], [2, 6, 4]]
    """

    def __init__(self, n_splits=5, *, random_state=None):
        self.n_splits = n_splits
        self.random_state = random_state
        check_count("n_splits", n_splits)
        if n_splits < 2:
            raise ValueError(f"n_splits must be at least 2. Got {n_splits}.")

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of folds.

        Parameters
        ----------
        X, y, groups : object
            Not used; scikit-learn passes them to every splitter.

        Returns
        -------
        n_splits : int
            The parameter `n_splits`.
        """
        return self.n_splits

    def _iter_test_indices(
        self, X: Any = None, y: Any = None, groups: Any = None
    ) -> Iterator[np.ndarray]:
        n_rows = _num_samples(X)
        if n_rows < self.n_splits:
            raise ValueError(f"{self!r} needs at least as many rows as folds. Got {n_rows}.")
        numbers = None if y is None else class_numbers(y)
        largest = 0 if numbers is None else np.bincount(numbers).max()
        members = None
        if y is not None and largest != 1 and largest < self.n_splits:
            members = class_members(y)
        if members is not None:
            random_state = check_random_state(self.random_state)
            folds = iterative_stratification(members.tocsr(), self.n_splits, random_state)
            for fold in range(self.n_splits):
                yield np.flatnonzero(folds == fold)
            return
        splitter = KFold if largest < self.n_splits else StratifiedKFold
        folds = splitter(self.n_splits, shuffle=True, random_state=self.random_state)
        for _, test in folds.split(np.empty(n_rows), numbers):
            yield test


def iterative_stratification(
    labels: sparse.csr_array, n_folds: int, random_state: np.random.RandomState
) -> np.ndarray:
    """Return the fold of each row of a multilabel indicator, (n,)."""
    n_rows = labels.shape[0]
    rows_of = labels.tocsc()
    left = np.diff(rows_of.indptr)  # rows of each label that have no fold yet
    wanted = np.repeat(left[:, None] / n_folds, n_folds, axis=1)  # of each label, by each fold
    room = np.full(n_folds, n_rows / n_folds)
    folds = np.full(n_rows, -1)

    def assign(row: int, candidates: np.ndarray) -> None:
        candidates = candidates[room[candidates] == room[candidates].max()]
        fold = candidates[random_state.randint(len(candidates))]
        own = labels.indices[labels.indptr[row] : labels.indptr[row + 1]]
        folds[row] = fold
        room[fold] -= 1
        wanted[own, fold] -= 1
        left[own] -= 1

    while left.any():
        rarest = np.flatnonzero(left == left[left > 0].min())
        label = rarest[random_state.randint(len(rarest))]
        rows = rows_of.indices[rows_of.indptr[label] : rows_of.indptr[label + 1]]
        for row in random_state.permutation(rows[folds[rows] < 0]):
            assign(row, np.flatnonzero(wanted[label] == wanted[label].max()))
    for row in random_state.permutation(np.flatnonzero(folds < 0)):
        assign(row, np.arange(n_folds))
    return folds
