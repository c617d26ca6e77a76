"""Batches of the Python version of CIFAR-10, read without running pickle's machine.

The files are pickles, and a pickle is a program. This module reads the program as data: it goes
through the operations that :func:`pickletools.genops` lists, keeps the values that real files hold
(numbers, text, bytes, lists, tuples, dicts, arrays of bytes), and refuses every other operation.
A name such as ``numpy.dtype`` stays a pair of words. Nothing is imported, called or built by what
the file says; arrays are made here, from bytes.
"""

import io
import math
import pickletools
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np


class _Name(NamedTuple):
    """A name in a module, which is never looked up."""

    module: str
    name: str


class _Dtype:
    """A dtype of bytes, the only one there is."""


class _Array:
    """An array of bytes that the file builds: first empty, then with shape and content."""

    values: np.ndarray | None = None


_MOST_DIMENSIONS = 32
_MARK = object()
_NO_ARGUMENT = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False}
_EMPTY: dict[str, Callable[[], Any]] = {
    "EMPTY_DICT": dict,
    "EMPTY_LIST": list,
    "EMPTY_TUPLE": tuple,
}
_CONSTANTS = {
    *("INT", "LONG", "LONG1", "BININT", "BININT1", "BININT2"),
    *("UNICODE", "BINUNICODE", "SHORT_BINUNICODE", "BINUNICODE8"),
    *("BINBYTES", "SHORT_BINBYTES", "BINBYTES8", "BYTEARRAY8"),
}
_BYTE_STRINGS = {"STRING", "BINSTRING", "SHORT_BINSTRING"}  # of Python 2; listed as latin-1
_TUPLES = {"TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}
_PUTS = {"PUT", "BINPUT", "LONG_BINPUT"}
_GETS = {"GET", "BINGET", "LONG_BINGET"}
_IGNORED = {"PROTO", "FRAME"}
_STEPS = {
    *("TUPLE", "LIST", "DICT", "APPEND", "APPENDS", "SETITEM", "SETITEMS"),
    *("STACK_GLOBAL", "REDUCE", "BUILD"),
}  # each is a method of the machine
_NDARRAY, _DTYPE = _Name("numpy", "ndarray"), _Name("numpy", "dtype")
_BYTE_DTYPES = ("u1", b"u1", "|u1", b"|u1")
_ENCODE = _Name("_codecs", "encode")
_BYTES = {_Name("__builtin__", "bytes"), _Name("builtins", "bytes")}
_CORES = ("numpy.core", "numpy._core")  # before numpy 2, and since
_RECONSTRUCT = {_Name(f"{core}.multiarray", "_reconstruct") for core in _CORES}
_FROMBUFFER = {_Name(f"{core}.numeric", "_frombuffer") for core in _CORES}
_KNOWN = {_NDARRAY, _DTYPE, _ENCODE} | _BYTES | _RECONSTRUCT | _FROMBUFFER


def read_batch(content: bytes) -> dict[str, Any]:
    """Read a pickled dict of texts, lists of numbers and arrays of bytes.

    Parameters
    ----------
    content : bytes
        A pickle of any protocol, by Python 2 or 3.

    Returns
    -------
    batch : dict of str to object
        Arrays are ndarrays of uint8, bytes that Python 2 wrote are bytes.

    Raises
    ------
    ValueError
        Where the file is malformed or holds anything else.
    """
    batch = _Machine().run(content)
    if type(batch) is not dict:
        raise ValueError("it does not hold a dict")
    found = {}
    for key, value in batch.items():
        name = key.decode("latin-1") if isinstance(key, bytes) else key
        if name in found:
            raise ValueError(f"it holds {name!r} twice")
        found[name] = value.values if isinstance(value, _Array) else value
    return found


class _Machine:
    """A stack and a memo, as a pickle expects them, of inert values."""

    def __init__(self) -> None:
        self._stack: list[Any] = []
        self._memo: dict[int, Any] = {}

    def run(self, content: bytes) -> Any:
        file = io.BytesIO(content)
        for operation, argument, _ in pickletools.genops(file):
            if operation.name != "STOP":
                self._do(operation.name, argument)
        if file.tell() != len(content):
            raise ValueError("bytes follow its end")
        if len(self._stack) != 1 or self._stack[0] is _MARK:
            raise ValueError("it does not hold one value")
        return self._stack[0]

    def _do(self, name: str, argument: Any) -> None:
        if name in _CONSTANTS:
            self._push(bytes(argument) if isinstance(argument, bytearray) else argument)
        elif name in _BYTE_STRINGS:
            self._push(argument.encode("latin-1"))
        elif name in _NO_ARGUMENT:
            self._push(_NO_ARGUMENT[name])
        elif name in _EMPTY:
            self._push(_EMPTY[name]())
        elif name in _TUPLES:
            self._push(tuple(self._pop_many(_TUPLES[name])))
        elif name in _PUTS:
            self._memo[argument] = self._top()
        elif name == "MEMOIZE":
            self._memo[len(self._memo)] = self._top()
        elif name in _GETS:
            if argument not in self._memo:
                raise ValueError(f"it uses the value {argument}, which it has not kept")
            self._push(self._memo[argument])
        elif name == "MARK":
            self._stack.append(_MARK)
        elif name == "GLOBAL":
            module, _, attribute = argument.partition(" ")
            self._push(_known(module, attribute))
        elif name in _STEPS:
            getattr(self, f"_{name.lower()}")()
        elif name not in _IGNORED:
            raise ValueError(f"the operation {name} has no place in a file of images")

    def _tuple(self) -> None:
        self._push(tuple(self._pop_to_mark()))

    def _list(self) -> None:
        self._push(self._pop_to_mark())

    def _dict(self) -> None:
        values = self._pop_to_mark()
        self._push({})
        self._set(values)

    def _append(self) -> None:
        value = self._pop()
        self._expect(list).append(value)

    def _appends(self) -> None:
        values = self._pop_to_mark()
        self._expect(list).extend(values)

    def _setitem(self) -> None:
        self._set(self._pop_many(2))

    def _setitems(self) -> None:
        self._set(self._pop_to_mark())

    def _stack_global(self) -> None:
        self._push(_known(*self._pop_many(2)))

    def _reduce(self) -> None:
        function, arguments = self._pop_many(2)
        if type(function) is not _Name or type(arguments) is not tuple:
            raise ValueError("it calls what is no function")
        self._push(_call(function, arguments))

    def _build(self) -> None:
        target, state = self._pop_many(2)
        if type(target) is _Array:
            target.values = _array_of_state(state)
        elif type(target) is not _Dtype:
            raise ValueError("it sets the state of what has none")
        self._push(target)

    def _set(self, values: list[Any]) -> None:
        target = self._expect(dict)
        if len(values) % 2:
            raise ValueError("a key has no value")
        for key, value in zip(values[::2], values[1::2]):
            if type(key) not in (str, bytes):
                raise ValueError(f"a key is of type {type(key).__name__}")
            target[key] = value

    def _push(self, value: Any) -> None:
        self._stack.append(value)

    def _top(self) -> Any:
        if not self._stack or self._stack[-1] is _MARK:
            raise ValueError("a value is missing")
        return self._stack[-1]

    def _pop(self) -> Any:
        value = self._top()
        self._stack.pop()
        return value

    def _pop_many(self, count: int) -> list[Any]:
        return [self._pop() for _ in range(count)][::-1]

    def _pop_to_mark(self) -> list[Any]:
        values = []
        while self._stack and self._stack[-1] is not _MARK:
            values.append(self._stack.pop())
        if not self._stack:
            raise ValueError("a mark is missing")
        self._stack.pop()
        return values[::-1]

    def _expect(self, kind: type) -> Any:
        if type(self._top()) is not kind:
            raise ValueError(f"it has {type(self._top()).__name__} in the place of {kind.__name__}")
        return self._top()


def _known(module: Any, name: Any) -> _Name:
    """A name, if it is one of those in files of images."""
    found = _Name(module, name)
    if type(module) is not str or type(name) is not str:
        raise ValueError("it names what is no text")
    if found not in _KNOWN:
        raise ValueError(f"{module}.{name} has no place in a file of images")
    return found


def _call(function: _Name, arguments: tuple[Any, ...]) -> Any:
    """What one of the few calls in a file of images stands for."""
    if function in _RECONSTRUCT and arguments[:1] == (_NDARRAY,):
        return _Array()
    if function == _DTYPE and arguments[:1] and arguments[0] in _BYTE_DTYPES:
        return _Dtype()
    if function in _FROMBUFFER and len(arguments) == 4:
        content, dtype, shape, order = arguments
        array = _Array()
        array.values = _bytes_as_array(content, dtype, shape, order == "F")
        return array
    if function == _ENCODE and arguments[1:] == ("latin1",) and type(arguments[0]) is str:
        return arguments[0].encode("latin-1")  # how Python 3 writes bytes in old protocols
    if function in _BYTES and not arguments:
        return b""
    raise ValueError(f"this call of {function.module}.{function.name} has no place in it")


def _array_of_state(state: Any) -> np.ndarray:
    if type(state) is not tuple or len(state) != 5:
        raise ValueError("the state of an array has five parts")
    _, shape, dtype, is_fortran, content = state
    return _bytes_as_array(content, dtype, shape, bool(is_fortran))


def _bytes_as_array(content: Any, dtype: Any, shape: Any, is_fortran: bool) -> np.ndarray:
    if type(dtype) is not _Dtype or type(content) is not bytes or type(shape) is not tuple:
        raise ValueError("an array is not one of bytes")
    if len(shape) > _MOST_DIMENSIONS or any(map(_is_no_length, shape)):
        raise ValueError("the shape of an array is not a few lengths")
    if math.prod(shape) != len(content):
        raise ValueError(f"an array of shape {shape} has {len(content)} values")
    return np.frombuffer(content, np.uint8).reshape(shape, order="F" if is_fortran else "C")


def _is_no_length(value: Any) -> bool:
    return type(value) is not int or not 0 <= value <= sys.maxsize
