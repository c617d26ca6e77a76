"""Relevance of the nearest rows: by its definition, in every form of rows, and wherever it goes."""

import pickle
from fractions import Fraction

import dask.array as da
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_hashrank import (
    DispersionHasher,
    EuclideanAffinity,
    ITQHasher,
    LWHHasher,
    NeighborAffinity,
    RSHHasher,
    TALRLinear,
    load_hasher,
    retrieval_histogram,
    save_hasher,
)
from sklearn_hashrank.codes import hamming_distances
from sklearn_hashrank.comparison import compare
from sklearn_hashrank.metrics import (
    PrecisionRecallDisplay,
    distance_histogram,
    make_retrieval_scorer,
    tie_aware_recall_score,
)
from sklearn_hashrank.model_selection import RandomRetrievalSplit, cross_validate_retrieval
from tests.affinity.test_affinity import check_all_ways
from tests.oracle.neighbors import relevant_neighbors

METRICS = ("cosine", "euclidean", "inner_product")
RNG = np.random.default_rng(0)
X = np.round(8 * RNG.normal(size=(90, 5))) / 8  # exact numbers, with ties
CODES = (X[:, :4] > 0).astype(np.uint8)
every_metric = pytest.mark.parametrize("metric", METRICS)


def grid(n, n_features):
    return hnp.arrays(np.int64, (n, n_features), elements=st.integers(-3, 3))


@given(st.data(), st.integers(1, 3), st.integers(1, 12), st.sampled_from(METRICS))
def test_on_a_grid_every_row_at_the_distance_of_the_kth_counts(data, n_features, k, metric):
    queries = data.draw(grid(data.draw(st.integers(1, 5)), n_features)) * 0.25
    database = data.draw(grid(data.draw(st.integers(1, 9)), n_features)) * 0.75
    affinity = NeighborAffinity(k, metric=metric).fit(database)
    expected = np.array(relevant_neighbors(queries, database, k, metric))
    check_all_ways(affinity, queries, database, expected)
    from_sparse = NeighborAffinity(k, metric=metric).fit(sparse.csr_array(database))
    check_all_ways(from_sparse, sparse.csr_matrix(queries), database, expected)
    expected = np.array(relevant_neighbors(database, database, k, metric, exclude_self=True))
    light, rows = affinity.of_queries(affinity.validate(database), True)
    np.testing.assert_array_equal(light.level_indices(rows, rows), expected)


@given(st.data(), st.sampled_from(METRICS), st.sampled_from([(2,), (1, 3), (3, 20), (8, 9)]))
def test_levels_that_pairs_of_rows_meet(data, metric, ranks):
    rows = data.draw(grid(data.draw(st.integers(2, 9)), data.draw(st.integers(1, 2))))
    affinity = NeighborAffinity(ranks, metric=metric).fit(rows)
    others = ~np.eye(len(rows), dtype=bool)
    levels = sum(
        np.array(relevant_neighbors(rows, rows, k, metric, exclude_self=True))[others]
        for k in ranks
    )
    found = affinity.levels_met(affinity.validate(rows))
    if levels.any() and not levels.all():
        assert found[0] == 0
        assert len(found) > 1
        assert set(found) <= set(levels)
    else:
        np.testing.assert_array_equal(found, np.unique(levels))


@pytest.mark.parametrize("metric", METRICS)
def test_equal_rows_are_compared_once_for_the_levels_that_they_meet(metric, monkeypatch):
    """Or a long time would pass before many equal rows are refused."""
    affinity = NeighborAffinity((2, 3), metric=metric).fit(np.ones((200, 2)))
    bounds, compared = affinity._bounds, []

    def count(queries, database, i, j):
        compared.append(i[0])
        return bounds(queries, database, i, j)

    monkeypatch.setattr(affinity, "_bounds", count)
    np.testing.assert_array_equal(affinity.levels_met(affinity.validate(np.ones((200, 2)))), [2])
    assert compared == [0]


@every_metric
@pytest.mark.parametrize("scale", [1e-170, 1.0, 1e150])
def test_multiples_repeats_and_any_scale(metric, scale):
    """Float rows, of which some are repeated, and under cosine multiples."""
    rows = RNG.normal(size=(40, 30))
    factors = RNG.uniform(0.1, 9, size=(40, 1)) if metric == "cosine" else 1.0
    database = np.concatenate([rows, rows * factors])
    queries = rows[:7] + 0.1 * RNG.normal(size=(7, 30))
    expected = NeighborAffinity(10, metric=metric).fit(rows).pairwise(queries, rows)
    assert (expected.sum(axis=1) == 10).all()
    affinity = NeighborAffinity(19, metric=metric).fit(scale * database)
    found = affinity.pairwise(scale * queries, scale * database)
    np.testing.assert_array_equal(found, np.hstack([expected, expected]))


@every_metric
def test_blocks_threads_dtypes_and_origins_change_nothing(metric, tmp_path, monkeypatch):
    rows = np.round(RNG.normal(size=(700, 12)), 2).astype(np.float32)
    queries = rows[:50] + np.float32(0.01)
    affinity = NeighborAffinity(7, metric=metric)
    expected = affinity.fit(rows.astype(float)).pairwise(queries, rows)
    np.save(tmp_path / "rows.npy", rows)
    origins = [
        rows,
        np.load(tmp_path / "rows.npy", mmap_mode="r"),
        sparse.csr_array(rows),
        (rows[i : i + 90] for i in range(0, 700, 90)),
        (sparse.csr_array(rows[i : i + 90]) for i in range(0, 700, 90)),
        iter([rows[:300], sparse.csr_matrix(rows[300:])]),
        da.from_array(rows, chunks=(150, 5)),
        da.from_array(rows, chunks=((0, 500, 0, 200), 12)),
    ]
    for block_rows in (1 << 13, 64):
        monkeypatch.setattr(NeighborAffinity, "block_rows", block_rows)
        for origin in origins if block_rows == 64 else origins[:1]:
            affinity.fit(origin)
            for n_jobs in (1, 2):
                light, found = affinity.of_queries(affinity.validate(queries), n_jobs=n_jobs)
                parts = [affinity.validate(rows[i : i + 100]) for i in range(0, 700, 100)]
                levels = np.hstack([light.level_indices(found, part) for part in parts])
                np.testing.assert_array_equal(levels, expected)
            assert len(pickle.dumps(light)) < 2000


def test_several_numbers_of_neighbors_make_levels():
    nearest = {k: NeighborAffinity(k).fit(X).pairwise(X[:9], X) for k in (3, 8, 20)}
    affinity = NeighborAffinity((3, 8, 20)).fit(X)
    np.testing.assert_array_equal(affinity.levels_, [0, 1, 2, 3])
    check_all_ways(affinity, X[:9], X, sum(nearest.values()))


def test_recall_of_the_true_neighbors():
    queries, k = X[:20] + 0.05, 10
    codes = (queries[:, :4] > 0).astype(np.uint8)
    found = tie_aware_recall_score(
        queries, codes, database=(X, CODES), k=k, affinity=NeighborAffinity(k), average=False
    )
    relevant = np.array(relevant_neighbors(queries, X, k, "cosine"))
    for i in range(20):
        distances = (codes[i] != CODES).sum(axis=1)
        kth = np.sort(distances)[k - 1]
        before, at = distances < kth, distances == kth
        expected = relevant[i] @ before + relevant[i] @ at * (k - before.sum()) / at.sum()
        assert found[i] == pytest.approx(expected / relevant[i].sum())


@every_metric
def test_histograms_add_up_over_shards_iterators_and_chunks(metric):
    affinity = NeighborAffinity(5, metric=metric)
    settings = {"n_bits": 4, "affinity": affinity}
    whole = retrieval_histogram(CODES[:9], CODES, X[:9], X, **settings)
    relevant = np.array(relevant_neighbors(X[:9], X, 5, metric)).sum(axis=1)
    np.testing.assert_array_equal(whole.counts[:, 1].sum(axis=1), relevant)
    settings["affinity"] = affinity.fit(X)
    shards = [
        retrieval_histogram(CODES[:9], CODES[part], X[:9], X[part], **settings)
        for part in (slice(0, 37), slice(37, 90))
    ]
    blocks = ((CODES[i : i + 20], X[i : i + 20]) for i in range(0, 90, 20))
    streamed = retrieval_histogram(CODES[:9], blocks, X[:9], **settings)
    codes, y = (da.from_array(array, chunks=(25, -1)) for array in (CODES, X))
    in_chunks = retrieval_histogram(CODES[:9], codes, X[:9], y, **settings)
    for found in (shards[0] + shards[1], streamed, in_chunks):
        np.testing.assert_array_equal(found.counts, whole.counts)


def test_histograms_of_other_databases_or_queries_do_not_add_up():
    """Shards of which each has its own nearest rows, and objects that were fitted again."""

    def count(affinity, shard, queries=slice(0, 9)):
        return retrieval_histogram(
            CODES[queries], CODES[shard], X[queries], X[shard], affinity=affinity
        )

    first, second = slice(0, 40), slice(40, 90)
    affinity = NeighborAffinity(5).fit(X)
    one = count(affinity, first)
    others = [
        count(NeighborAffinity(5), second),
        count(NeighborAffinity(5).fit(X[40:]), second),
        count(NeighborAffinity(6).fit(X), second),
        count(affinity, second, slice(9, 18)),
        count(EuclideanAffinity(percentiles=[5], levels=[1]).fit(X), second),
    ]
    for other in others:
        for a, b in ((one, other), (other, one)):
            with pytest.raises(ValueError, match="fitted object for each shard"):
                a + b
    whole = count(affinity, slice(0, 90))
    elsewhere = pickle.loads(pickle.dumps(count(pickle.loads(pickle.dumps(affinity)), second)))
    for total in (sum([one, elsewhere]), elsewhere + one):
        np.testing.assert_array_equal(total.counts, whole.counts)
        assert total.relevance == whole.relevance
    assert affinity.fit(X[:40]) is affinity
    with pytest.raises(ValueError, match="can be merged"):
        one + count(affinity, second)


@every_metric
def test_other_distances_have_the_same_neighbors(metric):
    distances = hamming_distances(CODES, CODES)
    affinity = NeighborAffinity(5, metric=metric)
    for exclude_self in (True, False):
        expected = retrieval_histogram(
            CODES, CODES, X, X, affinity=affinity, exclude_self=exclude_self
        )
        found = distance_histogram(distances, X, affinity=affinity, exclude_self=exclude_self)
        for k in (1, 5, 20):
            np.testing.assert_allclose(found.recall(k=k), expected.recall(k=k))


@every_metric
def test_a_query_that_is_a_row_is_left_out_of_its_own_neighbors(metric):
    expected = np.array(relevant_neighbors(X, X, 5, metric, exclude_self=True))
    np.fill_diagonal(expected, 0)
    for n_jobs in (None, 2):
        histogram = retrieval_histogram(
            CODES, CODES, X, X, affinity=NeighborAffinity(5, metric=metric),
            exclude_self=True, n_jobs=n_jobs,
        )  # fmt: skip
        np.testing.assert_array_equal(histogram.counts[:, 1].sum(axis=1), expected.sum(axis=1))


def test_it_is_fitted_on_the_database_of_every_evaluation():
    affinity = NeighborAffinity(5)
    hasher = ITQHasher(4, random_state=0).fit(X)
    scorer = make_retrieval_scorer("recall", k=5, affinity=affinity, database=(X, None))
    expected = tie_aware_recall_score(
        X[:20], hasher.predict(X[:20]), database=(X, hasher.predict(X)), k=5,
        affinity=NeighborAffinity(5),
    )  # fmt: skip
    assert scorer(hasher, X[:20]) == pytest.approx(expected)
    assert not affinity.__sklearn_is_fitted__()
    for y in (None, X):
        results = cross_validate_retrieval(
            hasher, X, y, scoring=make_retrieval_scorer("ap", affinity=affinity)
        )
        assert np.isfinite(results["test_score"]).all()
    PrecisionRecallDisplay.from_estimator(
        hasher, X[:20], X[:20], database=(X, X), affinity=affinity
    )
    found = compare(
        X, methods=["sign", "lsh"], n_bits=[4], seeds=2, affinity=affinity,
        protocol=RandomRetrievalSplit(10, 30),
    )  # fmt: skip
    assert not found.failures
    assert {type(result.scores["ap"]) for result in found.results} == {float}


@pytest.mark.parametrize(
    "hasher",
    [
        TALRLinear(4, max_iter=3, random_state=0),
        TALRLinear(4, max_iter=3, early_stopping=True, random_state=0),
        DispersionHasher(4, max_iter=3, random_state=0),
        RSHHasher(4, random_state=0),
        LWHHasher(4, tol=0.5, random_state=0),
    ],
    ids=repr,
)
def test_hashers_keep_its_parameters_and_not_its_rows(hasher, tmp_path):
    hasher.set_params(affinity=NeighborAffinity(6, metric="euclidean"))
    hasher.fit(X)
    assert isinstance(hasher.affinity_, NeighborAffinity)
    assert not hasattr(hasher.affinity_, "_database")
    assert hasher.affinity_.get_params() == hasher.affinity.get_params()
    expected = make_retrieval_scorer("ap", affinity=hasher.affinity)(hasher, X[:40])
    assert hasher.score(X[:40]) == pytest.approx(expected)
    save_hasher(tmp_path / "hasher.npz", hasher)
    assert load_hasher(tmp_path / "hasher.npz").score(X[:40]) == pytest.approx(expected)
    again = make_pipeline(StandardScaler(), hasher).fit(X, X)[-1]
    assert 0 < again.score(StandardScaler().fit_transform(X), X) <= 1


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_neighbors": 0}, "an int >= 1 .*Got 0"),
        ({"n_neighbors": 2.5}, "Got 2.5"),
        ({"n_neighbors": True}, "Got True"),
        ({"n_neighbors": (5, 5)}, r"Got \(5, 5\)"),
        ({"metric": "manhattan"}, "metric must be one of .* Got 'manhattan'"),
    ],
)
def test_parameters_are_checked(parameters, message):
    with pytest.raises(ValueError, match=message):
        NeighborAffinity(**parameters).fit(X)


def test_what_cannot_be_told_is_refused():
    affinity = NeighborAffinity(3)
    blocks = ((CODES[i : i + 20], X[i : i + 20]) for i in range(0, 90, 20))
    with pytest.raises(ValueError, match="fit it on the whole database first"):
        retrieval_histogram(CODES, blocks, X, affinity=affinity)
    codes, y = (da.from_array(array, chunks=(25, -1)) for array in (CODES, X))
    with pytest.raises(ValueError, match="fit it on the whole database first"):
        retrieval_histogram(CODES, codes, X, y, affinity=affinity, n_bits=4)
    with pytest.raises(ValueError, match="at least one row. Got n_samples = 0"):
        affinity.fit(np.zeros((0, 3)))
    with pytest.raises(ValueError, match="the iterator gave no block"):
        affinity.fit(iter([]))
    with pytest.raises(ValueError, match="a block of y has 3 features; .* fitted with 5"):
        affinity.fit(iter([X[:9], X[9:, :3]]))
    with pytest.raises(ValueError, match="4 features; this affinity was fitted with 5"):
        affinity.fit(X).pairwise(X[:, :4], X)
    with pytest.raises(ValueError, match="numeric vectors"):
        affinity.fit(["a", "b"])
    for labels in ([1, 2, 2], np.arange(90), iter([np.arange(5)]), da.arange(90)):
        with pytest.raises(ValueError, match="class labels have no nearest rows"):
            affinity.fit(labels)
    with pytest.raises(ValueError, match="class labels have no nearest rows"):
        TALRLinear(4, affinity=affinity, max_iter=1).fit(X, np.arange(90) % 3)
    with pytest.raises(ValueError, match="at least one row. Got n_samples = 0"):
        affinity.fit(da.zeros((0, 3)))
    hasher = RSHHasher(2, affinity=NeighborAffinity(3))
    with pytest.raises(ValueError, match="blocks of rows do not tell which rows are the nearest"):
        hasher.partial_fit(X)
    for other in (X[:30], X[::-1]):
        with pytest.raises(ValueError, match="the queries must be the database that"):
            retrieval_histogram(
                CODES[:len(other)], CODES[:len(other)], other, other, affinity=affinity.fit(X),
                exclude_self=True,
            )  # fmt: skip


def exactly_near(query, row, metric):
    """How near integer vectors are, as a fraction that orders them."""
    product = sum(int(a) * int(b) for a, b in zip(query, row))
    if metric == "inner_product":
        return Fraction(product)
    if metric == "euclidean":
        return -Fraction(sum((int(a) - int(b)) ** 2 for a, b in zip(query, row)))
    length = sum(int(b) ** 2 for b in row)
    return Fraction(product * abs(product), length) if length else Fraction(0)


@every_metric
@given(st.data())
def test_ties_of_integer_vectors_are_exact(metric, data):
    """Rows at a right angle to the query and rows of zeros, and multiples of rows, among them."""
    n, d = data.draw(st.integers(1, 9)), data.draw(st.integers(1, 4))
    integers = st.integers(-9, 9) | st.just(0)
    rows = data.draw(hnp.arrays(np.int64, (n, d), elements=integers))
    queries = data.draw(hnp.arrays(np.int64, (2, d), elements=integers))
    k = data.draw(st.integers(1, n))
    found = NeighborAffinity(k, metric=metric).fit(rows).pairwise(queries, rows)
    for query, relevant in zip(queries, found):
        near = [exactly_near(query, row, metric) for row in rows]
        kth = sorted(near, reverse=True)[k - 1]
        assert relevant.tolist() == [each >= kth for each in near]


def test_a_row_of_zeros_ties_with_rows_at_a_right_angle():
    rows = [[1, -8, 9], [0, 0, 0], [-7, -2, -1]]
    assert NeighborAffinity(1).fit(rows).pairwise([[7, 2, 1]], rows).tolist() == [[1, 1, 0]]


def test_chunks_of_unknown_sizes_leave_own_rows_out():
    rows = da.from_array(X, chunks=(25, -1))
    unknown = rows[da.from_array(np.ones(90, bool), chunks=25)]
    expected = retrieval_histogram(
        CODES, CODES, X, X, affinity=NeighborAffinity(3).fit(rows), exclude_self=True
    )
    affinity = NeighborAffinity(3).fit(unknown)
    found = retrieval_histogram(CODES, CODES, X, X, affinity=affinity, exclude_self=True)
    np.testing.assert_array_equal(found.counts, expected.counts)
    assert np.isnan(unknown.shape[0])  # what was given is left as it is


ORDERS = {
    "C": np.ascontiguousarray,
    "F": np.asfortranarray,
    "strided": lambda rows: np.repeat(rows, 2, axis=1)[:, ::2],
    "frame": pd.DataFrame,
    "csr": sparse.csr_array,
    "csc": sparse.csc_array,
    "unsorted": lambda rows: sparse.csr_array(
        (rows[:, ::-1].ravel(), np.tile(np.arange(rows.shape[1])[::-1], len(rows)),
         np.arange(0, rows.size + 1, rows.shape[1])), shape=rows.shape,
    ),
}  # fmt: skip


@every_metric
@pytest.mark.parametrize("order", ORDERS)
def test_memory_order_changes_nothing(metric, order):
    rows = RNG.normal(size=(90, 37)) * (RNG.random((90, 37)) < 0.7)
    affinity = NeighborAffinity(4, metric=metric).fit(rows)
    settings = {"affinity": affinity, "exclude_self": True}
    expected = retrieval_histogram(CODES, CODES, rows, rows, **settings)
    same = ORDERS[order](rows)
    np.testing.assert_array_equal(
        sparse.csr_array(affinity.validate(same)).toarray(), affinity.validate(rows)
    )
    found = retrieval_histogram(CODES, CODES, same, same, **settings)
    np.testing.assert_array_equal(found.counts, expected.counts)
    other = NeighborAffinity([np.int64(4)], metric=metric).fit(same)
    shards = [
        retrieval_histogram(CODES[:9], CODES[part], y[:9], y[part], affinity=fitted)
        for part, y, fitted in (
            (slice(0, 40), rows, affinity),
            (slice(40, 90), ORDERS["csr"](rows), other),
        )
    ]
    whole = retrieval_histogram(CODES[:9], CODES, rows[:9], rows, affinity=affinity)
    np.testing.assert_array_equal((shards[0] + shards[1]).counts, whole.counts)


@pytest.mark.parametrize("metric", ["cosine", "euclidean", "inner_product"])
def test_shards_add_up_whatever_rows_are_looked_at_first(metric):
    rows = RNG.normal(size=(90, 5)) * np.geomspace(1e-3, 1e3, 90)[:, None]
    chunks = da.from_array(rows, chunks=(7, -1))
    parts = [
        retrieval_histogram(
            CODES[:9], CODES[part], rows[:9], rows[part],
            affinity=NeighborAffinity((2, 5), metric=metric).fit(fitted_on),
        )
        for part, fitted_on in ((slice(0, 40), rows), (slice(40, 90), chunks))
    ]  # fmt: skip
    assert (parts[0] + parts[1]).counts.sum() == 9 * 90


@pytest.mark.parametrize("metric", ["euclidean", "inner_product"])
@pytest.mark.parametrize("large", [1e160, -1e300])
def test_rows_too_large_for_their_squares_are_refused(metric, large):
    rows = RNG.normal(size=(1200, 3))
    rows[1100, 1] = large
    affinity = NeighborAffinity(3, metric=metric).fit(rows)
    with pytest.raises(ValueError, match="too large to be squared beside the first rows"):
        affinity.pairwise(rows[:5], rows)
    scaled = 1e200 * RNG.normal(size=(20, 3))  # all of them are
    found = NeighborAffinity(3, metric=metric).fit(scaled).pairwise(scaled[:4], scaled)
    assert (found.sum(axis=1) == 3).all()
    assert np.isfinite(NeighborAffinity(3).fit(rows).pairwise(rows[:5], rows)).all()
