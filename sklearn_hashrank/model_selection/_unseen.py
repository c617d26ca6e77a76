"""Split rows by class, so that queries and database are of classes that were not trained on."""

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from ._classes import class_members, class_numbers, describe_class
from ._splits import RetrievalSplit, SampledSplits, check_count

_FEWEST_CLASSES = 2  # of a single class, every pair of rows is relevant


@dataclass
class UnseenClassesSplit(SampledSplits):
    """Train on some classes, retrieve among the others.

    Queries and database are rows of the test classes, the training rows are of the other classes.
    So a hasher cannot score by memorizing classes: what it has learned must hold for new ones.
    Row numbers come shuffled.

    A label path is a class of its own, whatever coarser labels it shares with others. So the
    coarser labels of a test class may have been trained on.

    Parameters
    ----------
    n_queries : int, default=100
        Queries of each test class; the database is all other rows of the test classes.
    n_train : int or None, default=None
        Training rows of each other class; None: all.
    n_test_classes : int or None, default=None
        Number of test classes; None: a third of all classes, at least 2.
    n_splits : int, default=1
        How many independent splits to sample.
    random_state : int, RandomState instance or None, default=None
        Controls which classes and rows are sampled.

    See Also
    --------
    PerClassRetrievalSplit : All classes are trained on.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_digits
    >>> from sklearn_hashrank.model_selection import UnseenClassesSplit
    >>> X, y = load_digits(return_X_y=True)
    >>> protocol = UnseenClassesSplit(n_queries=20, random_state=0)
    >>> for train, query, database in protocol.split(X, y):
    ...     print(np.unique(y[train]), np.unique(y[query]), np.unique(y[database]))
    [0 1 3 5 6 7 9] [2 4 8] [2 4 8]
    """

    n_queries: int = 100
    n_train: int | None = None
    _: KW_ONLY
    n_test_classes: int | None = None
    n_splits: int = 1
    random_state: Any = None

    def __post_init__(self):
        check_count("n_queries", self.n_queries)
        check_count("n_train", self.n_train, or_none=True)
        check_count("n_test_classes", self.n_test_classes, or_none=True)
        check_count("n_splits", self.n_splits)
        if self.n_test_classes is not None and self.n_test_classes < _FEWEST_CLASSES:
            raise ValueError(
                f"n_test_classes must be at least {_FEWEST_CLASSES}: of a single class, every item "
                f"is relevant to every query. Got {self.n_test_classes}."
            )

    def split(self, X: Any, y: Any, groups: Any = None) -> Iterator[RetrievalSplit]:
        """Sample the splits.

        Parameters
        ----------
        X : array-like with n_samples rows
            Not used; the rows are split by `y` alone.
        y : array-like with n_samples rows
            Class labels or label paths.
        groups : object
            Not used; scikit-learn passes it to every splitter.

        Yields
        ------
        split : RetrievalSplit
            Row numbers of the training rows, the queries and the database.
        """
        class_of = None if y is None else class_numbers(y)
        if class_of is None:
            given = "None"
            if y is not None:
                given = "targets" if class_members(y) is None else "a multilabel indicator"
            raise ValueError(
                f"UnseenClassesSplit needs class labels or label paths as y. Got {given}."
            )
        n_classes = class_of.max() + 1
        n_test = self.n_test_classes or max(_FEWEST_CLASSES, round(n_classes / 3))
        if n_classes - n_test < _FEWEST_CLASSES:
            raise ValueError(
                f"{self!r} tests on {n_test} classes and needs at least {_FEWEST_CLASSES} more to "
                f"train on. Got {n_classes} classes."
            )
        random_state = check_random_state(self.random_state)
        for _ in range(self.n_splits):
            yield self._draw(y, class_of, random_state.permutation(n_classes), n_test, random_state)

    def _draw(self, y, class_of, classes, n_test, random_state):
        order = random_state.permutation(len(class_of))
        order = order[np.argsort(class_of[order], kind="stable")]
        rows_of = np.split(order, np.cumsum(np.bincount(class_of))[:-1])
        queries, database, train = [], [], []
        for number in classes[:n_test]:
            rows = rows_of[number]
            if len(rows) <= self.n_queries:
                self._refuse(
                    y,
                    number,
                    rows,
                    f"{self.n_queries} queries and a database row of each test class",
                )
            queries.append(rows[: self.n_queries])
            database.append(rows[self.n_queries :])
        for number in classes[n_test:]:
            rows = rows_of[number]
            if self.n_train is not None and len(rows) < self.n_train:
                self._refuse(y, number, rows, f"{self.n_train} training rows of each other class")
            train.append(rows[: self.n_train])
        parts = [np.concatenate(rows) for rows in (train, queries, database)]
        return RetrievalSplit(*map(random_state.permutation, parts))

    def _refuse(self, y, number, rows, wanted):
        name = describe_class(y, number)
        raise ValueError(
            f"{self!r} needs {wanted}. {name[0].upper() + name[1:]} has {len(rows)} rows."
        )
