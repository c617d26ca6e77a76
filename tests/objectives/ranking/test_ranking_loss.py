"""Most violated rankings against all rankings; counts and losses against all pairs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from sklearn_hashrank.objectives.ranking._ranking_loss import (
    LOSSES,
    RankingLoss,
    count_relevant,
)
from tests.oracle import structural_svm as oracle

every_loss = pytest.mark.parametrize("loss", LOSSES)


def random_problem(seed, n=6, n_queries=3, n_features=3, scale=1.0, **options):
    rng = np.random.default_rng(seed)
    database = rng.normal(size=(n, n_features)) * scale
    queries = rng.normal(size=(n_queries, n_features))
    own = rng.integers(-1, n, n_queries)
    relevant = rng.random((n_queries, n)) < rng.uniform(0.2, 0.8)
    for q in range(n_queries):  # something relevant and something irrelevant, itself aside
        others = rng.permutation(np.delete(np.arange(n), own[q] if own[q] >= 0 else []))
        relevant[q, others[:2]] = True, False
    problem = RankingLoss(queries, database, relevant, own, n_bits=4, **options)
    return problem, relevant, rng.normal(size=(n_features, 4))


@every_loss
@given(seed=st.integers(0, 10**6), n=st.integers(3, 6), scale=st.sampled_from([0.01, 0.3, 1, 10]))
def test_largest_violation_is_that_of_all_rankings(loss, seed, n, scale):
    problem, relevant, weights = random_problem(seed, n, n_queries=2, scale=scale, loss=loss)
    directions, losses = problem.most_violated(weights)
    projected = (problem.queries @ weights) * (directions @ weights)
    found = losses - projected.sum(axis=1)
    for q in range(2):
        items = [item for item in range(n) if item != problem.own[q]]
        expected = oracle.largest_violation(
            items, relevant[q], problem.queries[q], problem.database, weights, 4, loss
        )
        assert found[q] == pytest.approx(expected, abs=1e-9)


@every_loss
@given(seed=st.integers(0, 10**6))
def test_loss_and_psi_are_those_of_one_ranking(loss, seed):
    """The counts belong to a ranking: rebuild it, and compare with the literal definitions."""
    problem, relevant, weights = random_problem(seed, n=8, loss=loss)
    products = (problem.queries @ weights) @ (problem.database @ weights).T
    counts, losses = problem.count_inversions(slice(None), products)
    directions, _ = problem.most_violated(weights)
    for q, query in enumerate(problem.queries):
        items = [item for item in range(8) if item != problem.own[q]]
        positive = sorted((i for i in items if relevant[q, i]), key=lambda i: counts[q, i])
        negative = sorted((j for j in items if not relevant[q, j]), key=lambda j: counts[q, j])
        ranking, left = [], negative
        for number, i in enumerate(positive):
            ahead = [j for j in left if len(positive) + counts[q, j] <= number]
            left = [j for j in left if j not in ahead]
            ranking += [*ahead, i]
            assert counts[q, i] == len(ranking) - number - 1
        ranking += left
        assert losses[q] == pytest.approx(oracle.loss(ranking, relevant[q], loss), abs=1e-12)
        true = oracle.true_ranking(ranking, relevant[q])
        arguments = (relevant[q], query, problem.database, 4)
        difference = oracle.psi(true, *arguments) - oracle.psi(ranking, *arguments)
        assert_allclose(np.outer(query, directions[q]), difference, atol=1e-12)


@pytest.mark.parametrize("loss", ["ap", "ndcg"])
@pytest.mark.parametrize("scale", [0.01, 0.1, 1.0])
@pytest.mark.parametrize("share", [0.02, 0.3, 0.9])
def test_many_items_against_the_quadratic_search(loss, scale, share):
    rng = np.random.default_rng(1)
    n = 400
    relevant = rng.random((3, n)) < share
    scores = rng.normal(size=(3, n)) * scale + 0.5 * scale * relevant
    problem = RankingLoss(
        scores[:, :1], np.zeros((n, 1)), relevant, np.full(3, -1), n_bits=1, loss=loss
    )
    counts, losses = problem.count_inversions(slice(None), scores)
    for q in range(3):
        expected_counts, expected_loss = oracle.slow_most_violated(scores[q], relevant[q], loss)
        assert_array_equal(counts[q], expected_counts)
        assert losses[q] == pytest.approx(expected_loss, abs=1e-10)


@every_loss
def test_limits(loss):
    """Scores that are far apart the right way leave nothing; all equal scores turn all around."""
    relevant = np.array([[True, True, False, False, False]])
    problem = RankingLoss(
        np.ones((1, 1)), np.ones((5, 1)), relevant, np.array([-1]), n_bits=1, loss=loss
    )
    counts, losses = problem.count_inversions(slice(None), np.where(relevant, 50.0, -50.0))
    assert_array_equal(counts, 0)
    assert_array_equal(losses, 0)
    counts, losses = problem.count_inversions(slice(None), np.zeros((1, 5)))
    assert_array_equal(counts, [[3, 3, -2, -2, -2]])
    assert losses[0] == pytest.approx(oracle.loss((2, 3, 4, 0, 1), relevant[0], loss))


@every_loss
def test_threads_and_blocks_change_nothing(loss, monkeypatch):
    arguments = {"seed": 0, "n": 50, "n_queries": 40, "loss": loss}
    problem, _, weights = random_problem(**arguments)
    expected = problem.most_violated(weights)
    monkeypatch.setattr("sklearn_hashrank.objectives.ranking._ranking_loss._PAIRS_AT_A_TIME", 150)
    for n_jobs in (1, 2, 3):
        found = random_problem(**arguments, n_jobs=n_jobs)[0].most_violated(weights)
        assert_allclose(found[0], expected[0], atol=1e-12)
        assert_allclose(found[1], expected[1], atol=1e-12)
    blocks_in_one, blocks_in_two = (
        random_problem(**arguments, n_jobs=n_jobs)[0].most_violated(weights) for n_jobs in (1, 2)
    )
    assert_array_equal(blocks_in_one[0], blocks_in_two[0])


def test_count_relevant_leaves_the_query_out():
    relevant = np.array([[True, False, True], [False, True, False], [True, True, True]])
    n_relevant, n_irrelevant = count_relevant(relevant, np.array([0, 0, -1]))
    assert_array_equal(n_relevant, [1, 1, 3])
    assert_array_equal(n_irrelevant, [1, 1, 0])
