"""Parameters: what scikit-learn's validation lets pass, and should not.

For Python, and for scikit-learn, True is the integer 1, so that ``n_bits=True`` would learn codes
of one bit. No parameter of this package that asks for a number takes a boolean. Estimators and
objectives have :class:`NumbersAreNoBooleans` for that, functions :func:`validate_numbers`, and
checks of single values :func:`is_int`, :func:`is_real` and :func:`is_finite`.

Names, such as those of methods or columns, are taken by :func:`as_names`.
"""

import functools
import inspect
import math
from collections.abc import Callable, Iterable, Mapping
from numbers import Integral, Real
from typing import Any, TypeGuard, TypeVar

import numpy as np
from sklearn.utils._param_validation import (
    Interval,
    InvalidParameterError,
    Options,
    make_constraint,
    validate_params,
)

_Function = TypeVar("_Function", bound=Callable)


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


class NumbersAreNoBooleans:
    """Mixin of estimators and objectives whose constraints on numbers refuse booleans."""

    def _validate_params(self) -> None:
        super()._validate_params()  # type: ignore[misc]
        given = self.get_params(deep=False)  # type: ignore[attr-defined]
        constraints = self._parameter_constraints  # type: ignore[attr-defined]
        _refuse_booleans(given, constraints, type(self).__name__)


def validate_numbers(constraints: Mapping[str, Any]) -> Callable[[_Function], _Function]:
    """Decorate a function with :func:`validate_params`, where numbers are no booleans."""

    def decorate(function: _Function) -> _Function:
        validated = validate_params(dict(constraints), prefer_skip_nested_validation=True)(function)
        signature = inspect.signature(function)

        @functools.wraps(validated)
        def refusing(*args, **options):
            given = signature.bind(*args, **options).arguments
            _refuse_booleans(given, constraints, function.__qualname__)
            return validated(*args, **options)

        return refusing  # type: ignore[return-value]

    return decorate


def _refuse_booleans(given: Mapping[str, Any], constraints: Mapping[str, Any], owner: str) -> None:
    for name, value in given.items():
        of_name = constraints.get(name, ())
        if not isinstance(value, (bool, np.bool_)) or not isinstance(of_name, list):
            continue
        if not any(make_constraint(c).is_satisfied_by(value) for c in of_name if not _is_number(c)):
            accepted = " or ".join(str(make_constraint(each)) for each in of_name)
            raise InvalidParameterError(
                f"The {name!r} parameter of {owner} must be {accepted}. Got {value!r} instead."
            )


def _is_number(constraint: Any) -> bool:
    """Whether a constraint asks for a number, which Python takes booleans for."""
    if isinstance(constraint, Options):  # strings are options, too
        return issubclass(constraint.type, Real)
    return isinstance(constraint, Interval) or constraint in (Integral, Real, "random_state")
