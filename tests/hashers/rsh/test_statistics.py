"""RSHHasher.partial_fit: what comes of blocks is what comes of all rows at once."""

import pickle
from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError

from sklearn_hashrank import (
    EuclideanAffinity,
    HierarchicalAffinity,
    LabelAffinity,
    PrecomputedAffinity,
    RSHHasher,
    SharedLabelAffinity,
)
from sklearn_hashrank.hashers.rsh import _statistics
from sklearn_hashrank.hashers.rsh._statistics import (
    RowSample,
    Sampling,
    TripletStatistics,
    row_keys,
)
from tests.oracle.triplets import supervision_matrix

N, N_FEATURES = 90, 6
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, N_FEATURES)) + 3
VECTORS = RNG.normal(size=(N, 2))
TARGETS = {
    "labels": ("auto", RNG.integers(0, 4, N)),
    "strings": ("auto", RNG.choice(["cat", "dog", "a bird"], N)),
    "label sets": (SharedLabelAffinity(), RNG.integers(0, 2, (N, 3))),
    "sparse label sets": ("auto", sparse.csr_matrix(RNG.integers(0, 2, (N, 70)))),
    "paths": (HierarchicalAffinity(), RNG.integers(0, 3, (N, 2))),
    "vectors": (EuclideanAffinity((50, 10), (1, 2)).fit(VECTORS), VECTORS),
    "matrix": (PrecomputedAffinity(RNG.integers(0, 3, (N, N))), np.arange(N)),
}
every_target = pytest.mark.parametrize(("affinity", "y"), TARGETS.values(), ids=TARGETS.keys())
CUTS = [(0, 1, 13, 14, 50, N), (0, 70, N)]


@pytest.fixture(autouse=True)
def few_rows(monkeypatch):
    """Samples that all rows do not fit into."""
    monkeypatch.setattr(_statistics, "_STATISTICS_ROWS", 60)
    monkeypatch.setattr(_statistics, "_QUERIES", 20)
    monkeypatch.setattr(_statistics, "_DATABASE", 40)


def assert_same(found, expected):
    for name in ("components_", "intercept_", "objective_"):
        np.testing.assert_allclose(
            getattr(found, name), getattr(expected, name), rtol=1e-10, atol=1e-10
        )
    assert found.n_iter_ == expected.n_iter_


@every_target
@pytest.mark.parametrize("cuts", CUTS)
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_blocks_give_the_same_as_all_rows(affinity, y, cuts, make):
    hasher = RSHHasher(4, affinity=affinity, random_state=0, solver="eigh")
    expected = hasher.fit(make(X), y)
    found = RSHHasher(4, affinity=affinity, random_state=0, solver="eigh")
    for start, stop in pairwise(cuts):
        found.partial_fit(make(X[start:stop]), y[start:stop])
    assert_same(found, expected)
    assert not hasattr(found, "codes_")
    assert not hasattr(found, "y_")


@pytest.mark.parametrize("groups_in_full", [2, 2000])
@pytest.mark.parametrize(
    "sizes", [(None, None), (7, None), (None, 30), (7, 30), ("auto", 30), (200, 200)]
)
def test_the_same_for_every_number_of_queries_and_items(sizes, groups_in_full, monkeypatch):
    monkeypatch.setattr(_statistics, "GROUPS_IN_FULL", groups_in_full)
    y = TARGETS["labels"][1]
    hashers = [
        RSHHasher(4, n_queries=sizes[0], n_database=sizes[1], random_state=0) for _ in range(2)
    ]
    hashers[0].fit(X, y)
    for start in range(0, N, 17):
        hashers[1].partial_fit(X[start : start + 17], y[start : start + 17])
    assert_same(hashers[1], hashers[0])


@every_target
def test_statistics_of_blocks_hold_the_literal_supervision(affinity, y):
    """Where queries and items are not sampled, B is the sum over all triplets of all rows."""
    small = np.arange(16)
    rows, y = X[small], y[small]
    if not isinstance(affinity, str) and isinstance(affinity, PrecomputedAffinity):
        affinity = PrecomputedAffinity(affinity.S[:16, :16])
    affinity = RSHHasher(affinity=affinity)._fit_affinity(rows, y)
    targets = affinity.validate(y)
    sampling = Sampling(affinity, None, None, 0)
    parts = [
        TripletStatistics(sampling, rows[part], targets[part], part[0])
        for part in (small[:3], small[3:4], small[4:])
    ]
    for whole in ((parts[0] + parts[1]) + parts[2], parts[0] + (parts[1] + parts[2])):
        found = whole.supervise()
        centered = rows - rows.mean(axis=0)
        expected = supervision_matrix(affinity.pairwise(y, y), centered, centered)
        np.testing.assert_allclose(found.wins.T @ found.queries, expected, atol=1e-9)
        np.testing.assert_allclose(whole.mean, rows.mean(axis=0), rtol=1e-12)


def test_without_y():
    affinity = EuclideanAffinity((50, 10), (1, 2)).fit(X)
    expected = RSHHasher(4, affinity=affinity, random_state=0).fit(X)
    found = RSHHasher(4, affinity=affinity, random_state=0)
    found.partial_fit(X[:40]).partial_fit(X[40:])
    assert_same(found, expected)
    assert found.score(X) == expected.score(X)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_memmap_blocks(dtype, tmp_path):
    y = TARGETS["labels"][1]
    mapped = np.memmap(tmp_path / "features", dtype, "w+", shape=X.shape)
    mapped[:] = X
    mapped = np.memmap(tmp_path / "features", dtype, "r", shape=X.shape)
    found = RSHHasher(4, random_state=0)
    for start in range(0, N, 30):
        found.partial_fit(mapped[start : start + 30], y[start : start + 30])
    assert found.components_.dtype == dtype
    expected = RSHHasher(4, random_state=0).fit(X.astype(dtype), y)
    np.testing.assert_allclose(found.components_, expected.components_, atol=1e-6)


def test_large_offsets_cost_no_digits():
    y = TARGETS["labels"][1]
    found = RSHHasher(4, random_state=0, solver="eigh")
    for start in range(0, N, 10):
        found.partial_fit(X[start : start + 10] + 1e6, y[start : start + 10])
    expected = RSHHasher(4, random_state=0, solver="eigh").fit(X + 1e6, y)
    np.testing.assert_allclose(found.components_, expected.components_, atol=1e-6)


def test_blocks_may_be_overwritten_and_the_hasher_pickled():
    y = TARGETS["labels"][1]
    expected = RSHHasher(4, random_state=0).fit(X, y)
    found, block = RSHHasher(4, random_state=0), np.empty((45, N_FEATURES))
    for start in (0, 45):
        block[:] = X[start : start + 45]
        found = pickle.loads(pickle.dumps(found.partial_fit(block, y[start : start + 45])))
        block[:] = np.nan
    assert_same(found, expected)


def test_words_in_arrays_of_either_kind():
    y = TARGETS["strings"][1]
    hasher, blocks = RSHHasher(4, random_state=0), RSHHasher(4, random_state=0)
    hasher.fit(X, y)
    blocks.partial_fit(X[:50], y[:50].astype(object)).partial_fit(X[50:], y[50:])
    assert_same(blocks, hasher)


def test_sorted_classes():
    """A first block of one class cannot set hyperplanes, nor can a single row."""
    y = np.sort(TARGETS["labels"][1])
    found, one_class = RSHHasher(4, random_state=0), np.flatnonzero(y == 0)
    found.partial_fit(X[:1], y[:1])
    found.partial_fit(X[1 : len(one_class)], y[1 : len(one_class)])
    with pytest.raises(NotFittedError):
        found.transform(X)
    found.partial_fit(X[len(one_class) :], y[len(one_class) :])
    assert_same(found, RSHHasher(4, random_state=0).fit(X, y))


def test_fit_forgets_the_blocks():
    y = TARGETS["labels"][1]
    hasher = RSHHasher(4, random_state=0).partial_fit(X, y).fit(X[:50], y[:50])
    assert_same(hasher, RSHHasher(4, random_state=0).fit(X[:50], y[:50]))
    assert hasher.codes_.shape == (50, 1)
    with pytest.warns(UserWarning, match="partial_fit.*after fit") as record:
        hasher.partial_fit(X[50:], y[50:])
    assert record[0].filename == __file__
    assert_same(hasher, RSHHasher(4, random_state=0).fit(X[50:], y[50:]))
    assert not hasattr(hasher, "codes_")


@pytest.mark.parametrize("name", ["n_queries", "n_database"])
def test_rows_that_cannot_be_added_up_are_not_kept(name):
    affinity, y = TARGETS["vectors"]
    message = f"{name}=None would keep every row, because EuclideanAffinity"
    with pytest.raises(ValueError, match=message):
        RSHHasher(4, affinity=affinity, **{name: None}).partial_fit(X, y)


@pytest.mark.parametrize(
    ("rows", "y", "message"),
    [
        (X[:, :4], TARGETS["labels"][1], "X has 4 features, but RSHHasher is expecting 6"),
        (X, None, "blocks must come all with y or all without. The first came with"),
        (sparse.csr_array(X), TARGETS["labels"][1], "all dense or all sparse. Got both"),
        (X, TARGETS["strings"][1], "labels of all blocks must be of one kind"),
        (X, TARGETS["strings"][1].astype(object), "labels of all blocks must be of one kind"),
        (X, TARGETS["paths"][1], r"y must hold one class label per row"),
    ],
)
def test_blocks_that_do_not_go_together(rows, y, message):
    hasher = RSHHasher(4, random_state=0).partial_fit(X, TARGETS["labels"][1])
    before = pickle.dumps(hasher)
    with pytest.raises(ValueError, match=message):
        hasher.partial_fit(rows, y)
    assert pickle.dumps(hasher) == before


def test_samples_depend_on_row_numbers_alone():
    np.testing.assert_array_equal(row_keys((3, 1), 0, 100)[40:], row_keys((3, 1), 40, 60))
    rows = np.arange(1000.0)[:, None]
    whole = RowSample.of(50, (3, 1), rows, None)
    parts = [
        RowSample.of(50, (3, 1), rows[i : i + 90], None, i, n_total)
        for n_total in (None, 1000)
        for i in range(0, 1000, 90)
    ]
    for some in (parts[:12], parts[12:]):
        merged = some[0]
        for part in some[1:]:
            merged = merged + part
        np.testing.assert_array_equal(merged.numbers, whole.numbers)
        np.testing.assert_array_equal(merged.X, whole.X)
    assert sum(len(part.keys) for part in parts[12:]) < 200
    other = RowSample.of(50, (3, 2), rows, None)
    assert len(np.intersect1d(other.numbers, whole.numbers)) < 20
    counts = np.zeros(1000)
    for seed in range(200):
        counts[RowSample.of(50, (seed, 0), rows, None).numbers] += 1
    assert counts.sum() == 200 * 50
    assert counts.max() < 30


def test_label_affinity_needs_few_numbers():
    """Rows of equal y are one row of the statistics, however many there are."""
    affinity = LabelAffinity().fit([0])
    y = affinity.validate(np.arange(N) % 3)
    statistics = TripletStatistics(Sampling(affinity, None, None, 0), X, y)
    assert statistics.groups.sums.shape == (3, N_FEATURES)
    assert statistics._queries is None
    assert statistics._database is None
