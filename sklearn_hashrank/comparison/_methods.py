"""The methods that can be compared by name, and their short notation."""

import difflib
import inspect
import pickle
import sys
from typing import Any

from sklearn.base import clone

from .._utils.notation import split_notation
from ..affinity import is_auto
from ..base import BaseHasher
from ._names import METHODS

_SET_BY_COMPARISON = {"n_bits", "random_state", "output"}
_VERSIONED = {"sklearn_hashrank", "sklearn", "numpy", "scipy", *sys.stdlib_module_names}


def method_from_name(notation: str) -> BaseHasher:
    """Return the unfitted hasher that a short notation such as ``"talr-ap:alpha=3"`` stands for.

    Parameters
    ----------
    notation : str
        A name of `METHODS`, followed by any number of ``:parameter=value``. Values are read as
        Python literals, and as plain strings where that fails.

    Returns
    -------
    hasher : BaseHasher

    Examples
    --------
    >>> from sklearn_hashrank.comparison import method_from_name
    >>> method_from_name("talr-ap:alpha=3:schedule=step")
    TALRLinear(alpha=3, objective='ap', schedule='step')
    """
    name, parameters = split_notation(notation, "method", "talr-ap:alpha=3")
    if name not in METHODS:
        near = difflib.get_close_matches(name, METHODS, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise ValueError(
            f"unknown method {name!r}.{hint} The methods are {', '.join(sorted(METHODS))}."
        )
    try:
        hasher = clone(METHODS[name].hasher)
    except ImportError as error:
        raise ValueError(f"method {name!r}: {error}") from error
    accepted = sorted(set(hasher.get_params()) - _SET_BY_COMPARISON)
    for parameter in parameters:
        if parameter in _SET_BY_COMPARISON:
            raise ValueError(f"{parameter} of method {notation!r} is set for each run.")
        if parameter not in accepted:
            known = ", ".join(accepted) or "none"
            raise ValueError(
                f"method {name!r} has no parameter {parameter!r}. Its parameters: {known}."
            )
    return check_method(hasher.set_params(**parameters), notation)


def check_method(estimator: Any, name: str) -> Any:
    """Return the estimator, or say what is wrong with it before anything has been run."""
    wanted = ("fit", "get_params", "set_params")
    lacks = [method for method in wanted if not hasattr(estimator, method)]
    if lacks or isinstance(estimator, type):
        raise ValueError(
            f"method {name!r} must be a hasher, or another estimator whose transform or predict "
            f"gives codes. Got {estimator!r} instead."
        )
    if hasattr(estimator, "_parameter_constraints"):
        try:
            estimator._validate_params()
        except ValueError as error:
            raise ValueError(f"method {name!r}: {error}") from error
    return estimator


def with_affinity(estimator: Any, affinity: Any) -> Any:
    """Clone an estimator that learns from `affinity` wherever it would choose one itself."""
    estimator = clone(estimator)
    chosen = {
        path: affinity
        for path, value in estimator.get_params().items()
        if path.rpartition("__")[2] == "affinity" and is_auto(value)
    }
    return estimator.set_params(**chosen)


def types_inside(estimator: Any) -> set[type]:
    """Types of an estimator and of the estimators inside of it."""
    inside = [value for value in estimator.get_params().values() if hasattr(value, "get_params")]
    return {type(each) for each in (estimator, *inside)}


def sources(*objects: Any) -> str | None:
    """Source of the modules of users' types and functions; None where there is one without.

    These are all that the objects are made of. What Python, this package and scikit-learn define is
    known by their versions. What cannot be pickled raises an error.
    """
    finder = _ModuleFinder()
    finder.dump(objects)
    texts = []
    for name in sorted(finder.modules):
        if name.partition(".")[0] in _VERSIONED:
            continue
        try:
            texts.append(inspect.getsource(sys.modules[name]))
        except (KeyError, OSError, TypeError):
            return None
    return "".join(texts)


class _ModuleFinder(pickle.Pickler):
    """Notes where the types, their bases and the functions are defined that objects are made of."""

    def __init__(self):
        super().__init__(_Sink())
        self.modules: set[str] = set()

    def reducer_override(self, part: Any) -> Any:
        definitions = part.__mro__ if isinstance(part, type) else (part, *type(part).__mro__)
        modules = (getattr(each, "__module__", None) for each in definitions)
        self.modules.update(module for module in modules if module)  # what is built in has none
        return NotImplemented


class _Sink:
    """Keeps nothing of what is written."""

    def write(self, data: Any) -> int:
        return len(data)
