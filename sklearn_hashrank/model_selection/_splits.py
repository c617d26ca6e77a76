"""Split rows into training rows, queries and database, as the papers do."""

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import _num_samples

from .._utils.parameters import is_int
from ._classes import class_members, describe_class


@dataclass(frozen=True, eq=False)
class RetrievalSplit:
    """Row numbers of one retrieval experiment; no query is in the database or was trained on.

    It unpacks into ``train, query, database``.

    Parameters
    ----------
    train : array-like of int
        Numbers of the rows to fit on.
    query : array-like of int
        Numbers of the rows that retrieve.
    database : array-like of int
        Numbers of the rows that are retrieved.

    Examples
    --------
    >>> from sklearn_hashrank.model_selection import RetrievalSplit
    >>> train, query, database = RetrievalSplit(train=[2, 3], query=[0, 1], database=[2, 3, 4])
    >>> RetrievalSplit(train=[2, 3], query=[0, 1], database=[1, 2, 3])
    Traceback (most recent call last):
        ...
    ValueError: no query may be in the database. Got 1 that are, such as row 1.
    """

    train: np.ndarray
    query: np.ndarray
    database: np.ndarray

    def __post_init__(self):
        for name in ("train", "query", "database"):
            rows = np.asarray(getattr(self, name))
            if rows.ndim != 1 or not rows.size or rows.dtype.kind not in "iu" or rows.min() < 0:
                raise ValueError(f"{name} must be at least one row number >= 0. Got {rows!r}.")
            object.__setattr__(self, name, rows)
        for name in ("query", "database"):
            rows = getattr(self, name)
            if len(np.unique(rows)) < len(rows):
                raise ValueError(f"{name} must not hold a row twice.")
        for name, verb in (("database", "be in the database"), ("train", "be a training row")):
            both = np.intersect1d(self.query, getattr(self, name))
            if both.size:
                raise ValueError(
                    f"no query may {verb}. Got {both.size} that are, such as row {both[0]}."
                )

    def __iter__(self) -> Iterator[np.ndarray]:
        """Unpack into training rows, queries and database."""
        return iter((self.train, self.query, self.database))


class SampledSplits:
    """A protocol that samples `n_splits` splits; scikit-learn asks it for their number."""

    n_splits: int

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of splits.

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


@dataclass
class PerClassRetrievalSplit(SampledSplits):
    """Sample queries and training rows of every class; the database is all but the queries.

    The protocol of most papers on supervised hashing: training rows are part of the database. Row
    numbers come shuffled.

    With a multilabel indicator, these numbers of rows are sampled for every label, the rarest
    first, and no row twice; rows without a label are only retrieved. A label path is a class. The
    defaults are the protocol of NUS-WIDE in the papers: with 21 labels, 2,100 queries and 10,500
    training rows. For CIFAR-10 they are the papers' setting 1, and
    ``PerClassRetrievalSplit(1000, None)`` is setting 2.

    Parameters
    ----------
    n_queries : int, default=100
        Number of queries of each class.
    n_train : int or None, default=500
        Training rows of each class; None: the whole database.
    n_splits : int, default=1
        How many independent splits to sample.
    random_state : int, RandomState instance or None, default=None
        Controls which rows are sampled.

    See Also
    --------
    UnseenClassesSplit : Queries of classes that are not trained on.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_digits
    >>> from sklearn_hashrank.model_selection import PerClassRetrievalSplit
    >>> X, y = load_digits(return_X_y=True)
    >>> protocol = PerClassRetrievalSplit(n_queries=20, n_train=50, random_state=0)
    >>> for train, query, database in protocol.split(X, y):
    ...     print(len(train), len(query), len(database), np.isin(train, database).all())
    500 200 1597 True
    """

    n_queries: int = 100
    n_train: int | None = 500
    _: KW_ONLY
    n_splits: int = 1
    random_state: Any = None

    def __post_init__(self):
        check_count("n_queries", self.n_queries)
        check_count("n_train", self.n_train, or_none=True)
        check_count("n_splits", self.n_splits)

    def split(self, X: Any, y: Any, groups: Any = None) -> Iterator[RetrievalSplit]:
        """Sample the splits.

        Parameters
        ----------
        X : array-like with n_samples rows
            Not used; the rows are split by `y` alone.
        y : array-like with n_samples rows
            Class labels, label paths or a multilabel indicator.
        groups : object
            Not used; scikit-learn passes it to every splitter.

        Yields
        ------
        split : RetrievalSplit
            Row numbers of the training rows, the queries and the database.
        """
        members = None if y is None else class_members(y)
        if members is None:
            raise ValueError(
                "PerClassRetrievalSplit needs class labels, label paths or a multilabel indicator "
                f"as y. Got {'None' if y is None else 'targets'}; RandomRetrievalSplit "
                "needs no classes."
            )
        random_state = check_random_state(self.random_state)
        for _ in range(self.n_splits):
            yield self._draw(members, y, random_state)

    def _draw(self, members, y, random_state):
        orders = {
            label: random_state.permutation(np.sort(members.indices[start:stop]))
            for label, (start, stop) in enumerate(pairwise(members.indptr))
        }
        orders = dict(sorted(orders.items(), key=lambda item: len(item[1])))  # the rarest first
        is_free = np.ones(members.shape[0], dtype=bool)
        query = self._take(orders, y, is_free, self.n_queries, "queries")
        rest = random_state.permutation(np.flatnonzero(is_free))
        if self.n_train is None:
            for label, order in orders.items():
                if not is_free[order].any():
                    self._refuse(y, label, order, 1, "database rows", 0)
            return RetrievalSplit(rest, random_state.permutation(query), rest)
        train = self._take(orders, y, is_free, self.n_train, "training rows")
        return RetrievalSplit(
            random_state.permutation(train), random_state.permutation(query), rest
        )

    def _take(self, orders, y, is_free, wanted, what):
        taken = []
        for label, order in orders.items():
            rows = order[is_free[order]][:wanted]
            if len(rows) < wanted:
                self._refuse(y, label, order, wanted, what, len(rows))
            is_free[rows] = False
            taken.append(rows)
        return np.concatenate(taken)

    def _refuse(self, y, label, order, wanted, what, found):
        name = describe_class(y, label)
        raise ValueError(
            f"{self!r} needs {wanted} {what} of every class. {name[0].upper() + name[1:]} has "
            f"{len(order)} rows, and {found} are left. Lower n_queries or n_train, or take "
            "what choose_retrieval_split gives."
        )


@dataclass
class RandomRetrievalSplit(SampledSplits):
    """Sample queries, database and training rows, without regard to classes.

    The protocol for rows without labels. Training rows are part of the database. Row numbers come
    shuffled.

    Parameters
    ----------
    n_queries : int, default=1000
        Number of queries, of all classes together.
    n_train : int or None, default=None
        Number of training rows; None: the whole database.
    n_database : int or None, default=None
        Number of database rows; None: all but the queries.
    n_splits : int, default=1
        How many independent splits to sample.
    random_state : int, RandomState instance or None, default=None
        Controls which rows are sampled.

    Examples
    --------
    LabelMe in the papers: 2,000 queries, 20,000 database rows, 5,000 of them to train on.

    >>> import numpy as np
    >>> from sklearn_hashrank.model_selection import RandomRetrievalSplit
    >>> protocol = RandomRetrievalSplit(2000, n_train=5000, random_state=0)
    >>> [(train, query, database)] = protocol.split(np.empty((22_000, 1)))
    >>> len(train), len(query), len(database)
    (5000, 2000, 20000)
    """

    n_queries: int = 1000
    n_train: int | None = None
    _: KW_ONLY
    n_database: int | None = None
    n_splits: int = 1
    random_state: Any = None

    def __post_init__(self):
        check_count("n_queries", self.n_queries)
        check_count("n_train", self.n_train, or_none=True)
        check_count("n_database", self.n_database, or_none=True)
        check_count("n_splits", self.n_splits)

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[RetrievalSplit]:
        """Sample the splits.

        Parameters
        ----------
        X : array-like with n_samples rows
            Only the number of rows matters.
        y, groups : object
            Not used; scikit-learn passes them to every splitter.

        Yields
        ------
        split : RetrievalSplit
            Row numbers of the training rows, the queries and the database.
        """
        n_rows = _num_samples(X)
        n_database = n_rows - self.n_queries if self.n_database is None else self.n_database
        n_train = n_database if self.n_train is None else self.n_train
        needed = self.n_queries + max(n_database, n_train, 1)
        if needed > n_rows or n_train > n_database:
            raise ValueError(
                f"{self!r} needs at least {max(needed, self.n_queries + n_train)} rows, and at "
                f"most n_database training rows. Got n_samples = {n_rows}."
            )
        random_state = check_random_state(self.random_state)
        for _ in range(self.n_splits):
            rows = random_state.permutation(n_rows)
            database = rows[self.n_queries : self.n_queries + n_database]
            yield RetrievalSplit(database[:n_train], rows[: self.n_queries], database)


def check_count(name: str, value: Any, or_none: bool = False) -> None:
    if or_none and value is None:
        return
    if not is_int(value, 1):
        accepted = "an int >= 1 or None" if or_none else "an int >= 1"
        raise ValueError(f"{name} must be {accepted}. Got {value!r} instead.")
