"""What counts as an integer, in every check of the package."""

from numbers import Integral
from typing import Any, TypeGuard


def is_int(value: Any, minimum: int | None = None) -> TypeGuard[int]:
    """Whether a value is an int, of Python or numpy; booleans are none, though Python says so."""
    if not isinstance(value, Integral) or isinstance(value, bool):
        return False
    return minimum is None or int(value) >= minimum
