"""The scikit-learn face of the measures."""

import inspect
import warnings

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import make_scorer
from sklearn.model_selection import cross_val_score

from sklearn_hashrank import LSHHasher, SharedLabelAffinity, metrics, retrieval_histogram
from sklearn_hashrank.metrics._measure import MEASURES

FUNCTIONS = {name: getattr(metrics, each.function_name) for name, each in MEASURES.items()}
OTHERS = {"CodeUsage", "code_usage", "precision_recall_curve"}
every_metric = pytest.mark.parametrize("name", MEASURES)


@pytest.fixture
def retrieval():
    rng = np.random.default_rng(0)
    return {
        "queries": rng.integers(0, 2, (5, 6)),
        "database": rng.integers(0, 2, (30, 6)),
        "query_y": rng.integers(0, 3, 5),
        "database_y": rng.integers(0, 3, 30),
    }


def test_every_measure_is_public_and_documented():
    names = {function.__name__ for function in FUNCTIONS.values()}
    assert names | OTHERS <= set(metrics.__all__)
    for name, function in FUNCTIONS.items():
        parameters = inspect.signature(function).parameters
        assert set(MEASURES[name].options) <= set(parameters)
        if MEASURES[name].takes_k:
            default = parameters[MEASURES[name].cut].default
            assert default == MEASURES[name].radius
    for name in names | OTHERS - {"CodeUsage"}:
        documentation = getattr(metrics, name).__doc__
        for parameter in inspect.signature(getattr(metrics, name)).parameters:
            assert f"\n    {parameter} : " in documentation
        for placeholder in ("parameters}", "options}", "{k}", "{ranks}"):
            assert placeholder not in documentation


@every_metric
@pytest.mark.parametrize(("ties", "k"), [("expected", None), ("optimistic", 4), ("pessimistic", 4)])
def test_metric_is_the_measure_of_the_histogram(retrieval, name, ties, k):
    r = retrieval
    h = retrieval_histogram(
        r["queries"], r["database"], r["query_y"], r["database_y"], keep_codes=True
    )
    cut = {} if k is None or not MEASURES[name].takes_k else {MEASURES[name].cut: k}
    expected = getattr(h, name)(ties=ties, **cut)
    arguments = (r["query_y"], r["queries"])
    options = {"database": (r["database_y"], r["database"]), "ties": ties, **cut}
    values = FUNCTIONS[name](*arguments, average=False, **options)
    np.testing.assert_array_equal(values, expected)
    mean = FUNCTIONS[name](*arguments, n_jobs=2, **options)
    assert isinstance(mean, float)
    assert mean == pytest.approx(values.mean(), abs=1e-15)


@every_metric
def test_without_a_database_every_row_retrieves_the_others(retrieval, name):
    codes, y = retrieval["database"], retrieval["database_y"]
    values = FUNCTIONS[name](y, codes, average=False)
    for i, value in enumerate(values):
        rest = np.arange(len(y)) != i
        alone = FUNCTIONS[name](y[i : i + 1], codes[i : i + 1], database=(y[rest], codes[rest]))
        assert value == pytest.approx(alone, abs=1e-14)


@every_metric
def test_queries_without_relevant_items_are_undefined(retrieval, name):
    r = retrieval
    query_y = np.where(np.arange(5) < 2, 7, r["query_y"])  # no item has label 7
    arguments, database = (query_y, r["queries"]), (r["database_y"], r["database"])
    with pytest.warns(UndefinedMetricWarning, match="2 of 5 queries have no relevant item") as log:
        mean = FUNCTIONS[name](*arguments, database=database)
    assert len(log) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        values = FUNCTIONS[name](*arguments, database=database, average=False)
        assert FUNCTIONS[name](*arguments, database=database, zero_division=0) == pytest.approx(
            values[2:].sum() / 5
        )
        ones = FUNCTIONS[name](*arguments, database=database, zero_division=1, average=False)
    assert np.isnan(values[:2]).all()
    assert mean == pytest.approx(values[2:].mean())
    np.testing.assert_array_equal(ones[:2], 1)


def test_codes_of_every_format_score_the_same(retrieval):
    codes, y = retrieval["database"].astype(np.uint8), retrieval["database_y"]
    expected = metrics.tie_aware_average_precision_score(y, codes)
    assert metrics.tie_aware_average_precision_score(y, 2.0 * codes - 1) == expected
    packed = np.packbits(codes, axis=1)
    assert metrics.tie_aware_average_precision_score(y, packed, n_bits=6) == expected


def test_fitted_affinity_is_used_as_it_is(retrieval):
    codes = retrieval["database"]
    Y = np.eye(3, dtype=int)[retrieval["database_y"]]
    affinity = SharedLabelAffinity().fit(Y)
    expected = metrics.tie_aware_ndcg_score(retrieval["database_y"], codes)
    assert metrics.tie_aware_ndcg_score(Y, codes, affinity=affinity) == expected
    with pytest.raises(ValueError, match="3 labels; this affinity was fitted with 4"):
        metrics.tie_aware_ndcg_score(Y, codes, affinity=SharedLabelAffinity().fit(np.eye(4)))


@pytest.mark.parametrize("name", ["ndcg", "lookup_precision", "r_precision"])
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cut": -1}, "'(k|radius)' parameter of .* must be an int >= (0|1 or None). Got -1 inst"),
        ({"cut": 2.0}, "Got 2.0 instead"),
        ({"ties": "average"}, "'ties' parameter .* {'expected', .* Got 'average' instead"),
        ({"zero_division": 2}, "'zero_division' .* Got 2 instead"),
        ({"database": np.zeros((500, 8))}, r"database must be None .* Got array\(.{,80}$"),
        ({"database": [1, 2, 3]}, r"database must be None or a tuple \(y_database, database_codes"),
        ({"average": "macro"}, "average must be True or False. Got 'macro'"),
        ({"cut": 10**400}, "must be an int >= "),
        ({"ties": np.array(["a"])}, "Got array"),
        ({"n_bits": 3}, "6 columns; codes of n_bits=3 have 3 columns"),
        ({"affinity": "classes"}, "affinity must be 'auto' or .* Got 'classes'"),
    ],
)
def test_bad_options_are_refused(retrieval, name, options, message):
    if "cut" in options and not MEASURES[name].takes_k:
        with pytest.raises(TypeError, match="unexpected keyword argument 'k'"):
            FUNCTIONS[name](retrieval["database_y"], retrieval["database"], k=options["cut"])
        return
    options = {MEASURES[name].cut if key == "cut" else key: v for key, v in options.items()}
    with pytest.raises(ValueError, match=message):
        FUNCTIONS[name](retrieval["database_y"], retrieval["database"], **options)


def test_bad_options_of_one_measure_are_refused(retrieval):
    y, codes = retrieval["database_y"], retrieval["database"]
    with pytest.raises(ValueError, match="'normalize' .* Got 'k' instead"):
        metrics.tie_aware_average_precision_score(y, codes, normalize="k")
    with pytest.raises(ValueError, match="'gain' .* Got 'square' instead"):
        metrics.tie_aware_ndcg_score(y, codes, gain="square")
    with pytest.raises(ValueError, match="'discount' .* Got 'ln' instead"):
        metrics.tie_aware_dcg_score(y, codes, discount="ln")
    with pytest.raises(TypeError, match="gain"):
        metrics.tie_aware_recall_score(y, codes, gain="linear")


def test_make_scorer_works_as_it_is():
    X, y = load_digits(return_X_y=True)
    scorer = make_scorer(metrics.tie_aware_average_precision_score)
    scores = cross_val_score(LSHHasher(n_bits=16, random_state=0), X, y, scoring=scorer, cv=3)
    assert scores.shape == (3,)
    assert np.all((scores > 0.15) & (scores < 1))
