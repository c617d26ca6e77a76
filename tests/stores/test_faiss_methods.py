"""Indexes of faiss as methods of a comparison: their recall, bytes and refusals."""

import faiss
import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits
from sklearn.preprocessing import normalize

from sklearn_hashrank import NeighborAffinity
from sklearn_hashrank.cli import main
from sklearn_hashrank.comparison import compare
from sklearn_hashrank.comparison._faiss_search import FaissSearch
from sklearn_hashrank.model_selection import RetrievalSplit

X, Y = load_digits(return_X_y=True)
SPLIT = RetrievalSplit(np.arange(100, 900), np.arange(100), np.arange(100, 900))
QUERIES, DATABASE = (X[rows].astype(np.float32) for rows in (SPLIT.query, SPLIT.database))
SETTINGS = {"n_bits": [64], "seeds": 1, "protocol": SPLIT, "measures": ["recall@10", "ph2"]}
METRICS = ["cosine", "euclidean", "inner_product"]


@pytest.mark.parametrize("metric", METRICS)
def test_an_exact_index_finds_all_neighbors(metric):
    """Whatever the distance is: it is that of the relevance."""
    affinity = NeighborAffinity(10, metric=metric)
    settings = {**SETTINGS, "measures": ["recall@20"]}  # of pixels, more than ten are as near
    found = compare(X, methods=["faiss:Flat"], affinity=affinity, **settings)
    [result] = found.results
    assert result.scores["recall@20"] == 1
    assert (result.scores["item_bytes"], result.n_bits) == (256, 2048)


def test_own_distances_rank_and_cost_what_faiss_says():
    names = ["faiss:PCAR32,RaBitQ", "faiss:PQ16x4fs", "faiss:SQ8", "itq"]
    found = compare(X, methods=names, affinity=NeighborAffinity(10), rescore=10, **SETTINGS)
    assert not found.failures
    assert [result.n_bits for result in found.results] == [96, 64, 512, 64]
    exact = np.argsort(-normalize(QUERIES) @ normalize(DATABASE).T, axis=1)[:, :10]
    for result, name in zip(found.results[:3], names[:3]):
        index = faiss.index_factory(64, name.removeprefix("faiss:"))
        index.train(normalize(DATABASE))
        index.add(normalize(DATABASE))
        ids = index.search(normalize(QUERIES), 10)[1]
        recall = np.mean([np.isin(a, b).mean() for a, b in zip(ids, exact)])
        assert result.scores["recall@10"] == pytest.approx(recall, abs=0.01)  # of ties
        assert result.scores["recall@10"] <= result.scores["near_floats"] <= 1
        assert result.scores["search_microseconds"] > 0
        assert np.isnan(result.scores["ph2"])
    assert "Bytes per item" in found.to_markdown()


def test_a_lattice_costs_its_codes():
    """faiss writes the index to a file without them."""
    factory = "ZnLattice4x10_4"
    found = FaissSearch(factory, metric="euclidean").fit(DATABASE).index(DATABASE)
    assert found.item_bytes == faiss.index_factory(64, factory).sa_code_size() > 0


def test_what_lists_leave_out_comes_last():
    one, all_lists = (
        FaissSearch("IVF8,Flat", metric="euclidean", search=search).fit(DATABASE).index(DATABASE)
        for search in ("", "nprobe=8")
    )
    exact = np.linalg.norm(QUERIES[:, None] - DATABASE, axis=2) ** 2
    np.testing.assert_allclose(all_lists.distances(QUERIES), exact, rtol=1e-3, atol=0.1)
    some = one.distances(QUERIES)
    assert 0.3 < np.isinf(some).mean() < 1
    np.testing.assert_allclose(some[np.isfinite(some)], exact[np.isfinite(some)], rtol=1e-3)
    # A list may hold fewer items than are asked for.
    missing = one.nearest(QUERIES, len(DATABASE))
    assert (missing[:, -1] == -1).all()
    found = compare(
        X,
        Y,
        methods=["faiss:IVF8,Flat"],
        rescore={"n_neighbors": 10, "oversampling": 80},
        **SETTINGS,
    )
    assert not found.failures
    assert 0.5 < found.results[0].scores["near_floats"] < 1


def test_threads_of_faiss_are_as_before():
    before = faiss.omp_get_max_threads()
    FaissSearch("Flat").fit(DATABASE).index(DATABASE).nearest(QUERIES, 1)
    assert faiss.omp_get_max_threads() == before


def test_rows_may_be_lists():
    some = X[:30]
    index = FaissSearch("Flat", metric="euclidean").fit(some.tolist()).index(some.tolist())
    expected = ((some[:3, None] - some) ** 2).sum(axis=2)
    np.testing.assert_allclose(index.distances(some[:3].tolist()), expected, rtol=1e-4, atol=0.1)


@pytest.mark.parametrize(
    ("method", "rows", "message"),
    [
        ("faiss:NoSuchIndex", X, "faiss makes no index of 'NoSuchIndex' for 64 features"),
        ("faiss:PQ7x4", X, "faiss makes no index of 'PQ7x4' for 64 features"),
        ("faiss:Flat:search=speed=9", X, "search='speed=9' for 64 features"),
        ("faiss:PQ8x4,RFlat", X[:1000], "finds more the more items it is asked for"),
        ("faiss:PCAR32,HNSW8", X[:1000], "finds more the more items it is asked for"),
        ("faiss:IVF8,PQ8+8", X[:1000], "finds more the more items it is asked for"),
        ("faiss:IDMap,Flat", X[:1000], "Leave IDMap out"),
        ("faiss:Flat", sparse.csr_matrix(X), "faiss takes dense rows"),
    ],
)
def test_what_faiss_cannot_do_is_refused_before_the_first_run(method, rows, message):
    split = RetrievalSplit(np.arange(100, 150), np.arange(100), np.arange(100, 900))
    with pytest.raises(ValueError, match=message):
        compare(
            rows, Y[: rows.shape[0]], methods=["lsh", method], **{**SETTINGS, "protocol": split}
        )


def test_too_few_training_rows_are_an_error_of_faiss():
    split = RetrievalSplit(np.arange(100, 150), np.arange(100), np.arange(100, 900))
    found = compare(X, Y, methods=["faiss:PQ8", "lsh"], **{**SETTINGS, "protocol": split})
    [failed] = found.failures
    assert "training points (50)" in failed.error


def test_the_command_takes_factory_strings(tmp_path, capsys):
    np.save(tmp_path / "rows.npy", X[:600])
    options = ["--neighbors", "5", "--methods", "lsh,faiss:PCAR32,RaBitQ,itq", "--bits", "64"]
    options += ["--seeds", "1", "--queries", "20", "--measures", "recall@5", "--quiet"]
    output = ["--output", str(tmp_path / "out")]
    assert main(["compare", "--data", str(tmp_path / "rows.npy"), *options, *output]) == 0
    capsys.readouterr()
    assert "faiss:PCAR32,RaBitQ" in (tmp_path / "out" / "tables.md").read_text()
