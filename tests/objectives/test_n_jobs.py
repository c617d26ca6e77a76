"""Large batches in threads: the same bits, whatever their number."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from sklearn_hashrank import DispersionHasher, TALRLinear
from sklearn_hashrank._utils.threads import over_blocks
from sklearn_hashrank.objectives._objective_names import ZONES
from tests.objectives.rankings import RANKINGS

ALL = {**RANKINGS, **ZONES}


@pytest.mark.parametrize("name", ALL, ids=str)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_threads_do_not_change_a_bit(name, dtype):
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(1100, 12)).astype(dtype)
    level = rng.integers(0, 3, (1100, 1100)).astype(np.uint8)
    levels = np.array([0.0, 1.0, 2.0])
    value, gradient = ALL[name](n_jobs=1).value_and_gradient(scores, level, levels)
    for n_jobs in (2, 3):
        again = ALL[name](n_jobs=n_jobs).value_and_gradient(scores, level, levels)
        assert again[0] == value
        assert_array_equal(again[1], gradient)


@pytest.mark.parametrize("make", [TALRLinear, DispersionHasher])
def test_hashers_learn_the_same_with_threads(make):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(2200, 8)).astype(np.float32), rng.integers(0, 40, 2200)
    options = {"n_bits": 8, "batch_size": 1100, "max_iter": 2, "random_state": 0}
    one, two = (make(**options, n_jobs=n_jobs).fit(X, y) for n_jobs in (1, 2))
    assert one.history_ == two.history_
    assert_array_equal(one.components_, two.components_)


def test_blocks_are_cut_by_the_number_of_rows_alone():
    for n_rows in (1, 256, 1023, 1024, 1100):
        cuts = []
        for n_jobs in (1, 2, 3):
            blocks = []
            over_blocks(blocks.append, n_rows, n_jobs)
            cuts.append(sorted((block.start, block.stop) for block in blocks))
        assert cuts[0] == cuts[1] == cuts[2]
        covered = np.concatenate([np.arange(*block) for block in cuts[0]])
        assert_array_equal(covered, np.arange(n_rows))
