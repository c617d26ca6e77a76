"""Sums of tables of 16 entries: against numpy, with the instructions of several processors."""

import os
import subprocess
import sys

import llvmlite.binding as llvm
import numba
import numpy as np
import pytest
from llvmlite import ir

from sklearn_hashrank._kernels import simd_lookup as _shuffles
from sklearn_hashrank._kernels._jit import IS_COMPILED
from tests._kernels.bare import BARE


def put(tables, codes, n_bytes, sums):
    for block in range(len(sums)):
        _shuffles.put_sums(tables, codes, 64 * n_bytes * block, n_bytes, sums[block])


def check_sums():
    """Compare with numpy; return what was compiled."""
    compiled = numba.njit(put)
    rng = np.random.default_rng(0)
    for n_bytes in (1, 2, 5, 32, 258):
        codes = rng.integers(0, 256, 3 * 64 * n_bytes, dtype=np.uint8)
        tables = rng.integers(0, 128, 32 * n_bytes, dtype=np.uint8)
        tables[:32] = 127  # the largest bytes that may be added
        found, expected = (np.empty((3, 64), np.uint16) for _ in range(2))
        compiled(tables, codes, n_bytes, found)
        for block in range(3):
            start = 64 * n_bytes * block
            _shuffles._plain_put_sums(tables, codes, start, n_bytes, expected[block])
        np.testing.assert_array_equal(found, expected)
    return "\n".join(compiled.inspect_asm().values())


def test_the_literal_sums():
    rng = np.random.default_rng(0)
    codes, tables = rng.integers(0, 256, 3 * 64), rng.integers(0, 128, 3 * 32)
    sums = np.empty(64, np.uint16)
    _shuffles._plain_put_sums(tables.astype(np.uint8), codes.astype(np.uint8), 0, 3, sums)
    for i in range(64):
        nibbles = [part for byte in range(3) for part in divmod(codes[64 * byte + i], 16)]
        assert sums[i] == sum(tables[16 * place + value] for place, value in enumerate(nibbles))


@pytest.mark.skipif(not IS_COMPILED, reason="nothing is compiled")
def test_sums_of_this_processor():
    check_sums()


@pytest.mark.process
@pytest.mark.skipif(not IS_COMPILED, reason="nothing is compiled")
@pytest.mark.parametrize(("features", "has_shuffles"), [("", False), ("+ssse3", True)])
def test_sums_of_other_processors(features, has_shuffles):
    if not llvm.get_default_triple().startswith("x86_64"):
        pytest.skip("the features are those of x86")
    code = BARE + "from tests._kernels.test_shuffles import check_sums; print(check_sums())"
    settings = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": features}
    assembly = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | settings,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert ("pshufb" in assembly) is has_shuffles


def test_aarch64_looks_16_nibbles_up_by_one_instruction():
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    vector = ir.VectorType(ir.IntType(8), 16)
    module = ir.Module()
    kind = ir.FunctionType(vector, [ir.IntType(8).as_pointer(), vector])
    function = ir.Function(module, kind, "look_up")
    builder = ir.IRBuilder(function.append_basic_block())
    builder.ret(_shuffles._look_up(builder, _shuffles._ARM[1], *function.args))
    machine = llvm.Target.from_triple("aarch64-unknown-linux-gnu").create_target_machine()
    module.triple = machine.triple
    assembly = machine.emit_assembly(llvm.parse_assembly(str(module)))
    assert [line.split()[0] for line in assembly.splitlines() if "tbl" in line] == ["tbl"]
