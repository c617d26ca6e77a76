"""What holds for every objective of the registry, and the reference values of the authors."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import polygamma
from sklearn.base import clone

from sklearn_hashrank import RetrievalHistogram
from sklearn_hashrank._kernels.trigamma import trigamma
from sklearn_hashrank.objectives import RankingObjective, SoftHistogram, TieValues
from sklearn_hashrank.objectives.ranking._floor import FLOOR
from sklearn_hashrank.objectives.ranking._soft_histogram import count_levels
from tests.objectives.differences import central_differences
from tests.objectives.ranking.batches import BATCHES, LEVELS, batch, shared_labels
from tests.objectives.rankings import RANKINGS
from tests.oracle.relaxations import DISCRETE, RELAXATIONS, as_printed, discrete_counts

BINNINGS = [(None, 1.0, 1.0), (4, 1.0, 0.5), (6, 0.6, 2.0), (9, 2.0, 1.0), (5, 1.5, 0.7)]


def soft_counts(rng, n_queries=5, n_bins=6):
    """Return counts between 0 and 4 away from 0, 1 and FLOOR, some bins empty, and n_items."""
    counts = rng.uniform(0.6, 0.95, (n_queries, 3, n_bins + 1)) + rng.integers(0, 3, n_bins + 1)
    counts[:, :, 2] = 0
    counts[0, 1:] = 0
    n_items = np.rint(counts.sum(axis=2)).astype(np.int64)
    return counts, n_items


def test_every_relaxation_has_an_oracle():
    assert set(RANKINGS) == set(RELAXATIONS)


def test_with_a_relevant_item_in_every_bin_it_is_the_printed_formula():
    counts = np.random.default_rng(0).uniform(1, 4, (3, 3, 5))
    n_items = np.rint(counts.sum(axis=2)).astype(np.int64)
    values = RANKINGS["ap", "arxiv"]().evaluate_counts(counts, LEVELS, n_items)[0]
    for value, of_query, items in zip(values, counts.tolist(), n_items.tolist()):
        assert value == pytest.approx(as_printed(of_query, LEVELS.tolist(), items), rel=1e-9)


def test_with_less_than_one_relevant_item_it_is_not():
    counts = np.array([[[4.5], [0.5]]])
    n_items = np.array([[9, 1]])
    [value] = RANKINGS["ap", "arxiv"]().evaluate_counts(counts, LEVELS[:2], n_items)[0]
    assert value == pytest.approx(0.1609, abs=5e-5)
    assert as_printed(counts[0].tolist(), [0, 1], [9, 1]) == pytest.approx(0.1186, abs=5e-5)


@pytest.mark.parametrize("key", sorted(RANKINGS))
def test_value_is_that_of_the_floored_formula(key):
    counts, n_items = soft_counts(np.random.default_rng(0))
    literal = RELAXATIONS[key]
    value = RANKINGS[key]().evaluate_counts(counts, LEVELS, n_items)[0]
    for q in range(1, len(counts)):
        expected = literal(counts[q].tolist(), LEVELS.tolist(), n_items[q].tolist(), FLOOR)
        assert value[q] == pytest.approx(expected, rel=1e-9)


def test_gradient_by_counts_is_that_of_finite_differences(objective):
    counts, n_items = soft_counts(np.random.default_rng(1))
    filled = counts > 0  # an empty bin has no left neighbor; it is covered through the scores
    _, gradient = objective.evaluate_counts(counts, LEVELS, n_items)
    numeric = central_differences(
        lambda c: objective.evaluate_counts(np.maximum(c, 0), LEVELS, n_items)[0].sum(),
        counts,
        1e-6,
    )
    assert_allclose(gradient[filled], numeric[filled], rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize(
    ("n_bins", "delta", "alpha", "name"),
    [(*BINNINGS[0], name) for name in BATCHES] + [(*each, "random") for each in BINNINGS[1:]],
)
def test_gradient_by_scores_is_that_of_finite_differences(objective, n_bins, delta, alpha, name):
    scores, level = batch(name, np.random.default_rng(2))
    objective.set_params(alpha=alpha, n_bins=n_bins, delta=delta)
    _, gradient = objective.value_and_gradient(scores, level, LEVELS)
    numeric = central_differences(
        lambda s: objective.value_and_gradient(s, level, LEVELS)[0], scores, 1e-6
    )
    assert_allclose(gradient, numeric, rtol=1e-6, atol=1e-9)


def test_queries_without_relevant_items_contribute_nothing(objective):
    rng = np.random.default_rng(3)
    counts, n_items = soft_counts(rng)
    value, gradient = objective.evaluate_counts(counts, LEVELS, n_items)
    assert value[0] == 0
    assert_array_equal(gradient[0], 0)
    assert np.all(value[1:] > 0)


def test_queries_do_not_depend_on_each_other(objective):
    counts, n_items = soft_counts(np.random.default_rng(5))
    value, gradient = objective.evaluate_counts(counts, LEVELS, n_items)
    alone_value, alone_gradient = objective.evaluate_counts(counts[2:3], LEVELS, n_items[2:3])
    assert_allclose(alone_value, value[2:3], rtol=1e-12)
    assert_allclose(alone_gradient, gradient[2:3], rtol=1e-10, atol=1e-14)


def test_order_of_the_levels_does_not_matter(objective):
    counts, n_items = soft_counts(np.random.default_rng(6))
    order = [2, 0, 1]
    value = objective.evaluate_counts(counts[:, order], LEVELS[order], n_items[:, order])[0]
    assert_allclose(value, objective.evaluate_counts(counts, LEVELS, n_items)[0], rtol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_precision_is_kept(objective, dtype):
    scores, level = batch("random", np.random.default_rng(7))
    value, gradient = objective.value_and_gradient(scores.astype(dtype), level, LEVELS)
    expected_value, expected = objective.value_and_gradient(scores, level, LEVELS)
    assert gradient.dtype == dtype
    assert value == pytest.approx(expected_value, abs=1e-5)
    assert_allclose(gradient, expected, atol=1e-4)


@settings(max_examples=60, deadline=None)
@given(data=st.data(), key=st.sampled_from(sorted(RANKINGS)))
def test_finite_scores_give_finite_gradients(data, key):
    dtype = data.draw(st.sampled_from([np.float32, np.float64]))
    shape = data.draw(st.tuples(st.integers(1, 6), st.integers(1, 5)))
    width = 32 if dtype is np.float32 else 64
    finite = st.floats(width=width, allow_nan=False, allow_infinity=False)
    scores = data.draw(arrays(dtype, shape, elements=finite | st.sampled_from([-1.0, 0.0, 1.0])))
    level = data.draw(arrays(np.uint8, (shape[0], shape[0]), elements=st.integers(0, 2)))
    n_bins = data.draw(st.integers(1, 8))
    delta = data.draw(st.sampled_from([0.1, 0.5, 1.0, 1.5, 2.0, 4.0]))
    alpha = data.draw(st.sampled_from([1, 50]))
    objective = RANKINGS[key](alpha=alpha, n_bins=n_bins, delta=delta)
    value, gradient = objective.value_and_gradient(scores, level, LEVELS)
    assert np.isfinite(value)
    assert np.isfinite(gradient).all()


@settings(max_examples=100, deadline=None)
@given(data=st.data(), key=st.sampled_from(sorted(RANKINGS)))
def test_any_counts_give_finite_gradients(data, key):
    kinks = [0.0, 1e-300, 1e-12, FLOOR, 1.0, np.nextafter(1.0, 2.0), 1 + FLOOR, 2.0, 1e5]
    element = st.floats(0, 1e4) | st.sampled_from(kinks)
    counts = data.draw(arrays(np.float64, (2, 3, 4), elements=element))
    n_items = data.draw(arrays(np.int64, (2, 3), elements=st.integers(0, 1000)))
    value, gradient = RANKINGS[key]().evaluate_counts(counts, LEVELS, n_items)
    assert np.isfinite(value).all()
    assert np.isfinite(gradient).all()


def test_high_levels_do_not_overflow():
    counts, n_items = soft_counts(np.random.default_rng(8))
    levels = np.array([0.0, 900.0, 1023.0])
    for key in RANKINGS:
        value, gradient = RANKINGS[key]().evaluate_counts(
            counts.astype(np.float32), levels, n_items
        )
        assert np.isfinite(value).all()
        assert np.isfinite(gradient).all()


def test_single_precision_holds_for_queries_without_high_levels(objective):
    counts, n_items = soft_counts(np.random.default_rng(8))
    counts, levels = counts.astype(np.float32), np.array([0.0, 1.0, 200.0])
    counts[1, 2], n_items[1, 2] = 0, 0
    value, gradient = objective.evaluate_counts(counts, levels, n_items)
    expected_value, expected = objective.evaluate_counts(counts.astype(float), levels, n_items)
    assert value.dtype == gradient.dtype == np.float32
    assert_allclose(value, expected_value, rtol=1e-5)
    assert_allclose(gradient[1, :2], expected[1, :2], rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("delta", [1.0, 0.5, 0.01])
@pytest.mark.parametrize("measure", ["ap", "ndcg"])
@pytest.mark.parametrize("n_bits", [1, 4, 11])
def test_exact_is_the_tie_aware_measure_for_binary_codes(measure, delta, n_bits):
    rng = np.random.default_rng(9)
    codes = rng.choice([-1.0, 1.0], size=(25, n_bits))
    level = shared_labels(25, rng)
    counts, _ = SoftHistogram(delta=delta).counts(codes, level, 3)
    objective = RANKINGS[measure, "exact"]()
    value, _ = objective.evaluate_counts(counts, LEVELS, count_levels(level, 3))
    for q in range(len(codes)):
        discrete = discrete_counts(codes, level, 3, q)
        expected = (
            DISCRETE[measure](discrete, LEVELS.tolist()) if sum(map(sum, discrete[1:])) else 0
        )
        assert value[q] == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("measure", ["ap", "ndcg"])
def test_a_perfect_ranking_is_worth_one(measure):
    codes = np.repeat(np.array([[1.0, 1], [-1, -1]]), 6, axis=0)
    level = (codes @ codes.T > 0).astype(np.uint8)
    value, _ = RANKINGS[measure, "exact"]().value_and_gradient(
        40 * codes, level, np.array([0.0, 1.0])
    )
    assert value == pytest.approx(1.0, abs=1e-12)


def test_trigamma_is_that_of_scipy():
    x = np.concatenate([np.linspace(1, 30, 200), [1e3, 1e6, 1e12]])
    assert_allclose(trigamma(x), polygamma(1, x), rtol=1e-12)


class FirstBin(RankingObjective):
    """Expected number of relevant items in the first bin, over all relevant."""

    def tie(self, ties):
        first = (ties.before == 0).astype(ties.gain.dtype)
        return TieValues(ties.gain * first, first, None, None, None)


def test_a_new_objective_is_one_class_with_one_method():
    counts, n_items = soft_counts(np.random.default_rng(10))
    value, gradient = FirstBin().evaluate_counts(counts, LEVELS, n_items)
    assert_allclose(value[1:], counts[1:, 1:, 0].sum(axis=1) / n_items[1:, 1:].sum(axis=1))
    assert_array_equal(gradient[:, 0], 0)


def test_a_constructor_of_its_own_need_not_repeat_the_parameters():
    class Weighted(FirstBin):
        def __init__(self, weight=2.0):
            self.weight = weight

        def level_gain(self, levels):
            return self.weight * super().level_gain(levels)

    scores, level = batch("random", np.random.default_rng(11))
    value, gradient = Weighted().value_and_gradient(scores, level, LEVELS)
    expected_value, expected = FirstBin().value_and_gradient(scores, level, LEVELS)
    assert value == pytest.approx(2 * expected_value)
    assert_allclose(gradient, 2 * expected)
    assert clone(Weighted(3.0)).get_params() == {"weight": 3.0}


@pytest.mark.parametrize(("n_bits", "n_bins"), [(4, 4), (16, 16), (40, 16)])
def test_bins_are_one_per_bit_and_sixteen_at_most(objective, n_bits, n_bins):
    rng = np.random.default_rng(12)
    scores, level = rng.normal(size=(12, n_bits)), shared_labels(12, rng)
    automatic = objective.value_and_gradient(scores, level, LEVELS)
    chosen = objective.set_params(n_bins=n_bins).value_and_gradient(scores, level, LEVELS)
    every_bit = objective.set_params(n_bins=None).value_and_gradient(scores, level, LEVELS)
    assert automatic[0] == chosen[0]
    assert_array_equal(automatic[1], chosen[1])
    assert (every_bit[0] == automatic[0]) == (n_bits <= 16)


@pytest.mark.parametrize(("key", "measure"), [("ndcg", "ndcg"), ("ap", "average_precision")])
def test_with_whole_counts_the_exact_objective_is_the_measure(key, measure):
    counts = np.random.default_rng(13).integers(0, 400, (4, 3, 9)).astype(np.float64)
    value, _ = RANKINGS[key, "exact"]().evaluate_counts(counts, LEVELS, counts.sum(axis=2))
    assert_allclose(value, RetrievalHistogram(counts, LEVELS).measure(measure), rtol=1e-11)


def test_tiny_levels_keep_their_gains():
    counts, n_items = soft_counts(np.random.default_rng(14))
    tiny = RANKINGS["ndcg", "exact"]().evaluate_counts(counts, 1e-18 * LEVELS, n_items)
    small = RANKINGS["ndcg", "exact"]().evaluate_counts(counts, 1e-9 * LEVELS, n_items)
    assert np.all(tiny[0][1:] > 0.1)
    assert_allclose(tiny[0], small[0], rtol=1e-7)
    assert_allclose(tiny[1], small[1], rtol=1e-6, atol=1e-12)


# ----- computed by the TALR authors' released MATLAB code, on random logits


def reference(case):
    """Return scores, alpha, class labels, multilabels, n_bins and the reference results."""
    path = Path(__file__).parents[2] / "data" / "talr_relaxations.npz"
    with np.load(path) as file:
        values = {name.split("_", 1)[1]: file[name] for name in file if name.startswith(case + "_")}
    gamma = values["cfg"][0, 4]  # the reference code is tanh(gamma x / 2)
    return values, gamma / 2, int(values["cfg"][0, 2]), values["cfg"][0, 3]


@pytest.mark.parametrize("case", ["r1", "r2"])
def test_simplified_ap_equals_the_reference(case):
    values, alpha, n_bins, delta = reference(case)
    y = values["y"].ravel()
    level = (y[:, None] == y).astype(np.uint8)
    objective = RANKINGS["ap", "simplified"](alpha=alpha, n_bins=n_bins, delta=delta)
    value, _ = objective.value_and_gradient(values["X"], level, np.array([0.0, 1.0]))
    assert len(y) * value == pytest.approx(values["apr_s"].item(), rel=1e-9)


@pytest.mark.parametrize("case", ["r1", "r2"])
def test_simplified_ndcg_equals_the_reference(case):
    values, alpha, n_bins, delta = reference(case)
    shared = values["L"].astype(np.int64) @ values["L"].astype(np.int64).T
    levels = np.arange(shared.max() + 1)
    level = shared.astype(np.uint8)
    histogram = SoftHistogram(n_bins, delta)
    codes = np.tanh(alpha * values["X"])
    counts, similarity = histogram.counts(codes, level, len(levels))
    n_items = count_levels(level, len(levels))
    n_items[np.arange(len(shared)), shared.diagonal()] += 1  # their ideal counts the query itself
    value, by_count = RANKINGS["ndcg", "simplified"]().evaluate_counts(counts, levels, n_items)
    without_label = (shared.diagonal() == 0).sum()  # worth 1 there
    assert value.sum() + without_label == pytest.approx(values["ndcgr_s"].item(), rel=1e-6)
    gradient = histogram.pull_back(codes, level, similarity, by_count)
    gradient *= alpha * (1 - codes**2)
    assert_allclose(-gradient, values["ndcgr_s_grad"], rtol=1e-4, atol=1e-6)


def test_mutual_information_wants_relevant_and_irrelevant_items():
    counts, n_items = soft_counts(np.random.default_rng(15))
    counts[1, 0], n_items[1, 0] = 0, 0  # all is relevant; of query 0 nothing is
    value, gradient = RANKINGS["mi", "exact"]().evaluate_counts(counts, LEVELS, n_items)
    assert_array_equal(value[:2], 0)
    assert_array_equal(gradient[:2], 0)
    assert np.all(value[2:] > 0)


@pytest.mark.parametrize("n_relevant", [1, 3, 6])
def test_mutual_information_of_separate_distances_is_the_entropy_of_relevance(n_relevant):
    counts = np.zeros((1, 2, 4))
    counts[0, 1, :2] = n_relevant / 2
    counts[0, 0, 2:] = (12 - n_relevant) / 2
    n_items, levels = counts.sum(axis=2), np.array([0.0, 1.0])
    value, _ = RANKINGS["mi", "exact"]().evaluate_counts(counts, levels, n_items)
    p = n_relevant / 12
    assert value[0] == pytest.approx(-p * np.log2(p) - (1 - p) * np.log2(1 - p), abs=1e-12)
