"""Methods that rank by a distance of their own: against literal distances, and in tables."""

import sys

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.datasets import load_digits
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_hashrank import (
    BinaryAutoencoderHasher,
    EuclideanAffinity,
    ITQHasher,
    NeighborAffinity,
    RetrievalHistogram,
)
from sklearn_hashrank.cli import main
from sklearn_hashrank.cli._arguments import method_words
from sklearn_hashrank.comparison import (
    HasherSearch,
    compare,
    method_from_name,
)
from sklearn_hashrank.comparison._faiss_search import FaissSearch
from sklearn_hashrank.comparison._method_names import method_of_comparison
from sklearn_hashrank.model_selection import RetrievalSplit

X, Y = load_digits(return_X_y=True)
X, Y = X[:260], Y[:260]
SPLIT = RetrievalSplit(np.arange(40, 260), np.arange(40), np.arange(40, 260))
QUERIES, DATABASE = X[:40], X[40:]
SETTINGS = {"n_bits": [12], "seeds": 1, "protocol": SPLIT}


def literal_distances(method, metric, hasher):
    """Distances of all queries to all items, from the definition."""
    signs = 2.0 * hasher.predict(DATABASE) - 1
    if method == "asymmetric":
        return -hasher.decision_function(QUERIES) @ signs.T
    decoded = signs @ hasher.decoder_ + hasher.decoder_intercept_
    if metric == "euclidean":
        return np.linalg.norm(QUERIES[:, None] - decoded, axis=2)
    products = QUERIES @ decoded.T
    if metric == "cosine":
        products = products / np.linalg.norm(decoded, axis=1)
    return -products


@pytest.mark.parametrize(
    ("method", "metric"),
    [
        ("asymmetric", "auto"),
        ("decoded", "cosine"),
        ("decoded", "euclidean"),
        ("decoded", "inner_product"),
    ],
)
def test_rankings_are_those_of_literal_distances(method, metric):
    make = ITQHasher if method == "asymmetric" else BinaryAutoencoderHasher
    search = HasherSearch(make(), method, metric=metric)
    run = compare(X, Y, methods={"own": search}, measures=["ap", "recall@20"], **SETTINGS)
    assert not run.failures
    hasher = make(12, random_state=0).fit(DATABASE, Y[40:])
    # Equal codes tie, and rounding may not tell other ones apart in one of the two.
    literal = literal_distances(method, metric, hasher).round(9)
    expected = RetrievalHistogram.from_scores(Y[:40, None] == Y[40:], literal, order="distance")
    [result] = run.results
    assert result.n_bits == 12
    assert result.scores["ap"] == pytest.approx(expected.average_precision().mean(), abs=1e-6)
    assert result.scores["recall@20"] == pytest.approx(expected.recall(k=20).mean(), abs=1e-6)
    found = search.set_params(estimator__n_bits=12, estimator__random_state=0).fit(DATABASE)
    index = found.index(DATABASE)
    nearest = index.nearest(QUERIES, 7)
    kept = np.take_along_axis(literal, nearest, axis=1)
    np.testing.assert_allclose(kept, np.sort(literal, axis=1)[:, :7], atol=1e-5)
    n_bytes = 2 + 4 * (metric in ("cosine", "euclidean"))
    assert result.scores["item_bytes"] == index.item_bytes == n_bytes
    assert result.scores["search_microseconds"] > 0


def test_equal_codes_are_tied():
    rows = np.repeat(DATABASE[:50], 3, axis=0)
    for name in ("itq:distance=asymmetric", "autoencoder:distance=decoded"):
        method = method_of_comparison(name).set_params(estimator__n_bits=5).fit(DATABASE)
        distances = method.index(rows).distances(QUERIES)
        np.testing.assert_array_equal(distances[:, ::3], distances[:, 1::3])


def test_a_pipeline_is_searched_by_rows_before_it():
    pipeline = make_pipeline(StandardScaler(), ITQHasher(12, random_state=0))
    search = HasherSearch(pipeline).fit(DATABASE)
    scaler, hasher = StandardScaler().fit(DATABASE), ITQHasher(12, random_state=0)
    hasher.fit(scaler.transform(DATABASE))
    signs = 2.0 * hasher.predict(scaler.transform(DATABASE)) - 1
    expected = -hasher.decision_function(scaler.transform(QUERIES)) @ signs.T
    index = search.index(DATABASE)
    np.testing.assert_allclose(index.distances(QUERIES), expected, rtol=1e-5, atol=1e-5)
    nearest = index.nearest(QUERIES, 3)
    np.testing.assert_allclose(
        np.take_along_axis(expected, nearest, axis=1), np.sort(expected, axis=1)[:, :3], rtol=1e-5
    )


@pytest.fixture(scope="module")
def rescored():
    return compare(
        X,
        methods=["itq", "itq:distance=asymmetric", "autoencoder:distance=decoded"],
        affinity=NeighborAffinity(10, metric="euclidean"),
        measures=["recall@10", "ph2", "mlgap"],
        rescore={"n_neighbors": 10, "oversampling": 22, "metric": "euclidean"},
        **SETTINGS,
    )


def test_a_table_has_all_methods_and_their_costs(rescored):
    assert not rescored.failures
    codes, asymmetric, decoded = (result.scores for result in rescored.results)
    assert codes["recall@10"] < asymmetric["recall@10"]
    assert {column.name for column in rescored.columns} >= {"item_bytes", "search_microseconds"}
    assert (codes["item_bytes"], asymmetric["item_bytes"], decoded["item_bytes"]) == (2, 2, 6)
    for scores in (asymmetric, decoded):
        assert scores["near_floats"] == 1  # all items are candidates
        assert np.isnan([scores["ph2"], scores["mlgap"], scores["distinct_codes"]]).all()
        assert np.isnan([scores["near_codes"], scores["near_asymmetric"]]).all()
        assert scores["floats_microseconds"] > 0
    assert codes["ph2"] >= 0


def test_the_metric_is_that_of_relevance(rescored):
    assert "metric='euclidean'" in rescored.about["methods"]["autoencoder:distance=decoded"]
    for affinity, y, expected in (
        (NeighborAffinity(3, metric="inner_product"), None, "inner_product"),
        (EuclideanAffinity(), None, "euclidean"),
        ("auto", None, "euclidean"),
        ("auto", Y[40:], "cosine"),
    ):
        search = HasherSearch(ITQHasher(6), eval_affinity=affinity).fit(DATABASE, y)
        assert search.metric_ == expected


def test_runs_are_kept_by_whether_searches_are_timed(tmp_path):
    settings = {"store": tmp_path, "measures": ["ap"], **SETTINGS}
    assert "item_bytes" not in compare(X, Y, methods=["lsh"], **settings).results[0].scores
    methods = ["lsh", "lsh:distance=asymmetric"]
    first, again = (compare(X, Y, methods=methods, **settings).results for _ in range(2))
    assert [result.from_store for result in first] == [False, False]
    assert [result.from_store for result in again] == [True, True]
    assert "item_bytes" in again[0].scores
    for one, other in zip(first, again, strict=True):
        np.testing.assert_equal(one.scores, other.scores)


class Signs(BaseEstimator):
    """A hasher without projections."""

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return X[:, 10:22] > 8


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("faiss:", "needs a factory string, as in faiss:"),
        ("faiss:PQ8:bits=4", "has no parameter 'bits'. Its parameters: metric, search"),
        ("faiss:PQ8:metric=l2", "'metric' parameter .*cosine.* Got 'l2'"),
        ("itq:distance=cosine", "'distance' parameter .*asymmetric.* Got 'cosine'"),
        ("itq:distance=decoded", "ITQHasher has no decoder"),
        ("autoencoder:metric=cosine", "has no parameter 'metric'"),
        ("nothing:distance=asymmetric", "unknown method 'nothing'"),
    ],
)
def test_bad_names_are_refused(name, message, monkeypatch):
    monkeypatch.setitem(sys.modules, "faiss", object())
    with pytest.raises(ValueError, match=message):
        method_of_comparison(name)


def test_without_faiss_its_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "faiss", None)
    with pytest.raises(ValueError, match=r"method 'faiss:PQ8': .* pip install \"\.\[faiss\]\""):
        compare(X, Y, methods=["faiss:PQ8"], **SETTINGS)
    with pytest.raises(ImportError, match="faiss is needed"):
        FaissSearch("PQ8").check_data(X)


def test_indexes_are_no_hashers():
    with pytest.raises(ValueError, match=r"'faiss:PQ8' .* compare"):
        method_from_name("faiss:PQ8")
    with pytest.raises(ValueError, match=r"distance of method .* compare"):
        method_from_name("itq:distance=asymmetric")


def test_rows_and_hashers_that_cannot_be_searched_are_refused():
    with pytest.raises(ValueError, match="needs dense rows"):
        compare(sparse.csr_matrix(X), Y, methods=["lsh:distance=asymmetric"], **SETTINGS)
    with pytest.raises(ValueError, match="12 bits"):
        compare(X[:, :8], Y, methods=["itq:distance=asymmetric"], **SETTINGS)
    with pytest.raises(ValueError, match="'distance' parameter .* Got 'other'"):
        HasherSearch(ITQHasher(), "other").fit(X)
    with pytest.raises(ValueError, match="'asymmetric' decodes none. Got metric='euclidean'"):
        compare(X, Y, methods=["itq:distance=asymmetric:metric=euclidean"], **SETTINGS)
    with pytest.raises(ValueError, match="estimator must be a hasher.* Got 'itq'"):
        compare(X, Y, methods={"own": HasherSearch("itq")}, **SETTINGS)
    with pytest.raises(ValueError, match="estimator must be a hasher.* Got <class"):
        HasherSearch(ITQHasher).fit(X)
    with pytest.raises(ValueError, match="needs a hasher with decision_function. Signs has none"):
        HasherSearch(Signs()).fit(X)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("faiss:OPQ32_96,PQ32,itq", ["faiss:OPQ32_96,PQ32", "itq"]),
        (
            "itq,faiss:IVF16,PQ8:search=nprobe=4,lsh",
            ["itq", "faiss:IVF16,PQ8:search=nprobe=4", "lsh"],
        ),
        ("faiss:PCAR64,RaBitQ,faiss:PQ16", ["faiss:PCAR64,RaBitQ", "faiss:PQ16"]),
        ("itq,LSH", ["itq", "LSH"]),
    ],
)
def test_commas_of_factory_strings_do_not_split_them(text, names):
    assert method_words(text) == names


def test_the_command_writes_a_report_of_distances_alone(tmp_path, capsys):
    """Without codes there is no figure of their usage, and no page to look at them."""
    np.save(tmp_path / "rows.npy", X)
    options = [
        "--neighbors",
        "5",
        "--methods",
        "autoencoder:distance=decoded",
        "--bits",
        "16",
        "--explore",
    ]
    options += ["--seeds", "1", "--queries", "20", "--measures", "recall@5,ph2", "--quiet"]
    output = ["--output", str(tmp_path / "out")]
    assert main(["compare", "--data", str(tmp_path / "rows.npy"), *options, *output]) == 0
    capsys.readouterr()
    table = (tmp_path / "out" / "tables.md").read_text()
    assert "Search, µs per query" in table
    assert "Bytes per item" in table
    assert "autoencoder:distance=decoded" in (tmp_path / "out" / "report.html").read_text()
    files = [path.name for path in (tmp_path / "out").rglob("*")]
    assert "explore.html" not in files
    assert not any("usage" in name for name in files)
