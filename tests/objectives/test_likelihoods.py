"""What holds for the likelihoods of pairs and triplets: DPSH, HashNet and DTSH."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal

from sklearn_hashrank.objectives import DPSH, DTSH, HashNet
from tests.objectives.differences import central_differences
from tests.objectives.ranking.batches import BATCHES, LEVELS, batch, shared_labels
from tests.oracle import likelihoods

LITERAL = {
    DPSH: lambda u, relevant, o: likelihoods.dpsh(u, relevant, o.regularization),
    HashNet: lambda u, relevant, o: likelihoods.hashnet(u, relevant, o.alpha, o.scale),
    DTSH: lambda u, relevant, o: likelihoods.dtsh(u, relevant, o.margin, o.regularization),
}
OPTIONS = {
    DPSH: [{}, {"regularization": 2.0}],
    HashNet: [{}, {"alpha": 3.0, "scale": 2.0}],
    DTSH: [{}, {"margin": 0.1, "regularization": 2.0}, {"margin": 0.0}],
}

every_objective = pytest.mark.parametrize("make", LITERAL)
every_option = pytest.mark.parametrize(
    "objective", [make(**options) for make in OPTIONS for options in OPTIONS[make]], ids=repr
)


@every_option
@pytest.mark.parametrize("name", ["random", "single positives"])
@pytest.mark.parametrize("scale", [0.3, 2.0])
def test_value_is_the_printed_formula(objective, name, scale):
    scores, level = batch(name, np.random.default_rng(0))
    scores *= scale
    value, _ = objective.value_and_gradient(scores, level, LEVELS)
    literal = LITERAL[type(objective)](scores.tolist(), (LEVELS[level] > 0).tolist(), objective)
    assert -value == pytest.approx(literal, rel=1e-12)


@every_option
@pytest.mark.parametrize("name", BATCHES)
def test_gradient_is_that_of_finite_differences(objective, name):
    scores, level = batch(name, np.random.default_rng(1))
    value, gradient = objective.value_and_gradient(scores, level, LEVELS)
    numeric = central_differences(
        lambda s: objective.value_and_gradient(s, level, LEVELS)[0], scores, 1e-6
    )
    assert_allclose(gradient, numeric, rtol=1e-6, atol=1e-8 * max(1, abs(value)))


@pytest.mark.parametrize("name", ["random", "single positives"])
@pytest.mark.parametrize("margin", [0.0, 0.25])
def test_graded_triplets_are_all_pairs_of_different_levels(name, margin):
    scores, level = batch(name, np.random.default_rng(8))
    objective = DTSH(graded=True, margin=margin)
    value, gradient = objective.value_and_gradient(scores, level, LEVELS)
    grade = LEVELS[level].tolist()
    literal = likelihoods.dtsh(scores.tolist(), grade, margin, objective.regularization)
    assert -value == pytest.approx(literal, rel=1e-12)
    numeric = central_differences(
        lambda s: objective.value_and_gradient(s, level, LEVELS)[0], scores, 1e-6
    )
    assert_allclose(gradient, numeric, rtol=1e-6, atol=1e-8)
    binary = np.minimum(level, 1), LEVELS[:2]
    same, same_gradient = DTSH(margin=margin).value_and_gradient(scores, *binary)
    value, gradient = objective.value_and_gradient(scores, *binary)
    assert value == same
    assert_array_equal(gradient, same_gradient)


@every_objective
def test_levels_of_a_pair_may_differ_with_its_direction(make):
    rng = np.random.default_rng(2)
    scores, level = rng.normal(size=(8, 5)), rng.integers(0, 3, (8, 8)).astype(np.uint8)
    value, gradient = make().value_and_gradient(scores, level, LEVELS)
    relevant = (LEVELS[level] > 0).tolist()
    assert -value == pytest.approx(LITERAL[make](scores.tolist(), relevant, make()), rel=1e-12)
    numeric = central_differences(
        lambda s: make().value_and_gradient(s, level, LEVELS)[0], scores, 1e-6
    )
    assert_allclose(gradient, numeric, rtol=1e-6, atol=1e-8)


@every_objective
def test_nobody_is_paired_with_itself(make):
    rng = np.random.default_rng(3)
    scores, level = rng.normal(size=(10, 6)), shared_labels(10, rng)
    value, gradient = make().value_and_gradient(scores, level, LEVELS)
    for other in (0, 2):
        np.fill_diagonal(level, other)
        other_value, other_gradient = make().value_and_gradient(scores, level, LEVELS)
        assert other_value == value
        assert_array_equal(other_gradient, gradient)


@every_objective
def test_only_relevant_or_not_matters(make):
    rng = np.random.default_rng(4)
    scores, level = rng.normal(size=(10, 6)), shared_labels(10, rng)
    value, gradient = make().value_and_gradient(scores, level, LEVELS)
    binary = make().value_and_gradient(scores, np.minimum(level, 1), LEVELS[:2])
    assert binary[0] == value
    assert_array_equal(binary[1], gradient)


@every_objective
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_precision_is_kept(make, dtype):
    rng = np.random.default_rng(5)
    scores, level = rng.normal(size=(20, 6)), shared_labels(20, rng)
    value, gradient = make().value_and_gradient(scores.astype(dtype), level, LEVELS)
    expected_value, expected = make().value_and_gradient(scores, level, LEVELS)
    assert gradient.dtype == dtype
    assert value == pytest.approx(expected_value, rel=1e-5)
    assert_allclose(gradient, expected, atol=1e-5)


@every_objective
@pytest.mark.parametrize("n_jobs", [2, 3])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_threads_do_not_change_a_bit(make, n_jobs, dtype):
    rng = np.random.default_rng(6)
    scores = rng.normal(size=(1100, 4)).astype(dtype)
    level = (rng.random((1100, 1100)) < 0.02).astype(np.uint8)
    value, gradient = make(n_jobs=1).value_and_gradient(scores, level, LEVELS)
    again = make(n_jobs=n_jobs).value_and_gradient(scores, level, LEVELS)
    assert again[0] == value
    assert_array_equal(again[1], gradient)


@every_objective
@given(data=st.data())
@settings(max_examples=40, deadline=None)
def test_values_and_gradients_are_finite(make, data):
    dtype, limit = data.draw(st.sampled_from([(np.float32, 2.0**50), (np.float64, 2.0**500)]))
    shape = data.draw(st.tuples(st.integers(1, 6), st.integers(1, 5)))
    finite = st.floats(-limit, limit, width=8 * np.dtype(dtype).itemsize)
    scores = data.draw(arrays(dtype, shape, elements=finite | st.sampled_from([-1.0, 0.0, 1.0])))
    level = data.draw(arrays(np.uint8, (shape[0], shape[0]), elements=st.integers(0, 2)))
    value, gradient = make().value_and_gradient(scores, level, LEVELS)
    assert np.isfinite(value)
    assert np.isfinite(gradient).all()


@every_objective
@pytest.mark.parametrize("level", [0, 1])
def test_a_batch_of_one_kind_of_pairs_is_possible(make, level):
    scores = np.random.default_rng(7).normal(size=(6, 4))
    value, gradient = make().value_and_gradient(scores, np.full((6, 6), level, np.uint8), LEVELS)
    assert np.isfinite(value)
    assert np.isfinite(gradient).all()
    if make is DTSH:
        pull_alone = DTSH().value_and_gradient(scores, np.eye(6, dtype=np.uint8), LEVELS)
        assert value == pull_alone[0]


@pytest.mark.parametrize("size", [1.0, 15.0, 25.0, 40.0, 400.0])
def test_triplets_of_large_codes_cost_what_they_should(size):
    """Whether their exponentials overflow or not: the loss of each is near its largest part."""
    rng = np.random.default_rng(8)
    scores, level = size * rng.choice([-1.0, 1.0], (12, 10)), shared_labels(12, rng)
    value, gradient = DTSH(margin=0.5, regularization=0.0).value_and_gradient(scores, level, LEVELS)
    theta, relevant, means, slopes = scores @ scores.T / 2, level > 0, [], np.zeros((12, 12))
    for q in range(12):
        others = np.arange(12) != q
        near, far = np.flatnonzero(relevant[q] & others), np.flatnonzero(~relevant[q] & others)
        if len(near) * len(far):
            t = theta[q, far] - theta[q, near][:, None] + 5
            means.append(np.logaddexp(0, t).mean())
            slope = np.exp(-np.logaddexp(0, -t)) / t.size
            slopes[q, near], slopes[q, far] = -slope.sum(axis=1), slope.sum(axis=0)
    assert -value == pytest.approx(np.mean(means), rel=1e-10)
    expected = -(slopes + slopes.T) @ scores / 2 / len(means)
    assert_allclose(gradient, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())
