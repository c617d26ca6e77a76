"""Scores are compared as they were given: integers of any size, in every form."""

import numpy as np
import pytest
from scipy import sparse

from sklearn_hashrank import RetrievalHistogram
from sklearn_hashrank.metrics import distance_histogram

BASES = [0, 2**53, 1_700_000_000_000_000_000, 2**63, 10**30, 10**400]
RELEVANCE = [0, 1, 0]
SCORES = [2, 1, 0]  # the relevant item is second: AP is 1/2
FORMS = {
    "list": lambda scores: ([RELEVANCE], [scores]),
    "object array": lambda scores: ([RELEVANCE], np.array([scores], dtype=object)),
    "ragged": lambda scores: ([RELEVANCE, [1]], [scores, [0.5]]),
    "mixed": lambda scores: ([[*RELEVANCE, 0]], [[*scores, -0.5]]),
}


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("tolerance", [0, 0.5])
def test_integers_of_any_size(base, form, tolerance):
    scores = FORMS[form]([base + score for score in SCORES])
    h = RetrievalHistogram.from_scores(*scores, tolerance=tolerance)
    assert h.average_precision()[0] == 0.5


@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
@pytest.mark.parametrize("base", [2**53, 1_700_000_000_000_000_000])
def test_arrays_of_integers_with_a_tolerance(dtype, base):
    scores = np.array([SCORES], dtype=dtype) + dtype(base)
    assert RetrievalHistogram.from_scores([RELEVANCE], scores, tolerance=0.5).measure("ap") == 0.5
    tied = RetrievalHistogram.from_scores([RELEVANCE], scores, tolerance=1).measure("ap")
    np.testing.assert_allclose(tied, (1 + 1 / 2 + 1 / 3) / 3)


def test_a_tolerance_spans_all_integers():
    scores = np.array([[-(2**63), 0, 2**63 - 1]])
    assert (
        RetrievalHistogram.from_scores([[1, 0, 0]], scores, tolerance=2**63 - 1).counts.shape[2]
        == 2
    )
    assert RetrievalHistogram.from_scores([[1, 0, 0]], scores, tolerance=2.0**63).counts.shape == (
        *(1, 2, 1),
    )
    assert RetrievalHistogram.from_scores([[1, 0, 0]], scores, tolerance=1e300).counts.shape[2] == 1


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("tolerance", [0, 0.5])
def test_runs(base, tolerance):
    qrels = {"a": {"x": 0, "y": 1, "z": 0}, "b": {"x": 1}}
    run = {"a": {doc: base + s for doc, s in zip("xyz", SCORES)}, "b": {"w": 0.5, "x": 0.25}}
    h = RetrievalHistogram.from_run(qrels, run, tolerance=tolerance)
    np.testing.assert_array_equal(h.measure("ap"), [0.5, 0.5 if tolerance == 0 else 0.75])


def test_trec_eval_compares_in_float32():
    run = {"a": {doc: 2**53 + s for doc, s in zip("xyz", SCORES)}}
    h = RetrievalHistogram.from_run({"a": {"y": 1}}, run, dtype="float32")
    np.testing.assert_allclose(h.measure("ap"), (1 + 1 / 2 + 1 / 3) / 3)


@pytest.mark.parametrize("base", BASES)
def test_distances(base):
    distances = [[base - score for score in SCORES]]
    assert distance_histogram(distances, [1], [0, 1, 0]).average_precision() == 0.5


def test_nan_among_large_integers():
    scores = [[10**400, float("nan"), 10**400 - 1]]
    with pytest.raises(ValueError, match="NaN for 1 of 3 items"):
        RetrievalHistogram.from_scores([[0, 1, 0]], scores)
    h = RetrievalHistogram.from_scores([[0, 1, 0]], scores, nan="last")
    np.testing.assert_allclose(h.measure("ap"), 1 / 3)


@pytest.mark.parametrize("level", [10**400, 2**53 + 1])
def test_relevance_is_a_number_that_a_float_holds(level):
    with pytest.raises(ValueError, match="relevance"):
        RetrievalHistogram.from_scores([[0, level, 0.5]], [[1, 2, 3]])


def test_sparse_scores_have_rows():
    row = sparse.coo_array(np.array([1.0, 0, 2]))
    for arguments in ((row, row), ([[1, 0, 0]], row)):
        # Older versions of scipy say "1d".
        with pytest.raises(ValueError, match=r"\(3,\)|1d"):
            RetrievalHistogram.from_scores(*arguments)
    with pytest.raises(TypeError, match="sparse coo_array"):
        distance_histogram(row, [1], [1, 2, 3])
