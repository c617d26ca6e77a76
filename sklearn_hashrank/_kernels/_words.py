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

INDEX_BITS = 40
"""Bits of a key that hold the index of an item; the distance is above them."""

PLANES = 3
"""Bits of the weight that a bit of a query can have."""

LENGTHS_OF_ROWS = 2, 4, 8
"""Words of codes that need not be put word by word for a query alone."""

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


def _distances(context, builder, arrays, values, starts, stride, n, n_words=None):
    """Distances of a query to `n` items from each start, as vectors of words.

    Where the number of words is told, there is no loop over them. A query with a second axis is
    weighted: behind each word are the planes of the weights of its bits, from the lowest on.
    """
    n_parts = 1 if arrays[0].ndim == 1 else 1 + PLANES
    query, words = (
        context.make_array(array)(context, builder, value) for array, value in zip(arrays, values)
    )
    vector = ir.VectorType(_WORD, n)
    kind = ir.FunctionType(vector, [vector])  # the builder itself counts bits of a single word
    count_bits = cgutils.get_or_insert_function(builder.module, kind, f"llvm.ctpop.v{n}i64")

    def of_word(w, places):
        first = builder.gep(query.data, [builder.mul(w, _WORD(n_parts))])
        parts = [builder.load(builder.gep(first, [_WORD(i)])) for i in range(n_parts)]
        word, *planes = (_splat(builder, part, n) for part in parts)
        for place in places:
            address = builder.bitcast(builder.gep(words.data, [place]), ir.PointerType(vector))
            differing = builder.xor(word, builder.load(address, align=8))
            if not planes:
                yield builder.call(count_bits, [differing])
                continue
            counts = [builder.call(count_bits, [builder.and_(differing, p)]) for p in planes]
            total = counts.pop()
            while counts:  # each plane counts half as much as the one above it
                total = builder.add(builder.add(total, total), counts.pop())
            yield total

    totals = [
        cgutils.alloca_once_value(builder, distance)
        for distance in of_word(ir.Constant(_WORD, 0), starts)
    ]

    def add_word(w):
        offset = builder.mul(w, stride)
        places = [builder.add(start, offset) for start in starts]
        for total, distance in zip(totals, of_word(w, places)):
            builder.store(builder.add(builder.load(total), distance), total)

    if n_words is None:
        n_words = builder.extract_value(query.shape, 0)
        with cgutils.for_range(builder, n_words, start=ir.Constant(_WORD, 1)) as loop:
            add_word(loop.index)
    else:
        for w in range(1, n_words):
            add_word(ir.Constant(_WORD, w))
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


def _split(builder, vectors, n_columns):
    """Columns of items that follow each other in vectors, as one vector each."""
    if n_columns == 1:
        return vectors
    even, odd = _halves(builder, vectors)
    halves = _split(builder, even, n_columns // 2), _split(builder, odd, n_columns // 2)
    return [column for pair in zip(*halves) for column in pair]


def _halves(builder, vectors):
    """Vectors of the even numbers in pairs of vectors, and of the odd ones."""
    n = vectors[0].type.count
    lanes = ir.VectorType(_INDEX, n)
    return [
        [
            builder.shuffle_vector(*pair, ir.Constant(lanes, list(range(first, 2 * n, 2))))
            for pair in zip(vectors[::2], vectors[1::2])
        ]
        for first in (0, 1)
    ]


def _by_length(builder, n_words, lengths, make, make_other=None):
    """Make the code of each length, and that of any other."""
    is_other = ir.IntType(1)(1)
    for length in lengths:
        is_this = builder.icmp_signed("==", n_words, _WORD(length))
        is_other = builder.and_(is_other, builder.not_(is_this))
        with builder.if_then(is_this):
            make(length)
    if make_other is not None:
        with builder.if_then(is_other):
            make_other()


@intrinsic
def _compiled_split_words(typing_context, codes, first, n_items, n_words, words, stride):
    n = 8

    def codegen(context, builder, signature, values):
        source, first, n_items, n_words, room, stride = values
        source = context.make_array(codes)(context, builder, source).data
        room = context.make_array(words)(context, builder, room).data
        source, vector = builder.gep(source, [first]), ir.PointerType(ir.VectorType(_WORD, n))
        is_done = cgutils.alloca_once_value(builder, ir.IntType(1)(0))

        def at(data, *place):
            return builder.bitcast(builder.gep(data, [builder.add(*place)]), vector)

        def put(width):
            n_blocks = builder.lshr(n_items, _WORD(3))
            with cgutils.for_range(builder, n_blocks) as loop:
                item = builder.shl(loop.index, _WORD(3))
                start = builder.mul(item, n_words)
                places = [at(source, start, _WORD(n * w)) for w in range(width)]
                rows = [builder.load(place, align=8) for place in places]
                for w, column in enumerate(_split(builder, rows, width)):
                    builder.store(column, at(room, builder.mul(stride, _WORD(w)), item), align=8)
            builder.store(ir.IntType(1)(1), is_done)

        _by_length(builder, n_words, LENGTHS_OF_ROWS, put)
        with builder.if_then(builder.load(is_done)):
            rest = builder.and_(n_items, _WORD(-n))
            with cgutils.for_range(builder, n_words) as of_words:
                row = builder.gep(room, [builder.mul(stride, of_words.index)])
                with cgutils.for_range(builder, n_items, start=rest) as of_items:
                    place = builder.add(builder.mul(of_items.index, n_words), of_words.index)
                    word = builder.load(builder.gep(source, [place]))
                    builder.store(word, builder.gep(row, [of_items.index]))
        return builder.load(is_done)

    index = types.intp
    return types.boolean(codes, index, index, index, words, index), codegen


@intrinsic
def _compiled_find_near(typing_context, query, words, start, n_blocks, stride, bound):
    def codegen(context, builder, signature, values):
        *arrays, start, n_blocks, stride, bound = values
        found = cgutils.alloca_once_value(builder, _WORD(0))

        def look(n_words=None):
            with cgutils.for_range(builder, n_blocks) as loop:
                at = builder.add(start, builder.mul(loop.index, _WORD(BLOCK)))
                [distances] = _distances(
                    context, builder, (query, words), arrays, [at], stride, BLOCK, n_words
                )
                smallest = _smallest(builder, distances)
                n = smallest.type.count
                below = builder.icmp_unsigned("<", smallest, _splat(builder, bound, n))
                below = builder.bitcast(below, ir.IntType(n))
                is_near = builder.zext(builder.icmp_unsigned("!=", below, ir.IntType(n)(0)), _WORD)
                word = builder.or_(builder.load(found), builder.shl(is_near, loop.index))
                builder.store(word, found)

        n_words = builder.extract_value(
            context.make_array(query)(context, builder, arrays[0]).shape, 0
        )
        _by_length(builder, n_words, (1, 2, 4), look, look)
        return builder.load(found)

    index = types.intp
    return types.uint64(query, words, index, index, index, types.uint64), codegen


def _add_neighbors(builder, vectors):
    """Sums of as many neighbors as there are vectors, as one vector."""
    while len(vectors) > 1:
        even, odd = _halves(builder, vectors)
        vectors = [builder.add(*pair) for pair in zip(even, odd)]
    return vectors[0]


@intrinsic
def _compiled_find_near_in_rows(typing_context, query, codes, start, n_blocks, bound):
    n = 8

    def codegen(context, builder, signature, values):
        *arrays, start, n_blocks, bound = values
        if query.ndim > 1:  # weighted queries take so long that the words are put in order
            return _WORD(0)
        query_of, codes_of = (
            context.make_array(array)(context, builder, value)
            for array, value in zip((query, codes), arrays)
        )
        vector = ir.VectorType(_WORD, n)
        kind = ir.FunctionType(vector, [vector])
        count_bits = cgutils.get_or_insert_function(builder.module, kind, f"llvm.ctpop.v{n}i64")
        found = cgutils.alloca_once_value(builder, _WORD(0))

        def look(n_words):
            pattern = ir.Constant(vector, ir.Undefined)
            for i in range(n):
                word = builder.load(builder.gep(query_of.data, [_WORD(i % n_words)]))
                pattern = builder.insert_element(pattern, word, _INDEX(i))
            with cgutils.for_range(builder, n_blocks) as loop:
                size = _WORD(BLOCK * n_words)
                first = builder.add(start, builder.mul(loop.index, size))
                is_near = ir.IntType(n)(0)
                for i in range(0, BLOCK * n_words, n * n_words):
                    counts = []
                    for j in range(i, i + n * n_words, n):
                        place = builder.gep(codes_of.data, [builder.add(first, _WORD(j))])
                        place = builder.bitcast(place, ir.PointerType(vector))
                        differing = builder.xor(pattern, builder.load(place, align=8))
                        counts.append(builder.call(count_bits, [differing]))
                    distances = _add_neighbors(builder, counts)
                    below = builder.icmp_unsigned("<", distances, _splat(builder, bound, n))
                    is_near = builder.or_(is_near, builder.bitcast(below, ir.IntType(n)))
                is_near = builder.zext(
                    builder.icmp_unsigned("!=", is_near, ir.IntType(n)(0)), _WORD
                )
                word = builder.or_(builder.load(found), builder.shl(is_near, loop.index))
                builder.store(word, found)

        n_words = builder.extract_value(query_of.shape, 0)
        _by_length(builder, n_words, LENGTHS_OF_ROWS, look)
        return builder.load(found)

    index = types.intp
    return types.uint64(query, codes, index, index, types.uint64), codegen


def _narrow(builder, vectors):
    """Numbers below 2**16 of vectors of eight words, in order, as one vector of 16-bit numbers."""
    number = ir.IntType(16)
    vectors = [builder.bitcast(vector, ir.VectorType(number, 32)) for vector in vectors]
    places = list(range(0, 32, 4))
    while len(vectors) > 1:
        n = vectors[0].type.count
        places = ir.Constant(
            ir.VectorType(_INDEX, 2 * len(places)), places + [n + i for i in places]
        )
        vectors = [
            builder.shuffle_vector(*pair, places) for pair in zip(vectors[::2], vectors[1::2])
        ]
        places = list(range(vectors[0].type.count))
    return vectors[0]


def _append_packed(builder, distances, allowed, bound, base, address, end):
    """Append the keys of near items, which an instruction packs for 32 items at once.

    Return how many there are. Keys are made and stored by eight, also where fewer are left; the
    next ones overwrite the rest.
    """
    n, n_packed = 8, 32
    number, lanes, words = ir.IntType(16), ir.VectorType(_INDEX, n), ir.VectorType(_WORD, n)
    packed, eighth = ir.VectorType(number, n_packed), ir.PointerType(ir.VectorType(number, n))
    kind = ir.FunctionType(packed, [packed, packed, ir.VectorType(ir.IntType(1), n_packed)])
    name = f"llvm.x86.avx512.mask.compress.v{n_packed}i16"
    pack = cgutils.get_or_insert_function(builder.module, kind, name)
    rooms = [cgutils.alloca_once(builder, number, n_packed) for _ in range(2)]
    bound = _splat(builder, builder.trunc(bound, number), n_packed)
    first = end
    for i in range(0, BLOCK, n_packed):
        parts = [
            builder.shuffle_vector(distances, distances, ir.Constant(lanes, list(range(j, j + n))))
            for j in range(i, i + n_packed, n)
        ]
        part, items = _narrow(builder, parts), packed(list(range(i, i + n_packed)))
        near = builder.icmp_unsigned("<", part, bound)
        mine = builder.trunc(builder.lshr(allowed, _WORD(i)), ir.IntType(n_packed))
        near = builder.and_(near, builder.bitcast(mine, near.type))
        for room, numbers in zip(rooms, (part, items)):
            chosen = builder.call(pack, [numbers, numbers, near])
            builder.store(chosen, builder.bitcast(room, ir.PointerType(packed)), align=2)
        n_near = builder.zext(builder.ctpop(builder.bitcast(near, ir.IntType(n_packed))), _WORD)
        # One store, also where there is nothing to store, is cheaper than a wrong guess.
        is_none = builder.zext(builder.icmp_unsigned("==", n_near, _WORD(0)), _WORD)
        n_stores = builder.add(n_near, builder.add(is_none, _WORD(n - 1)))
        n_stores = builder.lshr(n_stores, _WORD(3))
        with cgutils.for_range(builder, n_stores) as loop:
            at = builder.shl(loop.index, _WORD(3))
            distance, item = (
                builder.zext(
                    builder.load(builder.bitcast(builder.gep(room, [at]), eighth), align=2), words
                )
                for room in rooms
            )
            place = builder.add(_splat(builder, base, n), item)
            keys = builder.add(builder.shl(distance, words([INDEX_BITS] * n)), place)
            to = builder.gep(address, [builder.add(end, at)])
            builder.store(keys, builder.bitcast(to, ir.PointerType(words)), align=8)
        end = builder.add(end, n_near)
    return builder.sub(end, first)


def _append_one_by_one(builder, distances, allowed, bound, base, address, end):
    """Append the keys of near items, four at a time, as a branch for each is guessed wrong often.

    Return how many there are. Keys of nothing may be written behind the last one.
    """
    room = cgutils.alloca_once(builder, _INDEX, BLOCK)
    small = builder.trunc(distances, ir.VectorType(_INDEX, BLOCK))
    builder.store(small, builder.bitcast(room, ir.PointerType(small.type)), align=4)
    near = builder.icmp_unsigned("<", distances, _splat(builder, bound, BLOCK))
    left = cgutils.alloca_once_value(builder, builder.and_(builder.bitcast(near, _WORD), allowed))
    n_found = builder.ctpop(builder.load(left))
    with cgutils.for_range(builder, builder.lshr(builder.add(n_found, _WORD(3)), _WORD(2))) as loop:
        at = builder.gep(address, [builder.add(end, builder.shl(loop.index, _WORD(2)))])
        word = builder.load(left)
        for i in range(4):
            item = builder.and_(builder.cttz(word, ir.IntType(1)(0)), _WORD(BLOCK - 1))
            distance = builder.zext(builder.load(builder.gep(room, [item])), _WORD)
            key = builder.add(builder.shl(distance, _WORD(INDEX_BITS)), builder.add(base, item))
            builder.store(key, builder.gep(at, [_WORD(i)]))
            word = builder.and_(word, builder.sub(word, _WORD(1)))
        builder.store(word, left)
    return n_found


@intrinsic
def _compiled_append_near(
    typing_context, query, words, start, stride, bound, allowed, base, keys, end
):
    def codegen(context, builder, signature, values):
        *arrays, start, stride, bound, allowed, base, room, end = values
        [found] = _distances(context, builder, (query, words), arrays, [start], stride, BLOCK)
        address = context.make_array(keys)(context, builder, room).data
        _, _, features = context.codegen().magic_tuple()
        append = _append_packed if "+avx512vbmi2" in features.split(",") else _append_one_by_one
        return append(builder, found, allowed, bound, base, address, end)

    index, word = types.intp, types.uint64
    signature = word(query, words, index, index, word, word, word, keys, word)
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
def _compiled_fetch(typing_context, words, start, n_words):
    def codegen(context, builder, signature, values):
        array, start, n_words = values
        data = context.make_array(words)(context, builder, array).data
        address, number = ir.PointerType(ir.IntType(8)), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [address, number, number, number])
        fetch = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        to_read, into_level_2, data_cache = number(0), number(2), number(1)
        n_lines = builder.lshr(n_words, _WORD(3))
        with cgutils.for_range(builder, n_lines) as loop:
            place = builder.gep(data, [builder.add(start, builder.shl(loop.index, _WORD(3)))])
            place = builder.bitcast(place, address)
            builder.call(fetch, [place, to_read, into_level_2, data_cache])

    return types.void(words, types.intp, types.intp), codegen


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
    if query.ndim == 1:
        return np.bitwise_count(query[:, None] ^ flat[places]).sum(axis=0, dtype=np.int64)
    counts = np.bitwise_count((query[:, :1] ^ flat[places]) & query.T[1:, :, None])
    return (counts.sum(axis=1, dtype=np.int64) << np.arange(PLANES)[:, None]).sum(axis=0)


def _plain_split_words(codes, first, n_items, n_words, words, stride):
    return False


def _plain_put_distances(query, words, start, stride, distances, to):
    distances[to : to + BLOCK] = _plain_distances(query, words, start, stride, BLOCK)


def _plain_find_near(query, words, start, n_blocks, stride, bound):
    distances = _plain_distances(query, words, start, stride, n_blocks * BLOCK)
    are_near = (distances.reshape(n_blocks, BLOCK) < int(bound)).any(axis=1)
    return _plain_word_of(np.pad(are_near, (0, BLOCK - n_blocks)), 0)


def _plain_find_near_in_rows(query, codes, start, n_blocks, bound):
    rows = codes[start : start + n_blocks * BLOCK * len(query)].reshape(-1, len(query))
    distances = np.bitwise_count(rows ^ query).sum(axis=1, dtype=np.int64)
    are_near = (distances.reshape(n_blocks, BLOCK) < int(bound)).any(axis=1)
    return _plain_word_of(np.pad(are_near, (0, BLOCK - n_blocks)), 0)


def _plain_append_near(query, words, start, stride, bound, allowed, base, keys, end):
    distances = _plain_distances(query, words, start, stride, BLOCK)
    is_allowed = int(allowed) >> np.arange(BLOCK, dtype=object) & 1
    near = np.flatnonzero((distances < int(bound)) & is_allowed.astype(bool))
    keys[int(end) : int(end) + near.size] = (distances[near] << INDEX_BITS) + near + int(base)
    return np.uint64(near.size)


def _plain_fetch(words, start, n_words):
    """Nothing that a program can see."""


def _plain_word_of(flags, start):
    return np.packbits(flags[start : start + BLOCK], bitorder="little").view("<u8")[0]


def _plain_put_cells(query, words, starts, stride, n_distances, cells, to):
    left, right = (_plain_distances(query, words, start, stride, PAIRS) for start in starts)
    cells[to : to + PAIRS] = left * int(n_distances) + right


# split_words puts the words of items, which follow each other from a first one on, word by word. It
# returns False where it is not made for codes of their length, and does nothing.
# find_near returns a word whose bit i says whether an item of block i is nearer than a bound.
# find_near_in_rows does so for items whose words follow each other, of LENGTHS_OF_ROWS alone.
# append_near appends the keys of such items of one block to others, in order of the items, and
# returns how many they are: of those whose bit is set in a word, such as word_of makes from 64
# booleans. A key is the sum of ``distance << INDEX_BITS``, the item's place in the block, and a
# base. There must be room for as many keys as a block has items.
# fetch asks for words that will be read soon; they may lie behind the end.
# put_distances stores the distances of a block of items.
# put_cells stores, for pairs of items, the cell of both distances in a table of n_distances rows.
split_words: Any = _compiled_split_words if IS_COMPILED else _plain_split_words
find_near: Any = _compiled_find_near if IS_COMPILED else _plain_find_near
find_near_in_rows: Any = _compiled_find_near_in_rows if IS_COMPILED else _plain_find_near_in_rows
append_near: Any = _compiled_append_near if IS_COMPILED else _plain_append_near
fetch: Any = _compiled_fetch if IS_COMPILED else _plain_fetch
word_of: Any = _compiled_word_of if IS_COMPILED else _plain_word_of
put_distances: Any = _compiled_put_distances if IS_COMPILED else _plain_put_distances
put_cells: Any = _compiled_put_cells if IS_COMPILED else _plain_put_cells
