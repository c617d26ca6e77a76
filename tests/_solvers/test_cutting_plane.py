"""Cutting planes: what convergence promises, the lower bound, and that both solvers agree."""

import cvxpy
import numpy as np
import pytest
from numpy.testing import assert_allclose

from sklearn_hashrank._solvers.cutting_plane import (
    CuttingPlane,
    PegasosMaster,
    SemidefiniteMaster,
    factor,
)
from sklearn_hashrank.objectives.ranking._ranking_loss import RankingLoss
from tests.oracle import structural_svm as oracle

N_BITS = 4


def small_problem(seed=0, n=6, n_features=4, loss="ap"):
    """Few enough items that all rankings can be listed: some classes, no query ranks itself."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % 2
    database = rng.normal(size=(n, n_features)) + np.eye(n_features)[labels]
    database *= np.sqrt(N_BITS) / np.linalg.norm(database, axis=1, keepdims=True)
    relevant = labels[:, None] == labels
    return RankingLoss(database, database, relevant, np.arange(n), n_bits=N_BITS, loss=loss)


def larger_problem(seed=0, n_queries=60, n=200, n_features=8, loss="ap"):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 4, n)
    database = rng.normal(size=(n, n_features)) + 2 * rng.normal(size=(4, n_features))[labels]
    database *= np.sqrt(N_BITS) / np.linalg.norm(database, axis=1, keepdims=True)
    relevant = labels[:n_queries, None] == labels
    own = np.arange(n_queries)
    return RankingLoss(database[:n_queries], database, relevant, own, n_bits=N_BITS, loss=loss)


def solve(problem, name, alpha=0.02, tol=0.01, n_columns=None, max_iter=100, **options):
    n_features = problem.queries.shape[1]
    rng = np.random.RandomState(0)
    if name == "pegasos":
        master = PegasosMaster(problem.queries, alpha, rng, **options)
    else:
        master = SemidefiniteMaster(problem.queries, alpha, **options)
    start = rng.standard_normal((n_features, n_columns or n_features))
    solver = CuttingPlane(problem.most_violated, master, start, tol)
    for _ in range(max_iter):
        if solver.step():
            break
    return solver


@pytest.mark.parametrize("name", ["pegasos", "sdp"])
@pytest.mark.parametrize("loss", ["ap", "ndcg"])
@pytest.mark.parametrize("seed", [0, 1])
def test_converged_means_that_no_ranking_violates_by_more(name, loss, seed):
    """Over all rankings, written out; for "sdp" the W is a whole factor of M."""
    problem = small_problem(seed, loss=loss)
    solver = solve(problem, name, tol=1e-3, alpha=0.05)
    assert solver.converged
    relevant = (np.arange(6) % 2)[:, None] == np.arange(6) % 2
    true_slack = oracle.slack(
        problem.queries, problem.database, relevant, problem.own, solver.weights, N_BITS, loss
    )
    xi = solver.history["slack"][-1]
    assert true_slack <= xi + 1e-3 + 1e-6
    assert solver.history["violation"][-1] == pytest.approx(true_slack - xi, abs=1e-6)
    regularizer = 0.025 * np.sum(solver.weights**2)
    assert solver.objective == pytest.approx(regularizer + true_slack, abs=1e-6)
    assert solver.evaluate(solver.weights) == pytest.approx(solver.objective, abs=1e-12)


@pytest.mark.parametrize("loss", ["ap", "ndcg"])
@pytest.mark.parametrize("alpha", [0.1, 0.02, 0.005])
def test_both_solvers_agree_and_bounds_hold(loss, alpha):
    problem = larger_problem(loss=loss)
    pegasos = solve(problem, "pegasos", alpha)
    sdp = solve(problem, "sdp", alpha)
    assert pegasos.converged
    assert sdp.converged
    assert pegasos.objective == pytest.approx(sdp.objective, rel=0.05)
    assert max(pegasos.lower_bound, sdp.lower_bound) <= min(pegasos.objective, sdp.objective)
    assert sdp.lower_bound >= sdp.objective - 0.0101 - 1e-4
    assert pegasos.lower_bound > 0.6 * pegasos.objective


def test_one_block_is_the_classical_working_set_of_batches():
    problem = larger_problem()
    blocks = solve(problem, "sdp", 0.05, n_blocks=20)
    classical = solve(problem, "sdp", 0.05, n_blocks=1)
    assert blocks.converged
    assert classical.converged
    assert classical.objective == pytest.approx(blocks.objective, abs=0.011)
    assert len(blocks.history["slack"]) < len(classical.history["slack"])


@pytest.mark.parametrize("name", ["pegasos", "sdp"])
def test_idle_constraints_are_dropped(name):
    problem = larger_problem()
    kept = solve(problem, name, patience=10**6, tol=1e-3)
    pruned = solve(problem, name, patience=2, tol=1e-3)
    assert kept.converged
    assert pruned.converged
    assert pruned.objective == pytest.approx(kept.objective, rel=0.01)
    assert pruned.master.n_constraints < kept.master.n_constraints
    per_iteration = {"pegasos": 60, "sdp": 30}[name]
    n_added = len(kept.history["slack"]) - 1
    assert kept.master.n_constraints == n_added * per_iteration


def test_steps_on_part_of_the_queries_come_near():
    problem = larger_problem(n_queries=150)
    full, part = (solve(problem, "pegasos", batch_size=size) for size in (500, 40))
    assert part.converged
    assert part.objective == pytest.approx(full.objective, rel=0.03)
    assert part.lower_bound <= full.objective


def test_few_columns_are_a_constraint_of_their_own():
    problem = larger_problem(n_features=8)
    objectives = [solve(problem, "pegasos", 0.01, n_columns=n).objective for n in (1, 2, 8, 20)]
    assert objectives[0] > objectives[1] > objectives[2] - 1e-3
    assert objectives[3] == pytest.approx(objectives[2], rel=0.02)


@pytest.mark.parametrize(("n_features", "used"), [(8, "CLARABEL"), (20, "SCS"), (20, "CLARABEL")])
def test_sdp_is_optimal_for_its_working_set(n_features, used, monkeypatch):
    """Duality: M is positive, and its restricted objective is the bound.

    SCS solves larger problems where it is installed, and Clarabel all others.
    """
    solve, solvers = cvxpy.Problem.solve, []

    def recorded(problem, solver, **options):
        solvers.append(solver)
        return solve(problem, solver=solver, **options)

    monkeypatch.setattr(cvxpy.Problem, "solve", recorded)
    if used == "CLARABEL":
        monkeypatch.setattr(cvxpy, "installed_solvers", lambda: ["CLARABEL"])
    problem = larger_problem(n_features=n_features)
    master = SemidefiniteMaster(problem.queries, 0.02, n_blocks=10)
    weights = np.random.default_rng(0).normal(size=(n_features, 3))
    for _ in range(4):
        master.add(*problem.most_violated(weights))
        weights, bound = master.solve(weights)
        restricted = 0.01 * np.sum(weights**2) + master.slack(weights)
        assert restricted == pytest.approx(bound, abs=1e-4)
    assert solvers == 4 * [used]


def test_strong_regularization_gives_zero():
    problem = larger_problem()
    for name in ("pegasos", "sdp"):
        solver = solve(problem, name, alpha=50.0)
        assert solver.converged
        assert np.sum(solver.weights**2) < 1e-3
        assert solver.objective == pytest.approx(solver.lower_bound, abs=0.02)


def test_history_has_one_entry_per_iteration():
    solver = solve(larger_problem(), "pegasos")
    lengths = {len(values) for values in solver.history.values()}
    assert len(lengths) == 1
    assert np.all(np.diff(solver.history["lower_bound"]) >= 0)
    assert solver.history["violation"][-1] <= 0.01 < solver.history["violation"][0]
    assert solver.history["objective"][-1] == solver.objective


def test_without_convergence_the_best_is_kept():
    solver = solve(larger_problem(), "sdp", alpha=0.002, tol=1e-4, max_iter=6, n_blocks=1)
    assert not solver.converged
    assert solver.objective == min(solver.history["objective"])


def test_factor_keeps_the_largest_eigenvalues():
    rng = np.random.default_rng(0)
    basis = np.linalg.qr(rng.normal(size=(4, 4)))[0]
    gram = (basis * [4.0, 3.0, 2.0, 0.0]) @ basis.T
    whole, nothing = factor(gram, 4)
    assert_allclose(whole @ whole.T, gram, atol=1e-12)
    assert nothing == pytest.approx(0, abs=1e-12)
    part, lost = factor(gram, 2)
    assert part.shape == (4, 2)
    assert_allclose(np.linalg.eigvalsh(part.T @ part), [3, 4])
    assert lost == pytest.approx(2)
