"""``hashrank warmup`` leaves nothing to compile."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import sklearn_hashrank
from sklearn_hashrank._kernels import _jit
from sklearn_hashrank.cli import main

PACKAGE = Path(sklearn_hashrank.__file__).parent
SCRIPT = """
import sys
from sklearn_hashrank import _kernels
from sklearn_hashrank.cli import main

code = main(["warmup"])
for name in sys.argv[1:]:
    module, kernel = name.split(".")
    kernel = getattr(getattr(_kernels, module), kernel)
    if hasattr(kernel, "signatures") and not kernel.signatures:
        print("not compiled:", name)
for module, kernel, n_forms in [  # arguments that are None have forms of their own
    ("hamming", "count_runs", 3), ("nearest", "nearest", 2)
]:
    kernel = getattr(getattr(_kernels, module), kernel)
    if len(kernel.signatures) < n_forms:
        print("not compiled: a form of", kernel.__name__, kernel.signatures)
sys.exit(code)
"""


def called_from_python():
    """Names of the kernels that modules outside of the folder of kernels use."""
    names = set()
    for path in PACKAGE.rglob("*.py"):
        if path.parent.name != "_kernels":
            names.update(re.findall(r"_kernels\.([a-z]\w*\.[a-z]\w*)\(", path.read_text("utf-8")))
    return sorted(names)


@pytest.mark.process
@pytest.mark.skipif(not _jit.IS_COMPILED, reason="nothing is compiled")
def test_every_kernel_is_compiled_and_kept():
    names = called_from_python()
    assert len(names) >= 30
    assert {"hamming.count_runs", "nearest.nearest", "soft_histogram.accumulate"} <= set(names)
    command = [sys.executable, "-c", SCRIPT, *names]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
    assert all(re.fullmatch(r"\[\d+/\d+\] [\d.]+ s", line) for line in found.stderr.splitlines())
    assert "not compiled" not in found.stdout, found.stdout
    first, second = found.stdout.splitlines()
    assert re.fullmatch(r"\d+ kernels, [\d.]+ s: \d+ forms compiled, \d+ found", first)
    folder = Path(second.removeprefix("kept in "))
    assert list(folder.glob("hamming.count_runs-*.nbi"))


def test_nothing_to_compile_is_told(monkeypatch, capsys):
    monkeypatch.setattr(_jit, "IS_COMPILED", False)
    assert main(["warmup"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err == "hashrank: error: NUMBA_DISABLE_JIT is set, so that nothing is compiled.\n"
