"""Weights of bits: the linear program over all rankings, by enumeration."""

import numpy as np
import pytest

from sklearn_hashrank._solvers.column_generation import WeightedRankings
from sklearn_hashrank.objectives.ranking._ranking_loss import LOSSES, RankingLoss
from tests.oracle import structural_svm as oracle


def problem(seed, loss, C=3.0, n=6, n_bits=4):
    rng = np.random.default_rng(seed)
    codes, queries = rng.integers(0, 2, (n, n_bits)), np.array([0, 1, 2])
    relevant = rng.random((3, n)) < 0.5
    relevant[:, 3], relevant[:, 4] = True, False
    rows = np.zeros((n, 1))
    violated = RankingLoss(rows[queries], rows, relevant, queries, n_bits=1, loss=loss).violate
    return codes, queries, relevant, WeightedRankings(violated, queries, n, C)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", range(6))
def test_weights_are_those_of_the_whole_program(seed, loss):
    codes, queries, relevant, rankings = problem(seed, loss)
    for column in codes.T:
        rankings.add_column(2.0 * column - 1)
        rankings.solve(100)
    _, objective = oracle.weights_of_bits(codes, queries, relevant, 3.0, loss)
    assert (rankings.weights >= 0).all()
    assert rankings.objective == pytest.approx(objective, abs=0.01)


@pytest.mark.parametrize("loss", LOSSES)
def test_multipliers_price_new_columns(loss):
    """A column whose gain is not positive does not lower the objective; others do."""
    worse, better = 0, 0
    for seed in range(12):
        codes, _, _, rankings = problem(seed, loss)
        for column in codes.T[:3]:
            rankings.add_column(2.0 * column - 1)
        rankings.solve(100)
        before = rankings.objective
        signs = 2.0 * codes[:, 3] - 1
        gain = rankings.gain(rankings.worth(), signs)
        rankings.add_column(signs)
        rankings.solve(100)
        if gain <= 0:
            worse += 1
            assert rankings.objective == pytest.approx(before, abs=0.01)
        else:
            better += 1
            assert rankings.objective < before + 0.005
    assert worse
    assert better


def test_slack_is_the_mean_of_the_largest_violations():
    codes, queries, relevant, rankings = problem(0, "auc")
    for column in codes.T:
        rankings.add_column(2.0 * column - 1)
    rankings.solve(100)
    slack, weights = rankings.solve(1), rankings.weights
    expected = []
    for number, query in enumerate(queries):
        items = [item for item in range(6) if item != query]
        parts = relevant[number], query, codes
        true = oracle.weighted_psi(oracle.true_ranking(items, relevant[number]), *parts)
        expected.append(
            max(
                oracle.loss(ranking, relevant[number], "auc")
                - weights @ (true - oracle.weighted_psi(ranking, *parts))
                for ranking in oracle.permutations(items)
            )
        )
    assert slack == pytest.approx(np.mean(expected), abs=0.005)
