"""What LLVM's vectors do is what a line of numpy does."""

import numpy as np
import pytest
from numba.core.errors import TypingError
from numpy.testing import assert_array_equal

from sklearn_hashrank._kernels import _vectors
from sklearn_hashrank._kernels._jit import kernel
from sklearn_hashrank._kernels._vectors import TILE
from sklearn_hashrank._kernels.pairs import add_transposed

DTYPES = [np.float32, np.float64]


@kernel
def add_two_at(table, at, shares, starts):
    for k in range(at.shape[0]):
        _vectors.add_two(table, at[k], shares, starts[k])


@kernel
def add_transposed_tile_at(matrix, row, column):
    _vectors.add_transposed_tile(matrix, row, column)


@pytest.mark.parametrize("dtype", DTYPES)
def test_couples_are_added_where_they_overlap_too(dtype):
    rng = np.random.default_rng(0)
    table, shares = rng.normal(size=9).astype(dtype), rng.normal(size=60).astype(dtype)
    at, starts = rng.integers(0, 8, 40), rng.integers(0, 59, 40)
    expected = table.copy()
    for place, start in zip(at, starts):
        _vectors._plain_add_two(expected, place, shares, start)
    add_two_at(table, at, shares, starts)
    assert_array_equal(table, expected)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("row", "column"), [(0, 0), (0, 16), (3, 21)])
def test_a_tile_and_its_mirror_become_their_sum(dtype, row, column):
    matrix = np.random.default_rng(1).normal(size=(48, 48)).astype(dtype)
    expected, whole = matrix.copy(), matrix + matrix.T
    _vectors._plain_add_transposed_tile(expected, row, column)
    add_transposed_tile_at(matrix, row, column)
    assert_array_equal(matrix, expected)
    here = slice(row, row + TILE), slice(column, column + TILE)
    assert_array_equal(matrix[here], whole[here])
    assert_array_equal(matrix.T[here], whole.T[here])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n_rows", [0, 1, 15, 16, 17, 31, 64, 150])
@pytest.mark.parametrize("n_blocks", [1, 3])
def test_a_matrix_becomes_symmetric_block_by_block(dtype, n_rows, n_blocks):
    matrix = np.random.default_rng(2).normal(size=(n_rows, n_rows)).astype(dtype)
    expected = matrix + matrix.T
    starts = TILE * np.arange(0, -(-n_rows // TILE), n_blocks)
    for start, stop in zip(starts, [*starts[1:], n_rows]):
        add_transposed(matrix, start, stop)
    assert_array_equal(matrix, expected)


def test_a_matrix_whose_rows_do_not_follow_each_other_is_refused():
    matrix = np.zeros((32, 64))[:, ::2]
    with pytest.raises(TypingError, match="must follow each other"):
        add_transposed(matrix, 0, 32)
