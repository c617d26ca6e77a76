"""Choose a protocol by the number of rows, and of rows of each class, that there are."""

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import _num_samples

from ._classes import class_members, class_numbers, describe_class
from ._splits import PerClassRetrievalSplit, RandomRetrievalSplit

_TRAINING_PER_QUERY = 5  # of a class, as 500 training rows and 100 queries are in the papers
_EVEN = 0.5  # smallest class over mean class of classes that are of about one size
_SHARE_OF_QUERIES = 5  # one row in so many, where rows are few
_MOST_QUERIES = 1000
_MOST_TRAINING_ROWS, _TRAINING_ROWS_PER_CLASS = 5000, 500


class ChosenSplit(NamedTuple):
    """A protocol, and why it suits the data.

    Parameters
    ----------
    protocol : PerClassRetrievalSplit or RandomRetrievalSplit
        The protocol.
    reason : str
        Why it was chosen, a part of a sentence.
    """

    protocol: PerClassRetrievalSplit | RandomRetrievalSplit
    reason: str


def choose_retrieval_split(X: Any, y: Any = None) -> ChosenSplit:
    """Choose a protocol that the data have rows enough for.

    With 600 rows of every class it is ``PerClassRetrievalSplit()``, the protocol of the papers.
    Classes that are smaller and of about one size give a sixth of the smallest class as queries
    of each class, and as many training rows as are left of it. Classes of very different sizes,
    rare labels of label sets, and rows without classes give ``RandomRetrievalSplit``: one row in
    five is a query, but at most 1,000. Then all other rows are trained on; where they have classes,
    500 for each class, or 5,000 where these are more.

    Parameters
    ----------
    X : array-like with n_samples rows
        Only the number of rows matters.
    y : array-like with n_samples rows, default=None
        Class labels, label paths, a multilabel indicator, or targets.

    Returns
    -------
    chosen : ChosenSplit
        The `protocol` and the `reason`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn_hashrank.model_selection import choose_retrieval_split
    >>> protocol, reason = choose_retrieval_split(*load_iris(return_X_y=True))
    >>> protocol
    PerClassRetrievalSplit(n_queries=8, n_train=42, n_splits=1, random_state=None)
    >>> reason
    'the smallest of 3 classes, class 0, has 50 rows'
    """
    n_rows = _num_samples(X)
    members = None if y is None else class_members(y)
    if members is None:
        return ChosenSplit(_random(n_rows, 0), f"there are {n_rows:,} rows without classes")
    counts = np.diff(members.indptr)
    n_classes, rarest = len(counts), int(np.argmin(counts))
    name, fewest = describe_class(y, rarest), int(counts[rarest])
    usual = PerClassRetrievalSplit()
    needed = usual.n_queries + int(usual.n_train or 0)
    if class_numbers(y) is None:
        if _has_enough(counts, needed):
            return ChosenSplit(usual, f"each of {n_classes} labels has {fewest:,} rows or more")
        reason = f"the rarest of {n_classes} labels, {name}, has {fewest:,} of {n_rows:,} rows"
        return ChosenSplit(_random(n_rows, n_classes), reason)
    smallest = "the only class" if n_classes == 1 else f"the smallest of {n_classes} classes"
    reason = f"{smallest}, {name}, has {fewest:,} row{'s' * (fewest > 1)}"
    if fewest >= needed:
        return ChosenSplit(usual, reason)
    if fewest < 2 or fewest < _EVEN * counts.mean():
        reason += f" and the largest {int(counts.max()):,}"
        return ChosenSplit(_random(n_rows, n_classes), reason)
    n_queries = max(1, fewest // (_TRAINING_PER_QUERY + 1))
    return ChosenSplit(PerClassRetrievalSplit(n_queries, fewest - n_queries), reason)


def _has_enough(counts: np.ndarray, needed: int) -> bool:
    """Whether every label has its rows left, even after the rarer ones took theirs from it."""
    return bool((np.sort(counts) >= needed * np.arange(1, len(counts) + 1)).all())


def _random(n_rows: int, n_classes: int) -> RandomRetrievalSplit:
    n_queries = min(_MOST_QUERIES, max(1, n_rows // _SHARE_OF_QUERIES))
    most = max(_MOST_TRAINING_ROWS, _TRAINING_ROWS_PER_CLASS * n_classes)
    is_limited = n_classes > 0 and n_rows - n_queries > most
    return RandomRetrievalSplit(n_queries, most if is_limited else None)
