"""Learning from nearest rows: batches, their levels, and what comes of it."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from sklearn_hashrank import (
    ITQHasher,
    LSHHasher,
    NeighborAffinity,
    PCAHasher,
    SignHasher,
    TALRLinear,
)
from sklearn_hashrank._learning import neighbor_relevance as _neighbor_relevance
from sklearn_hashrank._learning.neighbor_relevance import NeighborRelevance
from sklearn_hashrank.metrics import make_retrieval_scorer

RNG = np.random.default_rng(0)
METRICS = ("cosine", "euclidean", "inner_product")


def relevance_of(y, affinity, seed=0, **options):
    return NeighborRelevance(affinity.fit(y), y, np.random.RandomState(seed), **options)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_levels_of_a_batch_are_those_of_the_affinity(metric, form):
    y = RNG.normal(size=(300, 6)) + 0.3
    affinity = NeighborAffinity((5, 20), metric=metric).fit(y)
    light, rows = affinity.of_queries(affinity.validate(y), True)
    expected = light.level_indices(rows, rows)
    batch = RNG.permutation(300)[:70]
    for n_jobs in (None, 2):
        relevance = relevance_of(form(y), NeighborAffinity((5, 20), metric=metric), n_jobs=n_jobs)
        assert_array_equal(relevance.levels, [0, 1, 2])
        found = relevance.level_indices(batch)
        others = ~np.eye(70, dtype=bool)
        assert_array_equal(found[others], expected[np.ix_(batch, batch)][others])


def test_only_the_rows_that_are_learned_from_are_converted(monkeypatch):
    monkeypatch.setattr(_neighbor_relevance, "MOST_ROWS", 50)
    shapes, validate = [], NeighborAffinity.validate

    def spy(self, y, name="y"):
        shapes.append(y.shape)
        return validate(self, y, name)

    y = RNG.normal(size=(400, 6)).astype(np.float32)
    affinity = NeighborAffinity(5).fit(y)
    monkeypatch.setattr(NeighborAffinity, "validate", spy)
    relevance = NeighborRelevance(affinity, y, np.random.RandomState(0))
    assert shapes == [(50, 6)]
    assert len(relevance.members) == 50


def test_batches_hold_rows_together_with_their_neighbors():
    y = RNG.normal(size=(2000, 6))
    relevance = relevance_of(y, NeighborAffinity((10, 50), metric="euclidean"))
    rows = np.sort(RNG.permutation(2000)[:1500])
    batches = relevance.batches(rows, 256, False, np.random.RandomState(0))
    drawn, again = list(batches), list(batches)
    assert len(drawn) == 5  # more than 1500 / 512
    assert not np.array_equal(drawn[0], again[0])
    for batch in drawn:
        assert_array_equal(batch, np.unique(batch))
        assert np.isin(batch, rows).all()
        assert 128 <= len(batch) <= 256
        levels = relevance.level_indices(batch)
        at_random = 10 * len(batch) / 2000
        assert np.count_nonzero(levels[~np.eye(len(batch), dtype=bool)] == 2) / len(batch) > (
            1.5 * at_random
        )


def test_many_rows_are_sampled(monkeypatch):
    monkeypatch.setattr(_neighbor_relevance, "MOST_ROWS", 100)
    y = RNG.normal(size=(400, 3))
    relevance = relevance_of(y, NeighborAffinity(4))
    assert len(np.unique(relevance.members)) == 100
    for batch in relevance.batches(relevance.members, 100, False, np.random.RandomState(0)):
        assert np.isin(batch, relevance.members).all()
    hashers = [TALRLinear(4, max_iter=2, random_state=0).fit(y) for _ in range(2)]
    assert_array_equal(hashers[0].components_, hashers[1].components_)
    TALRLinear(4, max_iter=2, early_stopping=True, random_state=0).fit(y)


@pytest.mark.filterwarnings("ignore:all rows of X are equal")
def test_a_few_rows_and_equal_rows_are_enough():
    for y in (RNG.normal(size=(2, 3)), np.ones((30, 3)), np.repeat(RNG.normal(size=(3, 4)), 9, 0)):
        hasher = TALRLinear(5, max_iter=2, random_state=0).fit(y)
        assert np.isfinite(hasher.components_).all()
        TALRLinear(5, random_state=0).partial_fit(y).partial_fit(y)


@pytest.fixture(scope="module")
def clusters():
    """Rows near 60 centers, whose first features vary most, as embeddings are."""
    rng = np.random.default_rng(1)
    scales = np.linspace(2, 0.3, 24)
    centers = rng.normal(size=(60, 24)) * scales
    X = centers[rng.integers(0, 60, 2300)] + 0.5 * rng.normal(size=(2300, 24)) * scales
    return X[:2000], X[2000:]


def recall(hasher, X, queries):
    affinity = NeighborAffinity(10, metric="euclidean")
    return make_retrieval_scorer("recall", k=10, affinity=affinity, database=(X, None))(
        hasher, queries
    )


@pytest.mark.slow
@pytest.mark.learning
def test_without_labels_it_finds_more_neighbors_than_what_learns_nothing(clusters):
    X, queries = clusters
    n_bits = 8
    others = [
        SignHasher(n_bits), LSHHasher(n_bits, random_state=0), PCAHasher(n_bits),
        ITQHasher(n_bits, random_state=0),
    ]  # fmt: skip
    best = max(recall(hasher.fit(X), X, queries) for hasher in others)
    learned = TALRLinear(n_bits, random_state=0).fit(X)
    assert learned.affinity_.n_neighbors == (10, 50, 200)
    assert recall(learned, X, queries) > best + 0.02
    by_name = TALRLinear(n_bits, affinity=NeighborAffinity(10), random_state=0).fit(X)
    assert recall(by_name, X, queries) > best


@pytest.mark.learning
def test_learning_does_not_depend_on_scale_and_offset(clusters):
    X, queries = clusters
    options = {"n_bits": 16, "max_iter": 20, "random_state": 0}
    plain = recall(TALRLinear(**options).fit(X), X, queries)
    X, queries = 1000 * X + 7, 1000 * queries + 7
    assert recall(TALRLinear(**options).fit(X), X, queries) == pytest.approx(plain, abs=0.01)
