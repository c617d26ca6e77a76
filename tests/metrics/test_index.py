"""Recall of an approximate index."""

import numpy as np
import pytest

from sklearn_hashrank import HammingNeighbors
from sklearn_hashrank.metrics import index_recall_score


def literal(distances, exact_distances):
    shares = []
    for found, exact in zip(distances, exact_distances, strict=True):
        good = [d for d in found if 0 <= d <= max(exact) and np.isfinite(d)]
        shares.append(len(good) / len(found))
    return sum(shares) / len(shares)


def test_recall_is_the_literal_one():
    rng = np.random.default_rng(0)
    exact = np.sort(rng.integers(0, 5, (30, 7)), axis=1)
    found = (exact + rng.integers(0, 3, exact.shape)).astype(float)
    found[rng.random(found.shape) < 0.1] = np.inf
    found[rng.random(found.shape) < 0.1] = -1
    assert index_recall_score(found, exact) == pytest.approx(literal(found, exact))
    assert index_recall_score(np.full_like(found, -1), exact) == 0


def test_tied_items_count_as_found():
    """An index of half of the items, of which each has a twin: ids are lost, distances are not."""
    bits = np.random.default_rng(0).integers(0, 2, (200, 12))
    whole = HammingNeighbors(1).fit(np.repeat(bits, 2, axis=0)).kneighbors(bits)
    half = HammingNeighbors(1).fit(bits[::-1]).kneighbors(bits)
    assert index_recall_score(half[0], whole[0]) == 1
    assert np.mean(half[1] == whole[1]) < 0.1


@pytest.mark.parametrize(
    ("distances", "exact", "message"),
    [
        ([[1, 2]], [[1]], r"same shape \(n_queries, k\). Got \(1, 2\) and \(1, 1\)"),
        ([[np.nan]], [[1]], "must not be NaN. Pass inf or -1"),
        ([[1]], [[-1]], "exact_distances must be >= 0"),
        ([[1]], [[np.inf]], "exact_distances contains infinity"),
    ],
)
def test_bad_distances_are_refused(distances, exact, message):
    with pytest.raises(ValueError, match=message):
        index_recall_score(distances, exact)


def test_large_integers_are_compared_as_they_are():
    exact = np.array([[2**53, 2**53]])
    assert index_recall_score(np.array([[2**53, 2**53 + 1]]), exact) == 0.5
