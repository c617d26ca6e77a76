"""Kernels on a processor that this machine may not have: LLVM compiles for it here."""

import re
import subprocess
import sys

import pytest

from sklearn_hashrank._kernels._jit import IS_COMPILED
from tests._kernels.bare import BARE

# In a process of its own: LLVM ends the process where it cannot compile. Without numba's counting
# of references, whose instructions are those of the processor at hand.
CODE = r"""
import re, sys
import llvmlite.binding as llvm
import numba
import numpy as np
from sklearn_hashrank._kernels._words import put_distances

@numba.njit(_nrt=False)
def compiled(query, words, distances):
    put_distances(query, words, 0, 64, distances, 0)

words = np.arange(64, dtype=np.uint64).reshape(1, 64)
compiled(words[:, 0].copy(), words, np.empty(64, dtype=np.uint16))
code = next(iter(compiled.inspect_llvm().values()))
llvm.initialize_all_targets()
llvm.initialize_all_asmprinters()
code = re.sub(r'"(target-cpu|target-features)"="[^"]*"', "", code)
for triple in sys.argv[1:]:
    machine = llvm.Target.from_triple(triple).create_target_machine(opt=3)
    layout = str(machine.target_data)
    code = re.sub(r'(?m)^target triple = ".*"$', f'target triple = "{triple}"', code)
    code = re.sub(r'(?m)^target datalayout = ".*"$', f'target datalayout = "{layout}"', code)
    print("assembly for", triple)
    print(machine.emit_assembly(llvm.parse_assembly(code)))
"""
TRIPLES = ("aarch64-unknown-linux-gnu", "arm64-apple-macosx11.0")


@pytest.mark.process
@pytest.mark.skipif(not IS_COMPILED, reason="nothing is compiled")
def test_aarch64_counts_the_bits_of_16_bytes_by_one_instruction():
    command = [sys.executable, "-c", BARE + CODE, *TRIPLES]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    _, *assemblies = printed.split("assembly for ")
    assert len(assemblies) == len(TRIPLES)
    for triple, assembly in zip(TRIPLES, assemblies):
        assert assembly.startswith(triple)
        count = r"^\s+cnt(\.16b\s+v\d+, v\d+|\s+v\d+\.16b, v\d+\.16b)$"
        assert re.search(count, assembly, re.M), triple
