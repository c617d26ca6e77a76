"""Make objects of trees that JSON can hold; see :mod:`.storable` for their form."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from .container import check_values, is_storable_dtype
from .storable import (
    DEEPEST,
    NOT_FINITE,
    PLAIN,
    SPARSE,
    check_attribute,
    is_named_tuple,
    is_network,
)


class TreeReader:
    """Makes objects of trees. Nothing but ``__init__`` of the classes given is called.

    What a tree holds is checked; that of other forms raises ValueError, KeyError or TypeError.
    """

    def __init__(self, arrays: list[np.ndarray], types: Mapping[str, Any]):
        self._arrays, self._types = arrays, types
        self._objects: list[Any] = []

    def read(self, tree: Any, depth: int = 0) -> Any:
        """Return the value of a tree."""
        if depth > 2 * DEEPEST:
            raise ValueError("nested too deeply")
        if type(tree) in PLAIN or (type(tree) is float and np.isfinite(tree)):
            return tree
        [(kind, content)] = tree.items()
        return _READERS[kind](self, content, depth + 1)

    def _read_float(self, content, depth):
        return float(NOT_FINITE[NOT_FINITE.index(content)])

    def _read_list(self, content, depth):
        return [self.read(item, depth) for item in _checked(content, list)]

    def _read_tuple(self, content, depth):
        return tuple(self._read_list(content, depth))

    def _read_dict(self, content, depth):
        return {self.read(key, depth): self.read(value, depth) for key, value in content}

    def _read_dtype(self, content, depth):
        dtype = np.dtype(_checked(content, str))
        if not is_storable_dtype(dtype):
            raise ValueError("dtype")
        return dtype

    def _read_scalar(self, content, depth):
        dtype, digits = self._read_dtype(content[0], depth), bytes.fromhex(content[1])
        check_values(digits, dtype)
        [value] = np.frombuffer(digits, dtype)
        return value

    def _read_array(self, content, depth):
        if _checked(content, int) < 0:
            raise ValueError("array")
        return self._arrays[content] if content < len(self._arrays) else _missing("array")

    def _read_strings(self, content, depth):
        shape, items = content
        array = np.empty(len(_checked(items, list)), dtype=object)
        array[:] = [_checked(self.read(item, depth), *PLAIN, float) for item in items]
        return array.reshape([_checked(n, int) for n in shape])

    def _read_sparse(self, content, depth):
        kind, shape, *parts = content
        data, indices, indptr = (_checked(self.read(part, depth), np.ndarray) for part in parts)
        if {indices.dtype.kind, indptr.dtype.kind} != {"i"} or data.dtype.kind not in "biuf":
            raise ValueError("sparse")
        matrix = SPARSE[kind]((data, indices, indptr), shape=[_checked(n, int) for n in shape])
        matrix.check_format(full_check=True)
        return matrix

    def _read_object(self, content, depth):
        name, parameters, state = content
        found = self._types.get(_checked(name, str))
        cls: type = found if isinstance(found, type) else _missing(f"type {name}")
        number = len(self._objects)
        self._objects.append(None)
        parameters = {key: self.read(tree, depth) for key, tree in parameters.items()}
        if is_named_tuple(cls) or hasattr(cls, "get_params"):
            value = cls(**parameters)
        elif parameters:
            raise ValueError("parameters")
        else:
            value = object.__new__(cls)
        self._objects[number] = value
        for key, tree in state.items():
            check_attribute(cls, key, key)
            value.__dict__[key] = self.read(tree, depth)
        return value

    def _read_given(self, content, depth):
        name, was_network = content
        given = self._types.get(_checked(name, str)) or _missing(f"type {name}")
        return given() if was_network and not is_network(given) else given

    def _read_again(self, content, depth):
        value = self._objects[content] if 0 <= _checked(content, int) < len(self._objects) else None
        return _missing("object") if value is None else value


_READERS: dict[str, Callable[[TreeReader, Any, int], Any]] = {
    "float": TreeReader._read_float,
    "list": TreeReader._read_list,
    "tuple": TreeReader._read_tuple,
    "dict": TreeReader._read_dict,
    "dtype": TreeReader._read_dtype,
    "scalar": TreeReader._read_scalar,
    "array": TreeReader._read_array,
    "strings": TreeReader._read_strings,
    "sparse": TreeReader._read_sparse,
    "object": TreeReader._read_object,
    "again": TreeReader._read_again,
    "given": TreeReader._read_given,
}


def _checked(value: Any, *kinds: type) -> Any:
    if type(value) not in kinds:
        raise ValueError(f"Expected {kinds[0].__name__}")
    return value


def _missing(what: str) -> Any:
    raise ValueError(f"there is no such {what}")
