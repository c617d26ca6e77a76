"""The oversampling that a recall takes is that of searches with so many candidates."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.neighbors import NearestNeighbors

from sklearn_hashrank import HammingNeighbors, ITQHasher
from sklearn_hashrank.neighbors import _oversampling, choose_oversampling, rescore

RNG = np.random.default_rng(0)
K = 5
X = RNG.normal(size=(700, 16)) ** 3 + 0.2
QUERIES = RNG.normal(size=(40, 16)) ** 3 + 0.2
HASHER = ITQHasher(16, output="packed", random_state=0).fit(X)
CODES, QUERY_CODES = HASHER.transform(X), HASHER.transform(QUERIES)


def recall_of(oversampling, metric):
    """Share of the nearest rows that a search for so many candidates finds."""
    index = HammingNeighbors(oversampling * K, n_bits=16).fit(CODES)
    found = index.kneighbors(QUERY_CODES, return_distance=False)
    _, found = rescore(QUERIES, X, found, K, metric=metric)
    if metric == "inner_product":
        true = np.argsort(-QUERIES @ X.T, axis=1)[:, :K]
    else:
        exact = NearestNeighbors(n_neighbors=K, metric=metric).fit(X)
        true = exact.kneighbors(QUERIES, return_distance=False)
    return np.mean([np.isin(a, b).mean() for a, b in zip(found, true)])


@pytest.mark.parametrize("metric", ["cosine", "euclidean", "inner_product"])
@pytest.mark.parametrize("wanted", [0.2, 0.8, 0.97])
def test_it_is_the_least_that_reaches_the_recall(monkeypatch, metric, wanted):
    monkeypatch.setattr(_oversampling, "_ROWS_AT_A_TIME", 150)
    monkeypatch.setattr(_oversampling, "_PAIRS_AT_A_TIME", 5000)
    found = choose_oversampling(
        QUERIES, X, QUERY_CODES, CODES, K, recall=wanted, metric=metric, n_bits=16
    )
    assert found.recall >= wanted
    assert found.recall == pytest.approx(recall_of(found.oversampling, metric))
    if found.oversampling > 1:
        assert recall_of(found.oversampling - 1, metric) < wanted
    assert found.n_candidates.shape == (len(QUERIES), K)


def test_all_rows_hold_all_neighbors():
    found = choose_oversampling(QUERIES, X, QUERY_CODES * 0, CODES * 0, K, recall=1.0, n_bits=16)
    assert found.recall == 1.0
    assert found.n_candidates.max() <= K * found.oversampling < len(X) + K


@pytest.mark.parametrize("metric", ["cosine", "euclidean", "inner_product"])
def test_of_equal_rows_the_first_are_the_nearest(monkeypatch, metric):
    """They have one code, by which the first are found first."""
    monkeypatch.setattr(_oversampling, "_ROWS_AT_A_TIME", 150)
    rows, codes = np.ones((700, 4)), np.ones((700, 8))
    found = choose_oversampling(rows[:2], rows, codes[:2], codes, K, recall=1.0, metric=metric)
    np.testing.assert_array_equal(found.n_candidates, np.tile(np.arange(1, K + 1), (2, 1)))


@pytest.mark.parametrize("metric", ["cosine", "euclidean", "inner_product"])
@pytest.mark.parametrize("size", [1e-200, 1e200])
def test_numbers_of_any_size_have_the_same_neighbors(metric, size):
    given = {"query_codes": QUERY_CODES, "codes": CODES, "metric": metric, "n_bits": 16}
    wanted = choose_oversampling(QUERIES, X, **given)
    found = choose_oversampling(size * QUERIES, size * X, **given)
    np.testing.assert_array_equal(np.sort(found.n_candidates), np.sort(wanted.n_candidates))


def test_rows_far_from_the_origin_keep_their_distances():
    given = {"query_codes": QUERY_CODES, "codes": CODES, "metric": "euclidean", "n_bits": 16}
    wanted = choose_oversampling(QUERIES, X, **given)
    found = choose_oversampling(QUERIES + 2**26, X + 2**26, **given)
    assert np.mean(np.sort(found.n_candidates) == np.sort(wanted.n_candidates)) > 0.99


def test_values_that_have_no_distances_are_refused():
    with pytest.raises(ValueError, match="rows hold values too large"):
        choose_oversampling(
            QUERIES, 1e200 * X, QUERY_CODES, CODES, K, metric="euclidean", n_bits=16
        )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"recall": 0}, "recall must be a number above 0 and at most 1. Got 0"),
        ({"recall": 1.1}, "recall must be"),
        ({"metric": "hamming"}, "metric must be one of"),
        ({"n_neighbors": 701}, "n_neighbors must be at most the 700 rows"),
        ({"codes": CODES[1:]}, "codes must have 700 rows"),
        ({"query_codes": QUERY_CODES[1:]}, "query_codes must have 40 rows"),
        ({"rows": X[:, 1:]}, "rows must have 16 columns"),
        ({"rows": np.where(X > 8, np.nan, X)}, "rows contains NaN"),
    ],
)
def test_what_does_not_fit_is_refused(change, message):
    given = {"queries": QUERIES, "rows": X, "query_codes": QUERY_CODES, "codes": CODES}
    with pytest.raises(ValueError, match=message):
        choose_oversampling(**(given | {"n_bits": 16} | change))


@pytest.mark.parametrize("name", ["rows", "codes", "query_codes"])
@pytest.mark.parametrize(
    ("make", "said"),
    [
        (sparse.csr_matrix, r"csr_matrix of shape \(\d+, \d+\)"),
        (iter, "iterator"),
        (lambda rows: (row for row in rows), "generator"),
        (lambda rows: rows[:, 0], r"ndarray of shape \(\d+,\)"),
    ],
    ids=["sparse", "iterator", "generator", "one dimension"],
)
def test_what_cannot_be_cut_into_rows_is_refused(name, make, said):
    given = {"queries": QUERIES, "rows": X, "query_codes": QUERY_CODES, "codes": CODES}
    given[name] = make(given[name])
    with pytest.raises(
        TypeError, match=rf"{name} must be a dense array or a memmap.* Got .*{said}"
    ):
        choose_oversampling(**given, n_bits=16)


def test_lists_and_tables_are_rows():
    pandas = pytest.importorskip("pandas")
    given = {"queries": QUERIES, "query_codes": QUERY_CODES, "codes": CODES, "n_bits": 16}
    wanted = choose_oversampling(rows=X, **given)
    for rows in (X.tolist(), pandas.DataFrame(X)):
        found = choose_oversampling(rows=rows, **given)
        np.testing.assert_array_equal(found.n_candidates, wanted.n_candidates)
