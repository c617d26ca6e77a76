"""The package as a whole: it is light to import, and its kernels run everywhere."""

import configparser
import os
import subprocess
import sys

import pytest

from tests.contract.imports import imports_of
from tests.contract.public import PACKAGE, ROOT

HEAVY = {"numba", "cvxpy", "matplotlib", "dask", "distributed", "faiss", "torch", "onnx"}
HEAVY |= {"skl2onnx", "sentence_transformers"}
MODULES = sorted(path for path in PACKAGE.rglob("*.py") if path.parent.name != "_kernels")


def test_heavy_packages_are_imported_where_they_are_used():
    for path in MODULES:
        parts = path.relative_to(PACKAGE).parts
        heavy = HEAVY - {"torch"} if parts[0] == "deep" else HEAVY
        for each in imports_of(path.read_text(), ["sklearn_hashrank", *parts[:-1]]):
            if each.at_top:
                where = f"{each.path} at the top of {path}"
                assert each.path.split(".")[0] not in heavy, where
                assert not each.path.startswith("sklearn_hashrank._kernels."), where
                assert parts[0] == "deep" or not each.path.startswith("sklearn_hashrank.deep"), (
                    where
                )


def test_a_wheel_has_the_files_that_are_not_python():
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg", encoding="utf-8")
    packed = {
        path
        for package, patterns in config["options.package_data"].items()
        for pattern in patterns.split(", ")
        for path in ROOT.joinpath(*package.split(".")).glob(pattern)
    }
    there = {path for path in PACKAGE.rglob("*") if path.is_file()}
    others = {path for path in there if path.suffix not in (".py", ".pyc", ".nbi", ".nbc")}
    assert {"py.typed", "_measure_methods.pyi", "report.css", "report.js"} <= {
        path.name for path in others
    }
    assert packed == others


def printed(*program, cwd, **environment):
    """What a program prints in a process of its own, with warnings as errors."""
    done = subprocess.run(
        [sys.executable, "-W", "error", *program],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": f"{cwd}{os.pathsep}{PACKAGE.parent}", **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.process
def test_import_loads_nothing_heavy_and_leaves_the_handler_of_interrupts(tmp_path):
    """Also in a program whose own arguments are those of our command."""
    (tmp_path / "program").mkdir()
    (tmp_path / "program" / "__init__.py").write_text(
        "import signal, sys\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)  # a job may ignore it\n"
        "import sklearn_hashrank, sklearn_hashrank.metrics\n"
        "assert signal.getsignal(signal.SIGINT) is signal.default_int_handler\n"
        "print(*sys.modules)\n"
    )
    (tmp_path / "program" / "__main__.py").touch()
    loaded = set(printed("-m", "program", "-m", "sklearn_hashrank", cwd=tmp_path).split())
    assert "sklearn_hashrank.metrics" in loaded
    assert not loaded & (HEAVY | {"sklearn_hashrank._kernels.hamming"})


SMOKE = """
import numpy as np
from sklearn_hashrank import HammingNeighbors, LSHHasher, SharedLabelAffinity
from sklearn_hashrank import retrieval_histogram
from sklearn_hashrank.metrics import (
    local_group_average_precision_score, tie_aware_average_precision_score
)
from sklearn_hashrank.codes import hamming_distances
rng = np.random.default_rng(0)
for n_bits in (6, 70):
    codes, y = rng.integers(0, 2, (24, n_bits)), rng.integers(0, 3, 24)
    distances = hamming_distances(codes, codes)
    for Y in (y, np.eye(3, dtype=int)[y], rng.normal(size=(24, 2))):
        h = retrieval_histogram(codes, np.repeat(codes, 3, axis=0), Y, np.repeat(Y, 3, axis=0))
        counts = [3 * np.bincount(d, minlength=n_bits + 1) for d in distances]
        np.testing.assert_array_equal(h.counts.sum(axis=1), counts)
    order = np.argsort(distances, axis=1, kind="stable")
    for algorithm in ("multi_index", "brute"):
        index = HammingNeighbors(7, algorithm=algorithm).fit(codes)
        np.testing.assert_array_equal(index.kneighbors(codes)[1], order[:, :7])
    near = [np.sort(row[:n]) for row, n in zip(order, (distances <= n_bits // 3).sum(axis=1))]
    for found, expected in zip(index.radius_neighbors(codes, n_bits // 3)[1], near):
        np.testing.assert_array_equal(found, expected)
    hasher = LSHHasher(n_bits=n_bits, random_state=0).fit(codes, y)
    score = tie_aware_average_precision_score(y, hasher.predict(codes))
    assert hasher.score(codes, y) == score
    score += local_group_average_precision_score(y, codes, radius=40)
    print(round(score, 12))
"""
LEARNING = """
import numpy as np
from sklearn_hashrank import DispersionHasher, LWHHasher, TALRLinear
rng = np.random.default_rng(0)
X, y = rng.normal(size=(18, 4)), np.arange(18) % 3
for hasher in (
    LWHHasher(6, tol=1.0, random_state=0),
    TALRLinear(6, max_iter=2, random_state=0),
    TALRLinear(6, objective="ndcg", max_iter=2, random_state=0),
    DispersionHasher(6, max_iter=2, random_state=0),
):
    print(round(hasher.fit(X, y).score(X, y), 9))
"""


COUNTING = """
import numpy as np
from sklearn_hashrank._kernels import hamming

rng = np.random.default_rng(0)
n, stops = 6501, np.array([[4001, 4010, 6501]])
for n_words in (1, 2):
    words = hamming.room_for_words(n_words, n)
    words[:, :n] = rng.integers(0, 256, (n_words, n), dtype=np.uint64)
    counts = np.zeros((2, 2, 33), dtype=np.int64)
    levels = np.array([[1, 0, 1]], dtype=np.uint16)
    queries = np.ascontiguousarray(words[:, :2].T)
    scratch = hamming.room_to_count(2, n, 2, 33, False)
    flat = counts.reshape(2, -1)
    hamming.count_runs(queries, words, None, np.zeros(2, int), stops, levels, flat, *scratch)
    assert counts.sum() == 2 * n
    print(*counts.ravel(), sep=",")
"""


@pytest.mark.process
def test_kernels_without_compilation(tmp_path, capsys):
    """Evaluation, search, learning and counting of pairs are the same in plain Python."""
    program = SMOKE + LEARNING + COUNTING
    exec(program, {})
    compiled = capsys.readouterr().out
    assert compiled == printed("-c", program, cwd=tmp_path, NUMBA_DISABLE_JIT="1")
    assert len(compiled.split()) == 8


WITHOUT_CACHE = """
import importlib, pkgutil
import numba.core.caching as caching
caching.CacheImpl._locator_classes = []
import numpy as np
from sklearn_hashrank import _kernels
from sklearn_hashrank.metrics import code_usage
for module in pkgutil.iter_modules(_kernels.__path__, "sklearn_hashrank._kernels."):
    importlib.import_module(module.name)
codes = np.random.default_rng(0).integers(0, 2, (20, 70), dtype=np.uint8).repeat(2, axis=0)
assert _kernels.hamming.number_equal_rows.stats.cache_path is None
found = code_usage(codes)
assert _kernels.hamming.number_equal_rows.signatures
assert found.n_distinct == len(np.unique(codes, axis=0)) == 20
"""


@pytest.mark.process
def test_kernels_without_a_writable_cache(tmp_path):
    """Every kernel can be imported where nobody can write, and what is called is compiled."""
    printed("-c", WITHOUT_CACHE, cwd=tmp_path, NUMBA_OPT="0")  # which compiles quickly
