"""Sampled pairs are what the affinity says, and blocks hold similar rows only."""

import itertools

import numpy as np
import pytest

from sklearn_hashrank import EuclideanAffinity, LabelAffinity, SharedLabelAffinity
from sklearn_hashrank.hashers._similar_pairs import sample_pairs

RNG = np.random.default_rng(0)
LABELS = RNG.integers(0, 4, 90)
TARGETS = {
    "labels": (LabelAffinity(), LABELS),
    "label sets": (SharedLabelAffinity(), (RNG.random((90, 5)) < 0.3).astype(int)),
    "distances": (EuclideanAffinity(percentiles=(20,), levels=(1,)), RNG.normal(size=(90, 2))),
    "many groups of few": (LabelAffinity(), np.arange(90) // 2),
}


def sample(name, n_similar=7, n_dissimilar=5, seed=0):
    affinity, y = TARGETS[name]
    affinity = affinity.fit(y)
    targets = affinity.validate(y)
    pairs = sample_pairs(
        "it", affinity, targets, n_similar, n_dissimilar, np.random.RandomState(seed)
    )
    return pairs, affinity.pairwise(y, y) > 0


@pytest.mark.parametrize("name", TARGETS)
def test_pairs_are_similar_where_levels_are_above_zero(name):
    pairs, relevant = sample(name)
    graph = pairs.graph.toarray()
    assert (graph == graph.T).all()
    assert not graph.diagonal().any()
    np.testing.assert_array_equal(graph[graph != 0] > 0, relevant[graph != 0])
    np.fill_diagonal(relevant, False)
    for kind, others, most in ((1, relevant, 7), (-1, ~relevant, 5)):
        np.fill_diagonal(others, False)
        wanted = np.minimum(others.sum(axis=1), most - 1)  # a row may be its own partner
        assert ((graph == kind).sum(axis=1) >= wanted).all()
    np.testing.assert_array_equal(pairs.firsts, graph.nonzero()[0])


@pytest.mark.parametrize("name", TARGETS)
def test_rows_of_a_block_are_all_similar(name):
    pairs, relevant = sample(name)
    starts, rows = pairs.blocks
    assert sorted(rows) == list(range(90))
    np.fill_diagonal(relevant, True)
    for start, stop in itertools.pairwise(starts):
        block = rows[start:stop]
        assert (np.diff(block) > 0).all()
        assert relevant[np.ix_(block, block)].all()
    assert len(starts) - 1 < 60


def test_blocks_of_labels_are_the_classes():
    pairs, _ = sample("labels")
    starts, rows = pairs.blocks
    classes = [set(rows[start:stop]) for start, stop in itertools.pairwise(starts)]
    assert all(set(np.flatnonzero(label == LABELS)) in classes for label in range(4))


def test_all_pairs_where_there_are_few():
    pairs, relevant = sample("labels", 100, 100)
    graph = pairs.graph.toarray()
    np.fill_diagonal(graph, 1)
    np.testing.assert_array_equal(graph, np.where(relevant, 1, -1))


def test_many_candidates_are_sampled_too(monkeypatch):
    monkeypatch.setattr("sklearn_hashrank.hashers._similar_pairs._OFTEN", 1)
    pairs, relevant = sample("labels")
    graph = pairs.graph.toarray()
    np.testing.assert_array_equal(graph[graph != 0] > 0, relevant[graph != 0])
    assert ((graph > 0).sum(axis=1) >= 3).all()


@pytest.mark.parametrize(
    ("y", "missing"), [(np.zeros(9, int), "dissimilar"), (np.arange(9), "similar")]
)
def test_both_kinds_of_pairs_are_needed(y, missing):
    affinity = LabelAffinity().fit(y)
    with pytest.raises(ValueError, match=f"{missing}.*n_samples = 9"):
        sample_pairs("it", affinity, affinity.validate(y), 5, 5, np.random.RandomState(0))
