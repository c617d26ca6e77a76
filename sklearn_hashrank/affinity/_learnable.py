"""Whether the relevance of rows leaves anything to learn or to measure.

All hashers that learn from `y` ask here before they learn, and comparisons before they measure, so
that labels of a single class, or of as many classes as rows, are noticed by one rule.
"""

import warnings
from typing import Any

from ._protocol import BaseAffinity


def check_can_learn(
    name: str, affinity: BaseAffinity, y: Any, graded: bool = True, rows: Any = None
) -> None:
    """Raise an error where no pair of rows is more relevant than another.

    For a hasher that does not tell levels above 0 apart, `graded` is False: rows that are all
    relevant then leave nothing to learn. `rows` are `y` as the affinity has validated it.
    """
    met = affinity.levels_met(affinity.validate(y) if rows is None else rows)
    is_relevant = met > 0
    if len(met) < 2 or not (graded or (is_relevant.any() and not is_relevant.all())):
        levels = ", ".join(f"{level:g}" for level in met)
        raise ValueError(
            f"{name} has nothing to learn from: it needs pairs of rows that are relevant to each "
            f"other and pairs that are less so. All pairs have level {levels or 'of none'}. Got "
            f"{affinity.describe(y)}."
        )


def warn_if_alike(affinity: BaseAffinity, y: Any) -> None:
    """Warn where every pair of rows is relevant, or none is, so that scores say nothing."""
    is_relevant = affinity.levels_met(affinity.validate(y)) > 0
    if is_relevant.all() or not is_relevant.any():
        which = "every pair of rows is" if is_relevant.any() else "no pair of rows is"
        meaning = "any code has a perfect score" if is_relevant.any() else "no score is defined"
        warnings.warn(
            f"{which} relevant, so that {meaning}. Got {affinity.describe(y)}.",
            UserWarning,
            stacklevel=3,  # the caller of `compare`
        )
