"""Half-spaces: equal rows have equal codes, alone and in every block, also on hyperplanes."""

import functools
import itertools
import os
import subprocess
import sys
import warnings

import numpy as np
import pytest
from numpy._core._multiarray_umath import __cpu_dispatch__
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from sklearn_hashrank import (
    LSHHasher,
    RSHHasher,
    SignHasher,
    SSHHasher,
    TALRLinear,
    save_hasher,
)
from sklearn_hashrank.base import LinearHasher
from tests.instances import ENCODERS

# Features themselves; random hyperplanes, a frame, directions that may be zero, and ascent.
KINDS = [
    SignHasher(),
    LSHHasher(random_state=0),
    RSHHasher(random_state=0),
    SSHHasher(random_state=0),
    TALRLinear(max_iter=5, random_state=0),
]
every_hasher = pytest.mark.parametrize("hasher", KINDS, ids=repr)
every_dtype = pytest.mark.parametrize("dtype", ["float32", "float64"])
GRID = np.array(list(itertools.product(range(3), repeat=5)), dtype=float)


def grid(dtype):
    """A grid through whose middle hyperplanes pass, and its classes."""
    return GRID.astype(dtype), GRID.sum(axis=1).astype(int) // 4


def of_few_directions(dtype):
    """Rows of six features, each of which stands there five times: bits outnumber directions."""
    X = np.random.default_rng(0).normal(size=(120, 6))
    return np.tile(X, (1, 5)).astype(dtype), (X[:, 0] > 0) + 2 * (X[:, 1] > 0)


def far_away(dtype):
    """Rows whose distance from the origin makes rounding large."""
    X = 1000 + np.random.default_rng(0).normal(size=(200, 37))
    return X.astype(dtype), (X[:, 0] > 1000) + 2 * (X[:, 1] > 1000)


DATA = {"grid": grid, "few directions": of_few_directions, "far away": far_away}
every_data = pytest.mark.parametrize("data", DATA.values(), ids=DATA)


@functools.cache
def fitted(name, data, dtype):
    n_bits = 12 if data is of_few_directions else 5
    hasher = clone({repr(h): h for h in KINDS}[name]).set_params(n_bits=n_bits)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return hasher.fit(*data(dtype))


def test_all_half_spaces_are_projected_on_alike():
    linear = [type(each) for each in ENCODERS if isinstance(each, LinearHasher)]
    assert {kind._project for kind in linear} == {type(each)._project for each in KINDS}


@every_hasher
@every_data
@every_dtype
def test_blocks_and_copies_do_not_matter(hasher, data, dtype):
    X, _ = data(dtype)
    hasher = fitted(repr(hasher), data, dtype)
    codes = hasher.predict(X)
    for size, n_rows in ((1, 30), (2, 30), (7, 98), (64, len(X))):
        starts = range(0, n_rows, size)
        blocks = [hasher.predict(X[start : start + size]) for start in starts]
        assert_array_equal(np.concatenate(blocks), codes[: starts[-1] + size])
    shuffled = np.random.RandomState(0).permutation(np.repeat(np.arange(len(X)), 3))
    assert_array_equal(hasher.predict(X[shuffled]), codes[shuffled])
    assert_array_equal(hasher.predict(np.asfortranarray(X)), codes)
    assert_array_equal(np.packbits(codes, axis=1), hasher.codes_)


@every_hasher
@every_data
@every_dtype
def test_sparse_rows_have_the_codes_of_dense_ones(hasher, data, dtype):
    X, _ = data(dtype)
    hasher = fitted(repr(hasher), data, dtype)
    rows = sparse.csr_array(X)
    assert_array_equal(hasher.predict(rows), hasher.predict(X))
    assert_array_equal(hasher.predict(rows[:1]), hasher.predict(X[:1]))


@every_hasher
def test_rows_on_a_hyperplane_have_bit_zero(hasher):
    X, _ = far_away("float64")
    hasher = fitted(repr(hasher), far_away, "float64")
    normals, offsets = hasher.components_, hasher.intercept_
    for bit in np.flatnonzero(np.abs(normals).max(axis=1) > 0):
        normal = normals[bit]
        rows = X
        for _ in range(2):  # the second time corrects the rounding of the first
            rows = rows - np.outer((rows @ normal + offsets[bit]) / (normal @ normal), normal)
        for size in (1, 3, len(rows)):
            for start in range(0, 30, size):
                assert not hasher.predict(rows[start : start + size])[:, bit].any()


ENCODE = """
import numpy as np
from sklearn_hashrank import load_hasher
np.save("codes.npy", load_hasher("talr.npz").predict(np.load("rows.npy")))
"""


@pytest.mark.process
def test_an_older_processor_gives_the_same_codes(tmp_path):
    """With other kernels of BLAS and other loops of numpy, for rows on hyperplanes too."""
    X, y = far_away("float64")
    hasher = TALRLinear(8, max_iter=2, random_state=0).fit(X, y)
    normals, offsets = hasher.components_, hasher.intercept_
    rows = np.array(
        [x - (x @ w + b) / (w @ w) * w for x in X[:60] for w, b in zip(normals, offsets)]
    )
    np.save(tmp_path / "rows.npy", rows)
    save_hasher(tmp_path / "talr.npz", hasher)
    older = {
        "OPENBLAS_CORETYPE": "Nehalem",
        "NPY_DISABLE_CPU_FEATURES": " ".join(__cpu_dispatch__),
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    command = [sys.executable, "-c", ENCODE]
    subprocess.run(command, cwd=tmp_path, env={**os.environ, **older}, check=True)
    assert_array_equal(np.load(tmp_path / "codes.npy"), hasher.predict(rows))
