"""Training on some classes, retrieval among the others."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_digits, make_blobs

from sklearn_hashrank import LSHHasher, RSHHasher
from sklearn_hashrank.comparison import compare
from sklearn_hashrank.metrics import tie_aware_average_precision_score
from sklearn_hashrank.model_selection import (
    PerClassRetrievalSplit,
    UnseenClassesSplit,
    cross_validate_retrieval,
)

X, Y = make_blobs(n_samples=180, n_features=6, centers=6, random_state=0)
WORDS = np.array(["ant", "bee", "cat", "dog", "eel", "fox"])
FORMS = {
    "numbers": Y,
    "column": Y[:, None],
    "words": WORDS[Y],
    "paths": np.stack([2 + Y // 2, Y], axis=1),
    "paths of words": WORDS[np.stack([Y // 2, Y], axis=1)],
}


@pytest.mark.parametrize("y", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("n_train", [7, None])
def test_no_class_is_both_trained_and_tested_on(y, n_train):
    protocol = UnseenClassesSplit(5, n_train, n_splits=3, random_state=0)
    splits = list(protocol.split(X, y))
    assert len(splits) == protocol.get_n_splits() == 3
    for train, query, database in splits:
        seen, unseen = set(Y[train]), set(Y[query])
        assert len(unseen) == 2
        assert seen | unseen == set(range(6))
        assert seen.isdisjoint(unseen)
        np.testing.assert_array_equal(np.bincount(Y[query])[sorted(unseen)], 5)
        np.testing.assert_array_equal(np.bincount(Y[train])[sorted(seen)], n_train or 30)
        rest = set(np.flatnonzero(np.isin(Y, list(unseen)))) - set(query)
        assert set(database) == rest
        assert len(database) == len(rest)
        for rows in (train, query, database):
            assert np.any(np.diff(rows) < 0)  # shuffled
            assert len(set(Y[rows[:8]])) > 1
    again = next(protocol.split(X, y))
    for name in ("train", "query", "database"):
        np.testing.assert_array_equal(getattr(again, name), getattr(splits[0], name))
    assert len({frozenset(Y[split.query]) for split in splits}) > 1


@given(st.integers(4, 12), st.integers(2, 12), st.integers(1, 9), st.integers(0, 99))
def test_splits_are_served_or_refused(n_classes, n_test_classes, n_queries, seed):
    y = np.random.default_rng(seed).permutation(np.repeat(np.arange(n_classes), 8))
    protocol = UnseenClassesSplit(n_queries, n_test_classes=n_test_classes, random_state=seed)
    if n_classes - n_test_classes < 2:
        with pytest.raises(ValueError, match=f"Got {n_classes} cl"):
            next(protocol.split(y, y))
    elif n_queries >= 8:
        with pytest.raises(ValueError, match="has 8 rows"):
            next(protocol.split(y, y))
    else:
        [split] = protocol.split(y, y)
        assert len(split.train) == 8 * (n_classes - n_test_classes)
        assert len(split.query) == n_queries * n_test_classes
        assert len(split.database) == (8 - n_queries) * n_test_classes


@pytest.mark.parametrize(("n_classes", "n_test"), [(4, 2), (5, 2), (9, 3), (10, 3), (12, 4)])
def test_a_third_of_the_classes_is_tested_on(n_classes, n_test):
    y = np.repeat(np.arange(n_classes), 3)
    [split] = UnseenClassesSplit(1).split(y, y)
    assert len(set(y[split.query])) == n_test


@pytest.mark.parametrize(
    ("y", "found"),
    [
        (None, "None"),
        (X, "targets"),
        (X[:, 0], "targets"),
        (np.eye(6, dtype=int)[Y], "a multilabel indicator"),
        (sparse.csr_array(np.eye(6)[Y]), "a multilabel indicator"),
    ],
)
def test_rows_without_classes_are_refused(y, found):
    with pytest.raises(ValueError, match=f"Got {found}"):
        next(UnseenClassesSplit().split(X, y))


def test_what_is_missing_is_named():
    y = np.repeat([0, 1, 2, 3, 4], [2, 2, 4, 4, 4])
    with pytest.raises(ValueError, match="n_queries=2, "):
        list(UnseenClassesSplit(2, n_splits=9, random_state=0).split(y, y))
    message = "5 training rows .* has [24] rows"
    with pytest.raises(ValueError, match=message):
        next(UnseenClassesSplit(1, 5).split(y, y))
    for options, name in (
        ({"n_queries": 0}, "n_queries .*Got 0"),
        ({"n_train": 0.5}, "n_train .*Got 0.5"),
        ({"n_test_classes": "3"}, "n_test_classes .*Got '3'"),
        ({"n_test_classes": 1}, "n_test_classes"),
        ({"n_splits": True}, "n_splits .*Got True"),
    ):
        with pytest.raises(ValueError, match=name):
            UnseenClassesSplit(**options)


def test_cross_validation_scores_the_unseen_classes():
    protocol = UnseenClassesSplit(5, n_splits=2, random_state=0)
    hasher = LSHHasher(8, random_state=0)
    scores = cross_validate_retrieval(hasher, X, Y, cv=protocol, scoring="ap")["test_score"]
    for score, (train, query, database) in zip(scores, protocol.split(X, Y)):
        codes = hasher.fit(X[train], Y[train]).predict(X)
        expected = tie_aware_average_precision_score(
            Y[query], codes[query], database=(Y[database], codes[database])
        )
        assert score == expected


def test_a_hasher_that_memorises_classes_falls_behind_on_unseen_ones(no_pictures):
    """Supervision is worth less there; `compare` draws the classes by its seeds."""
    X, y = load_digits(return_X_y=True)
    methods = {"lsh": LSHHasher(random_state=0), "rsh": RSHHasher(random_state=0)}
    gains = []
    for protocol in (PerClassRetrievalSplit(20, 100), UnseenClassesSplit(20, n_test_classes=4)):
        found = compare(X, y, methods=methods, n_bits=[16], seeds=2, protocol=protocol)
        ap = {name: [] for name in methods}
        for result in found.results:
            ap[result.method].append(result.scores["ap"])
        gains.append(np.mean(ap["rsh"]) - np.mean(ap["lsh"]))
        assert type(protocol).__name__ in found.to_html()
    assert gains[1] < gains[0]
