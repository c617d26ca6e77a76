"""Choosing and fitting an affinity."""

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone

from ._coercion import are_one_hot, as_indicator, as_rows, slices
from ._euclidean import EuclideanAffinity
from ._labels import HierarchicalAffinity, LabelAffinity, SharedLabelAffinity
from ._level_checks import check_levels
from ._neighbors import NeighborAffinity
from ._protocol import BaseAffinity

# How many nearest rows have each level, to learn from without `y`; in proportion among fewer rows.
_RANKS, _ROWS_OF_RANKS = (10, 50, 200), 2000
_SHARES = (90, 75, 50, 30, 20, 10, 5, 2, 1)  # percent of the pairs within each level of distance
_ROWS_TO_LOOK_AT, _FAR_AWAY = 1000, 4.0  # pixels and embeddings are at 1 to 2, see _is_far_away


def fit_affinity(affinity: Any, y: Any) -> BaseAffinity:
    """Return a fitted affinity for rows of `y`."""
    if is_auto(affinity):
        return auto_affinity(y).fit(y)
    if not isinstance(affinity, BaseAffinity):
        raise ValueError(
            "affinity must be 'auto' or an affinity object such as LabelAffinity(). "
            f"Got {affinity!r} instead."
        )
    fitted = affinity if affinity.__sklearn_is_fitted__() else clone(affinity).fit(y)
    check_levels(fitted)
    return fitted


def fit_affinity_of_blocks(affinity: Any, y: Any) -> BaseAffinity:
    """Return an affinity fitted on the first of many blocks.

    What "auto" chooses by the first block holds for all of them: a later block that it does not
    fit is refused when it is compared.
    """
    if is_auto(affinity):
        affinity = auto_affinity(y)
    if isinstance(affinity, EuclideanAffinity) and not affinity.__sklearn_is_fitted__():
        raise ValueError(
            "the thresholds of EuclideanAffinity cannot be set from the first of many blocks. "
            "Pass one that was fitted on training rows."
        )
    if isinstance(affinity, NeighborAffinity) and not affinity.__sklearn_is_fitted__():
        raise ValueError(
            "the first of many blocks does not tell which rows of the database are the nearest. "
            "NeighborAffinity must be fitted: fit it on the whole database first."
        )
    return fit_affinity(affinity, y)


def auto_affinity(y: Any) -> BaseAffinity:
    """Choose an affinity by the form of `y`.

    One column holds class labels. Several columns that are sparse, boolean, or hold only 0 and 1 in
    any type of number are a multilabel indicator. Other integers are label paths, coarse to fine,
    and other floats are vectors, compared by Euclidean distance. Vectors that hold only 0 and 1
    need an explicit ``EuclideanAffinity()``, and such label paths a ``HierarchicalAffinity()``.
    Several columns of -1 and +1 are refused, as they may be an indicator or codes.
    """
    if sparse.issparse(y) and y.ndim == 2:
        return LabelAffinity() if y.shape[1] == 1 else SharedLabelAffinity()
    y = as_rows(y, "y")
    if y.dtype.kind not in "buif" and y.ndim == 2 and y.shape[1] != 1:
        raise ValueError(
            f"cannot tell what a 2-d y of dtype {y.dtype} means. Pass "
            "affinity=HierarchicalAffinity() for label paths."
        )
    if y.ndim == 2 and y.shape[1] > 1 and y.size and _holds_only_signs(y):
        raise ValueError(
            "y holds only -1 and +1 in several columns, which are signs of codes or a multilabel "
            "indicator. Are codes and y swapped? An indicator has 0 and 1: pass y > 0. For vectors "
            "pass affinity=EuclideanAffinity(), for label paths affinity=HierarchicalAffinity()."
        )
    if y.ndim not in (1, 2):
        raise ValueError(f"y must be 1-d or 2-d. Got shape {y.shape}.")
    if y.ndim == 1 or y.shape[1] == 1:
        return LabelAffinity()
    if y.dtype.kind == "b" or (y.size and _holds_zeros_and_ones(y)):
        return SharedLabelAffinity()
    return EuclideanAffinity() if y.dtype.kind == "f" else HierarchicalAffinity()


def affinity_of_all(affinity: Any, y: Any) -> Any:
    """Return `affinity`, or what "auto" means where `y` are all rows that there are.

    An indicator with exactly one label in every row is classes then. Where further rows may come,
    as the queries and blocks of an evaluation do, they may have more labels: there such an
    indicator stays one (:func:`auto_affinity`), and the counts are the same.
    """
    if y is None or not is_auto(affinity):
        return affinity_for(affinity, y)
    found = auto_affinity(y)
    if isinstance(found, SharedLabelAffinity) and are_one_hot(as_indicator(y, "y")):
        return LabelAffinity()
    return found


def _holds_zeros_and_ones(y):
    return all(((part == 0) | (part == 1)).all() for part in slices(y))


def _holds_only_signs(y):
    values = (np.abs(part) == 1 for part in slices(y))
    return y.dtype.kind in "if" and all(part.all() for part in values) and (y < 0).any()


def affinity_for(affinity: Any, y: Any) -> Any:
    """Return `affinity`, or without `y` the Euclidean one where it is "auto".

    Without `y` the rows themselves are compared, whatever form they have, and "auto" must not
    take them for labels.
    """
    return EuclideanAffinity() if y is None and is_auto(affinity) else affinity


def affinity_to_learn_from(affinity: Any, X: Any, y: Any) -> Any:
    """Return `affinity`, or without `y` the nearest rows of `X` where it is "auto".

    To judge by, "auto" without `y` means thresholds of distance (:func:`affinity_for`), which can
    be kept without the rows. To learn from, nearest rows are better: they are as many for rows in
    dense regions as for others. They are the nearest by cosine; but by Euclidean distance where all
    rows lie in much the same direction, far from the origin, so that angles say little.
    """
    if y is not None or not is_auto(affinity):
        return affinity_of_all(affinity, y)
    scale = min(1.0, X.shape[0] / _ROWS_OF_RANKS)
    ranks = [max(place, round(scale * k)) for place, k in enumerate(_RANKS, start=1)]
    return NeighborAffinity(tuple(ranks), metric="euclidean" if _is_far_away(X) else "cosine")


def affinity_of_all_pairs(affinity: Any, y: Any) -> Any:
    """Return `affinity`, or without `y` levels of all distances where it is "auto".

    For learners that add up all pairs, of which few are near.
    """
    if y is not None or not is_auto(affinity):
        return affinity_of_all(affinity, y)
    return EuclideanAffinity(_SHARES, tuple(range(1, len(_SHARES) + 1)))


def judges_what_it_taught(affinity: Any, learned: BaseAffinity) -> bool:
    """Whether what was learned from without `y` is also what retrieval is judged by.

    It is where a user chose the affinity. Of what "auto" means without `y`, thresholds of distance
    are (:func:`affinity_for`). Nearest rows (:func:`affinity_to_learn_from`) and levels that most
    pairs have (:func:`affinity_of_all_pairs`) teach well, but do not say which rows are relevant.
    """
    judged = affinity_for(affinity, None)
    return not is_auto(affinity) or (
        type(learned) is type(judged) and learned.get_params() == judged.get_params()
    )


def _is_far_away(X):
    """Whether the mean of the rows is many times as far from the origin as rows from the mean."""
    some = X[:: -(-X.shape[0] // _ROWS_TO_LOOK_AT)]
    rows = np.asarray(some.toarray() if sparse.issparse(some) else some, dtype=float)
    rows = rows / (np.abs(rows).max(initial=0) or 1.0)
    mean = rows.mean(axis=0)
    return mean @ mean > _FAR_AWAY**2 * np.mean(((rows - mean) ** 2).sum(axis=1))


def is_auto(affinity: Any) -> bool:
    """Whether an affinity is still to be chosen by the form of `y`."""
    return isinstance(affinity, str) and affinity == "auto"
