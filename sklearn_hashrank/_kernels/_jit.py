"""How every kernel is compiled, and the one instruction numba does not expose."""

import numba
import numpy as np
from numba import config
from numba.extending import intrinsic


def kernel(function):
    """Compile a function without the GIL, cached on disk where a cache can be written."""
    try:
        return numba.njit(nogil=True, cache=True)(function)
    except RuntimeError:  # numba finds no writable cache directory
        return numba.njit(nogil=True)(function)


@intrinsic
def _ctpop(typing_context, word):
    def codegen(context, builder, signature, arguments):
        return builder.ctpop(arguments[0])

    return word(word), codegen


@numba.njit(inline="always")
def _compiled_popcount(word):
    return _ctpop(word)  # type: ignore[call-arg]


popcount = np.bitwise_count if config.DISABLE_JIT else _compiled_popcount  # type: ignore[attr-defined]
