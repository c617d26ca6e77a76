"""Parameters that validation must not let pass."""

import numpy as np
import pytest

from sklearn_hashrank import (
    LSHHasher,
    TALRLinear,
)
from sklearn_hashrank._features.block_rows import check_batch_size
from sklearn_hashrank._utils.parameters import is_finite, is_int, is_real
from sklearn_hashrank._utils.threads import check_n_jobs
from sklearn_hashrank.affinity._euclidean import EuclideanAffinity
from sklearn_hashrank.affinity._neighbors import NeighborAffinity
from sklearn_hashrank.comparison import compare
from sklearn_hashrank.datasets import fetch_mnist
from sklearn_hashrank.feature_extraction import GIST
from sklearn_hashrank.model_selection import (
    PerClassRetrievalSplit,
    RetrievalKFold,
    cross_validate_retrieval,
)

X = np.random.default_rng(0).normal(size=(20, 4))
Y = np.arange(20) % 2


@pytest.mark.parametrize("value", [True, np.True_])
@pytest.mark.parametrize(
    ("ask", "name"),
    [
        (lambda value: GIST(orientations=[8, value]).fit(np.ones((2, 64))), "orientations"),
        (lambda value: compare(X, Y, methods=["lsh"], seeds=value), "seeds"),
        (lambda value: compare(X, Y, methods=["lsh"], n_bits=[value]), "n_bits"),
        (lambda value: compare(X, Y, rescore=value), "n_neighbors"),
        (lambda value: NeighborAffinity(value).fit(X), "n_neighbors"),
        (lambda value: NeighborAffinity([value, 2]).fit(X), "n_neighbors"),
        (lambda value: EuclideanAffinity(max_samples=value).fit(X), "max_samples"),
        (lambda value: next(RetrievalKFold(value).split(X)), "n_splits"),
        (lambda value: next(PerClassRetrievalSplit(value).split(X, Y)), "n_queries"),
        (lambda value: cross_validate_retrieval(LSHHasher(), X, Y, cv=value), "cv"),
        (
            lambda value: cross_validate_retrieval(LSHHasher(), X, Y, error_score=value),
            "error_score",
        ),
    ],
)
def test_booleans_are_no_numbers(ask, name, value):
    with pytest.raises(ValueError, match=f"{name}.* must .* Got .*True"):
        ask(value)


def test_booleans_pass_where_they_are_meant():
    assert TALRLinear(2, max_iter=1, verbose=False, early_stopping=False).fit(X, Y).n_bits_ == 2
    with pytest.raises(OSError, match="download_if_missing is False"):
        fetch_mnist(data_home="nowhere", download_if_missing=False)


@pytest.mark.parametrize("value", [True, np.False_, 1.0, "1", None])
def test_one_helper_says_what_an_int_is(value):
    assert not is_int(value)
    assert is_int(1)
    assert is_int(np.uint8(3), 3)
    assert not is_int(np.int64(-1), 0)
    for check in (check_n_jobs, check_batch_size):
        if value is not None:
            with pytest.raises(ValueError, match="must be"):
                check(value)


@pytest.mark.parametrize(
    ("value", "expected"),
    [(1, True), (0.5, True), (np.float32(2), True), (True, False), (np.True_, False), ("1", False)],
)
def test_one_helper_says_what_a_number_is(value, expected):
    assert is_real(value) == is_finite(value) == expected


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan, 10**400, -(10**400), np.float32("inf")])
def test_what_no_float_holds_is_not_finite(value):
    assert is_real(value)
    assert not is_finite(value)
