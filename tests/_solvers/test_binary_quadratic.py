"""Block graph cuts: exact in every block, and never a step up."""

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.csgraph import maximum_flow

from sklearn_hashrank._solvers.binary_quadratic import (
    Blocks,
    energy,
    minimize_by_cuts,
    minimize_spectrally,
)
from tests.oracle import two_step as oracle


def problem(seed, n=12, n_blocks=2, density=0.7):
    rng = np.random.default_rng(seed)
    block_of = rng.integers(0, n_blocks, n)
    matrix = rng.integers(1, 9, (n, n)) * (rng.random((n, n)) < density)
    matrix = np.triu(matrix, 1).astype(float)
    matrix[block_of[:, None] == block_of] *= -1
    matrix += matrix.T
    linear = rng.integers(-20, 20, n).astype(float)
    return matrix, linear, block_of, rng.choice([-1.0, 1.0], n)


@pytest.mark.parametrize("seed", range(20))
def test_energy_is_that_of_the_formula(seed):
    matrix, linear, _, signs = problem(seed)
    expected = oracle.energy(matrix, linear, signs)
    assert energy(sparse.csr_array(matrix), linear, signs) == pytest.approx(expected)


@pytest.mark.parametrize("seed", range(30))
def test_one_block_is_solved_exactly(seed):
    matrix, linear, _, start = problem(seed, n=9, n_blocks=1, density=0.2 + 0.6 * (seed % 2))
    blocks = Blocks.of(np.zeros(9, dtype=int))
    rng = np.random.RandomState(0)
    signs = minimize_by_cuts(sparse.csr_array(matrix), linear, blocks, start, 1, rng)
    lowest = oracle.lowest_energy(matrix, linear, start, np.arange(9))
    assert oracle.energy(matrix, linear, signs) == lowest


@pytest.mark.parametrize("seed", range(20))
def test_every_block_is_solved_given_the_others(seed):
    matrix, linear, block_of, start = problem(seed)
    blocks = Blocks.of(block_of)
    graph = sparse.csr_array(matrix)
    before = energy(graph, linear, start)
    signs = minimize_by_cuts(graph, linear, blocks, start, 20, np.random.RandomState(seed))
    found = energy(graph, linear, signs)
    assert found <= before
    for block in range(2):
        free = np.flatnonzero(block_of == block)
        assert oracle.lowest_energy(matrix, linear, signs, free) == found


@pytest.mark.parametrize("seed", range(3))
def test_cut_of_many_nodes_is_that_of_scipy(seed):
    n = 150
    matrix, linear, _, start = problem(seed, n=n, n_blocks=1, density=0.3)
    linear *= 12
    blocks = Blocks.of(np.zeros(n, dtype=int))
    rng = np.random.RandomState(0)
    signs = minimize_by_cuts(sparse.csr_array(matrix), linear, blocks, start, 1, rng)
    capacities = np.zeros((n + 2, n + 2), dtype=np.int32)
    capacities[:n, :n] = -matrix
    capacities[n, :n] = np.maximum(0, -linear)
    capacities[:n, n + 1] = np.maximum(0, linear)
    flow = maximum_flow(sparse.csr_array(capacities), n, n + 1).flow_value
    cut = np.sum(-matrix[signs > 0][:, signs < 0]) + np.maximum(0, -linear)[signs < 0].sum()
    cut += np.maximum(0, linear)[signs > 0].sum()
    assert 0 < np.mean(signs > 0) < 1
    assert cut == flow


@pytest.mark.parametrize("seed", range(10))
def test_spectral_step_is_far_below_random_signs(seed):
    matrix, linear, _, start = problem(seed)
    graph = sparse.csr_array(matrix)
    signs = minimize_spectrally(graph, linear, np.random.RandomState(0))
    assert set(np.unique(signs)) <= {-1.0, 1.0}
    lowest = oracle.lowest_energy(matrix, linear, start, np.arange(12))
    assert lowest <= energy(graph, linear, signs) <= 0.7 * lowest


def test_nothing_to_do_needs_no_care():
    nothing = sparse.csr_array((4, 4))
    blocks = Blocks.of(np.array([0, 0, 1, 1]))
    linear = np.array([1.0, -1, 0, 2])
    for signs in (
        minimize_by_cuts(nothing, linear, blocks, np.ones(4), 1, np.random.RandomState(0)),
        minimize_spectrally(nothing, linear, np.random.RandomState(0)),
    ):
        assert signs[[0, 1, 3]].tolist() == [-1, 1, -1]
