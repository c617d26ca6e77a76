"""Measures as ir_measures writes them."""

import numpy as np
import pytest

from sklearn_hashrank import RetrievalHistogram
from sklearn_hashrank.comparison._columns import columns_of, name_measures
from sklearn_hashrank.metrics import make_retrieval_scorer

RNG = np.random.default_rng(0)
HISTOGRAM = RetrievalHistogram.from_scores(
    RNG.integers(0, 4, (20, 30)), RNG.integers(0, 9, (20, 30))
)


@pytest.mark.parametrize(
    ("theirs", "name", "options"),
    [
        ("nDCG@10", "ndcg", {"k": 10, "gain": "linear"}),
        ("NDCG", "ndcg", {"gain": "linear"}),
        ("nDCG(dcg='exp-log2')@10", "ndcg", {"k": 10}),
        ("AP", "ap", {}),
        ("MAP(rel=2)", "ap", {"level": 2}),
        (" AP( rel = 2 ) @ 7 ", "ap", {"level": 2, "k": 7}),
        ("AP(cutoff=7)", "ap", {"k": 7}),
        ("RR@10", "rr", {"k": 10}),
        ("MRR", "rr", {}),
        ("Success@5", "hit_rate", {"k": 5}),
        ("P@10", "precision", {"k": 10}),
        ("Recall@100", "recall", {"k": 100}),
        ("R(rel=3)@5", "recall", {"k": 5, "level": 3}),
        ("Rprec", "rprec", {}),
        ("RBP(p=0.5)", "rbp", {"p": 0.5}),
        ("RBP(p=0.5, rel=2)@9", "rbp", {"p": 0.5, "level": 2, "k": 9}),
        ("BPref", "bpref", {}),
        ("nDCG@10:ties=optimistic", "ndcg", {"k": 10, "gain": "linear", "ties": "optimistic"}),
        (
            "AP(rel=3, cutoff=9) : ties=pessimistic:zero_division=0",
            "ap",
            {"k": 9, "level": 3, "ties": "pessimistic", "zero_division": 0},
        ),
    ],
)
def test_their_notation_is_ours(theirs, name, options):
    expected = HISTOGRAM.measure(name, **options)
    assert not np.isnan(expected).all()
    np.testing.assert_array_equal(HISTOGRAM.measure(theirs), expected)
    [(written, configured)] = make_retrieval_scorer([theirs]).measures.items()
    np.testing.assert_array_equal(HISTOGRAM.measure(configured), expected)
    assert written == (theirs if options else configured.measure.short_name)


@pytest.mark.parametrize(
    ("notation", "message"),
    [
        ("nDCG@", "an int must follow the @, as in nDCG@10 or AP"),
        ("AP(2)", r"the brackets must hold name=value, as in nDCG@10 or AP\(rel=2\)@100"),
        ("AP(rel=)", "the brackets must hold name=value"),
        ("AP(rel=__import__('os'))", "the brackets must hold name=value"),
        ("AP(**{})", "the brackets must hold name=value"),
        ("AP(depth=2)", "an option must be a str among {'cutoff', 'rel', 'p', 'dcg'}. Got 'depth'"),
        ("AP(cutoff=3)@4", "gives cutoff twice"),
        ("AP(rel=1, rel=2)", "gives an option twice"),
        ("AP(judged_only=True)", r"from_run\(..., unjudged='remove'\)"),
        ("nDCG(dcg='log3')", "dcg must be a str among {'log2', 'exp-log2'}. Got 'log3'"),
        ("AP(rel=-1)", "'level' parameter of average_precision must be a number above 0 or None"),
        ("AP:k=3", "AP is a name of ir_measures, whose options stand in brackets"),
        ("AP(rel=2):normalize=min", "AP.* is a name of ir_measures, whose options stand in"),
        ("nDCG@10@3", "nDCG is a name of ir_measures, which is written as in nDCG@10"),
        ("nDCG@10:ties=names", "'ties' parameter of ndcg must be"),
        ("nDCG@10:ties", "must read parameter=value"),
        ("RBP(p=2)", "'p' parameter of rank_biased_precision must be a float between 0 and 1"),
        ("ERR@10", "a measure must be .* Got 'ERR'"),
    ],
)
def test_wrong_notation_says_what_is_accepted(notation, message):
    with pytest.raises(ValueError, match=message):
        HISTOGRAM.measure(notation)


def test_options_are_given_once():
    with pytest.raises(TypeError, match="measure 'nDCG@10' has k already"):
        HISTOGRAM.measure("nDCG@10", k=3)
    with pytest.raises(TypeError, match="r_precision has no parameter 'k'"):
        HISTOGRAM.measure("Rprec@10")


def test_their_names_head_columns():
    titles = [c.title for c in columns_of(name_measures(["nDCG@10", "AP(rel=2)@5"]))][:2]
    assert titles == ["nDCG@10", "AP(rel=2)@5"]
