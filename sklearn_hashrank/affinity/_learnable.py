"""Whether the relevance of rows leaves anything to learn or to measure.

All hashers that learn from `y` ask here before they learn, and comparisons before they measure, so
that labels of a single class, or of as many classes as rows, are noticed by one rule.
"""

import warnings
from typing import Any

import numpy as np

from ._level_checks import check_level_indices
from ._protocol import BaseAffinity

_RUNS_AT_A_TIME = 1 << 20


def check_can_learn(name: str, affinity: BaseAffinity, y: Any, graded: bool = True) -> None:
    """Raise an error where no pair of rows is more relevant than another.

    Parameters
    ----------
    name : str
        Of the hasher, for messages.
    affinity : BaseAffinity
        Fitted. One that belongs to a database, as nearest rows do, is not checked: its rows have
        near and far ones.
    y : array-like with n_samples rows
        What it compares.
    graded : bool, default=True
        Whether the hasher tells levels above 0 apart. Where it does not, rows that are all
        relevant leave nothing to learn.
    """
    if affinity.without_database() is not affinity:
        return
    met = levels_met(affinity, y)
    is_relevant = met > 0
    if len(met) < 2 or not (graded or (is_relevant.any() and not is_relevant.all())):
        levels = ", ".join(f"{level:g}" for level in met)
        raise ValueError(
            f"{name} has nothing to learn from: it needs pairs of rows that are relevant to each "
            f"other and pairs that are less so. All pairs have level {levels or 'of none'}. Got "
            f"{affinity.describe(y)}."
        )


def warn_if_alike(affinity: BaseAffinity, y: Any, stacklevel: int = 2) -> None:
    """Warn where every pair of rows is relevant, or none is, so that scores say nothing.

    Parameters
    ----------
    affinity : BaseAffinity
        Fitted. One that belongs to a database is not looked at.
    y : array-like with n_samples rows
        What it compares.
    stacklevel : int, default=2
        Of the warning.
    """
    if affinity.without_database() is not affinity:
        return
    is_relevant = levels_met(affinity, y) > 0
    if is_relevant.all() or not is_relevant.any():
        which = "every pair of rows is" if is_relevant.any() else "no pair of rows is"
        meaning = "any code has a perfect score" if is_relevant.any() else "no score is defined"
        warnings.warn(
            f"{which} relevant, so that {meaning}. Got {affinity.describe(y)}.",
            UserWarning,
            stacklevel=stacklevel + 1,
        )


def levels_met(affinity: BaseAffinity, y: Any) -> np.ndarray:
    """Return levels of pairs of different rows, ascending.

    All of them, unless 0 and another one are among them: then the search ends.
    """
    rows = affinity.validate(y)
    groups, index = affinity.group(rows)
    n_groups = groups.shape[0]
    sizes = np.ones(n_groups, dtype=np.int64) if index is None else np.bincount(index)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    counts = np.zeros(len(affinity.levels_), dtype=np.int64)
    step = max(1, _RUNS_AT_A_TIME // max(1, affinity.n_runs(n_groups)))
    for start in range(0, n_groups, step):
        part = slice(start, start + step)
        stops, levels = affinity.runs(groups[part], groups)
        n_queries = len(sizes[part])
        shape = (len(levels) if len(levels) == 1 else n_queries, stops.shape[1])
        levels = check_level_indices(affinity, levels, shape, len(counts))
        lengths = np.diff(offsets[stops], axis=1, prepend=0)
        lengths, levels = np.broadcast_arrays(lengths * sizes[part, None], levels)
        np.add.at(counts, levels.ravel(), lengths.ravel())
        own = affinity.paired_level_indices(groups[part], groups[part])
        own = check_level_indices(affinity, own, (n_queries,), len(counts))
        np.subtract.at(counts, own, sizes[part])  # each row with itself
        if counts[0] and counts[1:].any():
            break
    return affinity.levels_[counts > 0]
