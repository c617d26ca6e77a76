"""Rankings in the evaluation tools of information retrieval, and ours in them."""

import warnings

import ir_measures
import numpy as np
import pytest
import pytrec_eval
from numpy.testing import assert_allclose

from sklearn_hashrank import LSHHasher, RetrievalHistogram
from sklearn_hashrank.interop import register_ir_measures, tie_aware_evaluator
from sklearn_hashrank.metrics import TieWarning

OF_PYTREC_EVAL = {
    "map": "ap",
    "map_cut_10": "ap@10",
    "ndcg": "ndcg:gain=linear",
    "ndcg_cut_10": "ndcg@10:gain=linear",
    "P_10": "precision@10",
    "recall_10": "recall@10",
    "recip_rank": "rr",
    "Rprec": "rprec",
    "success_5": "hit_rate@5",
    "bpref": "bpref",
}
OF_RANX = {
    "map": "ap",
    "ndcg": "ndcg:gain=linear",
    "ndcg@10": "ndcg@10:gain=linear",
    "ndcg_burges@10": "ndcg@10",
    "precision@10": "precision@10",
    "recall@10": "recall@10",
    "mrr": "rr",
    "mrr@10": "rr@10",
    "r-precision": "rprec",
    "hit_rate@5": "hit_rate@5",
    "f1@10": "f1@10",
}
OF_IR_MEASURES = [
    *(
        "AP",
        "AP@10",
        "AP(rel=2)",
        "nDCG",
        "nDCG@10",
        "P@10",
        "P(rel=2)@10",
    ),
    *("R@10", "R(rel=2)@10", "RR", "RR@10", "Rprec", "Rprec(rel=2)", "Success@5", "Bpref"),
    *("Bpref(rel=2)", "AP(judged_only=True)"),
]
# trec_eval divides in single precision here.
TOLERANCE = {"Bpref": 1e-7, "Bpref(rel=2)": 1e-7, "bpref": 1e-7}


def data(n_scores, seed=0, n_queries=30, n_items=60):
    """Qrels and a run of `n_scores` different scores, all of them exact in single precision."""
    rng = np.random.default_rng(seed)
    docs = np.array([f"d{i}" for i in range(2 * n_items)])
    qrels, run = {}, {}
    for q in range(n_queries):
        judged, found = (rng.choice(docs, n, replace=False) for n in (40, n_items))
        levels = rng.choice([0, 0, 1, 2, 3], 40).tolist()
        levels[0] = 2
        qrels[f"q{q}"] = dict(zip(judged.tolist(), levels))
        scores = rng.choice(n_scores, n_items, replace=n_scores < n_items) / 8
        run[f"q{q}"] = dict(zip(found.tolist(), scores.tolist()))
    return qrels, run


def values_of(histogram, name, **options):
    values = histogram.measure(name, **options)
    return dict(zip(histogram.query_ids, values.tolist()))


@pytest.mark.parametrize("n_scores", [60, 200, 5, 1])
def test_docid_is_trec_eval(n_scores):
    qrels, run = data(n_scores)
    theirs = pytrec_eval.RelevanceEvaluator(qrels, set(OF_PYTREC_EVAL)).evaluate(run)
    h = RetrievalHistogram.from_run(qrels, run)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TieWarning)
        for name, ours in OF_PYTREC_EVAL.items():
            found = values_of(h, ours, ties="docid")
            expected = {q: values[name] for q, values in theirs.items()}
            assert found == pytest.approx(expected, abs=TOLERANCE.get(name, 1e-12)), name


def test_scores_that_differ_in_double_precision_alone():
    qrels, run = data(200)
    run = {q: {d: 1 + s * 1e-9 for d, s in docs.items()} for q, docs in run.items()}
    theirs = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg"}).evaluate(run)
    h = RetrievalHistogram.from_run(qrels, run, dtype="float32")
    with pytest.warns(TieWarning):
        found = values_of(h, "ndcg:gain=linear", ties="docid")
    assert found == pytest.approx({q: v["ndcg"] for q, v in theirs.items()}, abs=1e-12)


def test_without_ties_values_are_those_of_ranx():
    ranx = pytest.importorskip("ranx")
    qrels, run = data(200)
    h = RetrievalHistogram.from_run(qrels, run)
    of_them = ranx.Qrels(qrels), ranx.Run(run)
    for name, ours in OF_RANX.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # numba's, of casts
            ranx.evaluate(*of_them, name)
        found = values_of(h, ours)
        assert found == pytest.approx(dict(of_them[1].scores[name]), abs=1e-12), name


def test_without_ties_values_are_those_of_ir_measures():
    qrels, run = data(200)
    theirs = values_of_ir_measures(ir_measures, qrels, run)
    ours = values_of_ir_measures(register_ir_measures(), qrels, run)
    for name in OF_IR_MEASURES:
        assert ours[name] == pytest.approx(theirs[name], abs=TOLERANCE.get(name, 1e-12)), name


def values_of_ir_measures(provider, qrels, run):
    values = {name: {} for name in OF_IR_MEASURES}
    parsed = {name: ir_measures.parse_measure(name) for name in OF_IR_MEASURES}
    for found in provider.iter_calc(list(parsed.values()), qrels, run):
        [name] = [name for name, measure in parsed.items() if measure == found.measure]
        values[name][found.query_id] = found.value
    return values


def test_with_ties_the_mean_of_orders_is_the_expectation():
    n_orders = 1000
    rng = np.random.default_rng(0)
    qrels, run = data(6, n_queries=3, n_items=20)
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, set(OF_PYTREC_EVAL))
    sums = {name: np.zeros((2, 3)) for name in OF_PYTREC_EVAL}
    for _ in range(n_orders):
        mixed = {
            q: {d: s + shift for (d, s), shift in zip(docs.items(), rng.uniform(0, 0.1, 20))}
            for q, docs in run.items()
        }
        for name, total in sums.items():
            values = np.array([v[name] for v in evaluator.evaluate(mixed).values()])
            total += values, values**2
    h = RetrievalHistogram.from_run(qrels, run)
    for name, ours in OF_PYTREC_EVAL.items():
        mean, square = sums[name] / n_orders
        error = np.sqrt(np.maximum(square - mean**2, 0) / n_orders)
        assert (np.abs(h.measure(ours) - mean) <= 4.5 * error + 1e-7).all(), name


def test_the_provider_takes_what_ir_measures_takes(tmp_path):
    provider = register_ir_measures()
    assert register_ir_measures() is provider
    assert ir_measures.providers.registry["hashrank"] is provider
    for name in ("RBP(p=0.5)", "ERR@10", "nDCG(gains={1:5})", "Judged@10"):
        assert not provider.supports(ir_measures.parse_measure(name))
    qrels, run = data(5)
    expected = provider.calc_aggregate([ir_measures.AP], qrels, run)
    rows = [ir_measures.ScoredDoc(q, d, s) for q, docs in run.items() for d, s in docs.items()]
    judged = [ir_measures.Qrel(q, d, v) for q, docs in qrels.items() for d, v in docs.items()]
    assert provider.calc_aggregate([ir_measures.AP], judged, iter(rows[::-1])) == expected
    some = {"q0": run["q0"], "unknown": run["q1"]}
    calculated = {m.query_id: m.value for m in provider.iter_calc([ir_measures.AP], qrels, some)}
    assert set(calculated) == set(qrels)
    assert calculated["q1"] == 0
    assert (
        provider.calc_aggregate([ir_measures.AP], qrels, {"unknown": {"d": 1}})[ir_measures.AP] == 0
    )


def test_names_of_documents_change_nothing():
    measure, provider = ir_measures.AP, register_ir_measures()
    found = set()
    for relevant in ("ab", "ef", "ad"):
        qrels, run = {"q": dict.fromkeys(relevant, 1)}, {"q": dict.fromkeys("abcdef", 0.5)}
        found.add(provider.calc_aggregate([measure], qrels, run)[measure])
    assert len(found) == 1
    assert_allclose(found.pop(), 0.527, atol=5e-4)


class Model:
    """What the evaluator asks of a SentenceTransformer."""

    def __init__(self, seed=0):
        self.table = np.random.default_rng(seed).normal(size=(60, 8)).astype(np.float32)

    def encode_query(self, texts, batch_size, show_progress_bar):
        return self.table[[int(text) for text in texts]]

    encode_document = encode_query

    def similarity(self, queries, documents):
        import torch

        return torch.as_tensor(queries @ documents.T)


@pytest.mark.parametrize("is_hashed", [False, True])
def test_the_evaluator_ranks_what_the_model_embeds(is_hashed):
    model = Model()
    queries, corpus = ({str(i): str(i) for i in r} for r in (range(9), range(10, 60)))
    y = np.arange(60) % 4
    relevant = {q: {d for d in corpus if y[int(d)] == y[int(q)]} for q in queries}
    relevant["8"] = set()
    hasher = LSHHasher(12, random_state=0).fit(model.table) if is_hashed else None
    evaluator = tie_aware_evaluator(queries, corpus, relevant, hasher=hasher, name="test")
    found = evaluator(model)
    scores, order = model.table[:8] @ model.table[10:].T, "similarity"
    if is_hashed:
        codes = hasher.predict(model.table)
        scores, order = (codes[:8, None] != codes[10:]).sum(axis=2), "distance"
    h = RetrievalHistogram.from_scores(np.equal.outer(y[:8], y[10:]), scores, order=order)
    names = ("ndcg@10:gain=linear", "ap", "rr@10", "hit_rate@1", "recall@100")
    assert evaluator.primary_metric == f"test_{names[0]}"
    assert list(found) == [f"test_{name}" for name in names]
    for name, value in found.items():
        assert_allclose(value, h.measure(name.removeprefix("test_")).mean(), rtol=1e-6)


def test_the_evaluator_refuses_unknown_texts():
    with pytest.raises(ValueError, match="Got 1 such queries, and 1 unknown names"):
        tie_aware_evaluator({"q": "a"}, {"d": "b"}, {"q": {"e"}})


def test_without_ties_the_evaluator_is_that_of_sentence_transformers():
    from sentence_transformers.sentence_transformer.evaluation import InformationRetrievalEvaluator
    from sentence_transformers.util import dot_score

    rng = np.random.default_rng(0)
    queries, corpus = ({str(i): str(i) for i in r} for r in (range(9), range(10, 60)))
    relevant = {q: set(rng.choice(list(corpus), 5, replace=False).tolist()) for q in queries}
    theirs = InformationRetrievalEvaluator(
        queries, corpus, relevant, score_functions={"dot": dot_score}, write_csv=False
    )
    model, similarities = Model(), []
    for row in model.table[:9]:
        ranked = np.argsort(-(model.table[10:] @ row))
        similarities.append([{"corpus_id": str(10 + i), "score": -n} for n, i in enumerate(ranked)])
    expected = theirs.compute_metrics(similarities)
    names = ["ndcg@10", "rr@10", "hit_rate@1", "precision@5", "recall@10"]
    found = tie_aware_evaluator(queries, corpus, relevant, measures=names)(model)
    keys = [("ndcg@k", 10), ("mrr@k", 10), ("accuracy@k", 1), ("precision@k", 5), ("recall@k", 10)]
    for name, (key, k) in zip(names, keys):
        assert_allclose(found[name], expected[key][k], err_msg=name)
