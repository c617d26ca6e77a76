"""Scorers, by themselves and in everything of scikit-learn that scores."""

import copy
import gc
import pickle
import weakref
from dataclasses import dataclass
from functools import partial
from itertools import product

import numpy as np
import pytest
import sklearn
from sklearn.base import BaseEstimator, clone
from sklearn.datasets import make_blobs
from sklearn.decomposition import PCA
from sklearn.exceptions import FitFailedWarning
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.metrics import make_scorer
from sklearn.model_selection import (
    GridSearchCV,
    HalvingGridSearchCV,
    RandomizedSearchCV,
    StratifiedKFold,
    cross_validate,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from sklearn_hashrank import (
    EuclideanAffinity,
    HierarchicalAffinity,
    LabelAffinity,
    LSHHasher,
    LWHHasher,
    PCAHasher,
    RSHHasher,
    TALRLinear,
    metrics,
)
from sklearn_hashrank.metrics import _retrieval as retrieval
from sklearn_hashrank.metrics import (
    make_retrieval_scorer,
    tie_aware_average_precision_score,
    tie_aware_precision_score,
)
from sklearn_hashrank.metrics._measure import MEASURES

X, Y = make_blobs(n_samples=120, n_features=6, centers=4, cluster_std=4.0, random_state=0)
SHUFFLED = StratifiedKFold(2, shuffle=True, random_state=0)
AP = make_retrieval_scorer("ap")
LEARNED = [
    TALRLinear(max_iter=3, random_state=0),
    RSHHasher(random_state=0),
    LWHHasher(n_queries=20, random_state=0),
]
SHORT_NAMES = sorted(measure.short_name for measure in MEASURES.values())
every_measure = pytest.mark.parametrize("measure", MEASURES)


def hasher(**options):
    return LSHHasher(**{"n_bits": 5, "random_state": 0, **options})


def pipeline(**options):
    return make_pipeline(PCA(3), hasher(**options))


@pytest.fixture
def calls(monkeypatch):
    """How often codes were made, and histograms."""
    counts = {"encodings": [], "histograms": 0}
    encode, count = LSHHasher.packed_codes, retrieval.retrieval_histogram

    def counting_encode(self, X):
        counts["encodings"].append(len(X))
        return encode(self, X)

    def counting_histogram(*arguments, **options):
        counts["histograms"] += 1
        return count(*arguments, **options)

    monkeypatch.setattr(LSHHasher, "packed_codes", counting_encode)
    monkeypatch.setattr(retrieval, "retrieval_histogram", counting_histogram)
    return counts


@every_measure
def test_every_measure_is_a_scorer_by_function_and_by_name(measure):
    fitted = hasher().fit(X, Y)
    function = getattr(metrics, MEASURES[measure].function_name)
    expected = function(Y, fitted.predict(X))
    assert make_retrieval_scorer(function)(fitted, X, Y) == expected
    assert make_retrieval_scorer(MEASURES[measure].short_name)(fitted, X, Y) == expected
    database = (Y[40:], fitted.predict(X[40:]))
    expected = function(Y[:40], fitted.predict(X[:40]), database=database)
    given = make_retrieval_scorer(function, database=(X[40:], Y[40:]))
    assert given(fitted, X[:40], Y[:40]) == expected
    trained = make_retrieval_scorer(function, database="fit")
    assert trained(hasher().fit(X[40:], Y[40:]), X[:40], Y[:40]) == pytest.approx(
        given(hasher().fit(X[40:], Y[40:]), X[:40], Y[:40])
    )


@pytest.mark.parametrize("make", [hasher, pipeline])
def test_several_metrics_share_one_encoding_and_one_histogram(make, calls):
    fitted = make().fit(X, Y)
    scorer = make_retrieval_scorer(SHORT_NAMES, zero_division=0.0)
    scores = scorer(fitted, X, Y)
    assert calls == {"encodings": [len(X)], "histograms": 1}
    assert list(scores) == SHORT_NAMES
    for name, score in scores.items():
        assert score == make_retrieval_scorer(name, zero_division=0.0)(fitted, X, Y)


def test_options_go_to_the_metric_that_knows_them():
    fitted = hasher().fit(X, Y)
    scorer = make_retrieval_scorer(
        {
            "AP": "ap",
            "gain": "dcg@10",
            "P@3": partial(tie_aware_precision_score, k=3),
            "PH2": "ph2",
        },
        k=10,
        gain="linear",
        zero_division=0.0,
    )
    codes = fitted.predict(X)
    assert scorer(fitted, X, Y) == {
        "AP": tie_aware_average_precision_score(Y, codes, k=10),
        "gain": metrics.tie_aware_dcg_score(Y, codes, k=10, gain="linear"),
        "P@3": tie_aware_precision_score(Y, codes, k=3),
        "PH2": metrics.lookup_precision_score(Y, codes, zero_division=0.0),
    }


@pytest.mark.parametrize(
    ("several", "options", "message"),
    [
        ({"AP": "ap", "P@20": "precision"}, {"k": 20}, r"k=20 would .*'AP', 'P@20'.*'ap@20' or"),
        (["ap", "ndcg"], {"k": 5}, r"k=5 would change several metrics: 'ap', 'ndcg'\. "),
        (["ndcg", "dcg", "ap"], {"gain": "linear"}, r"'ndcg', 'dcg'.*'ndcg:gain=linear'"),
        (["ndcg:gain=linear", "ap"], {"k": 5}, r"as in 'ndcg@5' or"),
        ({"a": "ph2", "b": "acg", "c": "ap"}, {"radius": 1}, r"'a', 'b'.*'ph2@1'"),
    ],
)
def test_an_option_that_would_change_several_metrics_is_refused(several, options, message):
    with pytest.raises(ValueError, match=message):
        make_retrieval_scorer(several, **options)


@pytest.mark.parametrize("make", [hasher, pipeline])
def test_database_is_encoded_once_for_each_fit(make, calls):
    scorer = make_retrieval_scorer("ap", database=(X[:70], Y[:70]))
    fitted = make().fit(X, Y)

    def encoded():
        calls["encodings"].clear()
        scorer(fitted, X[70:], Y[70:])
        return calls["encodings"]

    assert encoded() == [50, 70]
    assert encoded() == encoded() == [50]
    fitted.fit(X, Y)
    fitted.fit(X[::-1] * [1, 2, 3, 4, 5, 6], Y)
    assert encoded() == [50, 70]
    assert encoded() == [50]
    last = fitted if make is hasher else fitted[-1]
    last.intercept_ += 0.5  # in place
    assert encoded() == [50, 70]
    fresh = make_retrieval_scorer("ap", database=(X[:70], Y[:70]))
    assert fresh(fitted, X[70:], Y[70:]) == scorer(fitted, X[70:], Y[70:])


def test_database_is_encoded_again_when_a_step_before_the_hasher_changes(calls):
    fitted = pipeline().fit(X, Y)
    scorer = make_retrieval_scorer("ap", database=(X, Y))
    scorer(fitted, X[:10], Y[:10])
    fitted[0].fit(-X[:, ::-1])
    scorer(fitted, X[:10], Y[:10])
    assert calls["encodings"] == [10, 120, 10, 120]


def test_an_estimator_that_no_digest_can_be_made_of_is_encoded_every_time(calls):
    fitted = make_pipeline(FunctionTransformer(lambda X: 2 * X), hasher()).fit(X, Y)
    scorer = make_retrieval_scorer("ap", database=(X, Y))
    assert scorer(fitted, X[:10], Y[:10]) == scorer(fitted, X[:10], Y[:10])
    assert calls["encodings"] == [10, 120, 10, 120]


@pytest.fixture
def few_objects_to_collect():
    """Garbage collection looks at what is made from now on, not at all modules each time."""
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.mark.usefixtures("few_objects_to_collect")
def test_encoded_databases_go_with_their_estimators():
    scorer = make_retrieval_scorer("ap", database=(X, Y))
    for seed in range(5):  # ids of dead estimators come back
        fitted = hasher(random_state=seed).fit(X, Y)
        fresh = make_retrieval_scorer("ap", database=(X, Y))
        assert scorer(fitted, X[:30], Y[:30]) == fresh(fitted, X[:30], Y[:30])
        alive = weakref.ref(fitted)
        del fitted
        gc.collect()
        assert alive() is None
        assert len(scorer._source._encoded) == 0


def test_scorers_are_pickled_without_what_they_encoded():
    scorer = make_retrieval_scorer(["ap@7", "ndcg@7"], database=(X, Y))
    fitted = hasher().fit(X, Y)
    expected = scorer(fitted, X[:30], Y[:30])
    loaded = pickle.loads(pickle.dumps(scorer))
    assert len(loaded._source._encoded) == 0
    assert repr(loaded) == repr(scorer)
    assert loaded(fitted, X[:30], Y[:30]) == expected
    assert copy.deepcopy(scorer).database[0] is X
    search = GridSearchCV(hasher(), {"n_bits": [2]}, scoring=scorer, refit=False)
    assert clone(search).scoring.database[0] is X


def test_fit_retrieves_from_the_rows_of_the_training_fold(calls):
    scorer = make_retrieval_scorer("ap", database="fit")
    scores = cross_validate(pipeline(), X, Y, scoring=scorer, cv=SHUFFLED)["test_score"]
    assert calls["encodings"] == [60, 60]
    for score, (train, test) in zip(scores, SHUFFLED.split(X, Y)):
        fitted = pipeline().fit(X[train], Y[train])
        database = (Y[train], fitted.predict(X[train]))
        assert score == tie_aware_average_precision_score(
            Y[test], fitted.predict(X[test]), database=database
        )


def test_fit_needs_codes_of_the_training_rows():
    scorer = make_retrieval_scorer("ap", database="fit")
    streamed = TALRLinear(5, random_state=0).partial_fit(X, Y)
    with pytest.raises(ValueError, match="not after partial_fit or .*Pass database="):
        scorer(streamed, X, Y)
    assert 0 < scorer(streamed.fit(X, Y), X, Y) < 1


@pytest.mark.parametrize("database", ["self", (X, None)])
@pytest.mark.parametrize("make", [hasher, pipeline])
def test_without_y_rows_are_compared_as_the_hasher_sees_them(make, database):
    fitted = make().fit(X)
    scorer = make_retrieval_scorer("ndcg", database=database, zero_division=0.0)
    seen = X if make is hasher else fitted[:-1].transform(X)
    last = fitted if make is hasher else fitted[-1]
    score = scorer(fitted, X)
    pair = {"database": (seen, last.predict(seen))} if database != "self" else {}
    assert score == metrics.tie_aware_ndcg_score(
        seen, last.predict(seen), affinity=EuclideanAffinity(), zero_division=0.0, **pair
    )
    scores = cross_validate(make(), X, scoring=scorer, cv=2)
    assert np.all((scores["test_score"] > 0) & (scores["test_score"] < 1))
    with pytest.raises(ValueError, match="needs y, because this LSHHasher was fitted with y"):
        scorer(make().fit(X, Y), X)


@pytest.mark.parametrize("wrap", ["bare", "pipeline", "search", "pipeline of a search"])
def test_the_affinity_of_the_fit_is_found(wrap):
    paths = np.stack([Y // 2, Y % 2], axis=1)  # all 0 and 1: "auto" would take them for label sets
    learner = TALRLinear(4, affinity=HierarchicalAffinity(), max_iter=2, random_state=0)
    search = GridSearchCV(learner, {"n_bits": [4]}, scoring=AP, cv=2)
    estimator = {
        "bare": learner,
        "pipeline": make_pipeline(PCA(4), learner),
        "search": search,
        "pipeline of a search": make_pipeline(StandardScaler(), search),
    }[wrap].fit(X, paths)
    codes = estimator.predict(X)
    expected = metrics.tie_aware_ndcg_score(paths, codes, affinity=HierarchicalAffinity())
    assert make_retrieval_scorer("ndcg")(estimator, X, paths) == expected
    assert expected != metrics.tie_aware_ndcg_score(paths, codes, zero_division=0.0)


def test_an_affinity_of_the_scorer_comes_first():
    fitted = hasher().fit(X)
    assert make_retrieval_scorer("ap", affinity=LabelAffinity())(
        fitted, X, Y
    ) == tie_aware_average_precision_score(Y, fitted.predict(X))


@pytest.mark.parametrize("y", [Y, np.eye(4, dtype=int)[Y]], ids=["classes", "label sets"])
def test_labels_may_judge_what_was_fitted_without_them(y):
    fitted = pipeline().fit(X[40:])
    codes = fitted.predict(X)
    given = make_retrieval_scorer("ap", database=(X[40:], y[40:]))
    database = (y[40:], codes[40:])
    expected = tie_aware_average_precision_score(y[:40], codes[:40], database=database)
    assert given(fitted, X[:40], y[:40]) == expected
    assert fitted.score(X, y) == AP(fitted, X, y) == tie_aware_average_precision_score(y, codes)
    bare, no_relevant = hasher().fit(X[40:]), {"zero_division": 0.0}
    assert make_retrieval_scorer("ap", **no_relevant)(
        bare, X, X
    ) == tie_aware_average_precision_score(
        X, bare.predict(X), affinity=EuclideanAffinity(), **no_relevant
    )  # the thresholds of the rows that are scored
    from_rows = TALRLinear(4, max_iter=1, random_state=0).fit(X)
    expected = tie_aware_average_precision_score(y, from_rows.predict(X), **no_relevant)
    assert make_retrieval_scorer("ap", **no_relevant)(from_rows, X, y) == expected


class SignHasher(BaseEstimator):
    """A hasher that knows nothing of this package."""

    def fit(self, X, y=None):
        self.mean_ = X.mean(axis=0)
        return self

    def predict(self, X):
        return np.where(self.mean_ < X, 1, -1)


def test_any_estimator_that_predicts_codes_can_be_scored():
    fitted = make_pipeline(StandardScaler(), SignHasher()).fit(X)
    expected = tie_aware_average_precision_score(Y, X.mean(axis=0) < X)
    assert AP(fitted, X, Y) == pytest.approx(expected)
    database = make_retrieval_scorer("ap", database=(X, Y))
    assert database(fitted, X, Y) > expected
    with pytest.raises(TypeError, match="whose transform or predict gives codes. Got BaseEst"):
        AP(BaseEstimator(), X, Y)
    with pytest.raises(ValueError, match="codes of PCA must hold only 0 and 1.* attribute n_bits_"):
        AP(PCA().fit(X), X, Y)


@dataclass
class ThresholdHasher:
    """Not hashable, as dataclasses are that compare by value."""

    threshold: float = 0.0

    def predict(self, X):
        return (self.threshold < X).astype(int)


class NoStateHasher:
    """Neither holds a state nor takes weak references."""

    __slots__ = ()

    def predict(self, X):
        return (X > 0).astype(int)


@pytest.mark.parametrize("fitted", [ThresholdHasher(), NoStateHasher()])
def test_estimators_that_cannot_be_remembered_are_scored(fitted):
    codes = fitted.predict(X)
    expected = tie_aware_average_precision_score(Y[:10], codes[:10], database=(Y, codes))
    scorer = make_retrieval_scorer("ap", database=(X, Y))
    assert scorer(fitted, X[:10], Y[:10]) == scorer(fitted, X[:10], Y[:10]) == expected


SEARCHES = {
    "grid": partial(GridSearchCV, cv=SHUFFLED),
    "random": partial(RandomizedSearchCV, n_iter=2, random_state=0, cv=SHUFFLED),
    "halving": partial(HalvingGridSearchCV, random_state=0, cv=SHUFFLED, factor=2),
}
SCORERS = {
    "make_scorer": make_scorer(tie_aware_average_precision_score),
    "self": AP,
    "fit": make_retrieval_scorer("ap", database="fit"),
    "given": make_retrieval_scorer("ap", database=(X, Y)),
}


@pytest.mark.parametrize(
    ("make", "search", "scoring", "routing"),
    [
        *((pipeline, "grid", *case) for case in product(SCORERS, [False, True])),
        *((hasher, search, "fit", False) for search in SEARCHES),
    ],
)
def test_searches(make, search, scoring, routing):
    parameter = "n_bits" if make is hasher else "lshhasher__n_bits"
    with sklearn.config_context(enable_metadata_routing=routing):
        found = SEARCHES[search](make(), {parameter: [1, 16]}, scoring=SCORERS[scoring])
        found.fit(X, Y)
        assert found.best_params_ == {parameter: 16}
        assert SCORERS[scoring](found, X, Y) == SCORERS[scoring](found.best_estimator_, X, Y)
        scores = cross_validate(
            make(), X, Y, scoring=SCORERS[scoring], cv=SHUFFLED, return_train_score=True
        )
    assert np.all((scores["test_score"] > 0.25) & (scores["train_score"] < 1))


@pytest.mark.parametrize("routing", [False, True], ids=["", "routing"])
def test_searches_by_several_metrics(routing):
    scorer = make_retrieval_scorer({"ap": "ap@20", "ndcg": "ndcg@20"})
    with sklearn.config_context(enable_metadata_routing=routing):
        search = GridSearchCV(
            pipeline(), {"pca__n_components": [1, 3]}, scoring=scorer, refit="ndcg"
        )
        search.set_params(cv=SHUFFLED).fit(X, Y)
        scores = cross_validate(pipeline(), X, Y, scoring=scorer, cv=SHUFFLED)
    for name in scorer.measures:
        np.testing.assert_array_equal(
            scores[f"test_{name}"],
            [search.cv_results_[f"split{i}_test_{name}"][1] for i in range(2)],
        )
    assert search.best_score_ == search.cv_results_["mean_test_ndcg"].max()
    one_by_one = {name: make_retrieval_scorer(name, k=20) for name in scorer.measures}
    again = cross_validate(pipeline(), X, Y, scoring=one_by_one, cv=SHUFFLED)
    for name in scorer.measures:
        np.testing.assert_array_equal(again[f"test_{name}"], scores[f"test_{name}"])


@pytest.mark.pool
@pytest.mark.process
@pytest.mark.parametrize(
    ("learner", "search", "scoring"),
    [
        *((learner, "grid", "fit") for learner in LEARNED),
        (LEARNED[0], "grid", "given"),
        (LEARNED[0], "random", "self"),
        (LEARNED[0], "halving", "make_scorer"),
    ],
    ids=repr,
)
def test_processes_change_nothing(learner, search, scoring):
    def scores(n_jobs):
        model = make_pipeline(PCA(4, random_state=0), learner)
        grid = {f"{type(learner).__name__.lower()}__n_bits": [2, 4]}
        found = SEARCHES[search](model, grid, scoring=SCORERS[scoring], n_jobs=n_jobs)
        return found.fit(X, Y).cv_results_["mean_test_score"]

    np.testing.assert_array_equal(scores(1), scores(2))


@pytest.mark.parametrize("make", [hasher, pipeline])
@pytest.mark.parametrize("search", SEARCHES)
def test_unlabelled_searches_with_the_rows_as_y(make, search):
    parameter = "n_bits" if make is hasher else "lshhasher__n_bits"
    metric = make_scorer(tie_aware_average_precision_score, zero_division=0.0)
    found = SEARCHES[search](make(), {parameter: [1, 16]}, scoring=metric)
    found.set_params(cv=2).fit(X, X)
    assert found.best_params_ == {parameter: 16}
    last = found.best_estimator_ if make is hasher else found.best_estimator_[-1]
    np.testing.assert_array_equal(last.y_, X)  # not what the pipeline made of it
    mine = make_retrieval_scorer("ap", zero_division=0.0)
    assert 0 < mine(found, X, X) < 1


def test_a_failing_fit_takes_the_error_score():
    scorer = make_retrieval_scorer(["ap", "ndcg"])
    search = GridSearchCV(
        PCAHasher(random_state=0),
        {"n_bits": [2, 99]},  # more bits than features
        scoring=scorer,
        refit="ap",
        cv=SHUFFLED,
    )
    with (
        pytest.warns(FitFailedWarning, match="2 fits failed out of a total of 4"),
        pytest.warns(UserWarning, match="test scores are non-finite"),
    ):
        search.fit(X, Y)
    assert search.best_params_ == {"n_bits": 2}
    assert np.isnan(search.cv_results_["mean_test_ndcg"][1])


def test_unshuffled_folds_of_sorted_rows_are_perfect_and_warn():
    order = np.argsort(Y)
    with pytest.warns(UserWarning, match="Every pair of rows is relevant.*shuffle rows"):
        scores = cross_validate(hasher(), X[order], Y[order], scoring=AP, cv=4)
    np.testing.assert_array_equal(scores["test_score"], 1)


def test_repr_says_how_to_make_it():
    assert repr(AP) == "make_retrieval_scorer('ap')"
    assert repr(make_retrieval_scorer("ap", database=(X, Y), affinity=LabelAffinity(), k=5)) == (
        "make_retrieval_scorer('ap', k=5, database=(X, y), affinity=LabelAffinity())"
    )
    several = {"a": "ap", "P@5": partial(tie_aware_precision_score, k=5)}
    assert repr(make_retrieval_scorer(several, database="fit", n_jobs=2)) == (
        "make_retrieval_scorer({'a': ap(), 'P@5': precision(k=5)}, database='fit', n_jobs=2)"
    )


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"metric": "app"}, ValueError, "among {'ap', .* Got 'app'"),
        (
            {"metric": np.mean},
            ValueError,
            "a measure must be a function of sklearn_hashrank.metrics",
        ),
        ({"metric": None}, ValueError, "Got None"),
        ({"metric": []}, ValueError, "at least one metric"),
        ({"metric": {1: "ap"}}, ValueError, "named by a str"),
        ({"metric": ["ap"] * 2}, ValueError, "one metric twice. Name them with a dict"),
        ({"database": "train"}, ValueError, r"'self', 'fit' or a tuple \(X, y\). Got 'train'"),
        ({"database": (X,)}, ValueError, "or a tuple"),
        ({"k": 0}, ValueError, "'k' parameter of average_precision must be"),
        ({"gain": "linear"}, TypeError, "average_precision has no parameter 'gain'"),
        ({"average": False}, TypeError, "no parameter 'average'"),
    ],
)
def test_bad_arguments_are_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        make_retrieval_scorer(**{"metric": "ap", **arguments})
