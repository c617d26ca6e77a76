"""The registry: names, measures of users, and options that are checked once."""

import copy
import inspect
import pickle
import subprocess
import sys
from typing import get_args, get_type_hints

import cloudpickle
import numpy as np
import pytest

from sklearn_hashrank import LSHHasher, RetrievalHistogram, metrics, retrieval_histogram
from sklearn_hashrank.metrics import (
    Measure,
    list_measures,
    register_measure,
)
from sklearn_hashrank.metrics._configured import configure_measure
from sklearn_hashrank.metrics._measure import MEASURES, TIE_ORDERS, TieOrder
from sklearn_hashrank.metrics._registry import forget, get_measure
from tests.metrics import method_stub

SHORT_NAMES = {
    "average_precision": "ap",
    "ndcg": "ndcg",
    "dcg": "dcg",
    "precision": "precision",
    "recall": "recall",
    "f1": "f1",
    "reciprocal_rank": "rr",
    "average_precision_at_r": "map_r",
    "r_precision": "rprec",
    "hit_rate": "hit_rate",
    "rank_biased_precision": "rbp",
    "bpref": "bpref",
    "lookup_precision": "ph2",
    "lookup_recall": "lookup_recall",
    "average_cumulative_gain": "acg",
    "local_group_average_precision": "mlgap",
}
RANKING = [name for name, measure in MEASURES.items() if measure.radius is None]


def success(ties, k=None, which="any"):
    """Whether the first k items hold a relevant one, or only such."""
    hits = ties.hits(k)
    return np.minimum(hits, 1) if which == "any" else hits / (ties.n_items if k is None else k)


@pytest.fixture
def histogram():
    counts = np.random.default_rng(0).integers(0, 4, (6, 2, 9))
    counts[0, 1] = 0
    return RetrievalHistogram(counts, [0, 1])


@pytest.fixture
def registered():
    """Register measures for one test."""
    names = []

    def register(name, function, **options):
        measure = register_measure(name, function, **options)
        names.append(name)
        return measure

    yield register
    for name in set(names):
        forget(get_measure(name))


# Names


def test_names_that_were_given_stay():
    found = {name: measure.short_name for name, measure in MEASURES.items()}
    assert SHORT_NAMES.items() <= found.items()
    assert list_measures() == list(MEASURES.values())


@pytest.mark.parametrize("name", MEASURES)
def test_every_name_and_the_function_find_the_measure(name):
    measure = MEASURES[name]
    function = getattr(metrics, measure.function_name)
    spelled_out = [f"tie_aware_{measure.short_name}"] if name in RANKING else []
    for wanted in (
        name,
        measure.short_name,
        measure.function_name,
        *spelled_out,
        function,
        measure.function,
        measure,
    ):
        assert get_measure(wanted) is measure


def test_a_function_of_the_same_name_is_another_one():
    def recall(ties, k=None):
        return ties.hits(k)

    for unknown in (recall, "map", None, len, metrics.code_usage, 3):
        with pytest.raises(ValueError, match=r"or a str among {'ap', 'ndcg', .* Got "):
            get_measure(unknown)


@pytest.mark.parametrize("measure", MEASURES.values(), ids=MEASURES)
def test_measures_of_the_package_are_pickled_by_name(measure):
    assert pickle.loads(pickle.dumps(measure)) is measure
    assert copy.deepcopy(measure) is measure
    assert len(pickle.dumps(measure)) < 150


# Methods


@pytest.mark.parametrize("name", MEASURES)
def test_functions_are_written_out_and_typed(name):
    measure = MEASURES[name]
    function = getattr(metrics, measure.function_name)
    parameters, hints = inspect.signature(function).parameters, get_type_hints(function)
    assert set(measure.parameters) <= set(parameters)
    if measure.takes_k:
        assert parameters[measure.cut].default == measure.radius
        assert hints[measure.cut] == (int if measure.radius is not None else int | None)
    else:
        assert "k" not in parameters
    assert hints["ties"] == TieOrder
    for option, values in measure.options.items():
        if isinstance(values, float):
            assert (hints[option], parameters[option].default) == (float, values)
            continue
        assert get_args(hints[option]) == values
        assert parameters[option].default == values[0]


@pytest.mark.parametrize("name", MEASURES)
def test_methods_have_the_keywords_of_the_measure(histogram, name):
    signature = inspect.signature(getattr(histogram, name))
    defaults = {name: keyword.default for name, keyword in MEASURES[name].keywords.items()}
    assert {name: each.default for name, each in signature.parameters.items()} == defaults
    with pytest.raises(TypeError):
        getattr(histogram, name)(3)
    with pytest.raises(TypeError, match="has no parameter 'tie'"):
        getattr(histogram, name)(tie="expected")


def test_the_stub_of_the_methods_is_current():
    assert method_stub.PATH.read_text() == method_stub.stub(), "python -m tests.metrics.method_stub"


@pytest.mark.parametrize("name", RANKING)
def test_a_method_hands_on_every_option(histogram, name):
    measure = MEASURES[name]
    options = {"k": 3} if measure.takes_k else {}
    options |= {"ties": "optimistic", "zero_division": 0.25}
    options |= {} if measure.is_graded else {"min_relevance": 0.5}
    for option, values in measure.options.items():
        options[option] = 0.5 if isinstance(values, float) else values[-1]
    values = getattr(histogram, name)(**options)
    np.testing.assert_array_equal(values, histogram.measure(measure.short_name, **options))
    assert values[0] == 0.25


# Measures of users


def test_a_function_becomes_a_measure(histogram, registered):
    measure = registered(
        "success", success, short_name="s", options={"which": ("any", "all")}, label="S"
    )
    assert measure.parameters == ("k", "which", "ties", "zero_division", "min_relevance")
    assert list_measures() == [*MEASURES.values(), measure]
    expected = histogram.precision(k=3)
    for wanted in ("success", "s", success, measure):
        values = histogram.measure(wanted, k=3, which="all")
        np.testing.assert_array_equal(values, expected)
    low, mean, high = (
        histogram.measure("s", k=3, ties=ties, zero_division=0)
        for ties in ("pessimistic", "expected", "optimistic")
    )
    assert (low <= mean).all()
    assert (mean <= high).all()
    assert (low < high).any()
    with pytest.raises(ValueError, match="'which' parameter of success .* Got 'some' instead"):
        histogram.measure("s", which="some")


def test_the_first_value_of_an_option_is_its_default(histogram):
    for function in (success, lambda ties, k, which: success(ties, k, which)):
        measure = Measure("success", function, options={"which": ["all", "any"]})
        expected = histogram.precision(k=3)
        np.testing.assert_array_equal(histogram.measure(measure, k=3), expected)


def test_a_measure_of_ones_own_makes_scorers(registered):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 6)), rng.integers(0, 3, 40)
    hasher = LSHHasher(5, random_state=0).fit(X, y)
    expected = metrics.tie_aware_precision_score(y, hasher.predict(X), k=3)
    registered("share", lambda ties, k=None: ties.hits(k) / k)
    assert "share" in [measure.short_name for measure in list_measures()]
    scorer = metrics.make_retrieval_scorer("share", k=3)
    assert scorer(hasher, X, y) == pytest.approx(expected, rel=1e-15)
    both = metrics.make_retrieval_scorer(["ap", "share@3"])
    assert both(hasher, X, y)["share@3"] == scorer(hasher, X, y)
    assert repr(scorer) == "make_retrieval_scorer('share', k=3)"


def test_a_measure_may_ask_for_the_fullest_codes(registered):
    rng = np.random.default_rng(0)
    codes, y = rng.integers(0, 2, (30, 4)), rng.integers(0, 2, 30)

    def fullest(ties, radius=1):
        return ties.peaks.max(axis=1)

    registered("fullest", fullest, bounded=False, radius=1, needs_codes=True)
    kept = retrieval_histogram(codes, codes, y, y, keep_codes=True)
    weights = 2 ** np.arange(4)
    distances = (codes[:, None] != codes).sum(axis=2)
    for radius in (0, 1, 4):
        expected = [
            np.bincount((codes @ weights)[row <= radius]).max(initial=0) for row in distances
        ]
        np.testing.assert_array_equal(kept.measure("fullest", radius=radius), expected)
    with pytest.raises(ValueError, match=r"fullest needs to know .* keep_codes=True"):
        retrieval_histogram(codes, codes, y, y).measure("fullest")


IN_A_NEW_PROCESS = """
import pickle, sys
from sklearn_hashrank.metrics import list_measures
measure, scorer, hasher, histogram, X, y = pickle.load(sys.stdin.buffer)
print(histogram.measure(measure, k=2).tolist(), scorer(hasher, X, y))
"""


@pytest.mark.process
def test_a_measure_of_ones_own_goes_to_processes_that_do_not_know_it(histogram, registered):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 6)), rng.integers(0, 3, 20)
    hasher = LSHHasher(5, random_state=0).fit(X, y)
    measure = registered(
        "share", lambda ties, k=None, a="b": ties.hits(k) / k, options={"a": ["b"]}
    )
    scorer = metrics.make_retrieval_scorer("share", k=2)
    content = cloudpickle.dumps((measure, scorer, hasher, histogram, X, y))
    done = subprocess.run(
        [sys.executable, "-c", IN_A_NEW_PROCESS], input=content, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr
    expected = f"{histogram.measure('share', k=2).tolist()} {scorer(hasher, X, y)}"
    assert done.stdout.decode().strip() == expected


def test_a_function_of_a_module_is_pickled_with_its_measure(registered):
    measure = registered("success", success, options={"which": ("any", "all")})
    again = pickle.loads(pickle.dumps(measure))
    assert again == measure
    assert hash(again) == hash(measure)


def test_an_option_may_be_a_number_between_0_and_1(histogram, registered):
    def first_share(ties, k=None, weight=0.5):
        return weight * ties.hits(k) / k

    measure = registered("first_share", first_share, options={"weight": 0.25})
    expected = histogram.precision(k=3) * 0.25
    np.testing.assert_allclose(histogram.measure("first_share", k=3), expected)
    np.testing.assert_allclose(histogram.measure("first_share@3:weight=0.5"), expected * 2)
    assert pickle.loads(cloudpickle.dumps(measure)).options == {"weight": 0.25}
    for wrong in (0, 1.5, "half", True):
        with pytest.raises(ValueError, match="'weight' parameter of first_share must be a float"):
            histogram.measure("first_share", weight=wrong)


def test_a_measure_of_ones_own_takes_a_level_unless_it_is_graded(registered):
    h = RetrievalHistogram([[[0, 1], [1, 0], [0, 1]]], [0, 1, 2])
    registered("found", lambda ties, k=None: ties.hits(k) / ties.n_relevant)
    registered(
        "gained", lambda ties, k=None: ties.gain(ties.levels)[:, 0], bounded=False, is_graded=True
    )
    np.testing.assert_allclose(h.measure("found", k=1), 0.5)
    np.testing.assert_allclose(h.measure("found", k=1, min_relevance=2), 0)
    np.testing.assert_allclose(h.measure("found", k=2, min_relevance=2), 0.5)
    with pytest.raises(TypeError, match="gained has no parameter 'min_relevance'"):
        h.measure("gained", min_relevance=2)


# Refusals


def test_registering_the_same_again_changes_nothing(registered):
    first = registered("success", success, label="success")
    assert register_measure("success", success, label="success") is first


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("ndcg", {}, "'ndcg' already names another measure, ndcg. Choose another name."),
        ("ap", {}, "'ap' already names another measure, average_precision."),
        ("tie_aware_rr", {}, "already names another measure, reciprocal_rank."),
        ("tie_aware_ndcg_score", {}, "already names another measure, ndcg."),
        ("new", {"short_name": "f1"}, "'f1' already names another measure, f1."),
        ("new", {"short_name": "success"}, "'success' already names another measure, success"),
    ],
)
def test_names_are_taken_once(registered, name, options, message):
    registered("success", success)
    with pytest.raises(ValueError, match=message):
        register_measure(name, lambda ties, k=None: ties.n_items, **options)
    assert len(list_measures()) == len(MEASURES) + 1


def test_registering_a_name_again_replaces_the_measure(registered):
    registered("success", success, short_name="hit")
    second = register_measure("success", lambda ties, k=None: 0 * ties.n_items, short_name="hits")
    assert list_measures()[-1] is get_measure("hits") is second
    with pytest.raises(ValueError, match="'hit'"):
        get_measure("hit")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"name": "hit rate"},
            "'name' parameter of a measure must be an identifier, .* 'hit rate'",
        ),
        ({"name": 3}, "must be an identifier, such as 'hit_rate'. Got 3 instead"),
        ({"short_name": "a-b"}, "'short_name' parameter of a measure .* Got 'a-b'"),
        ({"function": 3}, r"function\(ties, k\).* Got 3"),
        ({"function": lambda ties: 0}, r"function\(ties, k\).* Got .function\(ties\)"),
        ({"options": {"a": ("b",)}}, r"callable as function\(ties, k, a=...\)"),
        ({"options": ["a"]}, r"'options' parameter of new must be a mapping .* Got \['a'\]"),
        ({"options": {"a": "bc"}}, "each a str, the default first. Got {'a': 'bc'}"),
        ({"options": {"a": ()}}, "the default first"),
        ({"options": {"a": (1, 2)}}, "the default first"),
        ({"options": {"a": ("b", "b")}}, "the default first"),
        ({"options": {"ties": ("b",)}}, "'ties' cannot be an option of new: every measure has it"),
        ({"radius": -1}, "'radius' parameter of new must be an int >= 0 or None. Got -1"),
        ({"needs_codes": True}, "an int >= 0 if needs_codes is True. Got None"),
        ({"options": {"a": 1.5}}, "a float between 0 and 1, or to their values, .* Got {'a': 1.5}"),
        ({"options": {"min_relevance": 0.5}}, "'min_relevance' cannot be an option of new"),
        ({"bound": lambda ties, k: 0}, r"callable as bound\(ties, k, best_first\)"),
        ({"bound": success, "radius": 1}, "must be None with a radius"),
    ],
)
def test_measures_must_be_well_formed(arguments, message):
    arguments = {"name": "new", "function": lambda ties, k=None: ties.n_items, **arguments}
    with pytest.raises(ValueError, match=message):
        register_measure(**arguments)
    assert list_measures() == list(MEASURES.values())


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda ties, k: ties.total, r"shape \(6,\). Got shape \(6, 9\) of float64 instead"),
        (lambda ties, k: 0.5, r"Got shape \(\) of float64"),
        (lambda ties, k: None, r"Got shape \(\) of object"),
        (lambda ties, k: ["a"] * 6, r"Got shape \(6,\) of <U1"),
        (lambda ties, k: np.full(6, np.nan), "'bad' returned nan for a query with relevant items"),
        (lambda ties, k: ties.n_relevant, r"'bad' must lie in \[0, 1\], unless .*bounded=False"),
        (lambda ties, k: -ties.n_relevant, r"'bad' must lie in \[0, 1\], .* Got -"),
    ],
)
def test_values_that_are_none_are_refused(histogram, function, message):
    for ties in TIE_ORDERS:
        with pytest.raises(ValueError, match=message):
            histogram.measure(Measure("bad", function), k=2, ties=ties)


def test_undefined_values_of_undefined_queries_are_not_looked_at(histogram):
    def share(ties, k=None):
        with np.errstate(invalid="ignore"):
            return ties.hits(k) / ties.n_relevant

    values = histogram.measure(Measure("share", share), zero_division=0.5)
    np.testing.assert_allclose(values, [0.5, 1, 1, 1, 1, 1], rtol=1e-15)


# Options


def test_checked_options_are_evaluated_as_they_are(histogram):
    configured = configure_measure("ndcg", k=np.int64(3), gain="linear")
    np.testing.assert_array_equal(histogram.measure(configured), histogram.ndcg(k=3, gain="linear"))
    again = pickle.loads(pickle.dumps(configured))
    np.testing.assert_array_equal(histogram.measure(again), histogram.measure(configured))
    with pytest.raises(TypeError, match="ndcg has its options already. Got {'k': 2}"):
        histogram.measure(configured, k=2)
