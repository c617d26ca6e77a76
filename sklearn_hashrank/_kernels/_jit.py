"""Compile kernels with numba, and add the instructions that numba does not expose."""

import contextlib
import gc
import hashlib
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import config, types
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.extending import intrinsic

IS_COMPILED = not config.DISABLE_JIT  # type: ignore[attr-defined]


class _Files(IndexDataCacheFile):
    """An index and files whose names say what they hold, so that processes may write at once.

    numba counts files. Where two processes compile a kernel for two kinds of arguments, both take
    one number, and the index names code for other arguments than those it is looked up by. Here
    the slower index forgets what the faster one added, which is then compiled again.
    """

    def save(self, key, data):
        name = hashlib.sha256(repr((self._source_stamp, key)).encode()).hexdigest()[:16]
        file_name = f"{Path(self._index_name).stem}.{name}.nbc"
        self._save_data(file_name, data)
        self._save_index(self._load_index() | {key: file_name})


class _Cache(FunctionCache):
    """Compiled code on disk; where the disk fails, code is compiled as if there were no cache.

    numba takes code for fresh while the file of the kernel is as it was. Kernels inline functions
    of other files in this folder, so all of them count.
    """

    _has_warned = False

    def __init__(self, function):
        super().__init__(function)
        stamp = self._impl.locator.get_source_stamp(), _digest_of_folder()
        self._cache_file = _Files(self.cache_path, self._impl.filename_base, stamp)

    def load_overload(self, sig, target_context):
        try:
            return super().load_overload(sig, target_context)
        except Exception as error:  # a damaged file can raise anything when it is unpickled
            self._warn("read", error)
            return None

    def save_overload(self, sig, data):
        try:
            super().save_overload(sig, data)
        except Exception as error:  # it reads the index before it writes
            self._warn("written", error)

    def _warn(self, done, error):
        if not _Cache._has_warned:
            _Cache._has_warned = True
            warnings.warn(
                f"numba's cache in {self.cache_path} cannot be {done}: {error!r}. Kernels are "
                "compiled in every process. NUMBA_CACHE_DIR names another folder.",
                RuntimeWarning,
                stacklevel=2,
            )


@cache
def _digest_of_folder():
    """SHA-256 of every source file beside this one."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.digest()


def _without_collections(compile_form):
    """Let no garbage be collected while a form is compiled, which takes a tenth longer for it.

    The compiler makes many objects and leaves few, beside the many of the libraries in memory.
    """

    def compile_without(signature):
        is_enabled = gc.isenabled()
        gc.disable()
        try:
            return compile_form(signature)
        finally:
            if is_enabled:
                gc.enable()

    return compile_without


def kernel(function, **options):
    """Compile a function without the GIL, cached on disk where a cache can be written."""
    # Nothing calls kernels from C: without a function for that, they compile faster.
    njit: Any = numba.njit  # whose types do not know all of its options
    dispatcher = njit(nogil=True, no_cfunc_wrapper=True, **options)(function)
    if IS_COMPILED:
        dispatcher.compile = _without_collections(dispatcher.compile)
        with contextlib.suppress(RuntimeError):  # numba finds no writable cache directory
            dispatcher._cache = _Cache(function)
    return dispatcher


def lean_kernel(function):
    """Compile a function that allocates no arrays and returns none.

    Its caller owns all of them, so that no references are counted, and no division raises an error:
    it compiles in two thirds of the time. An argument that is None compiles a form of its own,
    without what the argument is for.
    """
    return kernel(function, _nrt=False, error_model="numpy")


def inlined(function):
    """Compile a function as part of every kernel that calls it.

    A call costs as much as a row. A function with a machine code of its own is optimized twice, and
    what unpacks arguments from Python takes longer to compile than a short loop.
    """
    return numba.njit(inline="always")(function)


@intrinsic
def _ctpop(typing_context, word):
    def codegen(context, builder, signature, arguments):
        return builder.ctpop(arguments[0])

    return word(word), codegen


@intrinsic
def _cttz(typing_context, word):
    def codegen(context, builder, signature, arguments):
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(word), codegen


def _selection(sign):
    """Intrinsic that returns the second of two numbers where it compares with the first."""

    def select(typing_context, first, second):
        number = typing_context.unify_types(first, second)

        def codegen(context, builder, signature, arguments):
            first, second = arguments
            if isinstance(number, types.Float):
                is_second = builder.fcmp_ordered(sign, second, first)
            elif number.signed:
                is_second = builder.icmp_signed(sign, second, first)
            else:
                is_second = builder.icmp_unsigned(sign, second, first)
            return builder.select(is_second, second, first)

        return number(number, number), codegen

    return intrinsic(select)


@inlined
def _compiled_drop_lowest(word):
    return word & (word - np.uint64(1))


def _plain_lowest_bit(word):
    word = int(word)
    return (word & -word).bit_length() - 1 if word else 64


def _plain_drop_lowest(word):
    return word & (word - np.uint64(1)) if word else word


# smaller and larger take two numbers; of min and max, numba compiles a function for each use.
# popcount, lowest_bit (64 where there is none) and drop_lowest, which clears it, take uint64.
smaller: Any = _selection("<") if IS_COMPILED else min
larger: Any = _selection(">") if IS_COMPILED else max
popcount: Any = _ctpop if IS_COMPILED else np.bitwise_count
lowest_bit: Any = _cttz if IS_COMPILED else _plain_lowest_bit
drop_lowest: Any = _compiled_drop_lowest if IS_COMPILED else _plain_drop_lowest
