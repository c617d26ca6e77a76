"""Histograms of rankings by any scores: from arrays, and from runs and qrels."""

import gzip
import pickle
import warnings
from collections import namedtuple
from itertools import permutations, product
from math import fsum

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from sklearn_hashrank import RetrievalHistogram, retrieval_histogram
from sklearn_hashrank.codes import hamming_distances
from sklearn_hashrank.metrics import (
    Ties,
    TieWarning,
    _rankings,
    distance_histogram,
    read_qrels,
    read_run,
)
from sklearn_hashrank.metrics._measure import MEASURES
from sklearn_hashrank.metrics._rankings import Rankings
from tests.oracle.rankings import mean_max_min
from tests.oracle.trec_eval import MEASURES as OF_TREC_EVAL

RANKING = [name for name, measure in MEASURES.items() if measure.radius is None]
SIX_TIED = [[1, 0, 0, 1, 0, 0]], [[0.5] * 6]
from_scores, from_run = RetrievalHistogram.from_scores, RetrievalHistogram.from_run


@st.composite
def queries(draw, max_items=6):
    """Relevance and scores of one query, with many ties; something is relevant."""
    n = draw(st.integers(1, max_items))
    relevance = draw(st.lists(st.sampled_from([0, 0, 1, 2]), min_size=n, max_size=n))
    scores = draw(st.lists(st.sampled_from([-1.5, 0.0, 0.25, 3.0]), min_size=n, max_size=n))
    relevance[draw(st.integers(0, n - 1))] = 1
    return relevance, scores


def ties_of(relevance, scores):
    """Levels of the items in each tie, best score first."""
    return [
        [level for level, score in zip(relevance, scores) if score == each]
        for each in sorted(set(scores), reverse=True)
    ]


# From scores


@pytest.mark.parametrize("name", RANKING)
@settings(max_examples=25, deadline=None)
@given(query=queries(), k=st.none() | st.integers(1, 7))
def test_values_are_those_of_all_orders(name, query, k):
    h = from_scores([query[0]], [query[1]])
    options = {"k": k} if MEASURES[name].takes_k else {}
    literal = mean_max_min(name, ties_of(*query), k)
    for ties, expected in zip(("expected", "optimistic", "pessimistic"), literal):
        assert_allclose(h.measure(name, ties=ties, **options), [expected], atol=1e-12)


def test_six_tied_items():
    h = from_scores(*SIX_TIED)
    report = h.tie_report("ap")
    assert_allclose(h.average_precision(), 0.527, atol=5e-4)
    assert_allclose([report.pessimistic, report.optimistic], [4 / 15, 1])
    assert report.share == 1


@settings(max_examples=25, deadline=None)
@given(st.lists(queries(12), min_size=1, max_size=6), st.sampled_from(["f4", "i8", "u2", "f8"]))
def test_every_form_of_input_is_the_same(of_queries, dtype):
    relevance, scores = ([np.array(q[i]) for q in of_queries] for i in (0, 1))
    scores = [((each + 1.5) * 4).astype(dtype) for each in scores]
    expected = [from_scores([r], [s]).average_precision()[0] for r, s in zip(relevance, scores)]
    sizes = [len(each) for each in scores]
    flat = np.concatenate(relevance), np.concatenate(scores)
    width = max(sizes)
    columns = np.concatenate([np.arange(n) for n in sizes])
    where = np.repeat(np.arange(len(sizes)), sizes), columns
    shape = len(sizes), width
    stored = sparse.csr_array((flat[1].astype(float), where), shape=shape)
    dense = np.zeros(shape)
    dense[where] = flat[0]
    forms = [from_scores(*flat, groups=sizes), from_scores(dense, stored)]
    forms.append(from_scores(sparse.csr_matrix(dense), stored))
    if len(set(sizes)) > 1:
        forms.append(from_scores(relevance, scores))
    for h in forms:
        assert_allclose(h.average_precision(), expected)
    distances = [-s.astype(float) for s in scores]
    as_distances = from_scores(flat[0], np.concatenate(distances), groups=sizes, order="distance")
    assert_allclose(as_distances.average_precision(), expected)


def test_relevant_items_that_sparse_scores_lack_are_missed():
    scores = sparse.csr_array(([0.9, 0.5], ([0, 0], [1, 3])), shape=(1, 5))
    h = from_scores([[2, 1, 0, 0, 1]], scores)
    assert_allclose(h.recall(), 1 / 3)
    assert_allclose(h.recall(min_relevance=2, zero_division=0), 0)
    assert_allclose(h.ndcg(gain="linear"), 1 / (2 + 1 / np.log2(3) + 1 / 2))


@pytest.mark.parametrize("n_items", [40, 400])
def test_hamming_distances_as_scores_give_what_codes_do(n_items):
    rng = np.random.default_rng(0)
    codes, y = rng.integers(0, 2, (n_items, 6)), rng.integers(0, 3, n_items)
    distances = hamming_distances(codes[:9], codes)
    expected = retrieval_histogram(codes[:9], codes, y[:9], y)
    relevance = np.equal.outer(y[:9], y)
    for h in (
        from_scores(relevance, distances, order="distance", n_jobs=2),
        distance_histogram(distances, y[:9], y),
    ):
        for name, ties in product(RANKING, ("expected", "optimistic", "pessimistic")):
            found = h.measure(name, ties=ties)
            assert_allclose(found, expected.measure(name, ties=ties), err_msg=name)
        for found, curve in zip(h.precision_recall_curve(), expected.precision_recall_curve()):
            assert_allclose(found, curve)


HARD_SCORES = {  # of random numbers; hard to divide into cells
    "ties": lambda x: np.round(x * 7) / 7,
    "one": np.zeros_like,
    "infinite": lambda x: np.where(np.abs(x) > 1, np.inf * np.sign(x), x),
    "huge": lambda x: np.clip(x, -1, 1) * 1.7e308,
    "tiny": lambda x: np.round(x * 9) * 5e-324,
    "far apart": lambda x: np.sign(x) * np.exp(150 * np.abs(x)),
    "near each other": lambda x: 1 + np.round(x * 9) * 2**-52,
    "single": lambda x: x.astype(np.float32),
    "integers": lambda x: (x * 1e18).astype(np.int64),
    "unsigned": lambda x: (np.abs(x) * 1e18).astype(np.uint64),
}


@pytest.mark.parametrize("kind", HARD_SCORES)
def test_few_and_many_relevant_items_are_counted_alike(kind):
    for n_items, n_relevant in product([130, 33_000], [1, 3, 64, 66, 129]):
        numbers = np.random.default_rng(n_relevant).normal(size=n_items)
        scores = HARD_SCORES[kind](numbers)
        relevance = np.zeros(n_items, dtype=int)
        relevance[:n_relevant] = 1
        counts = from_scores([relevance], [scores]).counts[0]
        values, inverse = np.unique(scores, return_inverse=True)
        of_ties = np.zeros((len(values), 2), dtype=int)
        np.add.at(of_ties, (inverse, relevance), 1)
        of_ties = of_ties[::-1]
        begins = (of_ties[:, 1] > 0) | (np.append(1, of_ties[:-1, 1]) > 0)
        expected = np.add.reduceat(of_ties, np.flatnonzero(begins), axis=0)
        assert_array_equal(counts.T, expected, err_msg=f"{n_items}, {n_relevant}")


@pytest.mark.parametrize("size", [1, 2**60])
def test_judged_scores_are_integers_as_the_others_are(size):
    """Of five scores one is relevant and two are judged, one of which ties with it."""
    scores, starts = np.array([3, 5, 5, 7, 9]) + size, np.array([0, 5])
    table = Rankings(
        *(np.array([0.0, 1.0]), scores, starts, scores[[1]], np.array([0, 1]), np.array([1])),
        *(scores[[2, 4]], np.array([0, 2]), np.empty((0, 2), np.int64)),
    ).table(is_descending=True)
    assert_array_equal(table.totals, [2, 2, 1])
    assert_array_equal(table.unjudged, [1, 0, 1])
    assert_array_equal(table.places, [1])


@settings(max_examples=25, deadline=None)
@given(st.lists(queries(12), min_size=1, max_size=6), st.data())
def test_sums_over_ties_are_those_of_their_counts(of_queries, data):
    """Those that a chunk of rankings already knows, for measures of users too."""
    run, qrels = {}, {}
    for q, (relevance, scores) in enumerate(of_queries):
        n_found = data.draw(st.integers(1, len(scores)))  # the others are judged, and not found
        run[str(q)] = {str(i): score for i, score in enumerate(scores[:n_found])}
        qrels[str(q)] = {str(i): level for i, level in enumerate(relevance)}
    for _, ties in from_run(qrels, run).table.chunks(data.draw(st.sampled_from([1, 1000]))):
        again = Ties(ties.counts, ties.levels, missed=ties.missed, unjudged=ties.unjudged)
        for name in ("total", "relevant", "of_level", "n_relevant"):
            assert_array_equal(getattr(ties, name), getattr(again, name), err_msg=name)


def test_levels_may_be_many():
    rng = np.random.default_rng(0)
    relevance, scores = rng.uniform(size=(2, 30, 200))
    h = from_scores(relevance, scores)
    order = np.argsort(-scores, axis=1)
    gains = np.take_along_axis(relevance, order, axis=1)
    discounts = 1 / np.log2(np.arange(200) + 2)
    ideal = np.sort(relevance, axis=1)[:, ::-1] @ discounts
    assert_allclose(h.ndcg(gain="linear"), gains @ discounts / ideal)


def test_a_tolerance_ties_chains_of_scores():
    relevance, scores = [[1, 0, 0, 0, 0]], np.array([[0.1, 0.25, 0.4, 0.7, np.inf]])
    exact = from_scores(relevance, scores, order="distance")
    assert_allclose(exact.reciprocal_rank(), 1)
    chained = from_scores(relevance, scores, order="distance", tolerance=0.2)
    assert_allclose(chained.reciprocal_rank(), (1 + 1 / 2 + 1 / 3) / 3)
    run = {"q": dict(zip("abcde", (-scores[0]).tolist()))}
    of_run = from_run({"q": {"a": 1, "c": 0}}, run, tolerance=0.2)
    assert_allclose(of_run.reciprocal_rank(), (1 + 1 / 2 + 1 / 3) / 3)


def test_level_chooses_what_is_relevant():
    h = from_scores([[1, 2, 0, 3]], [[4, 3, 2, 1]])
    assert_allclose(h.average_precision(min_relevance=2), (1 / 2 + 2 / 4) / 2)
    assert_allclose(h.measure("ap:min_relevance=2"), h.average_precision(min_relevance=2))
    assert np.isnan(h.precision(k=1, min_relevance=3.5)).all()
    with pytest.raises(TypeError, match="ndcg has no parameter 'min_relevance'"):
        h.measure("ndcg", min_relevance=2)


# Names of items


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_docid_is_the_order_of_trec_eval(data):
    docs = list("abcdefg")
    scores = st.sampled_from([0.0, 0.5, 0.75])
    run = data.draw(st.dictionaries(st.sampled_from(docs), scores, min_size=1))
    qrels = data.draw(st.dictionaries(st.sampled_from(docs), st.integers(-1, 3), min_size=1))
    qrels[data.draw(st.sampled_from(docs))] = 2
    h = from_run({"q": qrels}, {"q": run})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TieWarning)
        for name, literal in OF_TREC_EVAL.items():
            [value] = h.measure(name, ties="docid")
            assert_allclose(value, literal(qrels, run), atol=1e-12, err_msg=name)


@pytest.mark.parametrize("name", OF_TREC_EVAL)
def test_the_mean_over_all_names_is_the_expectation(name):
    qrels = {"a": 2, "b": 0, "c": 1, "x": 1, "y": 0}
    run = {"a": 0.5, "b": 0.5, "c": 0.25, "d": 0.25, "e": 0.25}
    h = from_run({"q": qrels}, {"q": run})
    values = []
    for names in permutations("abcde"):
        renamed = dict(zip("abcde", names))
        of_order = {renamed.get(doc, doc): level for doc, level in qrels.items()}
        values.append(
            OF_TREC_EVAL[name](of_order, {renamed[doc]: score for doc, score in run.items()})
        )
    assert_allclose(h.measure(name), fsum(values) / len(values), atol=1e-12)
    low, high = (h.measure(name, ties=t)[0] for t in ("pessimistic", "optimistic"))
    assert_allclose([low, high], [min(values), max(values)], atol=1e-12)


# What trec_eval itself prints of the rankings below, for each query.
OF_HARD_RANKINGS = {
    "precision@3": [1 / 3, 1 / 3, 1 / 3],
    "rprec": [0.4, 1 / 3, 0],
    "ap": [0.41428571428571426, 1 / 3, 0.41666666666666663],
    "ap@3": [0.1, 1 / 6, 1 / 6],
    "ndcg:gain=linear": [0.49719077649490934, 0.5405857679450102, 0.5706417189553201],
    "ndcg@3:gain=linear": [0.13249650743056282, 0.4030302838010049, 0.3065735963827292],
    "recall@3": [0.2, 1 / 3, 0.5],
    "rr": [0.5, 0.5, 1 / 3],
    "hit_rate@1": [0, 0, 0],
    "bpref": [2 / 3, 1 / 3, 0],
    "ap:min_relevance=2": [0.22619047619047616, 0.5, np.nan],
    "precision@3:min_relevance=2": [0, 1 / 3, np.nan],
    "recall@3:min_relevance=2": [0, 1, np.nan],
    "rr:min_relevance=2": [1 / 6, 0.5, np.nan],
    "rprec:min_relevance=2": [0, 0, np.nan],
    "bpref:min_relevance=2": [0, 0, np.nan],
}


@pytest.mark.filterwarnings("ignore::sklearn_hashrank.metrics.TieWarning")
@pytest.mark.parametrize("name", OF_HARD_RANKINGS)
def test_hard_rankings_are_those_of_trec_eval(name):
    qrels = {
        "q1": {"a": 2, "b": 0, "c": 1, "é": 1, "10": 0, "9": 3, "zz": 1, "k": 0},
        "q2": {"a": 0, "B": 1, "日本": 2, "\U0001f600": 0, "uffee": 1, "x": 0},
        "q3": {"a": 1, "b": 1, "c": 0, "d": 0},
    }
    run = {
        "q1": {"a": 2.0, "b": 2, "c": 2, "é": 2, "10": 1.5, "9": 1.5, "u": 3, "v": 2, "k": 0.25},
        "q2": {"B": 1.0, "a": 1 + 1e-9, "日本": 2**24, "\U0001f600": 2**24 + 1, "x": -1e39},
        "q3": dict.fromkeys("dcbaB", 0.5),
    }
    run["q2"]["w"] = -np.inf
    h = from_run(qrels, run, dtype="float32")
    assert_allclose(h.measure(name, ties="docid"), OF_HARD_RANKINGS[name], atol=1e-15)


def test_item_ids_give_scores_an_order():
    ids = ["d", "f", "a", "e", "c", "b"]
    h = from_scores(*SIX_TIED, item_ids=ids)
    run = {"q": dict.fromkeys(ids, 0.5)}
    of_run = from_run({"q": {"d": 1, "e": 1}}, run)
    for each in (h, of_run):
        with pytest.warns(TieWarning, match=r"AP of 100.0% .* from 0.2667 to 1.0000. .* 0.5267"):
            assert_allclose(each.average_precision(ties="docid"), (1 / 2 + 2 / 3) / 2)
    stored = sparse.csr_array((np.ones(6), ([0] * 6, range(6))), shape=(1, 6))
    with pytest.warns(TieWarning):
        found = from_scores(SIX_TIED[0], stored, item_ids=ids).average_precision(ties="docid")
    assert_allclose(found, (1 / 2 + 2 / 3) / 2)
    with pytest.raises(ValueError, match="ties='docid' is the order of trec_eval"):
        from_scores(*SIX_TIED).ndcg(ties="docid")
    with pytest.raises(ValueError, match="ties='docid' is the order of trec_eval"):
        RetrievalHistogram([[[1], [1]]], [0, 1]).ndcg(ties="docid")


def test_names_that_decide_little_need_no_warning():
    rng = np.random.default_rng(0)
    scores = rng.permutation(2000).reshape(20, 100).astype(float)
    scores[0, :2] = 7000
    relevance = np.zeros((20, 100))
    relevance[:, ::9] = 1
    h = from_scores(relevance, scores, item_ids=[f"d{i}" for i in range(100)])
    report = h.tie_report()
    assert report.share == 0.05
    by_names = h.average_precision(ties="docid").mean()
    assert report.bias == pytest.approx(by_names - report.expected, abs=1e-15)
    assert report.bias != 0


# Runs


QRELS = {"q1": {"a": 1, "b": 0, "z": 2}, "q2": {"a": 1}, "q3": {"a": 0}}
RUN = {"q1": {"a": 0.5, "b": 0.75, "c": 0.6}, "q3": {"a": 1.0}, "other": {"a": 1.0}}


def test_queries_that_one_side_lacks():
    h = from_run(QRELS, RUN)
    assert h.query_ids == ["q1", "q2", "q3"]
    assert_allclose(h.average_precision(), [1 / 3 / 2, 0, np.nan])
    assert from_run(QRELS, RUN, queries="both").query_ids == ["q1", "q3"]
    with pytest.raises(ValueError, match="1 of qrels that are not in run, and 1 of run that are"):
        from_run(QRELS, RUN, queries="equal")
    with pytest.raises(ValueError, match=r"a query in common. Got queries 'q1', ... in qrels and"):
        from_run(QRELS, {"p": {"a": 1}})


def test_what_nobody_judged():
    assert_allclose(from_run(QRELS, RUN).reciprocal_rank()[0], 1 / 3)
    assert_allclose(from_run(QRELS, RUN, unjudged="remove").reciprocal_rank()[0], 1 / 2)
    with pytest.raises(ValueError, match="a judgment of every retrieved item. 1 of 4 have none"):
        from_run(QRELS, RUN, unjudged="error")


def test_single_precision_ties_what_trec_eval_ties():
    run = {"q": {"a": 1.0, "b": 1.0 + 1e-9}}
    qrels = {"q": {"a": 1}}
    assert_allclose(from_run(qrels, run).reciprocal_rank(), 0.5)
    assert_allclose(from_run(qrels, run, dtype="float32").reciprocal_rank(), 0.75)


def test_nan_is_refused_or_comes_last():
    run = {"q": {"a": float("nan"), "b": 0.5, "c": -np.inf}}
    with pytest.raises(ValueError, match="NaN for 1 of 3 items, .* item 0 of query 'q'"):
        from_run({"q": {"a": 1}}, run)
    assert_allclose(
        from_run({"q": {"a": 1}}, run, nan="last").reciprocal_rank(), (1 / 2 + 1 / 3) / 2
    )
    with pytest.raises(ValueError, match="Got NaN for 1 of 2"):
        from_scores([[1, 0]], [[np.nan, 1]])
    last = from_scores([[1, 0]], [[np.nan, 1]], nan="last", order="distance")
    assert_allclose(last.reciprocal_rank(), 0.5)


@pytest.fixture
def files(tmp_path):
    run, qrels = tmp_path / "run.txt", tmp_path / "qrels.txt"
    lines = [f"{q} Q0 {d} 1 {s} tag" for q, docs in RUN.items() for d, s in docs.items()]
    run.write_text("\n".join(lines) + "\n\n")
    lines = [f"{q}\t0\t{d}\t{v}" for q, docs in QRELS.items() for d, v in docs.items()]
    qrels.write_text("\n".join(lines))
    return qrels, run


def test_files_tables_and_tuples_are_dictionaries(files, tmp_path):
    qrels, run = files
    assert read_run(run) == RUN
    assert read_qrels(str(qrels)) == QRELS
    compressed = tmp_path / "run.gz"
    compressed.write_bytes(gzip.compress(run.read_bytes()))
    assert read_run(compressed) == RUN
    scored, judged = (
        namedtuple("S", "query_id doc_id score"),
        namedtuple("J", "query_id doc_id relevance"),
    )
    tuples = [
        [kind(q, d, v) for q, docs in of.items() for d, v in docs.items()]
        for kind, of in ((judged, QRELS), (scored, RUN))
    ]
    expected = from_run(QRELS, RUN).average_precision()
    for each in (files, tuples, map(pd.DataFrame, tuples), map(iter, tuples)):
        assert_array_equal(from_run(*each).average_precision(), expected)
    with pytest.raises(ValueError, match="run must hold item 'a' of query 'q1' once"):
        from_run(QRELS, tuples[1] * 2)
    best = from_run(QRELS, [*tuples[1], scored("q1", "a", 0.9)], duplicates="best")
    assert_allclose(best.reciprocal_rank()[0], 1)


@pytest.mark.parametrize("order", [1, -1])
def test_the_better_score_is_the_number(order, tmp_path):
    scores = [np.nan, 0.5, 0.25, np.nan][::order]
    path = tmp_path / "run"
    path.write_text("\n".join(f"q Q0 a 1 {score} t" for score in scores))
    assert read_run(path, "best") == {"q": {"a": 0.5}}
    table = pd.DataFrame({"query_id": "q", "doc_id": "a", "score": scores})
    h = from_run({"q": {"a": 1}}, table, duplicates="best")
    assert_allclose(h.reciprocal_rank(), 1)


def test_a_mark_of_the_encoding_is_no_part_of_a_query(files, tmp_path):
    for path, read, expected in zip(files, (read_qrels, read_run), (QRELS, RUN)):
        marked = "\ufeff".encode() + path.read_bytes()
        path.write_bytes(marked)
        compressed = tmp_path / "marked.gz"
        compressed.write_bytes(gzip.compress(marked))
        assert read(path) == read(compressed) == expected


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("q1 Q0 a 1 0.5", "line 6 must hold query, Q0, item, rank, score and tag. Got 5 fields"),
        ("q1 Q0 a 1 0.5 t", "line 6 has item 'a' of query 'q1' again"),
        ("q9 Q0 a 1 high t", "line 6 .* score. Got 'high'"),
        ("q9 Q0 a 1 1_0 t", "line 6 .* score. Got '1_0'"),
    ],
)
def test_wrong_lines_of_a_run_are_named(files, line, message):
    files[1].write_text(files[1].read_text().strip() + "\n" + line)
    with pytest.raises(ValueError, match=message):
        read_run(files[1])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"q1 0 a", "line 1 must hold query, iteration, item and level. Got 3 fields"),
        (b"q1 0 a 1\nq1 0 a 0", "line 2 has item 'a' of query 'q1' again"),
        (b"q1 0 a 0.5", "line 1 .* level. Got '0.5'"),
        (b"\n\n", "there are no lines of qrels"),
        (b"\xff\xfe", "is not a TREC file of qrels"),
    ],
)
def test_wrong_lines_of_qrels_are_named(tmp_path, content, message):
    path = tmp_path / "qrels"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=message):
        read_qrels(path)


@pytest.mark.parametrize(
    ("qrels", "run", "message"),
    [
        ({"q": 1}, RUN, r"qrels must be a dict of dicts, .* Got int for query 'q'"),
        (QRELS, {"q1": [1]}, r"run must be a dict of dicts, .* Got list for query 'q1'"),
        (
            {"q1": {"a": "1"}},
            RUN,
            "finite numbers as relevance levels. Those of query 'q1' are not",
        ),
        ({"q1": {"a": np.nan}}, RUN, "finite numbers as relevance levels"),
        ({"q1": {"a": 10**400, "b": 0.5}}, RUN, "finite numbers as relevance levels"),
        ({"q1": {"a": 10**400}}, RUN, "relevance levels that a float holds"),
        ({"q1": {1: 1}}, RUN, "names of one type in qrels and run, .* Got int in qrels and str in"),
        (QRELS, {"q1": {"a": "high"}}, "the scores of query 'q1' are not"),
        (QRELS, {"q1": {"a": None}}, "Got NaN for 1 of 1 items, first for item 0 of query 'q1'"),
        (QRELS, 3, "run must be a dict of dicts, the name of a TREC file, .* Got int"),
    ],
)
def test_wrong_runs_are_refused(qrels, run, message):
    with pytest.raises(ValueError, match=message):
        from_run(qrels, run)


def test_rows_of_a_run_must_have_their_fields():
    with pytest.raises(AttributeError, match="query_id"):
        from_run(QRELS, [("q1", "a", 1)])
    with pytest.raises(KeyError, match="doc_id"):
        from_run(QRELS, pd.DataFrame({"query_id": []}))


@pytest.mark.parametrize(
    "option", [{"queries": "all"}, {"unjudged": 0}, {"duplicates": "x"}, {"nan": "first"}]
)
def test_policies_are_named(option):
    [(name, given)] = option.items()
    with pytest.raises(ValueError, match=f"{name} must be one of .* Got {given!r} instead"):
        from_run(QRELS, RUN, **option)


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (([1, 0], [1, 2]), {}, r"one shape, \(n_queries, n_items\).* Got shapes \(2,\) and \(2,\)"),
        (([[1, 0]], [[1, 2, 3]]), {}, r"Got shapes \(1, 2\) and \(1, 3\)"),
        (([[1], [1]], [[1], [1, 2]]), {}, r"for query 1 shapes \[\(1,\)\] and \[\(2,\)\]"),
        (([[-1, 0]], [[1, 2]]), {}, "relevance must be finite numbers >= 0"),
        (([[np.nan, 0]], [[1, 2]]), {}, "relevance must be finite numbers >= 0"),
        (([[1, 0]], [["a", "b"]]), {}, r"scores must be .* \[\["),
        (([1, 0], [1, 2]), {"groups": [1]}, "groups must add up to the number of items, 2. Got 1"),
        (([[1, 0]], [[1, 2]]), {"order": "up"}, "order must be one of .* Got 'up'"),
        (([[1, 0]], [[1, 2]]), {"tolerance": -1}, "tolerance must be a finite number >= 0. Got -1"),
        (([[1, 0]], [[1, 2]]), {"query_ids": "ab"}, "query_ids must hold 1 .* Got 2"),
        (([[1, 0]], [[1, 2]]), {"item_ids": "a"}, "item_ids must hold 2 .* Got 1"),
        (([[1, 0]], [[1, 2]]), {"item_ids": [1, 2]}, "item_ids must be str"),
    ],
)
def test_wrong_scores_are_refused(arguments, options, message):
    with pytest.raises(ValueError, match=message):
        from_scores(*arguments, **options)


@pytest.mark.parametrize("kind", [sparse.coo_array, sparse.csr_matrix, sparse.csc_array])
def test_items_that_a_sparse_matrix_holds_twice_are_not_added_up(kind):
    twice = sparse.csr_matrix((np.array([0.5, 0.25, 0.6]), [1, 1, 2], [0, 3]), shape=(1, 4))
    if kind is sparse.csc_array:
        twice = twice.tocsc()
    elif kind is sparse.coo_array:
        twice = sparse.coo_array(twice)
    once = sparse.csr_array([[0, 1, 2, 0]])
    assert twice.nnz == 3
    for name, arguments in {"scores": (once, twice), "relevance": (twice, once)}.items():
        with pytest.raises(ValueError, match=f"{name} must hold each item of a query once"):
            from_scores(*arguments)


def test_a_score_of_none_is_nan():
    h = from_run({"q": {"a": 1}}, {"q": {"a": None, "b": 0.5}}, nan="last")
    assert_allclose(h.reciprocal_rank(), 0.5)


def test_integers_as_scores_and_levels_between_integers_have_their_forms():
    qrels, run = {"q": {"a": 0.5, "b": 1}}, {"q": {"a": 1, "b": 2}}
    expected = from_run(qrels, {"q": {"a": 1.0, "b": 2.0}}).ndcg(gain="linear")
    assert_allclose(expected, 1)
    negative = {"q": {doc: score - 9 for doc, score in run["q"].items()}}  # as distances are
    assert_allclose(from_run(qrels, negative).ndcg(gain="linear"), expected)


# Sums


def test_histograms_of_different_queries_add_up():
    rng = np.random.default_rng(0)
    relevance, scores = rng.integers(0, 3, (9, 40)), rng.integers(0, 9, (9, 40))
    ids = [f"d{i:02}" for i in range(40)]
    whole = from_scores(relevance, scores, query_ids=range(9), item_ids=ids)
    parts = [
        from_scores(relevance[p], scores[p], query_ids=range(9)[p], item_ids=ids)
        for p in (slice(0, 4), slice(4, 5), slice(5, 9))
    ]
    both = sum(parts)
    assert both.query_ids == list(range(9))
    assert_array_equal(both.counts, whole.counts)
    with pytest.warns(TieWarning):
        assert_array_equal(both.ndcg(ties="docid"), whole.ndcg(ties="docid"))
    further = from_run({"a": {"x": 7, "y": 0.5}}, {"a": {"x": 0.5}})
    assert (both + further).levels.tolist() == [0, 0.5, 1, 2, 7]
    assert_allclose((both + further).recall(k=1)[-1], 0.5)
    assert_array_equal((both + further).average_precision()[:9], whole.average_precision())


def test_histograms_of_one_query_do_not_add_up():
    h = from_run(QRELS, RUN)
    with pytest.raises(ValueError, match="ranks of a query depend on all of its scores. Got 'q"):
        h + h
    unnamed = from_scores(*SIX_TIED)
    for first, second in ((unnamed, unnamed), (h, unnamed)):
        with pytest.raises(ValueError, match="both name their queries, by query_ids"):
            first + second
    codes = RetrievalHistogram([[[1], [1]]], [0, 1])
    for first, second in ((h, codes), (codes, h)):
        with pytest.raises(ValueError, match="histograms of codes and of scores"):
            first + second


def test_a_histogram_of_scores_has_no_radius_and_no_codes():
    h = from_scores(*SIX_TIED)
    with pytest.raises(ValueError, match="lookup_precision looks within a Hamming radius. This"):
        h.lookup_precision()
    with pytest.raises(ValueError, match="code_usage needs to know"):
        h.code_usage()
    with pytest.raises(AttributeError, match="has no n_bits"):
        _ = h.n_bits
    assert repr(h) == "RetrievalHistogram(n_queries=1, levels=[0.0, 1.0], of scores)"
    assert_array_equal(pickle.loads(pickle.dumps(h)).counts, h.counts)


@pytest.mark.parametrize("shape", [(0, 5), (3, 0)])
def test_nothing_to_rank(shape):
    h = from_scores(np.zeros(shape), np.zeros(shape))
    assert np.isnan(h.ndcg()).all()
    assert len(h.ndcg()) == shape[0]


@pytest.mark.parametrize("top", [3, 5000, 2**62])
@pytest.mark.parametrize("dtype", [np.int64, np.uint8, np.float64])
def test_levels_of_any_size_and_type(top, dtype):
    levels = np.array([[0, 1, 2, min(top, np.iinfo(np.uint8).max if dtype == np.uint8 else top)]])
    h = RetrievalHistogram.from_scores(levels.astype(dtype), [[4.0, 3.0, 2.0, 1.0]])
    assert_array_equal(h.levels, np.unique(levels.astype(float)))
    assert_array_equal(h.counts.sum(axis=(0, 2)), np.ones(len(h.levels)))


def test_threads_change_no_value():
    rng = np.random.default_rng(0)
    scores, relevance = rng.integers(0, 300, (3000, 120)), rng.integers(0, 4, (3000, 120))
    one, two = (RetrievalHistogram.from_scores(relevance, scores, n_jobs=n) for n in (1, 2))
    for name in ("ap", "ndcg@10:gain=linear", "rr", "ap:ties=pessimistic"):
        assert_array_equal(one.measure(name), two.measure(name))


@pytest.mark.parametrize("offset", [0, 1 << 60])
def test_integers_are_counted_in_blocks_as_floats_are_at_once(offset, monkeypatch):
    """Also those that float64 would round; queries have different numbers of items, or none."""
    monkeypatch.setattr(_rankings, "_CONVERTED_AT_A_TIME", 7)
    rng = np.random.default_rng(0)
    sizes = [3, 0, 20, 1, 5, 7, 7, 2]
    scores = [rng.integers(0, 9, size) for size in sizes]
    levels = [rng.integers(0, 3, size) for size in sizes]
    found = RetrievalHistogram.from_scores(levels, [each + offset for each in scores])
    wanted = RetrievalHistogram.from_scores(levels, [each.astype(float) for each in scores])
    assert_array_equal(found.ndcg(), wanted.ndcg())
    assert_array_equal(found.average_precision(), wanted.average_precision())
