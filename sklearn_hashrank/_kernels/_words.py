"""Distances of blocks of codes, as vectors of 64-bit words.

Codes lie word-major: word w of item i at ``start + w * stride + i`` of a flat array. A block is
read as a whole, so that `BLOCK` items must be readable from each start. The vectors are written
out, because LLVM makes those of its own loops half as wide as some processors allow.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from ._jit import IS_COMPILED

BLOCK = 64
"""Items of a block."""
PAIRS = 32
"""Pairs of items that are counted at a time."""

LINE = 64
"""Bytes of a line of the cache: a vector that lies in two of them is loaded at half the speed."""

_INDEX, _WORD = ir.IntType(32), ir.IntType(64)


def aligned_words(n_words, n):
    """Room for `n` codes word by word, from the beginning of a line of the cache."""
    room = np.empty(n_words * n + LINE // 8, dtype=np.uint64)
    first = -room.ctypes.data % LINE // 8
    return room[first : first + n_words * n].reshape(n_words, n)


def _splat(builder, value, n):
    """Vector of `n` times a number."""
    undefined = ir.Constant(ir.VectorType(value.type, n), ir.Undefined)
    first = builder.insert_element(undefined, value, ir.Constant(_INDEX, 0))
    return builder.shuffle_vector(first, undefined, ir.Constant(ir.VectorType(_INDEX, n), [0] * n))


def _distances(context, builder, arrays, values, starts, stride, n):
    """Distances of a query to `n` items from each start, as vectors of words."""
    query, words = (
        context.make_array(array)(context, builder, value) for array, value in zip(arrays, values)
    )
    vector = ir.VectorType(_WORD, n)
    kind = ir.FunctionType(vector, [vector])  # the builder itself counts bits of a single word
    count_bits = cgutils.get_or_insert_function(builder.module, kind, f"llvm.ctpop.v{n}i64")

    def of_word(w, places):
        word = _splat(builder, builder.load(builder.gep(query.data, [w])), n)
        for place in places:
            address = builder.bitcast(builder.gep(words.data, [place]), ir.PointerType(vector))
            differing = builder.xor(word, builder.load(address, align=8))
            yield builder.call(count_bits, [differing])

    totals = [
        cgutils.alloca_once_value(builder, distance)
        for distance in of_word(ir.Constant(_WORD, 0), starts)
    ]
    n_words = builder.extract_value(query.shape, 0)
    with cgutils.for_range(builder, n_words, start=ir.Constant(_WORD, 1)) as loop:
        offset = builder.mul(loop.index, stride)
        places = [builder.add(start, offset) for start in starts]
        for total, distance in zip(totals, of_word(loop.index, places)):
            builder.store(builder.add(builder.load(total), distance), total)
    return [builder.load(total) for total in totals]


def _put(context, builder, array, value, place, vector):
    """Store a vector of words as numbers of an array."""
    number = context.get_value_type(array.dtype)
    if number.width < _WORD.width:
        vector = builder.trunc(vector, ir.VectorType(number, vector.type.count))
    data = context.make_array(array)(context, builder, value).data
    address = builder.bitcast(builder.gep(data, [place]), ir.PointerType(vector.type))
    builder.store(vector, address, align=array.dtype.bitwidth // 8)


def _smallest(builder, vector):
    """Vector of eight words: the smallest of each eighth word. None may exceed 32 bits."""
    n = 2 * vector.type.count
    vector = builder.bitcast(vector, ir.VectorType(_INDEX, n))  # whose minimum more processors have
    while n > 16:
        n //= 2
        half = ir.VectorType(_INDEX, n)
        kind = ir.FunctionType(half, [half, half])
        smaller = cgutils.get_or_insert_function(builder.module, kind, f"llvm.umin.v{n}i32")
        undefined = ir.Constant(vector.type, ir.Undefined)
        halves = (
            builder.shuffle_vector(vector, undefined, ir.Constant(half, list(range(i, i + n))))
            for i in (0, n)
        )
        vector = builder.call(smaller, list(halves))
    return builder.bitcast(vector, ir.VectorType(_WORD, n // 2))


@intrinsic
def _compiled_has_near(typing_context, query, words, start, stride, bound):
    def codegen(context, builder, signature, values):
        *arrays, start, stride, bound = values
        [found] = _distances(context, builder, (query, words), arrays, [start], stride, BLOCK)
        smallest = _smallest(builder, found)
        n = smallest.type.count
        below = builder.icmp_unsigned("<", smallest, _splat(builder, bound, n))
        return builder.icmp_unsigned("!=", builder.bitcast(below, ir.IntType(n)), ir.IntType(n)(0))

    return types.boolean(query, words, types.intp, types.intp, types.uint64), codegen


@intrinsic
def _compiled_put_near(typing_context, query, words, start, stride, bound, distances):
    def codegen(context, builder, signature, values):
        *arrays, start, stride, bound, room = values
        [found] = _distances(context, builder, (query, words), arrays, [start], stride, BLOCK)
        _put(context, builder, distances, room, _WORD(0), found)
        below = builder.icmp_unsigned("<", found, _splat(builder, bound, BLOCK))
        return builder.bitcast(below, _WORD)

    signature = types.uint64(query, words, types.intp, types.intp, types.uint64, distances)
    return signature, codegen


@intrinsic
def _compiled_word_of(typing_context, flags, start):
    def codegen(context, builder, signature, values):
        vector = ir.VectorType(ir.IntType(8), BLOCK)
        data = context.make_array(flags)(context, builder, values[0]).data
        address = builder.bitcast(builder.gep(data, [values[1]]), ir.PointerType(vector))
        are_set = builder.icmp_unsigned("!=", builder.load(address, align=1), vector([0] * BLOCK))
        return builder.bitcast(are_set, _WORD)

    return types.uint64(flags, types.intp), codegen


@intrinsic
def _compiled_put_distances(typing_context, query, words, start, stride, distances, to):
    def codegen(context, builder, signature, values):
        *arrays, start, stride, room, place = values
        [found] = _distances(context, builder, (query, words), arrays, [start], stride, BLOCK)
        _put(context, builder, distances, room, place, found)

    signature = types.void(query, words, types.intp, types.intp, distances, types.intp)
    return signature, codegen


@intrinsic
def _compiled_put_cells(typing_context, query, words, starts, stride, n_distances, cells, to):
    def codegen(context, builder, signature, values):
        *arrays, pair, stride, n_distances, room, place = values
        starts = cgutils.unpack_tuple(builder, pair)
        number = context.get_value_type(cells.dtype)
        left, right = (
            builder.trunc(distances, ir.VectorType(number, PAIRS))
            for distances in _distances(
                context, builder, (query, words), arrays, starts, stride, PAIRS
            )
        )
        rows = builder.mul(left, _splat(builder, builder.trunc(n_distances, number), PAIRS))
        _put(context, builder, cells, room, place, builder.add(rows, right))

    pair = types.UniTuple(types.intp, 2)
    signature = types.void(query, words, pair, types.intp, types.uint64, cells, types.intp)
    return signature, codegen


def _plain_distances(query, words, start, stride, n):
    flat = words.reshape(-1)
    places = start + stride * np.arange(len(query))[:, None] + np.arange(n)
    return np.bitwise_count(query[:, None] ^ flat[places]).sum(axis=0, dtype=np.int64)


def _plain_put_distances(query, words, start, stride, distances, to):
    distances[to : to + BLOCK] = _plain_distances(query, words, start, stride, BLOCK)


def _plain_has_near(query, words, start, stride, bound):
    return bool((_plain_distances(query, words, start, stride, BLOCK) < int(bound)).any())


def _plain_put_near(query, words, start, stride, bound, distances):
    distances[:BLOCK] = _plain_distances(query, words, start, stride, BLOCK)
    return _plain_word_of(distances[:BLOCK] < int(bound), 0)


def _plain_word_of(flags, start):
    return np.packbits(flags[start : start + BLOCK], bitorder="little").view("<u8")[0]


def _plain_put_cells(query, words, starts, stride, n_distances, cells, to):
    left, right = (_plain_distances(query, words, start, stride, PAIRS) for start in starts)
    cells[to : to + PAIRS] = left * int(n_distances) + right


# has_near tells whether an item of a block is nearer than a bound; put_near stores their distances
# and returns a word whose bit i is that of item i. word_of makes such a word from 64 booleans.
# put_distances stores the distances of a block of items.
# put_cells stores, for pairs of items, the cell of both distances in a table of n_distances rows.
has_near: Any = _compiled_has_near if IS_COMPILED else _plain_has_near
put_near: Any = _compiled_put_near if IS_COMPILED else _plain_put_near
word_of: Any = _compiled_word_of if IS_COMPILED else _plain_word_of
put_distances: Any = _compiled_put_distances if IS_COMPILED else _plain_put_distances
put_cells: Any = _compiled_put_cells if IS_COMPILED else _plain_put_cells
