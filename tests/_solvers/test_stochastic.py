import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sklearn_hashrank._solvers.stochastic import SCHEDULES, SGD, SOLVERS, Adam, AdamPerColumn


def climb_a_hill(solver, schedule, n_steps=300):
    """Maximize -|x - 3|^2 - |y + 1|^2."""
    x, y = np.zeros((2, 3)), np.zeros(2)
    for step in range(n_steps):
        solver.step((x, y), (-2 * (x - 3), -2 * (y + 1)), schedule(step / n_steps))
    return x, y


@pytest.mark.parametrize("schedule", sorted(SCHEDULES))
@pytest.mark.parametrize("name", sorted(SOLVERS))
def test_every_solver_reaches_the_top(name, schedule):
    x, y = climb_a_hill(SOLVERS[name](learning_rate=0.1), SCHEDULES[schedule])
    assert_allclose(x, 3, atol=1e-2)
    assert_allclose(y, -1, atol=1e-2)


def test_adam_is_the_published_recursion():
    rng = np.random.default_rng(0)
    gradients = rng.normal(size=(5, 4))
    parameter, expected = np.zeros(4), np.zeros(4)
    mean, square = np.zeros(4), np.zeros(4)
    solver = Adam(0.1, beta1=0.8, beta2=0.9, epsilon=1e-3)
    for t, gradient in enumerate(gradients, start=1):
        solver.step([parameter], [gradient])
        mean = 0.8 * mean + 0.2 * gradient
        square = 0.9 * square + 0.1 * gradient**2
        unbiased = np.sqrt(square / (1 - 0.9**t))
        expected += 0.1 * mean / (1 - 0.8**t) / (unbiased + 1e-3)
    assert_allclose(parameter, expected, rtol=1e-12)


def steps_of_adam(gradients):
    """The recursion of Adam for a vector, but that its mean square is one number."""
    mean, square, steps = 0.0, 0.0, []
    for t, gradient in enumerate(gradients, start=1):
        mean = 0.8 * mean + 0.2 * gradient
        square = 0.9 * square + 0.1 * np.mean(gradient**2)
        unbiased = np.sqrt(square / (1 - 0.9**t))
        steps.append(0.1 * mean / (1 - 0.8**t) / (unbiased + 1e-3))
    return steps


@pytest.mark.parametrize("shape", [(4,), (6, 4)])
def test_adam_by_column_has_one_mean_square_for_each(shape):
    gradients = np.random.default_rng(0).normal(size=(5, *shape))
    parameter = np.zeros(shape)
    solver = AdamPerColumn(0.1, beta1=0.8, beta2=0.9, epsilon=1e-3)
    for gradient in gradients:
        solver.step([parameter], [gradient])
    for column in range(4):
        expected = np.sum(steps_of_adam(gradients[..., column]), axis=0)
        assert_allclose(parameter[..., column], expected, rtol=1e-12)


@pytest.mark.parametrize("name", ["adam-per-bit", "sgd"])
def test_a_rotation_of_the_rows_rotates_the_moves(name):
    rng = np.random.default_rng(0)
    rotation = np.linalg.qr(rng.normal(size=(6, 6)))[0]
    straight, rotated = np.ones((6, 3)), rotation @ np.ones((6, 3))
    solver, other = SOLVERS[name](weight_decay=0.01), SOLVERS[name](weight_decay=0.01)
    for gradient in rng.normal(size=(5, 6, 3)):
        solver.step([straight], [gradient])
        other.step([rotated], [rotation @ gradient])
    assert_allclose(rotated, rotation @ straight, rtol=1e-12)


def test_sgd_without_momentum_is_the_gradient():
    parameter = np.ones(3)
    SGD(0.5, momentum=0.0).step([parameter], [np.array([1.0, 2.0, 3.0])])
    assert_allclose(parameter, [1.5, 2.0, 2.5])


def test_momentum_adds_up():
    parameter = np.zeros(1)
    solver = SGD(momentum=0.5)
    for _ in range(3):
        solver.step([parameter], [np.ones(1)])
    assert_allclose(parameter, [1 + 1.5 + 1.75])


@pytest.mark.parametrize("name", sorted(SOLVERS))
def test_weight_decay_shrinks_only_what_it_is_meant_for(name):
    weights, intercept = np.full(3, 2.0), np.full(3, 2.0)
    solver = SOLVERS[name](weight_decay=(0.5, 0.0))
    solver.step([weights, intercept], [np.zeros(3), np.zeros(3)], factor=0.1)
    assert_allclose(weights, 2 * (1 - 0.05))
    assert_array_equal(intercept, 2.0)


@pytest.mark.parametrize("name", sorted(SOLVERS))
def test_precision_is_kept(name):
    parameter = np.zeros(3, np.float32)
    solver = SOLVERS[name](learning_rate=0.1, weight_decay=0.01)
    for _ in range(3):
        solver.step([parameter], [np.ones(3, np.float32)])
    assert parameter.dtype == np.float32
    assert np.all(parameter > 0)


@pytest.mark.parametrize("name", sorted(SCHEDULES))
def test_schedules_start_at_one_and_never_rise(name):
    factors = [SCHEDULES[name](progress) for progress in np.linspace(0, 1, 50)]
    assert factors[0] == pytest.approx(1.0)
    assert np.all(np.diff(factors) <= 1e-12)
    assert min(factors) >= 0


@pytest.mark.parametrize("name", sorted(SOLVERS))
def test_a_factor_scales_the_move(name):
    moves = []
    for factor in (1.0, 0.25):
        parameter = np.zeros(1)
        SOLVERS[name]().step([parameter], [np.ones(1)], factor)
        moves.append(parameter[0])
    assert moves[1] == pytest.approx(moves[0] / 4)
