"""Make trees of objects that JSON can hold; see :mod:`.storable` for their form."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from .container import is_storable_dtype
from .storable import (
    DEEPEST,
    PLAIN,
    SPARSE,
    check_attribute,
    given_name,
    is_given,
    is_named_tuple,
    is_network,
    type_name,
)

NOT_KEPT = ("_sklearn_output_config", "_metadata_request", "_skl_callbacks", "_callback_fit_ctx")
_HOLDERS = (list, tuple, dict, set, frozenset, str, bytes, bytearray, int, float, np.ndarray)


class TreeWriter:
    """Makes trees of objects, beside which lie the arrays.

    `types` are the classes of the package that a file may name. Objects of other classes are stored
    by the names of their classes where `is_own` says that they are a user's, and refused otherwise;
    `own_types` collects those classes, and whatever else users pass again.
    """

    def __init__(self, types: Mapping[str, type], is_own: Callable[[Any], bool]):
        self._types, self._is_own = types, is_own
        self.arrays: list[tuple[str, np.ndarray]] = []
        self.own_types: dict[str, Any] = {}
        self._numbers: dict[int, int] = {}  # of arrays and objects, by identity
        self._kept: list[Any] = []  # so that no identity is used twice
        self._n_objects = 0

    def write(self, value: Any, where: str, depth: int = 0) -> Any:
        """Return the tree of a value; ValueError names the place of what cannot be stored."""
        if depth > DEEPEST:
            raise ValueError(f"{where} cannot be stored: it is nested too deeply, or holds itself.")
        kind = type(value)
        if kind in PLAIN:
            return value
        if kind is float:
            return value if np.isfinite(value) else {"float": str(value)}
        if kind in (list, tuple):
            items = [self.write(item, f"{where}[{i}]", depth + 1) for i, item in enumerate(value)]
            return {kind.__name__: items}
        if kind is dict:
            return {"dict": [self._write_pair(pair, where, depth) for pair in value.items()]}
        if isinstance(value, np.generic) and is_storable_dtype(value.dtype):
            return {"scalar": [value.dtype.str, value.tobytes().hex()]}
        if isinstance(value, np.dtype) and is_storable_dtype(value):
            return {"dtype": value.str}
        if kind in (np.ndarray, np.memmap):
            return self._write_array(value, where, depth)
        if kind in SPARSE.values():
            return self._write_sparse(value, where, depth)
        return self._write_object(value, where, depth)

    def _write_pair(self, pair, where, depth):
        key, value = pair
        key_tree = self.write(key, f"a key of {where}", depth + 1)
        return [key_tree, self.write(value, f"{where}[{key!r}]", depth + 1)]

    def _write_array(self, array, where, depth):
        if array.dtype.kind == "O":
            items = [i.item() if isinstance(i, np.generic) else i for i in array.flat]
            if any(type(item) not in (*PLAIN, float) for item in items):
                raise _unknown(where, next(i for i in items if type(i) not in (*PLAIN, float)))
            shape = list(array.shape)
            return {"strings": [shape, [self.write(i, where, depth + 1) for i in items]]}
        if not is_storable_dtype(array.dtype):
            raise _unknown(where, array)
        if id(array) not in self._numbers:
            self._remember(array, len(self.arrays))
            self.arrays.append((where, np.asarray(array)))
        return {"array": self._numbers[id(array)]}

    def _write_sparse(self, matrix, where, depth):
        parts = [
            self.write(getattr(matrix, part), f"{where}.{part}", depth + 1)
            for part in ("data", "indices", "indptr")
        ]
        return {"sparse": [type(matrix).__name__, [int(n) for n in matrix.shape], *parts]}

    def _write_object(self, value, where, depth):
        if id(value) in self._numbers:
            return {"again": self._numbers[id(value)]}
        cls, name = type(value), type_name(type(value))
        if self._types.get(name) is not cls:
            if isinstance(value, type) or not self._is_own(value) or not hasattr(value, "__dict__"):
                raise _unknown(where, value)
            _check_whole(value, where)
            self._name_own(name, cls, where)
        self._remember(value, self._n_objects)
        self._n_objects += 1
        prefix = f"{where}." if where else ""
        if is_named_tuple(cls):
            fields = value._asdict()
            fields = {f: self.write(v, prefix + f, depth + 1) for f, v in fields.items()}
            return {"object": [name, fields, {}]}
        parameters = value.get_params(deep=False) if hasattr(value, "get_params") else {}
        left_out = {*parameters, *NOT_KEPT, *getattr(cls, "_not_stored", ())}
        stored = value._state_to_store() if hasattr(cls, "_state_to_store") else vars(value)
        state = {key: item for key, item in stored.items() if key not in left_out}
        for key in state:
            check_attribute(cls, key, f"{prefix}{key}")
        given = [key for key in getattr(cls, "_passed_again", ()) if is_given(parameters[key])]
        return {
            "object": [name]
            + [
                {
                    key: self._write_given(item, f"{prefix}{key}")
                    if part is parameters and key in given
                    else self.write(item, prefix + key, depth + 1)
                    for key, item in part.items()
                }
                for part in (parameters, state)
            ]
        }

    def _write_given(self, value, where):
        self._name_own(given_name(value), value, where)
        return {"given": [given_name(value), is_network(value)]}

    def _name_own(self, name, value, where):
        """Note what a user passes again, under a name that nothing else has."""
        if self.own_types.setdefault(name, value) is not value:
            raise ValueError(f"{where} cannot be stored: something else is called {name} as well.")

    def _remember(self, value, number):
        self._numbers[id(value)] = number
        self._kept.append(value)


def _check_whole(value: Any, where: str) -> None:
    """Refuse objects of users that hold more than their attributes."""
    if isinstance(value, _HOLDERS):
        raise ValueError(
            f"{where} cannot be stored: it is of a class derived from "
            f"{next(kind.__name__ for kind in _HOLDERS if isinstance(value, kind))}. Keep what it "
            "holds in an attribute."
        )
    slots = {
        name
        for kind in type(value).__mro__
        for name, slot in vars(kind).items()
        if inspect.ismemberdescriptor(slot) and hasattr(value, name)
    }
    if slots:
        raise ValueError(
            f"{where} cannot be stored: {', '.join(sorted(slots))} of "
            f"{type(value).__qualname__} is in __slots__. Files hold attributes without slots."
        )


def _unknown(where: str, value: Any) -> ValueError:
    cls = type(value)
    what = f"an array of dtype {value.dtype}" if isinstance(value, np.ndarray) else ""
    if isinstance(value, (np.random.RandomState, np.random.Generator)):
        what = f"a {cls.__name__}, whose state no int restores; set an int or None"
    elif callable(value) and hasattr(value, "__qualname__"):
        what = f"the function or class {value.__qualname__}"
    what = what or f"a {cls.__module__}.{cls.__qualname__}"
    return ValueError(
        f"{where} cannot be stored: it holds {what}. Files hold None, bool, int, float, str, "
        "tuple, list, dict, arrays of numbers or strings, sparse matrices, affinities, objectives "
        "and hashers."
    )
