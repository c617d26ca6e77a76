"""Measures and their options in one word."""

import numpy as np
import pytest

from sklearn_hashrank import retrieval_histogram
from sklearn_hashrank.comparison._columns import columns_of, name_measures
from sklearn_hashrank.metrics import make_retrieval_scorer
from sklearn_hashrank.metrics._configured import configure_measure

RNG = np.random.default_rng(0)
HISTOGRAM = retrieval_histogram(
    RNG.integers(0, 2, (20, 6)), RNG.integers(0, 2, (90, 6)), np.arange(20) % 3, np.arange(90) % 3
)


@pytest.mark.parametrize(
    ("notation", "name", "options"),
    [
        ("ap", "average_precision", {}),
        ("ap@5", "average_precision", {"k": 5}),
        (" ap @ 5 : normalize = retrieved ", "ap", {"k": 5, "normalize": "retrieved"}),
        ("ndcg@10:gain=linear:discount=log2", "ndcg", {"k": 10, "gain": "linear"}),
        ("average_precision:k=7:ties=optimistic", "ap", {"k": 7, "ties": "optimistic"}),
        ("recall@30:zero_division=0", "recall", {"k": 30, "zero_division": 0}),
        ("ph2@1", "ph2", {"radius": 1}),
        ("acg:radius=2", "acg", {"radius": 2}),
        ("map@7", "ap", {"k": 7, "normalize": "retrieved"}),
        ("mAP@7", "ap", {"k": 7, "normalize": "retrieved"}),
        ("rbp@9:p=0.5:min_relevance=1", "rbp", {"p": 0.5, "min_relevance": 1, "k": 9}),
    ],
)
def test_notation_is_the_measure_with_its_options(notation, name, options):
    if "log2" in notation:
        options = options | {"discount": "log2"}
    [configured] = make_retrieval_scorer([notation]).measures.values()
    found = HISTOGRAM.measure(configured)
    np.testing.assert_array_equal(found, HISTOGRAM.measure(configure_measure(name, **options)))


@pytest.mark.parametrize(
    ("notation", "message"),
    [
        ("app@5", "a measure must be .* a str among {'ap', .* Got 'app'"),
        ("ap@", "measure 'ap@': an int must follow the @, as in ndcg@100:gain=linear. Got ''"),
        ("ap@-3", "an int must follow the @"),
        ("ap@\u00b2", "an int must follow the @"),
        ("ap@0", "The 'k' parameter of average_precision must be an int >= 1 or None. Got 0"),
        ("ap@5:k=3", "measure 'ap@5:k=3' gives k twice, by @ and by k="),
        ("ap:k=3:k=3", "gives k twice"),
        ("ap@5:gain=linear", "has no parameter 'gain'. It accepts 'k', 'normalize'"),
        ("ndcg:gain=square", "must be a str among {'exponential', 'linear'}. Got 'square'"),
        ("rbp:p=2", "'p' parameter of rank_biased_precision must be a float between 0 and 1"),
        ("ap:min_relevance=-1", "'min_relevance' parameter of average_precision must be a number"),
        ("rprec@10", "r_precision has no parameter 'k'"),
        ("nDCG@10", "a measure must be .* Got 'nDCG'"),
        ("ndcg:linear", "'linear' must read parameter=value, as in ndcg@100:gain=linear"),
    ],
)
def test_wrong_notation_says_what_is_accepted(notation, message):
    with pytest.raises((ValueError, TypeError), match=message):
        make_retrieval_scorer(notation)


def test_a_list_of_notations_names_them_as_they_are_written():
    scorer = make_retrieval_scorer(["ap", "ap@5", "ap@50:normalize=min", "ph2"])
    assert list(scorer.measures) == ["ap", "ap@5", "ap@50:normalize=min", "ph2"]
    with pytest.raises(ValueError, match="holds one metric twice"):
        make_retrieval_scorer(["ap@5", "ap@5"])


def test_columns_are_headed_by_label_and_options():
    columns = columns_of(
        name_measures(["ap", "ap@5", "ndcg@100:gain=linear:discount=log2", "lookup_recall@1"])
    )
    titles = [column.title for column in columns if not column.is_time]
    assert titles == [
        "AP_T",
        "AP@5",
        "NDCG@100, gain=linear, discount=log2",
        "recall within radius@1",
    ]
    assert [column.ranged for column in columns[:4]] == [True, True, True, False]
    assert "Here k = 5." in columns[1].meaning


def test_options_are_given_once():
    with pytest.raises(TypeError, match="measure 'ndcg@10' has k already"):
        HISTOGRAM.measure("ndcg@10", k=3)
