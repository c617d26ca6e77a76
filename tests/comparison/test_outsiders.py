"""Estimators that are no part of the package go wherever hashers go: public imports only."""

import re

import numpy as np
import pytest
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.decomposition import PCA
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Binarizer, FunctionTransformer, StandardScaler

from sklearn_hashrank import ITQHasher, LSHHasher
from sklearn_hashrank.base import LinearHasher
from sklearn_hashrank.comparison import compare
from sklearn_hashrank.metrics import TieRangeDisplay, make_retrieval_scorer
from sklearn_hashrank.model_selection import (
    PerClassRetrievalSplit,
    RetrievalKFold,
    cross_validate_retrieval,
)

PROTOCOL = PerClassRetrievalSplit(n_queries=5, n_train=30)
SETTINGS = {"n_bits": [8, 12], "seeds": [0], "protocol": PROTOCOL}
TIMES = {"fit_seconds", "encode_microseconds"}


class MeanHasher(TransformerMixin, BaseEstimator):
    """Only fit and transform."""

    def __init__(self, n_bits=8):
        self.n_bits = n_bits

    def fit(self, X, y=None):
        self.mean_ = X.mean(axis=0)
        self.columns_ = np.argsort(-X.var(axis=0))[: self.n_bits]
        return self

    def transform(self, X):
        return np.where(self.mean_ < X, 1, -1)[:, self.columns_]


class MedianHasher(LinearHasher):
    """Without random_state, as in the tutorial."""

    def __init__(self, n_bits=8, *, output="bits"):
        self.n_bits = n_bits
        self.output = output

    def fit(self, X, y=None):
        X, y = self._validate_training_data(X, y)
        chosen = np.argsort(-X.var(axis=0), kind="stable")[: self.n_bits]
        self._set_hyperplanes(np.eye(X.shape[1])[chosen], np.median(X, axis=0), X.dtype)
        self._keep_database(X, y)
        return self


class SignHasher(TransformerMixin, BaseEstimator):
    """No n_bits: as many bits as features."""

    def fit(self, X, y=None):
        self.n_bits_ = X.shape[1]
        return self

    def transform(self, X):
        return np.packbits(X > 0, axis=1)


def outsiders():
    return {
        "mean": MeanHasher(),
        "median": MedianHasher(),
        "pipeline": make_pipeline(StandardScaler(), PCA(20), MeanHasher()),
        "signs": make_pipeline(PCA(10), SignHasher()),
        "itq of a pipeline": make_pipeline(PCA(20), ITQHasher(8, max_iter=3, random_state=0)),
    }


def numbers(comparison):
    return {
        (r.method, r.n_bits, r.seed): {k: v for k, v in r.scores.items() if k not in TIMES}
        for r in comparison.results
    }


@pytest.fixture(scope="module")
def compared(digits):
    return compare(*digits, methods=outsiders(), **SETTINGS)


def test_outsiders_are_compared(compared, digits):
    assert not compared.failures
    assert {(r.method, r.n_bits) for r in compared.results} == {
        (name, n) for name in outsiders() for n in ((10,) if name == "signs" else (8, 12))
    }
    X, y = digits
    train, query, database = next(PerClassRetrievalSplit(5, 30, random_state=0).split(X, y))
    scorer = make_retrieval_scorer("tie_aware_ap", database=(X[database], y[database]))
    pipeline = make_pipeline(StandardScaler(), PCA(20, random_state=0), MeanHasher(12))
    expected = scorer(pipeline.fit(X[train], y[train]), X[query], y[query])
    assert numbers(compared)["pipeline", 12, 0]["ap"] == expected
    itq = make_pipeline(PCA(20, random_state=0), ITQHasher(12, max_iter=3, random_state=0))
    expected = scorer(itq.fit(X[train], y[train]), X[query], y[query])
    assert numbers(compared)["itq of a pipeline", 12, 0]["ap"] == expected


def test_outsiders_are_compared_in_other_processes(compared, digits):
    parallel = compare(*digits, methods=outsiders(), **SETTINGS, n_jobs=2)
    assert numbers(parallel) == numbers(compared)


def test_outsiders_have_columns_of_their_own_width(compared):
    text = compared.to_markdown(["ap"])
    assert re.search(r"method +\| +8 bits \| +10 bits \| +12 bits \|", text)
    assert re.search(r"\| signs +\| +-- \| +\.\d{3}.* \| +-- \|", text)


@pytest.mark.parametrize("name", outsiders())
def test_outsiders_are_scored_drawn_and_cross_validated(name, digits):
    X, y = digits[0][:300], digits[1][:300]
    estimator = outsiders()[name].fit(X, y)
    score = make_retrieval_scorer("tie_aware_ap")(estimator, X, y)
    assert 0.1 < score < 1
    assert TieRangeDisplay.from_estimator(estimator, X, y).expected == [score]
    assert TieRangeDisplay.from_estimator({"a": estimator}, X, y).names == ["a"]
    options = {"cv": RetrievalKFold(2, random_state=0), "error_score": "raise"}
    scores, again = (
        cross_validate_retrieval(estimator, X, y, n_jobs=n_jobs, **options)["test_score"]
        for n_jobs in (1, 2)
    )
    assert np.all((scores > 0.1) & (scores < 1))
    np.testing.assert_array_equal(scores, again)


def test_what_cannot_run_is_a_recorded_refusal(digits):
    def refuse(X):
        raise ArithmeticError("not these rows")

    broken = FunctionTransformer(refuse)
    methods = {
        "too many bits": make_pipeline(PCA(4), ITQHasher()),
        "no codes": PCA(3),
        "error": make_pipeline(broken, SignHasher()),
        "refit=False": GridSearchCV(LSHHasher(), {"n_bits": [4]}, refit=False),
        "lsh": LSHHasher(),
    }
    settings = SETTINGS | {"n_bits": [8]}
    found = compare(*digits, methods=methods, **settings)
    assert [result.method for result in found.failures] == list(methods)[:-1]
    errors = {result.method: result.error for result in found.failures}
    assert "n_bits=8 must be at most n_features = 4" in errors["too many bits"]
    assert errors["no codes"].startswith("ValueError: codes of PCA must hold only 0 and 1")
    assert errors["error"] == "ArithmeticError: not these rows"
    lengths = {result.method: result.n_bits for result in found.results}
    assert lengths == {
        "too many bits": 8, "no codes": 0, "error": 0, "refit=False": 8, "lsh": 8,
    }  # fmt: skip
    assert " 0 bits" not in found.to_markdown()
    assert "no codes" in found.to_csv()


def test_runs_of_outsiders_are_kept_where_all_that_they_depend_on_can_be_told(
    digits, tmp_path, monkeypatch
):
    def run():
        methods = {
            "mean": MeanHasher(),
            "binary": make_pipeline(PCA(3), Binarizer()),
            "lambda": make_pipeline(FunctionTransformer(lambda X: X), MeanHasher()),
        }
        settings = SETTINGS | {"n_bits": [8]}
        results = compare(*digits, methods=methods, **settings, store=tmp_path).results
        return {result.method: (result.kept, result.n_bits) for result in results}

    assert run() == {"mean": (False, 8), "binary": (False, 3), "lambda": (False, 8)}
    assert run() == {"mean": (True, 8), "binary": (True, 3), "lambda": (False, 8)}
    monkeypatch.setattr("inspect.getsource", lambda module: "edited")
    assert run() == {"mean": (False, 8), "binary": (True, 3), "lambda": (False, 8)}
