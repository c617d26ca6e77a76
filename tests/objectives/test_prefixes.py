"""The mean of an objective over prefixes of codes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_hashrank.objectives import DSH, NDCG, AveragePrecision, HashNet, Prefixes
from sklearn_hashrank.objectives._objective_checks import CheckedObjective
from tests.oracle.prefixes import mean_over_prefixes


def batch(seed, n=12, n_bits=9, dtype=np.float64):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    level = np.equal.outer(y, y).astype(np.uint8)
    return rng.normal(size=(n, n_bits)).astype(dtype), level, np.array([0.0, 1.0])


@pytest.mark.parametrize("objective", [AveragePrecision(), NDCG(), DSH(), HashNet()], ids=repr)
@given(st.integers(0, 1000), st.sets(st.integers(1, 9), min_size=1))
def test_value_and_gradient_are_means(objective, seed, prefixes):
    arguments = batch(seed)
    value, gradient = Prefixes(objective, tuple(prefixes)).value_and_gradient(*arguments)
    expected, of_scores = mean_over_prefixes(objective, sorted(prefixes), *arguments)
    assert value == pytest.approx(expected, abs=1e-12)
    np.testing.assert_allclose(gradient, of_scores, atol=1e-12)
    assert not gradient[:, max(prefixes) :].any()


def test_gradient_is_the_difference_quotient():
    scores, level, levels = batch(3)
    objective, step = Prefixes(AveragePrecision(), (2, 5, 9)), 1e-6
    _, gradient = objective.value_and_gradient(scores, level, levels)
    for row, bit in ((0, 0), (3, 4), (5, 8), (11, 1)):
        ends = []
        for sign in (-1, 1):
            moved = scores.copy()
            moved[row, bit] += sign * step
            ends.append(objective.value_and_gradient(moved, level, levels)[0])
        assert gradient[row, bit] == pytest.approx((ends[1] - ends[0]) / (2 * step), abs=1e-6)


def test_all_bits_alone_are_the_objective_itself():
    arguments = batch(1, dtype=np.float32)
    value, gradient = Prefixes(AveragePrecision(), (9,)).value_and_gradient(*arguments)
    expected, of_scores = AveragePrecision().value_and_gradient(*arguments)
    assert value == expected
    np.testing.assert_array_equal(gradient, of_scores)
    assert gradient.dtype == np.float32


def test_declarations_are_those_of_the_objective():
    objective = Prefixes(AveragePrecision(), (2, 9))
    assert objective.measure == "ap"
    levels = np.array([0.0, 1.0])
    np.testing.assert_array_equal(
        objective.level_gain(levels), AveragePrecision().level_gain(levels)
    )
    annealed = CheckedObjective(Prefixes(HashNet(), (2, 9)))
    before = annealed(*batch(0))[0]
    assert annealed.at_end()(*batch(0))[0] != pytest.approx(before, abs=1e-6)
    assert annealed.learning_rates == HashNet().learning_rates

    class Bare:
        def value_and_gradient(self, scores, level, levels):
            return float(scores.sum()), np.ones_like(scores)

    bare = CheckedObjective(Prefixes(Bare(), [3]))
    bare.check_affinity(None, True)
    assert (bare.measure, bare.level_gain(levels)) == (None, None)
    assert bare(*batch(0))[1].sum() == 3 * 12


@pytest.mark.parametrize("prefixes", [(), (0, 4), (4, 10), (4, 4), (2.5,), "24", (True,), 4])
def test_prefixes_are_checked(prefixes):
    with pytest.raises(ValueError, match="prefixes"):
        Prefixes(AveragePrecision(), prefixes).value_and_gradient(*batch(0))
