"""Operations on vectors of floats, written out where LLVM does not vectorize by itself."""

from llvmlite import ir
from numba import errors, types
from numba.extending import intrinsic

from ._jit import IS_COMPILED, inlined

TILE = 16
"""Rows and columns of a tile: of float32 a line of the cache. 8 is slower for large matrices."""


def _address(context, builder, array, value, place, size):
    """Address of a vector of numbers in an array."""
    data = context.make_array(array)(context, builder, value).data
    vector = ir.VectorType(context.get_value_type(array.dtype), size)
    return builder.bitcast(builder.gep(data, [place]), ir.PointerType(vector))


def _add(builder, array, addresses, vectors):
    """Add vectors to those at some addresses, and return the sums."""
    align = array.dtype.bitwidth // 8
    sums = []
    for address, vector in zip(addresses, vectors):
        sums.append(builder.fadd(builder.load(address, align=align), vector))
        builder.store(sums[-1], address, align=align)
    return sums


@intrinsic
def _add_two(typing_context, table, at, shares, start):
    def codegen(context, builder, signature, arguments):
        to = _address(context, builder, table, arguments[0], arguments[1], 2)
        of = _address(context, builder, shares, arguments[2], arguments[3], 2)
        _add(builder, table, [to], [builder.load(of, align=shares.dtype.bitwidth // 8)])

    return types.void(table, at, shares, start), codegen


def _transpose(builder, rows):
    """Swap the blocks beside the diagonal of a tile: the large ones first, then those within."""
    rows, n = list(rows), len(rows)
    step = n // 2
    while step:
        for i in range(n):
            if not i & step:
                pair = rows[i], rows[i + step]
                first = [k if not k & step else n + k - step for k in range(n)]
                for row, mask in ((i, first), (i + step, [k + step for k in first])):
                    mask = ir.Constant(ir.VectorType(ir.IntType(32), n), mask)
                    rows[row] = builder.shuffle_vector(*pair, mask)
        step //= 2
    return rows


@intrinsic
def _add_transposed_tile(typing_context, matrix, row, column):
    if matrix.layout != "C":
        raise errors.TypingError("the rows of the matrix must follow each other in memory.")

    def codegen(context, builder, signature, arguments):
        array, row, column = arguments
        width = builder.extract_value(context.make_array(matrix)(context, builder, array).shape, 1)

        def addresses(row, column):
            place = builder.add(builder.mul(row, width), column)
            for _ in range(TILE):
                yield _address(context, builder, matrix, array, place, TILE)
                place = builder.add(place, width)

        align = matrix.dtype.bitwidth // 8
        below = list(addresses(column, row))
        vectors = _transpose(builder, [builder.load(each, align=align) for each in below])
        sums = _add(builder, matrix, addresses(row, column), vectors)
        for vector, address in zip(_transpose(builder, sums), below):
            builder.store(vector, address, align=align)

    return types.void(matrix, row, column), codegen


@inlined
def _compiled_add_two(table, at, shares, start):
    _add_two(table, at, shares, start)  # type: ignore[call-arg]


@inlined
def _compiled_add_transposed_tile(matrix, row, column):
    _add_transposed_tile(matrix, row, column)  # type: ignore[call-arg]


def _plain_add_two(table, at, shares, start):
    table[at : at + 2] += shares[start : start + 2]


def _plain_add_transposed_tile(matrix, row, column):
    here = matrix[row : row + TILE, column : column + TILE]
    there = matrix[column : column + TILE, row : row + TILE]
    here[:] = here + there.T
    there[:] = here.T


# add_two adds two numbers of one flat array to one of another, as one store.
# add_transposed_tile sets a tile of a square matrix, and the one that mirrors it, to their sum.
add_two = _compiled_add_two if IS_COMPILED else _plain_add_two
add_transposed_tile = _compiled_add_transposed_tile if IS_COMPILED else _plain_add_transposed_tile
