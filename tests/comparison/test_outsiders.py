"""Estimators that are no part of the package go wherever hashers go: public imports only."""

import re
from functools import partial

import numpy as np
import pytest
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.decomposition import PCA
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Binarizer, FunctionTransformer, StandardScaler

from sklearn_hashrank import ITQHasher, LSHHasher, TALRLinear
from sklearn_hashrank.base import LinearHasher
from sklearn_hashrank.comparison import compare
from sklearn_hashrank.metrics import (
    Measure,
    TieRangeDisplay,
    make_retrieval_scorer,
    register_measure,
    tie_aware_precision_score,
)
from sklearn_hashrank.metrics._registry import forget, get_measure
from sklearn_hashrank.model_selection import (
    PerClassRetrievalSplit,
    RandomRetrievalSplit,
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
    scorer = make_retrieval_scorer("ap", database=(X[database], y[database]))
    pipeline = make_pipeline(StandardScaler(), PCA(20, random_state=0), MeanHasher(12))
    expected = scorer(pipeline.fit(X[train], y[train]), X[query], y[query])
    assert numbers(compared)["pipeline", 12, 0]["ap"] == expected
    itq = make_pipeline(PCA(20, random_state=0), ITQHasher(12, max_iter=3, random_state=0))
    expected = scorer(itq.fit(X[train], y[train]), X[query], y[query])
    assert numbers(compared)["itq of a pipeline", 12, 0]["ap"] == expected


@pytest.mark.pool
def test_outsiders_are_compared_in_other_processes(compared, digits):
    parallel = compare(*digits, methods=outsiders(), **SETTINGS, n_jobs=2)
    assert numbers(parallel) == numbers(compared)


def test_outsiders_have_columns_of_their_own_width(compared):
    text = compared.to_markdown(["ap"])
    assert re.search(r"method +\| +8 bits \| +10 bits \| +12 bits \|", text)
    assert re.search(r"\| signs +\| +-- \| +\.\d{3}.* \| +-- \|", text)


@pytest.mark.pool
@pytest.mark.parametrize("name", outsiders())
def test_outsiders_are_scored_drawn_and_cross_validated(name, digits):
    X, y = digits[0][:300], digits[1][:300]
    estimator = outsiders()[name].fit(X, y)
    score = make_retrieval_scorer("ap")(estimator, X, y)
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


def test_runs_of_outsiders_are_kept_if_they_can_be_pickled(digits, tmp_path):
    def run():
        methods = {
            "mean": MeanHasher(),
            "binary": make_pipeline(PCA(3), Binarizer()),
            "lambda": make_pipeline(FunctionTransformer(lambda X: X), MeanHasher()),
        }
        settings = SETTINGS | {"n_bits": [8]}
        results = compare(*digits, methods=methods, **settings, store=tmp_path).results
        return {result.method: (result.from_store, result.n_bits) for result in results}

    assert run() == {"mean": (False, 8), "binary": (False, 3), "lambda": (False, 8)}
    assert run() == {"mean": (True, 8), "binary": (True, 3), "lambda": (False, 8)}


def share_of_first(ties, k=None):
    """Share of relevant items in the first tie that holds any.

    More text, which no table shows.
    """
    first = np.argmax(ties.total > 0, axis=1)
    rows = np.arange(len(first))
    return ties.relevant[rows, first] / ties.total[rows, first]


@pytest.fixture
def registered():
    measure = register_measure(
        "share_of_first", share_of_first, short_name="first", label="1st tie"
    )
    yield measure
    forget(measure)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_measures_of_outsiders_are_columns(digits, registered, n_jobs):
    measures = {"first": "first", "P@5": partial(tie_aware_precision_score, k=5), "ap": "ap"}
    settings = SETTINGS | {"n_bits": [8], "seeds": 2, "n_jobs": n_jobs}
    found = compare(*digits, methods={"mean": MeanHasher()}, measures=measures, **settings)
    assert not found.failures
    assert [table.column.name for table in found.tables()][:3] == list(measures)
    first, precision, ap = (table.column for table in found.tables()[:3])
    assert (first.title, first.meaning) == (
        "1st tie",
        "Share of relevant items in the first tie that holds any.",
    )
    assert (precision.title, precision.ranged) == ("P@5", True)
    assert precision.meaning.endswith("Here k = 5.")
    assert precision.meaning.startswith("Expected precision")
    assert ap.title == "AP_T"
    X, y = digits
    for seed, result in enumerate(found.results):
        split = PerClassRetrievalSplit(5, 30, random_state=seed)
        train, query, database = next(split.split(X, y))
        scorer = make_retrieval_scorer(measures, database=(X[database], y[database]))
        scores = scorer(MeanHasher(8).fit(X[train], y[train]), X[query], y[query])
        assert {name: result.scores[name] for name in measures} == scores
    assert re.search(r"\*\*1st tie\*\* ", found.to_markdown())
    assert "ndcg" not in found.results[0].scores
    if n_jobs == 1:  # the report does not know how many there were
        assert "<h2>Other measures</h2>" in found.to_html()


def test_a_comparison_without_ap_has_a_report(digits):
    settings = SETTINGS | {"n_bits": [8]}
    found = compare(*digits, methods=["lsh"], measures=["rr", "mlgap"], **settings)
    assert set(found.results[0].scores) >= {"rr", "rr_optimistic", "mlgap", "distinct_codes"}
    assert "reciprocal rank" in found.to_html()


@pytest.mark.parametrize(
    ("measures", "message"),
    [
        (["app"], "a measure must be .* Got 'app'"),
        ({"fit_seconds": "ap"}, "must not be called 'fit_seconds', which another column is"),
        ({"ap_optimistic": "ap"}, "must not be called 'ap_optimistic'"),
        ({"n_bits": "ap"}, "must not be called 'n_bits', which another column is"),
        ({"": "ap"}, "measures must have names that can head a column"),
        ([], "at least one metric"),
    ],
)
def test_wrong_measures(digits, measures, message):
    with pytest.raises(ValueError, match=message):
        compare(*digits, methods=["lsh"], measures=measures, **SETTINGS)


@pytest.mark.pool
def test_measures_of_outsiders_are_scored_in_other_processes(digits, registered):
    X, y = digits[0][:200], digits[1][:200]
    options = {"scoring": ["first", "ap"], "cv": 2, "error_score": "raise"}
    alone, parallel = (
        cross_validate_retrieval(MeanHasher(), X, y, n_jobs=n_jobs, **options) for n_jobs in (1, 2)
    )
    np.testing.assert_array_equal(alone["test_first"], parallel["test_first"])


def test_a_run_by_other_measures_is_another_run(digits, tmp_path):
    def run(measures):
        settings = SETTINGS | {"n_bits": [8], "store": tmp_path}
        return compare(*digits, methods=["lsh"], measures=measures, **settings).results[0]

    precision = partial(tie_aware_precision_score, k=5)
    for measures in (["ap"], {"ap": "rr"}, {"ap": precision}):
        assert not run(measures).from_store
        again = run(measures)
        assert again.from_store
        assert "ndcg" not in again.scores


class Plain:
    """An objective that is no estimator."""

    def value_and_gradient(self, scores, level, levels):
        return 0.0, np.zeros_like(scores)


def hits_times(ties, k=None, factor=1):
    return factor * ties.hits(k)


def radius_itself(ties, radius):
    return np.full(len(ties.counts), float(radius))


def test_a_run_depends_on_all_that_its_objects_are_made_of(digits, tmp_path):
    def run(method, *measure, **options):
        measures = {"m": Measure("m", *measure, bounded=False, **options)}
        settings = SETTINGS | {"n_bits": [8], "store": tmp_path}
        [result] = compare(*digits, methods={"m": method}, measures=measures, **settings).results
        assert not result.error
        return result.from_store

    lsh, talr = LSHHasher(), TALRLinear(objective=Plain(), max_iter=1)
    for measure, options in [
        (partial(hits_times, factor=2), {}),
        (partial(hits_times, factor=3), {}),
        (radius_itself, {"radius": 1}),
        (radius_itself, {"radius": 2}),
    ]:
        assert [run(lsh, measure, **options) for _ in range(2)] == [False, True]
    of_closure = lambda ties, k=None: ties.hits(k)  # noqa: E731
    assert [run(lsh, of_closure) for _ in range(2)] == [False, False]
    assert [run(talr, hits_times) for _ in range(2)] == [False, True]
    ap, talr_ap = get_measure("ap").function, TALRLinear(objective=Plain(), max_iter=1)
    assert [run(talr_ap, ap) for _ in range(2)] == [False, True]


class NeedsLabels(MeanHasher):
    """Learns nothing from labels, but wants them."""

    def fit(self, X, y=None):
        if y is None:
            raise ValueError("requires y")
        return super().fit(X, y)


def test_hashers_learn_without_y_where_there_is_none():
    X = np.random.default_rng(0).normal(size=(120, 6))
    protocol = RandomRetrievalSplit(n_queries=20)
    methods = {"free": MeanHasher(), "needs labels": NeedsLabels()}
    comparison = compare(X, methods=methods, n_bits=[6], seeds=1, protocol=protocol)
    free, needs = comparison.results
    assert 0 < free.scores["ndcg"] < 1
    assert [result.method for result in comparison.failures] == ["needs labels"]
    assert needs.error == "ValueError: requires y"
