"""Sums of small tables that are looked up by the nibbles of codes, a block of codes at once.

The 16 entries of a table stay in a register, where one instruction looks many nibbles up. It is
chosen by the processor that is compiled for; where there is none, entries are loaded one by one.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from ._jit import IS_COMPILED

BLOCK = 64
"""Codes of a block: byte b of code i is at ``b * BLOCK + i`` of it."""
ENTRIES = 16
"""Entries of a table, one for each value of a nibble."""
MOST_OF_ENTRY = 127
"""Largest entry: two of them are added as a byte."""
MOST_OF_SUM = 65535

_BYTE, _SHORT, _INDEX, _WORD = ir.IntType(8), ir.IntType(16), ir.IntType(32), ir.IntType(64)
_X86 = (  # the widest first
    ("+avx512bw", 64, "llvm.x86.avx512.pshuf.b.512"),
    ("+avx2", 32, "llvm.x86.avx2.pshuf.b"),
    ("+ssse3", 16, "llvm.x86.ssse3.pshuf.b.128"),
)
_ARM = 16, "llvm.aarch64.neon.tbl1.v16i8"


def _instruction(context):
    """How many nibbles are looked up at once, and by what; None where there is no such thing."""
    triple, _, features = context.codegen().magic_tuple()
    if triple.startswith(("aarch64", "arm64")):
        return _ARM
    if triple.startswith("x86_64"):
        for feature, size, name in _X86:
            if feature in features.split(","):
                return size, name
    return ENTRIES, None


def _lanes(numbers):
    numbers = list(numbers)
    return ir.Constant(ir.VectorType(_INDEX, len(numbers)), numbers)


def _constant(kind, number, n):
    return ir.Constant(ir.VectorType(kind, n), [number] * n)


def _look_up(builder, name, address, nibbles):
    """Entries of the table at an address."""
    size = nibbles.type.count
    if name is None:
        found = ir.Constant(nibbles.type, ir.Undefined)
        for lane in range(size):
            at = ir.Constant(_INDEX, lane)
            place = builder.zext(builder.extract_element(nibbles, at), _WORD)
            entry = builder.load(builder.gep(address, [place]))
            found = builder.insert_element(found, entry, at)
        return found
    small = ir.VectorType(_BYTE, ENTRIES)
    table = builder.load(builder.bitcast(address, ir.PointerType(small)), align=1)
    table = builder.shuffle_vector(table, table, _lanes(i % ENTRIES for i in range(size)))
    kind = ir.FunctionType(nibbles.type, [nibbles.type, nibbles.type])
    return builder.call(
        cgutils.get_or_insert_function(builder.module, kind, name), [table, nibbles]
    )


def _add_byte(builder, name, size, tables, codes, totals):
    """Add what both nibbles of a byte are worth to the totals of a block.

    Of neighboring codes, the first total is that of both as one number, mod 65536; the second is
    that of the second code.
    """
    low = _constant(_BYTE, 15, size)
    shorts = ir.VectorType(_SHORT, size // 2)
    for part, (both, second) in enumerate(totals):
        address = builder.gep(codes, [ir.Constant(_WORD, part * size)])
        address = builder.bitcast(address, ir.PointerType(low.type))
        values = builder.load(address, align=1)
        high = builder.lshr(builder.bitcast(values, shorts), _constant(_SHORT, 4, size // 2))
        worth = builder.add(
            _look_up(builder, name, tables, builder.and_(builder.bitcast(high, low.type), low)),
            _look_up(
                builder,
                name,
                builder.gep(tables, [ir.Constant(_WORD, ENTRIES)]),
                builder.and_(values, low),
            ),
        )
        worth = builder.bitcast(worth, shorts)
        of_second = builder.lshr(worth, _constant(_SHORT, 8, size // 2))
        builder.store(builder.add(builder.load(both), worth), both)
        builder.store(builder.add(builder.load(second), of_second), second)


@intrinsic
def _compiled_put_sums(typing_context, tables, codes, start, n_bytes, sums):
    def codegen(context, builder, signature, values):
        of_tables, of_codes, start, n_bytes, room = values
        size, name = _instruction(context)
        table_data = context.make_array(tables)(context, builder, of_tables).data
        code_data = context.make_array(codes)(context, builder, of_codes).data
        code_data = builder.gep(code_data, [start])
        zeros = _constant(_SHORT, 0, size // 2)
        totals = [
            tuple(cgutils.alloca_once_value(builder, zeros) for _ in range(2))
            for _ in range(BLOCK // size)
        ]
        with cgutils.for_range(builder, n_bytes) as loop:
            of_byte = builder.mul(loop.index, ir.Constant(_WORD, 2 * ENTRIES))
            place = builder.mul(loop.index, ir.Constant(_WORD, BLOCK))
            _add_byte(
                builder,
                name,
                size,
                builder.gep(table_data, [of_byte]),
                builder.gep(code_data, [place]),
                totals,
            )
        data = context.make_array(sums)(context, builder, room).data
        mixed = _lanes(i // 2 + size // 2 * (i % 2) for i in range(size))
        for part, (both, second) in enumerate(totals):
            second = builder.load(second)
            above = builder.shl(second, _constant(_SHORT, 8, size // 2))
            first = builder.sub(builder.load(both), above)
            address = builder.gep(data, [ir.Constant(_WORD, part * size)])
            address = builder.bitcast(address, ir.PointerType(ir.VectorType(_SHORT, size)))
            builder.store(builder.shuffle_vector(first, second, mixed), address, align=2)

    return types.void(tables, codes, types.intp, types.intp, sums), codegen


def _plain_put_sums(tables, codes, start, n_bytes, sums):
    block = codes[start : start + n_bytes * BLOCK].reshape(n_bytes, BLOCK)
    rows = np.arange(n_bytes)[:, None]
    by_nibble = tables.reshape(n_bytes, 2, ENTRIES).astype(np.uint16)
    sums[:] = (by_nibble[rows, 0, block >> 4] + by_nibble[rows, 1, block & 15]).sum(
        axis=0, dtype=np.uint16
    )


# put_sums stores, for each code of the block at `start` of flat uint8 `codes`, the sum of what its
# nibbles are worth. The tables, flat uint8, are those of the high and of the low nibble of each
# byte; `sums` are BLOCK uint16.
put_sums: Any = _compiled_put_sums if IS_COMPILED else _plain_put_sums
