"""Tests of differences between systems on the same queries."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from sklearn_hashrank import RetrievalHistogram
from sklearn_hashrank.metrics import holm_correction, paired_test, randomized_tukey_hsd
from tests.oracle.paired_tests import holm, randomization_p_value, tukey_p_values

METHODS = ["randomization", "student", "wilcoxon", "bootstrap"]
shares = st.integers(0, 8).map(lambda n: n / 8)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(shares, shares), min_size=2, max_size=7))
def test_few_queries_are_tested_by_all_changes_of_sign(pairs):
    a, b = zip(*pairs)
    result = paired_test(a, b)
    assert result.pvalue == pytest.approx(randomization_p_value(a, b), abs=1e-12)
    assert result.statistic == pytest.approx(np.mean(a) - np.mean(b))


@pytest.mark.parametrize("method", METHODS)
def test_exchanging_the_systems_changes_the_sign_alone(method):
    rng = np.random.default_rng(0)
    a, b = rng.uniform(size=(2, 40))
    there, back = (paired_test(*p, method=method, random_state=0) for p in ((a, b), (b, a)))
    assert there.statistic == -back.statistic
    assert_allclose(there.pvalue, back.pvalue, atol=0.02)
    assert_allclose(
        there.confidence_interval, np.negative(back.confidence_interval)[::-1], atol=0.02
    )


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("shift", [0.0, 0.02, 0.4])
def test_methods_agree_where_differences_are_normal(method, shift):
    d = np.random.default_rng(3).normal(scale=0.1, size=200)
    d += shift - d.mean()
    result = paired_test(d, np.zeros(200), method=method, random_state=0)
    expected = stats.ttest_1samp(d, 0.0)
    assert_allclose(result.pvalue, expected.pvalue, atol=0.06)
    assert_allclose(result.confidence_interval, expected.confidence_interval(), atol=0.006)
    low, high = result.confidence_interval
    assert (low <= 0 <= high) == (result.pvalue > 0.05)


def test_student_is_that_of_scipy():
    a, b = np.random.default_rng(1).uniform(size=(2, 30))
    result, expected = paired_test(a, b, method="student", confidence=0.9), stats.ttest_rel(a, b)
    assert_allclose(result.pvalue, expected.pvalue)
    assert_allclose(result.confidence_interval, expected.confidence_interval(0.9))


def test_the_randomization_interval_holds_what_the_test_does_not_reject():
    a, b = np.random.default_rng(5).uniform(size=(2, 9))
    low, high = paired_test(a, b, confidence=0.9).confidence_interval
    for shift, is_rejected in (
        (low, False),
        (high, False),
        (low - 1e-6, True),
        (high + 1e-6, True),
    ):
        assert (paired_test(a - shift, b).pvalue < 0.1) == is_rejected


def test_the_wilcoxon_interval_is_between_means_of_two_differences():
    d = np.random.default_rng(6).normal(size=25)
    means = np.sort(((d[:, None] + d) / 2)[np.triu_indices(25)])
    place = int(325 / 2 + stats.norm.ppf(0.025) * np.sqrt(325 * 51 / 12))
    result = paired_test(d, np.zeros(25), method="wilcoxon")
    assert_allclose(result.confidence_interval, [means[place], means[-1 - place]])
    assert result.pvalue == stats.wilcoxon(d).pvalue


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_intervals_cover_as_often_as_they_say(method):
    rng = np.random.default_rng(0)
    n_covered = 0
    for seed in range(200):
        d = 0.1 + rng.normal(size=60)
        low, high = paired_test(
            d, np.zeros(60), method=method, n_resamples=399, random_state=seed
        ).confidence_interval
        n_covered += low <= 0.1 <= high
    assert n_covered >= 190 - 4 * np.sqrt(200 * 0.05 * 0.95)


@pytest.mark.parametrize("method", METHODS)
def test_equal_systems_do_not_differ(method):
    result = paired_test([0.5, np.nan, 1, 0], [0.5, np.nan, 1, 0], method=method)
    assert (result.pvalue, result.confidence_interval, result.n_queries) == (1.0, (0.0, 0.0), 3)


@pytest.mark.parametrize("method", METHODS)
def test_a_constant_difference_needs_no_warning(method):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = paired_test(np.full(30, 0.75), np.full(30, 0.5), method=method, random_state=0)
    assert result.pvalue < 1e-3
    assert_allclose(result.confidence_interval, 0.25)


def test_the_same_seed_gives_the_same_result():
    a, b = np.random.default_rng(2).uniform(size=(2, 50))
    for method in ("randomization", "bootstrap"):
        first, second = (paired_test(a, b, method=method, random_state=7) for _ in "ab")
        assert first == second


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(0, 1), max_size=8))
def test_holm_is_its_definition(p_values):
    assert_allclose(holm_correction(p_values), holm(p_values))


def test_tukey_approaches_all_exchanges():
    systems = np.array([[0.1, 0.5, 0.2, 0.4], [0.2, 0.4, 0.9, 0.5], [0.9, 0.8, 0.9, 0.6]])
    found = randomized_tukey_hsd(systems, random_state=0)
    exact = np.array(tukey_p_values(systems.tolist()))
    assert_allclose(found, exact, atol=4 * 0.5 / np.sqrt(9999))
    assert_array_equal(np.diag(found), 1)
    assert_array_equal(found, found.T)


def test_tukey_does_not_depend_on_the_unit():
    systems = np.random.default_rng(0).uniform(size=(3, 20)) + [[0], [0.1], [0.4]]
    expected = randomized_tukey_hsd(systems, n_resamples=99, random_state=0)
    assert expected.min() < 0.1
    for unit in (2.0**-70, 2.0**70):
        found = randomized_tukey_hsd(systems * unit, n_resamples=99, random_state=0)
        assert_array_equal(found, expected)


def test_tukey_of_two_systems_is_the_randomization_test():
    a, b = np.random.default_rng(4).uniform(size=(2, 40)) + [[0.15], [0]]
    found = randomized_tukey_hsd([a, b], random_state=0)[0, 1]
    assert_allclose(found, paired_test(a, b, random_state=0).pvalue, atol=0.02)


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (([0.1], [0.2]), {}, "two queries with a value. Got 1"),
        (([0.1, 0.2], [0.2]), {}, r"of the same queries. Got \[2, 1\] values"),
        (([0.1, np.nan, 1], [0.2, 0.1, 1]), {}, "Query 1 is NaN in some of them only"),
        (([0.1, np.inf], [0.2, 0.1]), {}, "finite numbers"),
        ((0.3, 0.4), {}, r"one value for each query.*average=False.* Got shape \(\)"),
        ((RetrievalHistogram([[[1, 1]]], [0]), [0, 1]), {}, "Got RetrievalHistogram"),
        (([0, 1], [1, 0]), {"method": "sign"}, "method must be one of .*'student'.* Got 'sign'"),
        (
            ([0, 1], [1, 0]),
            {"confidence": 95},
            "confidence must be a float between 0 and 1. Got 95",
        ),
        (([0, 1], [1, 0]), {"n_resamples": 0}, "n_resamples must be an int >= 1. Got 0"),
    ],
)
def test_wrong_values_are_refused(arguments, options, message):
    with pytest.raises(ValueError, match=message):
        paired_test(*arguments, **options)


def test_wrong_values_of_many_systems_are_refused():
    with pytest.raises(ValueError, match=r"shape \(n_systems, n_queries\).* Got shape \(3,\)"):
        randomized_tukey_hsd([0.1, 0.2, 0.3])
    with pytest.raises(ValueError, match="p_values must be numbers between 0 and 1"):
        holm_correction([0.2, 1.2])
