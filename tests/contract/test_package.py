"""The package as a whole: imports point one way, are light, and kernels run everywhere."""

import ast
import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

import sklearn_hashrank

PACKAGE = Path(sklearn_hashrank.__file__).parent
ROOT = Path(__file__).parents[2]


def load_layers():
    """The table that the architecture page shows."""
    spec = importlib.util.spec_from_file_location("layers", ROOT / "docs" / "layers.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


layers = load_layers()
LEVEL = {name: level for level, (name, _) in enumerate(layers.LAYERS)}
HEAVY = {"numba", "cvxpy", "matplotlib", "dask", "distributed", "faiss"}
MODULES = sorted(path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py")


def imported_modules(path):
    """Absolute names of what a module imports, and whether at its top level."""
    tree = ast.parse(path.read_text())
    package = ["sklearn_hashrank", *path.relative_to(PACKAGE).parts[:-1]]
    top = set(map(id, tree.body))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, id(node) in top
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            for alias in node.names:
                yield f"{module}.{alias.name}", id(node) in top


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_one_way(path):
    own = path.relative_to(PACKAGE).with_suffix("").parts[0]
    assert own in LEVEL, f"give {own} a layer"
    for name, _ in imported_modules(path):
        parts = name.split(".")
        if parts[0] == "sklearn_hashrank" and parts[1] not in (own, "__version__"):
            assert LEVEL[parts[1]] <= LEVEL[own], f"{own} must not import {parts[1]}"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_heavy_packages_are_imported_where_they_are_used(path):
    if path.relative_to(PACKAGE).parts[0] == "_kernels":
        return
    for name, at_top in imported_modules(path):
        assert not (at_top and name.split(".")[0] in HEAVY)
        assert not (at_top and name.startswith("sklearn_hashrank._kernels"))


def run(code, cwd, **environment):
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(PACKAGE.parent), **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_import_loads_nothing_heavy(tmp_path):
    found = run(
        "import sys, sklearn_hashrank, sklearn_hashrank.metrics; print(*sys.modules)", tmp_path
    )
    assert found.returncode == 0, found.stderr
    loaded = set(found.stdout.split())
    assert "sklearn_hashrank.histogram" in loaded
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
    codes, y = rng.integers(0, 2, (40, n_bits)), rng.integers(0, 3, 40)
    distances = hamming_distances(codes, codes)
    for Y in (y, np.eye(3, dtype=int)[y], rng.normal(size=(40, 2))):
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
X, y = rng.normal(size=(24, 4)), np.arange(24) % 3
for hasher in (
    LWHHasher(6, tol=1.0, random_state=0),
    TALRLinear(6, max_iter=2, random_state=0),
    TALRLinear(6, objective="ndcg", max_iter=2, random_state=0),
    DispersionHasher(6, max_iter=2, random_state=0),
):
    print(round(hasher.fit(X, y).score(X, y), 9))
"""


def test_kernels_without_compilation_and_without_a_writable_cache(tmp_path):
    """Plain Python, and a package that nobody can write to, give the same numbers."""
    compiled = run(SMOKE, tmp_path)
    assert compiled.returncode == 0, compiled.stderr
    interpreted = run(SMOKE, tmp_path, NUMBA_DISABLE_JIT="1")
    assert interpreted.returncode == 0, interpreted.stderr
    no_locator = "import numba.core.caching as caching\ncaching.CacheImpl._locator_classes = []\n"
    uncached = run(no_locator + SMOKE, tmp_path)
    assert uncached.returncode == 0, uncached.stderr
    assert compiled.stdout == interpreted.stdout == uncached.stdout
    assert len(compiled.stdout.split()) == 2


def test_learning_without_compilation(tmp_path):
    compiled = run(LEARNING, tmp_path)
    assert compiled.returncode == 0, compiled.stderr
    interpreted = run(LEARNING, tmp_path, NUMBA_DISABLE_JIT="1")
    assert interpreted.returncode == 0, interpreted.stderr
    assert compiled.stdout == interpreted.stdout
    assert len(compiled.stdout.split()) == 4
