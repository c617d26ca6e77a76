"""The published package of tie-aware metrics: ``pip install tie-aware-retrieval-metrics``."""

import numpy as np
import pytest

from sklearn_hashrank import RetrievalHistogram

trm = pytest.importorskip("trm", reason="needs tie-aware-retrieval-metrics")

RNG = np.random.default_rng(0)
N_QUERIES, N_ITEMS = 40, 30
SCORES = RNG.integers(0, 6, (N_QUERIES, N_ITEMS)) / 4
RELEVANT = RNG.random((N_QUERIES, N_ITEMS)) < 0.2
NAMES = {"ndcg": "ndcg", "mrr": "rr", "map": "ap", "recall": "recall", "precision": "precision"}
ORDERS = {"expected": "expected", "optimistic": "maximum", "pessimistic": "minimum"}


@pytest.fixture(scope="module")
def histogram():
    ids = [f"{place:03}" for place in range(N_ITEMS, 0, -1)]  # docid's order is that of the input
    return RetrievalHistogram.from_scores(RELEVANT, SCORES, item_ids=ids)


def evaluate(name, k):
    found = trm.evaluate(SCORES.tolist(), RELEVANT.tolist(), metrics=[name], k_list=[k])
    return found.metrics[name][k]


@pytest.mark.parametrize("name", [*NAMES, "f1"])
@pytest.mark.parametrize("k", [1, 3, 10, N_ITEMS])
def test_values_bounds_and_bias_agree(histogram, name, k):
    theirs, measure = evaluate(name, k), NAMES.get(name, name)
    for ours, attribute in ORDERS.items():
        values = histogram.measure(measure, k=k, ties=ours, zero_division=0)
        np.testing.assert_allclose(values.mean(), getattr(theirs, attribute), rtol=2e-15)
    report = histogram.tie_report(measure, k=k, zero_division=0)
    np.testing.assert_allclose(report.bias, theirs.bias, atol=2e-15)


@pytest.mark.parametrize("name", ["precision", "f1"])
def test_their_bounds_and_means_divide_by_different_numbers(name):
    """With fewer than k items: the mean divides by k, as ours do, the bounds by what is there."""
    scores, relevant = [[2.0, 1.0, 0.0]], [[True, False, True]]  # no ties, so one value
    theirs = trm.evaluate(scores, relevant, metrics=[name], k_list=[6]).metrics[name][6]
    h = RetrievalHistogram.from_scores(relevant, scores)
    ours = {ties: h.measure(name, k=6, ties=ties)[0] for ties in ORDERS}
    assert len(set(ours.values())) == 1
    np.testing.assert_allclose(theirs.expected, ours["expected"])
    assert theirs.minimum == theirs.maximum > theirs.expected
