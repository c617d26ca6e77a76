"""Objects as trees that JSON can hold, and back; only what is known beforehand can be in one.

None, bool, int, finite float and str stand for themselves. Anything else is a dict with one key,
which says what it is:

==============  ==================================================================================
``float``       "nan", "inf" or "-inf"
``list``        its items; so do ``tuple`` and ``dict``, which has pairs
``dtype``       of numpy, by name
``scalar``      of numpy: its dtype, and its bytes in hexadecimal digits
``array``       its number in a list of arrays beside the tree
``strings``     an array of objects, each None, bool, int, float or str: its shape and items
``sparse``      a sparse matrix or array: its format, its shape and the arrays it is made of
``object``      an instance of a class: the class by name, its parameters and its state
``again``       the number of an object that came before
``given``       a class, a function or a network of the user, by name, who passes it again
==============  ==================================================================================
"""

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from scipy import sparse

from ._container import check_values, is_storable_dtype

_PLAIN = (type(None), bool, int, str)
_DEEPEST = 50
_NOT_KEPT = ("_sklearn_output_config", "_metadata_request", "_skl_callbacks", "_callback_fit_ctx")
_HOLDERS = (list, tuple, dict, set, frozenset, str, bytes, bytearray, int, float, np.ndarray)
_NOT_FINITE = ("nan", "inf", "-inf")
_SPARSE: dict[str, type] = {
    kind.__name__: kind
    for kind in (sparse.csr_matrix, sparse.csr_array, sparse.csc_matrix, sparse.csc_array)
}
_STORABLE: dict[str, type] = {}
_PACKAGE = __name__.partition(".")[0]


def storable(kind: type) -> type:
    """Declare that objects of a class of this package may be part of a file of a hasher.

    Their state, all that is in their ``__dict__`` or the fields of a named tuple, must be made of
    what a file can hold. A class whose objects can do without some attributes, such as functions
    that they make anew, names those in a class attribute ``_not_stored``, a tuple of str.
    Estimators and objectives of the package need no declaration.

    Parameters
    ----------
    kind : type
        The class.

    Returns
    -------
    kind : type
        The same; so this is a decorator, and for classes of others a function.
    """
    known = _STORABLE.setdefault(type_name(kind), kind)
    if known.__module__ != kind.__module__:
        raise ValueError(f"{known.__module__} and {kind.__module__} have a {kind.__name__} both.")
    _STORABLE[type_name(kind)] = kind
    return kind


def storable_types() -> dict[str, type]:
    """Classes that :func:`storable` was called for, by name."""
    return dict(_STORABLE)


def is_of_package(kind: type) -> bool:
    """Whether a class is one of this package, and not of a user or a library.

    Parameters
    ----------
    kind : type
        The class.

    Returns
    -------
    is_of_package : bool
    """
    return kind.__module__.startswith(f"{_PACKAGE}.")


def type_name(kind: type) -> str:
    """Name of a class in a file: without its module for classes of this package.

    Parameters
    ----------
    kind : type
        The class.

    Returns
    -------
    name : str
    """
    module = _PACKAGE if is_of_package(kind) else kind.__module__
    return f"{module}.{kind.__qualname__}"


def given_name(value: Any) -> str:
    """Name of a class or function, or of the class of a network.

    Parameters
    ----------
    value : type, function or network
        What a user passes.

    Returns
    -------
    name : str
    """
    return type_name(type(value) if _is_network(value) else value)


def is_given(value: Any) -> bool:
    """Whether a value is a class, a function that has a name, or a network.

    Parameters
    ----------
    value : object
        For instance the parameter of a hasher.

    Returns
    -------
    is_given : bool
    """
    is_function = inspect.isfunction(value) and value.__name__.isidentifier()
    return isinstance(value, type) or is_function or _is_network(value)


def _is_network(value: Any) -> bool:
    """Whether a value is what torch calls a module, without an import of torch."""
    return not isinstance(value, type) and hasattr(value, "load_state_dict")


class TreeWriter:
    """Makes trees of objects.

    Parameters
    ----------
    types : mapping of str to type
        Classes of the package.
    is_own : callable
        Says of an object of another class whether it is a user's own, which is stored by the name
        of its class; other objects are refused.

    Attributes
    ----------
    arrays : list of tuple (name, ndarray)
        The arrays of all trees so far.
    own_types : dict of str to object
        The users' own classes so far, and what users pass again, by name.
    """

    def __init__(self, types: Mapping[str, type], is_own: Callable[[Any], bool]):
        self._types, self._is_own = types, is_own
        self.arrays: list[tuple[str, np.ndarray]] = []
        self.own_types: dict[str, Any] = {}
        self._numbers: dict[int, int] = {}  # of arrays and objects, by identity
        self._kept: list[Any] = []  # so that no identity is used twice
        self._n_objects = 0

    def write(self, value: Any, where: str, depth: int = 0) -> Any:
        """Return the tree of a value; ValueError names the place of what cannot be stored.

        Parameters
        ----------
        value : object
            What is stored.
        where : str
            What the value is, for messages and as the name of an array.
        depth : int, default=0
            How many values it lies in.

        Returns
        -------
        tree : object
            What JSON can hold.
        """
        if depth > _DEEPEST:
            raise ValueError(f"{where} cannot be stored: it is nested too deeply, or holds itself.")
        kind = type(value)
        if kind in _PLAIN:
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
        if kind in _SPARSE.values():
            return self._write_sparse(value, where, depth)
        return self._write_object(value, where, depth)

    def _write_pair(self, pair, where, depth):
        key, value = pair
        key_tree = self.write(key, f"a key of {where}", depth + 1)
        return [key_tree, self.write(value, f"{where}[{key!r}]", depth + 1)]

    def _write_array(self, array, where, depth):
        if array.dtype.kind == "O":
            items = [i.item() if isinstance(i, np.generic) else i for i in array.flat]
            if any(type(item) not in (*_PLAIN, float) for item in items):
                raise _unknown(where, next(i for i in items if type(i) not in (*_PLAIN, float)))
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
        if _is_named_tuple(cls):
            fields = value._asdict()
            fields = {f: self.write(v, prefix + f, depth + 1) for f, v in fields.items()}
            return {"object": [name, fields, {}]}
        parameters = value.get_params(deep=False) if hasattr(value, "get_params") else {}
        left_out = {*parameters, *_NOT_KEPT, *getattr(cls, "_not_stored", ())}
        stored = value._state_to_store() if hasattr(cls, "_state_to_store") else vars(value)
        state = {key: item for key, item in stored.items() if key not in left_out}
        for key in state:
            _check_attribute(cls, key, f"{prefix}{key}")
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
        return {"given": [given_name(value), _is_network(value)]}

    def _name_own(self, name, value, where):
        """Note what a user passes again, under a name that nothing else has."""
        if self.own_types.setdefault(name, value) is not value:
            raise ValueError(f"{where} cannot be stored: something else is called {name} as well.")

    def _remember(self, value, number):
        self._numbers[id(value)] = number
        self._kept.append(value)


class TreeReader:
    """Makes objects of trees. Nothing but ``__init__`` of the classes given is called.

    What a tree holds is checked; that of other forms raises ValueError, KeyError or TypeError.

    Parameters
    ----------
    arrays : list of ndarray
        Those beside the trees.
    types : mapping of str to object
        The classes that may be made, by name, and what the user passes again.
    """

    def __init__(self, arrays: list[np.ndarray], types: Mapping[str, Any]):
        self._arrays, self._types = arrays, types
        self._objects: list[Any] = []

    def read(self, tree: Any, depth: int = 0) -> Any:
        """Return the value of a tree.

        Parameters
        ----------
        tree : object
            What :meth:`TreeWriter.write` returned.
        depth : int, default=0
            How many trees it lies in.

        Returns
        -------
        value : object
        """
        if depth > 2 * _DEEPEST:
            raise ValueError("nested too deeply")
        if type(tree) in _PLAIN or (type(tree) is float and np.isfinite(tree)):
            return tree
        [(kind, content)] = tree.items()
        return _READERS[kind](self, content, depth + 1)

    def _read_float(self, content, depth):
        return float(_NOT_FINITE[_NOT_FINITE.index(content)])

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
        array[:] = [_checked(self.read(item, depth), *_PLAIN, float) for item in items]
        return array.reshape([_checked(n, int) for n in shape])

    def _read_sparse(self, content, depth):
        kind, shape, *parts = content
        data, indices, indptr = (_checked(self.read(part, depth), np.ndarray) for part in parts)
        if {indices.dtype.kind, indptr.dtype.kind} != {"i"} or data.dtype.kind not in "biuf":
            raise ValueError("sparse")
        matrix = _SPARSE[kind]((data, indices, indptr), shape=[_checked(n, int) for n in shape])
        matrix.check_format(full_check=True)
        return matrix

    def _read_object(self, content, depth):
        name, parameters, state = content
        found = self._types.get(_checked(name, str))
        cls: type = found if isinstance(found, type) else _missing(f"type {name}")
        number = len(self._objects)
        self._objects.append(None)
        parameters = {key: self.read(tree, depth) for key, tree in parameters.items()}
        if _is_named_tuple(cls) or hasattr(cls, "get_params"):
            value = cls(**parameters)
        elif parameters:
            raise ValueError("parameters")
        else:
            value = object.__new__(cls)
        self._objects[number] = value
        for key, tree in state.items():
            _check_attribute(cls, key, key)
            value.__dict__[key] = self.read(tree, depth)
        return value

    def _read_given(self, content, depth):
        name, is_network = content
        given = self._types.get(_checked(name, str)) or _missing(f"type {name}")
        return given() if is_network and not _is_network(given) else given

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


def _is_named_tuple(cls: type) -> bool:
    return issubclass(cls, tuple) and hasattr(cls, "_fields")


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


def _check_attribute(cls: type, name: Any, where: str) -> None:
    """Refuse attributes that would hide a method or a property."""
    hidden = getattr(cls, name, None) if isinstance(name, str) else None
    is_name = isinstance(name, str) and name.isidentifier() and not name.startswith("__")
    if not is_name or callable(hidden) or hasattr(type(hidden), "__get__"):
        raise ValueError(f"{where} cannot be stored: it is no attribute that holds a value.")


def _checked(value: Any, *kinds: type) -> Any:
    if type(value) not in kinds:
        raise ValueError(f"Expected {kinds[0].__name__}")
    return value


def _missing(what: str) -> Any:
    raise ValueError(f"there is no such {what}")


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
