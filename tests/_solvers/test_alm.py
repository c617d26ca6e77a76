"""Minimization under orthogonality: against the closed form, scale-free, on hard spectra."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import check_grad
from sklearn.datasets import load_digits

from sklearn_hashrank._solvers.alm import _AugmentedLagrangian, minimize_orthogonal


def quadratic(B):
    return lambda A: -np.vdot(A, B @ A), lambda A: -2 * B @ A


def solve(B, n_bits, seed=0, **options):
    start = np.random.default_rng(seed).normal(size=(len(B), n_bits))
    return minimize_orthogonal(*quadratic(B), start, **options)


def with_spectrum(values, seed=0):
    rng = np.random.default_rng(seed)
    vectors = np.linalg.qr(rng.normal(size=(len(values), len(values))))[0]
    B = vectors * values @ vectors.T
    return (B + B.T) / 2


def assert_optimal(B, n_bits, solution):
    """Ky Fan: the optimum is the sum of the largest eigenvalues."""
    values = np.linalg.eigvalsh(B)
    assert -solution.objective == pytest.approx(
        values[len(values) - n_bits :].sum(), abs=1e-4 * np.abs(values).sum()
    )
    assert solution.objective == pytest.approx(-np.vdot(solution.A, B @ solution.A))
    residual = np.linalg.norm(solution.A.T @ solution.A - np.eye(n_bits))
    assert residual == pytest.approx(solution.orthogonality, abs=1e-12)
    assert residual <= 1e-6


N = 40
SPECTRA = {
    "random": np.random.default_rng(0).normal(size=N),
    "geometric": 0.9 ** np.arange(N),
    "twelve decades": np.logspace(0, -12, N),
    "low rank": np.r_[3.0, 2.0, 1.0, np.zeros(N - 3)],
    "indefinite low rank": np.r_[3.0, 2.0, np.zeros(N - 3), -4.0],
    "all equal": np.ones(N),
    "two values": np.r_[np.ones(N // 2), -np.ones(N // 2)],
    "negative": -np.logspace(0, -6, N),
    "one large negative": np.r_[-1, np.logspace(-1, -6, N - 1)],
    "one small among nothing": np.r_[0.5, 1e-4, np.zeros(N - 2)],
    "tiny gaps": np.r_[1, np.linspace(0.1, 0.1001, N - 1)],
}


@pytest.mark.parametrize("n_bits", [1, 7, N - 1, N])
@pytest.mark.parametrize("name", SPECTRA)
def test_reaches_the_closed_form(name, n_bits):
    B = with_spectrum(SPECTRA[name])
    assert_optimal(B, n_bits, solve(B, n_bits))


@settings(max_examples=30)
@given(st.integers(1, 12), st.data())
def test_reaches_the_closed_form_on_random_spectra(n, data):
    n_bits = data.draw(st.integers(1, n))
    values = data.draw(st.lists(st.floats(-1, 1), min_size=n, max_size=n))
    values = [v if abs(v) > 1e-100 else 0.0 for v in values]  # whose squares can be represented
    B = with_spectrum(np.array(values), data.draw(st.integers(0, 100)))
    assert_optimal(B, n_bits, solve(B, n_bits))


@pytest.mark.parametrize("n_bits", [4, 16, 64])
def test_reaches_the_closed_form_on_real_supervision(n_bits):
    X, y = load_digits(return_X_y=True)
    X, y = X - X.mean(axis=0), np.eye(10)[y]
    wins = y @ (y.T @ X) * 100 - X.sum(axis=0)
    B = wins[:300].T @ X[:300]
    B = (B + B.T) / 2
    solution = solve(B, n_bits)
    assert_optimal(B, n_bits, solution)
    assert solution.converged


@pytest.mark.parametrize("scale", [2.0**-60, 2.0**60])
def test_scale_of_the_objective_does_not_matter(scale):
    B = with_spectrum(SPECTRA["random"])
    solution, scaled = solve(B, 5), solve(scale * B, 5)
    np.testing.assert_array_equal(solution.A, scaled.A)
    np.testing.assert_array_equal(solution.history["n_steps"], scaled.history["n_steps"])
    assert scaled.objective == pytest.approx(scale * solution.objective, rel=1e-12)


def test_an_objective_that_is_not_rotation_invariant():
    """Nearest orthonormal matrix (Procrustes), whose solution is the polar factor."""
    rng = np.random.default_rng(0)
    target = rng.normal(size=(10, 4))
    left, _, right = np.linalg.svd(target, full_matrices=False)
    solution = minimize_orthogonal(
        lambda A: -np.vdot(A, target), lambda A: -target, rng.normal(size=(10, 4))
    )
    assert solution.converged
    np.testing.assert_allclose(solution.A, left @ right, atol=1e-5)


def test_gradient_of_the_augmented_lagrangian():
    rng = np.random.default_rng(0)
    shape = (6, 3)
    B, multipliers = with_spectrum(rng.normal(size=6)), with_spectrum(rng.normal(size=3))
    lagrangian = _AugmentedLagrangian(*quadratic(B), multipliers, 0.7)
    error = check_grad(
        lambda a: lagrangian.value(a.reshape(shape)),
        lambda a: lagrangian.slope(a.reshape(shape)).ravel(),
        rng.normal(size=18),
    )
    assert error < 1e-5


def test_multipliers_move_by_the_penalty_times_the_gap():
    A = np.random.default_rng(0).normal(size=(6, 3))
    lagrangian = _AugmentedLagrangian(*quadratic(np.eye(6)), np.zeros((3, 3)), 0.5)
    lagrangian.update(A)
    np.testing.assert_allclose(lagrangian.multipliers, 0.5 * (A.T @ A - np.eye(3)))


def test_history_tells_every_update(capsys):
    B = with_spectrum(SPECTRA["random"])
    solution = solve(B, 5, verbose=1)
    assert len(capsys.readouterr().out.splitlines()) == solution.n_iter
    for values in solution.history.values():
        assert len(values) == solution.n_iter
    assert solution.history["orthogonality"][-1] == solution.orthogonality <= 1e-7
    assert solution.history["objective"][-1] == solution.objective
    assert solution.history["gradient"][0] <= 1e-7


def test_the_first_minimization_may_take_several_rounds():
    B = with_spectrum(SPECTRA["random"])
    solution = solve(B, 5, max_steps=20)
    assert solution.converged
    assert (solution.history["n_steps"] == 20).sum() > 1
    assert_optimal(B, 5, solution)


def test_says_when_it_has_not_converged():
    solution = solve(with_spectrum(SPECTRA["random"]), 5, max_iter=1)
    assert not solution.converged
    assert solution.n_iter == 1
    assert not solve(with_spectrum(SPECTRA["random"]), 5, max_steps=2, max_iter=3).converged


def test_constant_objective_leaves_the_nearest_orthonormal_start():
    solution = solve(np.zeros((4, 4)), 2)
    assert solution.converged
    assert solution.objective == 0
    assert solution.orthogonality < 1e-12


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_what_is_not_finite_is_refused(value):
    start = np.eye(4)[:, :2]
    with pytest.raises(ValueError, match="not finite"):
        minimize_orthogonal(lambda A: np.nan, lambda A: np.ones((4, 2)), start)
    gradients = iter([np.ones((4, 2))] * 7)
    with np.errstate(invalid="ignore"), pytest.raises(ValueError, match="not finite"):
        minimize_orthogonal(
            lambda A: A.sum(), lambda A: next(gradients, np.full((4, 2), value)), start
        )
