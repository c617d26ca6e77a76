"""Which objects can be part of a hasher file, and the names of their classes there.

:mod:`.tree_writer` makes trees of objects that JSON can hold, and :mod:`.tree_reader` makes the
objects again. None, bool, int, finite float and str stand for themselves. Anything else is a dict
with one key, which says what it is:

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
from typing import Any

from scipy import sparse

PLAIN = (type(None), bool, int, str)
DEEPEST = 50  # objects in each other: far above any hasher, far below the limit of recursion
NOT_FINITE = ("nan", "inf", "-inf")
SPARSE: dict[str, type] = {
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
    """Whether a class is one of this package, and not of a user or a library."""
    return kind.__module__.startswith(f"{_PACKAGE}.")


def type_name(kind: type) -> str:
    """Name of a class in a file: without its module for classes of this package."""
    module = _PACKAGE if is_of_package(kind) else kind.__module__
    return f"{module}.{kind.__qualname__}"


def given_name(value: Any) -> str:
    """Name of a class or function, or of the class of a network."""
    return type_name(type(value) if is_network(value) else value)


def is_given(value: Any) -> bool:
    """Whether a value is a class, a function that has a name, or a network."""
    is_function = inspect.isfunction(value) and value.__name__.isidentifier()
    return isinstance(value, type) or is_function or is_network(value)


def is_network(value: Any) -> bool:
    """Whether a value is what torch calls a module, without an import of torch."""
    return not isinstance(value, type) and hasattr(value, "load_state_dict")


def is_named_tuple(cls: type) -> bool:
    return issubclass(cls, tuple) and hasattr(cls, "_fields")


def check_attribute(cls: type, name: Any, where: str) -> None:
    """Refuse attributes that would hide a method or a property."""
    hidden = getattr(cls, name, None) if isinstance(name, str) else None
    is_name = isinstance(name, str) and name.isidentifier() and not name.startswith("__")
    if not is_name or callable(hidden) or hasattr(type(hidden), "__get__"):
        raise ValueError(f"{where} cannot be stored: it is no attribute that holds a value.")
