import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sklearn_hashrank.solvers.stochastic import (
    SCHEDULES,
    SGD,
    SOLVERS,
    Adam,
    RunningAverage,
    ascend,
)


def climb_a_hill(solver, learning_rate=0.1, n_epochs=300, **options):
    """Maximise -|x - 3|^2 - |y + 1|^2."""
    x, y = np.zeros((2, 3)), np.zeros(2)

    def value_and_gradients(batch, progress):
        gradients = (-2 * (x - 3), -2 * (y + 1))
        return -np.sum((x - 3) ** 2) - np.sum((y + 1) ** 2), gradients

    ascend(
        (x, y),
        value_and_gradients,
        lambda epoch: [None],
        solver,
        learning_rate=learning_rate,
        n_epochs=n_epochs,
        steps_per_epoch=1,
        **options,
    )
    return x, y


@pytest.mark.parametrize("schedule", sorted(SCHEDULES))
@pytest.mark.parametrize("name", sorted(SOLVERS))
def test_every_solver_reaches_the_top(name, schedule):
    x, y = climb_a_hill(SOLVERS[name](), schedule=SCHEDULES[schedule])
    assert_allclose(x, 3, atol=1e-2)
    assert_allclose(y, -1, atol=1e-2)


def test_adam_is_the_published_recursion():
    rng = np.random.default_rng(0)
    gradients = rng.normal(size=(5, 4))
    parameter, expected = np.zeros(4), np.zeros(4)
    mean, square = np.zeros(4), np.zeros(4)
    solver = Adam(beta1=0.8, beta2=0.9, epsilon=1e-3)
    for t, gradient in enumerate(gradients, start=1):
        solver.step([parameter], [gradient], 0.1)
        mean = 0.8 * mean + 0.2 * gradient
        square = 0.9 * square + 0.1 * gradient**2
        unbiased = np.sqrt(square / (1 - 0.9**t))
        expected += 0.1 * mean / (1 - 0.8**t) / (unbiased + 1e-3)
    assert_allclose(parameter, expected, rtol=1e-12)


def test_sgd_without_momentum_is_the_gradient():
    parameter = np.ones(3)
    SGD(momentum=0.0).step([parameter], [np.array([1.0, 2.0, 3.0])], 0.5)
    assert_allclose(parameter, [1.5, 2.0, 2.5])


def test_momentum_adds_up():
    parameter = np.zeros(1)
    solver = SGD(momentum=0.5)
    for _ in range(3):
        solver.step([parameter], [np.ones(1)], 1.0)
    assert_allclose(parameter, [1 + 1.5 + 1.75])


@pytest.mark.parametrize("name", sorted(SOLVERS))
def test_weight_decay_shrinks_only_what_it_is_meant_for(name):
    weights, intercept = np.full(3, 2.0), np.full(3, 2.0)
    solver = SOLVERS[name](weight_decay=(0.5, 0.0))
    solver.step([weights, intercept], [np.zeros(3), np.zeros(3)], 0.1)
    assert_allclose(weights, 2 * (1 - 0.05))
    assert_array_equal(intercept, 2.0)


@pytest.mark.parametrize("name", sorted(SOLVERS))
def test_precision_is_kept(name):
    parameter = np.zeros(3, np.float32)
    solver = SOLVERS[name](weight_decay=0.1)
    for _ in range(3):
        solver.step([parameter], [np.ones(3, np.float32)], 0.1)
    assert parameter.dtype == np.float32
    assert np.all(parameter > 0)


@pytest.mark.parametrize("name", sorted(SCHEDULES))
def test_schedules_start_at_one_and_never_rise(name):
    factors = [SCHEDULES[name](progress) for progress in np.linspace(0, 1, 50)]
    assert factors[0] == pytest.approx(1.0)
    assert np.all(np.diff(factors) <= 1e-12)
    assert min(factors) >= 0


def test_epochs_are_reported_and_can_stop():
    reports = []

    def after_epoch(epoch, value, learning_rate):
        reports.append((epoch, value, learning_rate))
        return epoch == 3

    climb_a_hill(SGD(), after_epoch=after_epoch, learning_rate=0.01)
    assert [epoch for epoch, _, _ in reports] == [0, 1, 2, 3]
    values = [value for _, value, _ in reports]
    assert values == sorted(values)
    assert reports[0][2] == pytest.approx(0.01)


def test_progress_runs_over_all_batches():
    seen = []

    def value_and_gradients(batch, progress):
        seen.append((batch, progress))
        return 0.0, (np.zeros(1),)

    ascend(
        (np.zeros(1),),
        value_and_gradients,
        lambda epoch: ["a", "b"],
        SGD(),
        learning_rate=0.1,
        n_epochs=2,
        steps_per_epoch=2,
    )
    assert seen == [("a", 0.0), ("b", 0.25), ("a", 0.5), ("b", 0.75)]


def test_running_average_is_first_the_plain_mean_then_exponential():
    parameter = np.zeros(2)
    average = RunningAverage([parameter], decay=0.75)
    path = np.arange(1.0, 11.0)
    expected = 0.0
    for t, point in enumerate(path, start=1):
        parameter[:] = point
        average.update([parameter])
        expected += max(0.25, 1 / t) * (point - expected)
        if t <= 4:
            assert_allclose(average.values[0], path[:t].mean())
    assert_allclose(average.values[0], expected)
    assert_array_equal(parameter, 10.0)


def test_averaging_beats_the_noise_of_a_constant_learning_rate():
    rng = np.random.default_rng(0)
    parameter = np.zeros(20)
    average = RunningAverage([parameter], decay=0.99)

    def value_and_gradients(batch, progress):
        return 0.0, (-2 * (parameter - 3) + 5 * rng.normal(size=20),)

    ascend(
        (parameter,),
        value_and_gradients,
        lambda epoch: [None],
        SGD(momentum=0.0),
        learning_rate=0.3,
        n_epochs=500,
        steps_per_epoch=1,
        average=average,
    )
    assert np.linalg.norm(average.values[0] - 3) < 0.5 * np.linalg.norm(parameter - 3)
