"""Protocols, folds and cross-validation of retrieval."""

import copy

import numpy as np
import pandas as pd
import pytest
import sklearn
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.decomposition import PCA
from sklearn.exceptions import FitFailedWarning
from sklearn.metrics import make_scorer
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    ShuffleSplit,
    StratifiedKFold,
    cross_val_score,
)
from sklearn.pipeline import make_pipeline

from sklearn_hashrank import LSHHasher, LWHHasher, RSHHasher, TALRLinear
from sklearn_hashrank.metrics import (
    make_retrieval_scorer,
    tie_aware_average_precision_score,
    tie_aware_ndcg_score,
)
from sklearn_hashrank.model_selection import (
    PerClassRetrievalSplit,
    RandomRetrievalSplit,
    RetrievalKFold,
    RetrievalSplit,
    cross_validate_retrieval,
)
from sklearn_hashrank.model_selection._folds import iterative_stratification
from tests.oracle.stratification import iterative_stratification as literal_stratification

X, Y = make_blobs(n_samples=120, n_features=6, centers=4, cluster_std=4.0, random_state=0)
LABEL_SETS = (np.random.default_rng(0).random((120, 5)) < [0.5, 0.4, 0.3, 0.2, 0.15]).astype(int)
HASHER = LSHHasher(n_bits=5, random_state=0)
FORMS = {
    "numbers": Y,
    "column": Y[:, None],
    "words": np.array(["ant", "bee", "cat", "dog"])[Y],
    "paths": np.stack([Y // 2, Y], axis=1),
    "paths of words": np.array(["ant", "bee", "cat", "dog"])[np.stack([Y // 2, Y], axis=1)],
    "one-hot": np.eye(4, dtype=int)[Y],
    "sparse": sparse.csr_array(np.eye(4)[Y]),
}


@pytest.mark.parametrize("y", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("n_train", [7, None])
def test_so_many_of_each_class(y, n_train):
    protocol = PerClassRetrievalSplit(5, n_train, n_splits=2, random_state=0)
    splits = list(protocol.split(X, y))
    assert len(splits) == protocol.get_n_splits() == 2
    for train, query, database in splits:
        np.testing.assert_array_equal(np.bincount(Y[query]), 5)
        if n_train is not None:
            np.testing.assert_array_equal(np.bincount(Y[train]), n_train)
        else:
            np.testing.assert_array_equal(np.sort(train), np.sort(database))
        assert set(train) <= set(database)
        assert set(query).isdisjoint(database)
        assert set(query) | set(database) == set(range(len(Y)))
        for rows in (train, query, database):
            assert np.any(np.diff(rows) < 0)  # shuffled
            assert len(set(Y[rows[:8]])) > 1
    again = next(protocol.split(X, y))
    np.testing.assert_array_equal(again.query, splits[0].query)
    np.testing.assert_array_equal(again.train, splits[0].train)
    assert set(splits[0].query) != set(splits[1].query)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_so_many_of_each_label(form):
    Y = LABEL_SETS.copy()
    Y[:6] = 0
    [split] = PerClassRetrievalSplit(3, 4, random_state=0).split(X, form(Y))
    assert len(split.query) == 3 * 5
    assert len(split.train) == 4 * 5
    assert Y[split.query].sum(axis=0).min() >= 3
    assert Y[split.train].sum(axis=0).min() >= 4
    assert set(split.train) <= set(split.database)
    assert set(split.database) == set(range(len(Y))) - set(split.query)
    assert set(range(6)) <= set(split.database) - set(split.train)


@given(st.integers(1, 20), st.integers(1, 20), st.integers(0, 99))
def test_rare_classes_are_refused_or_served(n_queries, n_train, seed):
    y = np.random.default_rng(seed).integers(0, 3, 80)
    protocol = PerClassRetrievalSplit(n_queries, n_train, random_state=seed)
    if np.bincount(y).min() < n_queries + n_train:
        with pytest.raises(ValueError, match=r"needs .* of every class. Class \d has"):
            next(protocol.split(y, y))
    else:
        [split] = protocol.split(y, y)
        np.testing.assert_array_equal(np.bincount(y[split.train]), n_train)


def test_too_few_rows_are_named():
    y = np.repeat([0, 1], [30, 12])
    with pytest.raises(
        ValueError,
        match=r"PerClassRetrievalSplit\(n_queries=10, n_train=5, .*\) needs 5 training rows of "
        "every class. Class 1 has 12 rows, and 2 are left. Lower n_queries or n_train",
    ):
        next(PerClassRetrievalSplit(10, 5).split(y, y))
    with pytest.raises(ValueError, match="13 queries .*12 rows"):
        next(PerClassRetrievalSplit(13, 5).split(y, y))
    with pytest.raises(ValueError, match="1 database rows .*12 rows, and 0"):
        next(PerClassRetrievalSplit(12, None).split(y, y))
    for labels, found in ((None, "None"), (X, "targets"), (X[:, 0], "targets")):
        with pytest.raises(ValueError, match=f"Got {found}; RandomRetr"):
            next(PerClassRetrievalSplit().split(X, labels))


@pytest.mark.parametrize(
    ("options", "sizes"),
    [
        ({"n_queries": 20}, (100, 20, 100)),
        ({"n_queries": 20, "n_train": 30}, (30, 20, 100)),
        ({"n_queries": 20, "n_train": 30, "n_database": 50}, (30, 20, 50)),
        ({"n_queries": 20, "n_database": 50}, (50, 20, 50)),
    ],
)
def test_random_rows(options, sizes):
    protocol = RandomRetrievalSplit(**options, n_splits=2, random_state=0)
    splits = list(protocol.split(X))
    assert protocol.get_n_splits() == len(splits) == 2
    for split in splits:
        assert tuple(map(len, split)) == sizes
        assert set(split.train) <= set(split.database)
        assert set(split.query).isdisjoint(split.database)
        assert np.any(np.diff(split.train) < 0)
    assert set(splits[0].query) != set(splits[1].query)


@pytest.mark.parametrize(
    "options",
    [{"n_queries": 120}, {"n_queries": 20, "n_train": 101}, {"n_queries": 20, "n_database": 101}]
    + [{"n_queries": 20, "n_train": 31, "n_database": 30}, {"n_queries": 500}],
)
def test_too_few_random_rows(options):
    with pytest.raises(ValueError, match="RandomRetrievalSplit.* Got n_samples"):
        next(RandomRetrievalSplit(**options).split(X))


def test_settings_of_cifar_10():
    y = np.repeat(np.arange(10), 6000)
    for options, sizes in (((), (5000, 1000, 59_000)), ((1000, None), (50_000, 10_000, 50_000))):
        [split] = PerClassRetrievalSplit(*options, random_state=0).split(y, y)
        assert tuple(map(len, split)) == sizes


@pytest.mark.parametrize("make", [PerClassRetrievalSplit, RandomRetrievalSplit])
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_queries": 0}, "n_queries .*Got 0"),
        ({"n_train": 0.5}, "n_train .*Got 0.5"),
        ({"n_splits": True}, "n_splits .*Got True"),
    ],
)
def test_numbers_of_rows_are_checked(make, options, message):
    with pytest.raises(ValueError, match=message):
        make(**options)


@pytest.mark.parametrize(
    ("split", "message"),
    [
        (([2, 3], [0, 1], [1, 2, 3]), "query .*database.* Got 1 .*row 1"),
        (([0, 3], [0, 1], [2, 3]), "query .*training.* Got 1 .*row 0"),
        (([3], [1, 1], [2, 3]), "query .*twice"),
        (([3], [1], [2, 2]), "database .*twice"),
        (([], [1], [2]), "^train "),
        (([3], [-1], [2]), "^query "),
        (([3], [1], [[2]]), "^database "),
        (([3], [True, False], [2]), "^query "),
    ],
)
def test_queries_are_never_in_the_database(split, message):
    with pytest.raises(ValueError, match=message):
        RetrievalSplit(*split)


@given(st.integers(0, 2**32 - 1), st.integers(2, 6), st.integers(1, 6), st.integers(8, 60))
def test_iterative_stratification_is_the_printed_algorithm(seed, n_folds, n_labels, n_rows):
    labels = np.random.default_rng(seed).random((n_rows, n_labels)) < 0.3
    ours = iterative_stratification(sparse.csr_array(labels), n_folds, np.random.RandomState(seed))
    label_sets = [set(np.flatnonzero(row)) for row in labels]
    literal = literal_stratification(label_sets, n_folds, np.random.RandomState(seed))
    assert [set(np.flatnonzero(ours == fold)) for fold in range(n_folds)] == literal


@given(st.integers(0, 2**32 - 1), st.integers(2, 5))
def test_iterative_stratification_of_classes_is_stratification(seed, n_folds):
    y = np.random.default_rng(seed).integers(0, 4, 50)
    one_hot = sparse.csr_array(np.eye(4, dtype=bool)[y])
    folds = iterative_stratification(one_hot, n_folds, np.random.RandomState(seed))
    table = np.zeros((4, n_folds), dtype=int)
    np.add.at(table, (y, folds), 1)
    assert np.ptp(table, axis=1).max() <= 1
    assert np.ptp(table.sum(axis=0)) <= 1


def test_folds_of_label_sets_have_the_same_mix():
    def imbalance(folds):
        shares = [LABEL_SETS[test].mean(axis=0) for _, test in folds.split(X, LABEL_SETS)]
        return np.abs(np.array(shares) - LABEL_SETS.mean(axis=0)).mean()

    for seed in range(5):
        shuffled = KFold(5, shuffle=True, random_state=seed)
        assert imbalance(RetrievalKFold(random_state=seed)) < 0.5 * imbalance(shuffled)


OTHER_FORMS = {"sets": LABEL_SETS, "X": X, "targets": X[:, 0], "rows": np.arange(120), "": None}


@pytest.mark.parametrize("y", [*FORMS.values(), *OTHER_FORMS.values()], ids=[*FORMS, *OTHER_FORMS])
def test_every_row_is_in_one_shuffled_fold(y):
    folds = RetrievalKFold(4, random_state=0)
    parts = list(folds.split(X, y))
    assert len(parts) == folds.get_n_splits() == 4
    tests = [test for _, test in parts]
    np.testing.assert_array_equal(np.sort(np.concatenate(tests)), np.arange(len(X)))
    for train, test in parts:
        np.testing.assert_array_equal(np.sort(np.concatenate([train, test])), np.arange(len(X)))
        assert np.any(np.diff(test) > 1)
    for (_, test), again in zip(folds.split(X, y), tests):
        np.testing.assert_array_equal(test, again)
    others = [test for _, test in RetrievalKFold(4, random_state=1).split(X, y)]
    assert any(set(test) != set(other) for test, other in zip(tests, others))


def test_class_labels_are_stratified_by_scikit_learn():
    ours = RetrievalKFold(3, random_state=0).split(X, FORMS["words"])
    theirs = StratifiedKFold(3, shuffle=True, random_state=0).split(X, Y)
    for mine, other in zip(ours, theirs):
        np.testing.assert_array_equal(mine[1], other[1])


@pytest.mark.parametrize("routing", [False, True], ids=["", "routing"])
@pytest.mark.parametrize("y", [Y, LABEL_SETS], ids=["classes", "label sets"])
def test_folds_work_wherever_scikit_learn_takes_cv(y, routing):
    order = np.argsort(y if y.ndim == 1 else y[:, 0])
    folds = RetrievalKFold(3, random_state=0)
    scoring = make_scorer(tie_aware_average_precision_score, zero_division=0.0)
    with sklearn.config_context(enable_metadata_routing=routing):
        search = GridSearchCV(HASHER, {"n_bits": [1, 8]}, scoring=scoring, cv=folds)
        search.fit(X[order], y[order])
        scores = cross_val_score(HASHER, X[order], y[order], scoring=scoring, cv=folds)
    assert search.n_splits_ == 3
    assert np.all((scores > 0) & (scores < 0.95))
    assert repr(folds) == repr(copy.deepcopy(folds)) == "RetrievalKFold(n_splits=3, random_state=0)"


def test_too_few_rows_for_folds():
    for n_splits in (0, 1, 2.0, True):
        with pytest.raises(ValueError, match="n_splits"):
            RetrievalKFold(n_splits)
    with pytest.raises(ValueError, match="Got 3"):
        next(RetrievalKFold(5).split(X[:3]))


@pytest.mark.parametrize("size", [2, 3, 4])
def test_rows_of_small_classes_are_spread_over_the_folds(size):
    y = np.arange(120) // size
    tests = [test for _, test in RetrievalKFold(5, random_state=0).split(X, y)]
    np.testing.assert_array_equal(np.sort(np.concatenate(tests)), np.arange(120))
    assert max(np.bincount(y[test]).max() for test in tests) == 1
    assert np.ptp([len(test) for test in tests]) <= 2


PROTOCOLS = {
    "folds": RetrievalKFold(3, random_state=0),
    "scikit-learn's folds": KFold(2, shuffle=True, random_state=0),
    "less to train on": ShuffleSplit(2, train_size=0.3, test_size=0.2, random_state=0),
    "per class": PerClassRetrievalSplit(5, 10, n_splits=2, random_state=0),
    "random": RandomRetrievalSplit(30, 40, n_splits=2, random_state=0),
    "given": [RetrievalSplit(np.arange(20, 60), np.arange(20), np.arange(40, 120))],
    "pairs": [(np.arange(20, 60), np.arange(20))],
}


@pytest.mark.parametrize("cv", PROTOCOLS.values(), ids=PROTOCOLS)
def test_queries_retrieve_the_database(cv):
    model = make_pipeline(PCA(3, random_state=0), HASHER)
    scores = cross_validate_retrieval(
        model,
        X,
        Y,
        scoring=["ap", "ndcg"],
        cv=cv,
        return_train_score=True,
        return_estimator=True,
        return_indices=True,
    )
    for i, fitted in enumerate(scores["estimator"]):
        train, query, database = (scores["indices"][n][i] for n in ("train", "query", "database"))
        if not isinstance(cv, (list, RandomRetrievalSplit)):
            np.testing.assert_array_equal(np.union1d(query, database), np.arange(len(X)))
        codes = model.fit(X[train], Y[train]).predict(X)
        np.testing.assert_array_equal(fitted.predict(X), codes)
        pair = {"database": (Y[database], codes[database])}
        ap, ndcg = tie_aware_average_precision_score, tie_aware_ndcg_score
        assert scores["test_ap"][i] == ap(Y[query], codes[query], **pair)
        assert scores["test_ndcg"][i] == ndcg(Y[query], codes[query], **pair)
        assert scores["train_ap"][i] == ap(Y[train], codes[train])
    assert scores["fit_time"].shape == scores["score_time"].shape == (i + 1,)
    assert np.all((scores["fit_time"] > 0) & (scores["score_time"] > 0))


@pytest.mark.pool
@pytest.mark.parametrize(
    "learner",
    [
        TALRLinear(4, max_iter=3, random_state=0),
        RSHHasher(4, random_state=0),
        LWHHasher(4, n_queries=20, random_state=0),
    ],
    ids=lambda learner: type(learner).__name__,
)
@pytest.mark.parametrize("y", [Y, LABEL_SETS], ids=["classes", "label sets"])
def test_processes_change_no_score(learner, y):
    scorer = make_retrieval_scorer("ap", zero_division=0.0)
    one, two = (
        cross_validate_retrieval(learner, X, y, scoring=scorer, cv=2, n_jobs=n) for n in (None, 2)
    )
    assert set(one) == {"fit_time", "score_time", "test_score"}
    np.testing.assert_array_equal(one["test_score"], two["test_score"])
    assert np.all((one["test_score"] > 0.25) & (one["test_score"] < 1))


def test_a_scorer_brings_its_options():
    scorer = make_retrieval_scorer("precision", k=3, database="fit")
    scores = cross_validate_retrieval(HASHER, X, Y, scoring=scorer, cv=2)["test_score"]
    for score, (train, test) in zip(scores, RetrievalKFold(2, random_state=0).split(X, Y)):
        assert score == scorer(clone(HASHER).fit(X[train], Y[train]), X[test], Y[test])


def test_rows_without_y_are_compared_themselves():
    options = {"scoring": make_retrieval_scorer("ap", zero_division=0.0), "cv": 2}
    scores = cross_validate_retrieval(HASHER, X, **options)["test_score"]
    as_targets = cross_validate_retrieval(HASHER, X, X, **options)["test_score"]
    np.testing.assert_array_equal(scores, as_targets)


def test_sparse_rows_and_frames():
    scores = cross_validate_retrieval(HASHER, X, Y, cv=2)["test_score"]
    frame = pd.DataFrame(X, columns=list("abcdef"))
    of_frame = cross_validate_retrieval(HASHER, frame, pd.Series(Y), cv=2)["test_score"]
    of_sparse = cross_validate_retrieval(HASHER, sparse.csr_array(X), Y.tolist(), cv=2)
    np.testing.assert_array_equal(scores, of_frame)
    np.testing.assert_array_equal(scores, of_sparse["test_score"])


def test_groups_reach_the_splitter():
    groups = np.arange(120) // 10
    scores = cross_validate_retrieval(
        HASHER, X, Y, cv=GroupKFold(3), groups=groups, return_indices=True
    )
    for query, database in zip(scores["indices"]["query"], scores["indices"]["database"]):
        assert set(groups[query]).isdisjoint(groups[database])


class FailsSometimes(LSHHasher):
    def fit(self, X, y=None):
        if 0.0 in X[:, 0]:
            raise ValueError("a zero")
        return super().fit(X, y)


def test_failures_take_the_error_score():
    zero = X.copy()
    zero[0] = 0
    hasher = FailsSometimes(4, random_state=0)
    with pytest.warns(FitFailedWarning, match=r"1 of 2 splits failed(.|\n)*a zero"):
        scores = cross_validate_retrieval(hasher, zero, Y, cv=2, error_score=-1)
    assert sorted(scores["test_score"] == -1) == [False, True]
    with pytest.raises(ValueError, match="a zero"):
        cross_validate_retrieval(hasher, zero, Y, cv=2, error_score="raise")
    with pytest.raises(ValueError, match=r"All the 2 splits failed(.|\n)*a zero"):
        cross_validate_retrieval(hasher, np.zeros_like(X), Y, cv=2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cv": "five"}, "cv .*Got 'five'"),
        ({"cv": 2.5}, "cv .*Got 2.5"),
        ({"cv": []}, "^cv "),
        ({"cv": [([1],)]}, "Got 1 parts"),
        ({"cv": [([0], [1], [1, 2])]}, "query .*database"),
        ({"cv": [([0], [1], [2, 120])]}, "row 120.*n_samples = 120"),
        ({"error_score": "nan"}, "error_score .*Got 'nan'"),
        ({"scoring": "accuracy"}, "Got 'accuracy'"),
    ],
)
def test_bad_arguments_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        cross_validate_retrieval(HASHER, X, Y, **options)
