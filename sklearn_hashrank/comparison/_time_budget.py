"""How much of a time budget is left, and how long a fit is expected to take."""

import math
import time
from typing import Any

import numpy as np
from sklearn.base import clone

_PARTS = (16, 8, 4)  # one of so many rows: each part has twice as many as the one before
_DOUBT = 2  # by which factor the time that two parts predict may be wrong


class TimeBudget:
    """Seconds to spend, from now on; None: as many as it takes."""

    def __init__(self, seconds: float | None):
        self._start = time.perf_counter()
        self._seconds = math.inf if seconds is None else seconds

    @property
    def seconds_left(self) -> float:
        """Below 0 where more were spent."""
        return self._seconds - (time.perf_counter() - self._start)

    def why_not(self, expected: float) -> str:
        """Why something that is expected to take so long should not begin; empty if it should."""
        left = self.seconds_left
        if left == math.inf or expected <= left:
            return ""
        if left <= 0 or expected == math.inf:
            return f"the time budget of {self._seconds:g} s was used up before"
        return (
            f"it was expected to take {expected:.2g} s, and {left:.2g} s of the time budget of "
            f"{self._seconds:g} s were left"
        )


def expected_seconds(
    estimator: Any, X: Any, y: Any, train: np.ndarray, budget: TimeBudget
) -> float:
    """What a fit of the training rows is expected to take, from fits of growing parts of them.

    Time that grows like a power of the number of rows, or in proportion to it from a time on that
    any number takes, follows from two fits. They end as soon as it is clear whether time is left.

    Parameters
    ----------
    estimator : estimator
        It stays as it is; clones are fitted.
    X, y : array-like
        All rows, and what goes with them or None.
    train : ndarray of int
        Numbers of the training rows, in any order but that of the classes.
    budget : TimeBudget
        What is left.

    Returns
    -------
    seconds : float
    """
    before = now = 0.0
    expected = math.inf
    for part in _PARTS:
        before, now = now, _seconds_of(estimator, X, y, train[::part])
        left = budget.seconds_left
        if not before:
            expected = now * part
            # Even time that grows with the square is left, or none for that of the next part.
            if now * part**2 <= left or now * 2**2 > left:
                return expected
            continue
        as_power = now * (now / before) ** math.log2(part)
        in_proportion = now + 2 * (part - 1) * (now - before)
        expected = max(as_power, in_proportion)
        if not left / _DOUBT < expected <= left * _DOUBT:
            return expected
    return expected


def _seconds_of(estimator: Any, X: Any, y: Any, rows: np.ndarray) -> float:
    """Time of a fit of some rows; 0 where they are too few to learn from."""
    began = time.perf_counter()
    try:
        clone(estimator).fit(X[rows], None if y is None else y[rows])
    except ValueError:  # such as too few rows of a class; the run itself has them all
        return 0.0
    return time.perf_counter() - began
