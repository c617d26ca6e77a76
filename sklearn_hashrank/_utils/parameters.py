"""Parameters of estimators: what scikit-learn's validation lets pass, and should not."""

from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval, InvalidParameterError, make_constraint


class NumbersAreNoBooleans:
    """Mixin of estimators that refuses booleans where their constraints ask for numbers.

    For Python, and for scikit-learn, True is the integer 1, so that ``n_bits=True`` would learn
    codes of one bit.
    """

    _parameter_constraints: dict[str, Any]

    def _validate_params(self) -> None:
        super()._validate_params()  # type: ignore[misc]
        for name, value in self.get_params(deep=False).items():  # type: ignore[attr-defined]
            constraints = self._parameter_constraints.get(name, ())
            if isinstance(value, (bool, np.bool_)) and isinstance(constraints, list):
                self._refuse_boolean(name, value, constraints)

    def _refuse_boolean(self, name: str, value: Any, constraints: list) -> None:
        others = [c for c in constraints if not isinstance(c, Interval) and c not in _NUMBERS]
        if not any(make_constraint(each).is_satisfied_by(value) for each in others):
            accepted = " or ".join(str(make_constraint(each)) for each in constraints)
            raise InvalidParameterError(
                f"The {name!r} parameter of {type(self).__name__} must be {accepted}. "
                f"Got {value!r} instead."
            )


_NUMBERS = (Integral, Real)
