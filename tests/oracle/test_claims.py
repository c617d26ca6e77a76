"""Claims of mathematics in the five papers that no other test decides.

``docs/notes/reproduction/claims.toml`` names the test of each claim.
"""

import itertools
import re

import numpy as np
import pytest

from sklearn_hashrank import RetrievalHistogram, retrieval_histogram
from tests.contract.public import DOCS
from tests.oracle import rankings

N_ITEMS = 5
ORDERS = [np.array(order) for order in itertools.permutations(range(N_ITEMS))]


def triplets(ranks):
    """Equation 2 of RSH: +1 where row i has the smaller rank, that is, is ahead of row j."""
    return np.sign(ranks[None, :] - ranks[:, None])


def test_rankings_and_their_triplets_determine_each_other():
    weak = {
        tuple(np.unique(r, return_inverse=True)[1]) for r in itertools.product(range(5), repeat=5)
    }
    assert len({triplets(np.array(ranks)).tobytes() for ranks in weak}) == len(weak) == 541


def test_equations_6_and_7_have_the_opposite_sign():
    """The similarity of a row that is ahead is larger: eq. 6 gives -1 where eq. 2 gives +1."""
    for ranks in ORDERS:
        similarity = -ranks.astype(float)
        equation_6 = np.sign(similarity[None, :] - similarity[:, None])
        equation_9 = np.sign(similarity[:, None] - similarity[None, :])
        np.testing.assert_array_equal(equation_6, -triplets(ranks))
        np.testing.assert_array_equal(equation_9, triplets(ranks))


@pytest.mark.parametrize("penalty", [1.0, 10.0, 100.0])
def test_the_optimum_is_no_minimum_of_the_augmented_lagrangian(penalty):
    """Equation 11 is lower near the optimum of equation 10, with the multipliers of the optimum.

    Directions are turned, and stretched by less, so that the penalty of the stretch is outweighed.
    """
    n_bits, turn, stretch = 2, np.array([[0, 1], [-1, 0]]), np.array([[0, 1], [1, 0]])
    B, A = np.diag([3.0, 2.0, 1.0, 0.5, 0.1]), np.eye(5)[:, :n_bits]
    multipliers = A.T @ B @ A
    np.testing.assert_array_equal(B @ A, A @ multipliers)  # so that the gradient is 0

    def lagrangian(A):
        gap = A.T @ A - np.eye(n_bits)
        return -np.trace(A.T @ B @ A) + np.sum(multipliers * gap) + penalty / 2 * np.sum(gap**2)

    moved = A + A @ (turn + stretch / (2 * penalty)) * 0.1 / penalty
    assert lagrangian(moved) < lagrangian(A) - 1e-9


@pytest.mark.parametrize("n_bits", [1, 7, 12])
def test_hamming_distance_and_cosine_give_one_ranking(n_bits):
    codes = np.random.default_rng(0).choice([-1, 1], (50, n_bits))
    distance = (codes[0] != codes).sum(axis=1)
    cosine = codes @ codes[0] / n_bits
    np.testing.assert_allclose(cosine, 1 - 2 * distance / n_bits)


def test_the_ranking_of_the_highest_score_is_by_distance():
    """LWH's score of a ranking is highest, of all, for that by descending similarity."""
    rng = np.random.default_rng(0)
    for _ in range(5):
        similarity, relevant = rng.normal(size=N_ITEMS), np.arange(N_ITEMS) < 2
        gaps = similarity[relevant][:, None] - similarity[~relevant]

        def score(ranks, gaps=gaps, relevant=relevant):
            ahead = np.where(ranks[relevant][:, None] < ranks[~relevant], 1, -1)
            return np.sum(ahead * gaps)

        by_similarity = np.argsort(np.argsort(-similarity))
        assert score(by_similarity) == pytest.approx(max(map(score, ORDERS)))


def tied(n_relevant, n_irrelevant):
    """All items at one distance of a code of one bit."""
    return RetrievalHistogram([[[n_irrelevant, 0], [n_relevant, 0]]], levels=[0, 1])


def test_ten_tied_items_have_an_average_precision_from_low_to_one():
    worst, best = (tied(5, 5).average_precision(ties=t) for t in ("pessimistic", "optimistic"))
    assert best == rankings.average_precision([1] * 5 + [0] * 5, None) == 1
    assert worst == pytest.approx(rankings.average_precision([0] * 5 + [1] * 5, None))
    assert worst == pytest.approx(0.3544, abs=5e-5)


def test_two_items_in_either_order():
    assert [rankings.average_precision(order, None) for order in ([1, 0], [0, 1])] == [1, 0.5]
    assert tied(1, 1).precision(k=2) == 0.5


def test_mlgap_has_no_range_over_tie_orders():
    rng = np.random.default_rng(0)
    codes, y = rng.integers(0, 2, (60, 4)), rng.integers(0, 3, 60)
    found = retrieval_histogram(codes[:10], codes[10:], y[:10], y[10:], keep_codes=True)
    orders = ("pessimistic", "expected", "optimistic")
    low, middle, high = (found.local_group_average_precision(ties=ties) for ties in orders)
    np.testing.assert_array_equal(low, high)
    np.testing.assert_array_equal(low, middle)
    assert np.any(found.average_precision(ties="pessimistic") < found.average_precision())


def test_the_integral_of_2017_loses_an_item_at_each_tie():
    """Equation 10 begins at the first item of the tie: it is the sum less about its first term."""
    for before, n_tied in itertools.product((0, 1, 10, 1000), (1, 2, 10, 100)):
        places = np.arange(before + 1, before + n_tied + 1)
        exact, integral = np.sum(1 / places), np.log((before + n_tied) / (before + 1))
        assert 0.5 / (before + 1) <= exact - integral <= 1 / (before + 1)
        if n_tied == 1:
            assert integral == 0


def test_exchanges_near_the_top_cost_more():
    """One relevant item that changes places with the one ahead of it."""
    ap, dcg = 1 / np.arange(1, 50), 1 / np.log2(np.arange(2, 51))
    for value in (ap, dcg):
        losses = -np.diff(value)
        assert np.all(losses[:-1] > losses[1:])


def equation_11(c, relevant):
    """As printed, with C_-1 = 0: contributions of the bins, the relevant counts given."""
    C, C_relevant = np.cumsum(c), np.cumsum(relevant)
    before, relevant_before = C - c, C_relevant - relevant
    ratio = (relevant - 1) / (c - 1)
    rest = relevant_before + 1 - ratio * (before + 1)
    terms = relevant * ratio + relevant / c * rest * np.log(C / before)
    return terms.sum() / relevant.sum()


@pytest.mark.filterwarnings("ignore:divide by zero", "ignore:invalid value")
def test_equation_11_as_printed_has_no_value():
    """Of no query: the first bin that holds anything has nothing before it."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        c = rng.uniform(1.1, 5, 6)
        c[: rng.integers(0, 3)] = 0
        assert not np.isfinite(equation_11(c, c * rng.uniform(0, 1, 6)))
    assert not np.isfinite(equation_11(np.array([4.0, 3.0]), np.array([2.0, 2.0])))


def test_the_printed_margin_asks_for_every_bit_of_city_block_distances():
    n_bits = 12
    signs = np.array(list(itertools.product([-1, 1], repeat=n_bits)))
    distance = (signs != signs[0]).sum(axis=1)
    squared = ((signs - signs[0]) ** 2).sum(axis=1)
    city_block = np.abs(signs - signs[0]).sum(axis=1)
    margin = 2 * n_bits
    assert distance[squared >= margin].min() == n_bits / 2
    assert distance[city_block >= margin].min() == n_bits
    opposite = signs[city_block >= margin]
    assert len(opposite) == 1  # so that of three codes two are nearer


def test_the_printed_regularizer_knows_one_of_the_signs():
    def printed(u, v):
        return np.abs(u - 1).sum() + np.abs(u - 1).sum()

    def of_both_signs(u, v):
        return np.abs(np.abs(u) - 1).sum() + np.abs(np.abs(v) - 1).sum()

    u, v = np.array([1.0, -1.0, 1.0]), np.array([0.3, 0.2, -5.0])
    assert printed(u, v) == printed(u, -v) == printed(u, np.zeros(3)) == 4
    assert of_both_signs(u, np.sign(v)) == 0 < of_both_signs(u, v)
    assert printed(np.ones(3), v) == 0 < printed(-np.ones(3), v) == 12


def test_counting_is_faster_than_sorting_on_every_processor_measured():
    page = (DOCS / "notes" / "benchmarks.md").read_text(encoding="utf-8")
    sorts = re.findall(r"^\|.*\| (?:argsort|ndcg_score) \|.*\| ([\d,.]+)\Wx \|", page, re.M)
    assert len(sorts) >= 4
    assert all(float(ratio.replace(",", "")) > 1 for ratio in sorts)
