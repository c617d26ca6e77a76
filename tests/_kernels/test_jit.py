"""Kernels run whatever becomes of numba's cache."""

import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from sklearn_hashrank._kernels._jit import _Files
from tests._kernels.bare import BARE

ROOT = Path(__file__).parents[2]

KERNELS = """
from sklearn_hashrank._kernels._jit import kernel

@kernel
def double(x):
    return 2 * x

@kernel
def square(x):
    return x * x
"""
SCRIPT = """
import errno, importlib, os, sys, warnings
from pathlib import Path
from numba.core.caching import IndexDataCacheFile

sys.path.insert(0, os.getcwd())
import kernels
from sklearn_hashrank._kernels import _jit

def use(*numbers):
    _jit._Cache._has_warned = False
    importlib.reload(kernels)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert [kernels.double(x) for x in numbers] == [2 * x for x in numbers]
        assert kernels.square(3) == 9
    return [str(warning.message) for warning in caught]

def files():
    return sorted(path.name for path in Path("cache").rglob("*.nb?"))

def fail(*arguments):
    raise OSError(errno.ENOSPC, "No space left on device")

real = IndexDataCacheFile._save_data
for name in ("_save_index", "_save_data"):
    before = getattr(IndexDataCacheFile, name)
    setattr(IndexDataCacheFile, name, fail)
    [message] = use(1, 1.5)
    assert "cannot be written: OSError(28, 'No space left on device')" in message, message
    setattr(IndexDataCacheFile, name, before)

assert use(1) == []
names = files()
assert len(names) == 5, names  # one is code for 1.5, which no index names
assert use(1) == []
assert kernels.double.stats.cache_hits
for path in Path("cache").rglob("*.nb?"):
    path.write_bytes(b"damaged")
[message] = use(1)
assert "cannot be read" in message, message
for path in Path("cache").rglob("*.nbi"):
    path.write_bytes(b"")
[message] = use(1)
assert "EOFError" in message, message
"""


def test_processes_that_write_at_once_take_no_code_for_that_of_others(tmp_path, monkeypatch):
    first, second = (_Files(str(tmp_path), "kernel", ("stamp", 1)) for _ in range(2))
    with monkeypatch.context() as together:
        together.setattr(_Files, "_load_index", lambda files: {})  # read before the other writes
        first.save(("int64",), "code for integers")
        second.save(("float64",), "code for floats")
    assert first.load(("int64",)) is None
    assert first.load(("float64",)) == "code for floats"
    first.save(("int64",), "code for integers")
    assert second.load(("int64",)) == "code for integers"
    assert second.load(("float64",)) == "code for floats"
    assert _Files(str(tmp_path), "kernel", ("stamp", 2)).load(("int64",)) is None
    assert len(list(tmp_path.iterdir())) == 3


@pytest.mark.process
def test_a_full_or_damaged_cache_is_told_once(tmp_path):
    (tmp_path / "kernels.py").write_text(textwrap.dedent(KERNELS))
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", BARE + textwrap.dedent(SCRIPT)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "NUMBA_CACHE_DIR": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr


CHANGED = """
import sys
from pathlib import Path

sys.path.insert(0, "")
for step in (1, 7, 7):
    Path("kernels/helper.py").write_text(
        f"from ._jit import inlined\\n\\n@inlined\\ndef step():\\n    return {step}\\n"
    )
    for name in [name for name in sys.modules if name.partition(".")[0] == "kernels"]:
        del sys.modules[name]  # as if this were a new process
    from kernels.total import total
    print(total(10), len(total.stats.cache_hits))
"""


@pytest.mark.process
def test_a_changed_helper_is_compiled_anew(tmp_path):
    """A kernel whose own file is as it was, and a function in a file beside it that is not."""
    folder = tmp_path / "kernels"
    folder.mkdir()
    shutil.copy(ROOT / "sklearn_hashrank/_kernels/_jit.py", folder)
    (folder / "total.py").write_text(
        "from ._jit import kernel\nfrom .helper import step\n\n"
        "@kernel\ndef total(n):\n    return n * step()\n"
    )
    found = subprocess.run(
        [sys.executable, "-B", "-c", CHANGED],
        cwd=tmp_path,
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout.split("\n") == ["10 0", "70 0", "70 1", ""]
