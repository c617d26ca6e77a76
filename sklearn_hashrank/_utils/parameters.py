"""Checks of single values, and of names that may be given alone or in a list."""

import math
from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any, TypeGuard


def is_int(value: Any, minimum: int | None = None) -> TypeGuard[int]:
    """Whether a value is an int, of Python or numpy."""
    if not isinstance(value, Integral) or isinstance(value, bool):
        return False
    return minimum is None or int(value) >= minimum


def is_real(value: Any) -> TypeGuard[float]:
    """Whether a value is an int or a float, of Python or numpy."""
    return isinstance(value, Real) and not isinstance(value, bool)


def is_finite(value: Any) -> TypeGuard[float]:
    """Whether a value is a finite int or float, of Python or numpy."""
    try:
        return is_real(value) and math.isfinite(value)
    except OverflowError:  # an int that no float holds
        return False


def as_names(given: Any, what: str) -> list[str]:
    """Return names as a list; a single one may be given by itself."""
    names = [given] if isinstance(given, str) or not isinstance(given, Iterable) else list(given)
    for name in names:
        if not isinstance(name, str):
            raise ValueError(f"{what} must be named by str. Got {name!r}.")
    return names
