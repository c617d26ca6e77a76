"""ClassifierHasher: codes of predicted classes, for any number of bits and for labels only."""

import functools

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

from sklearn_hashrank import ClassifierHasher, LSHHasher
from sklearn_hashrank.metrics import tie_aware_average_precision_score


@functools.cache
def digits():
    return load_digits(return_X_y=True)


@pytest.mark.parametrize("n_bits", [10, 23, 32])
def test_one_hot_codes_say_the_predicted_class(n_bits):
    X, y = digits()
    hasher = ClassifierHasher(n_bits, codes="one-hot", random_state=0).fit(X[:900], y[:900])
    predicted = hasher.classes_[(X @ hasher.coef_.T + hasher.intercept_).argmax(axis=1)]
    codes = hasher.predict(X)
    np.testing.assert_array_equal(codes, predicted[:, None] == np.arange(n_bits) % 10)
    assert np.mean(predicted[900:] == y[900:]) > 0.9


@pytest.mark.parametrize("n_classes", [2, 3, 4, 10, 16, 150])
@pytest.mark.parametrize("n_bits", [1, 4, 8, 40])
def test_hadamard_codes_are_distinct_where_they_can_be(n_classes, n_bits):
    hasher = ClassifierHasher(n_bits, codes="hadamard")
    codes = hasher._new_codebook(n_classes, np.random.RandomState(0))
    assert codes.shape == (n_classes, n_bits)
    assert set(np.unique(codes)) == {-1, 1}
    n_digits = (n_classes - 1).bit_length()
    assert len(np.unique(codes, axis=0)) == min(n_classes, 2 ** min(n_digits, n_bits))


def test_whole_hadamard_codes_differ_in_half_of_the_bits():
    codes = ClassifierHasher(15, codes="hadamard")._new_codebook(10, np.random.RandomState(0))
    products = codes.astype(int) @ codes.T
    assert set(products[~np.eye(10, dtype=bool)]) == {-1}


def test_codes_are_chosen_by_the_number_of_bits():
    X, y = digits()
    assert (ClassifierHasher(10, C=0.1).fit(X, y).codebook_ == 1).sum() == 10
    few = ClassifierHasher(9, C=0.1).fit(X, y)
    assert len(np.unique(few.codebook_, axis=0)) == 10
    assert (few.codebook_ == 1).sum() > 20
    with pytest.raises(ValueError, match="n_bits.*10"):
        ClassifierHasher(9, codes="one-hot").fit(X, y)


@pytest.mark.learning
def test_the_classifier_is_a_logistic_regression_of_scaled_features():
    X, y = digits()
    X = X[:, X.std(axis=0) > 0.3]
    hasher = ClassifierHasher(10, C=0.05, random_state=0).fit(X, y)
    scores = X @ hasher.coef_.T + hasher.intercept_
    from sklearn_hashrank._features.moments import Moments
    from sklearn_hashrank._features.space import FeatureSpace

    rows = FeatureSpace.of(Moments.of(X)).transform(X)
    expected = LogisticRegression(C=0.05, tol=1e-6, max_iter=5000).fit(rows, y)
    np.testing.assert_array_equal(hasher.classes_, expected.classes_)
    assert np.mean(scores.argmax(axis=1) == expected.predict(rows)) > 0.99


def test_large_sparse_rows_are_not_made_dense(monkeypatch):
    X, y = digits()
    rows = sparse.csr_matrix(X)
    expected = ClassifierHasher(10, C=0.05, random_state=0).fit(X, y)
    monkeypatch.setattr("sklearn_hashrank.hashers.classifier.dense_if_small", lambda X: X)
    found = ClassifierHasher(10, C=0.05, random_state=0).fit(rows, y)
    assert np.mean(found.predict(rows) == expected.predict(X)) > 0.99


def test_strength_is_chosen_by_cross_validation():
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    X = rng.normal(size=(200, 100)) + 0.15 * (2 * y[:, None] - 1)
    noisy = ClassifierHasher(8, random_state=0).fit(X, y)
    X = rng.normal(size=(200, 3)) * [1, 1, 0.01] + np.c_[np.zeros((200, 2)), 0.01 * y]
    assert noisy.C_ < 0.1
    assert ClassifierHasher(8, C=7.0).fit(X, y).C_ == 7.0


@pytest.mark.parametrize(
    "y",
    [
        np.eye(10, dtype=int)[digits()[1][:100]] | np.eye(10, dtype=int)[0],
        np.c_[digits()[1][:100] // 3 + 2, digits()[1][:100]],
        digits()[0][:100, :3],
    ],
    ids=["label sets", "paths", "vectors"],
)
def test_only_class_labels_are_accepted(y):
    with pytest.raises(ValueError, match="class labels"):
        ClassifierHasher(8).fit(digits()[0][:100], y)


def test_y_is_needed_and_two_classes_of_it():
    X = digits()[0]
    with pytest.raises(ValueError, match="requires y to be passed"):
        ClassifierHasher(8).fit(X, None)
    with pytest.raises(ValueError, match="1 class of 50 rows"):
        ClassifierHasher(8).fit(X[:50], np.zeros(50))


@pytest.mark.parametrize("n", [2, 3, 5])
def test_few_rows(n):
    X, y = digits()
    assert ClassifierHasher(4, random_state=0).fit(X[:n], y[:n]).predict(X[:n]).shape == (n, 4)


@pytest.mark.learning
def test_strings_are_labels_too():
    X, y = digits()
    names = np.array(["zero", "one", "two", "three", "four", *"56789"])[y]
    hasher = ClassifierHasher(10, C=0.05, random_state=0).fit(X[:900], names[:900])
    assert hasher.score(X[900:], names[900:]) > 0.75


@pytest.mark.learning
def test_classes_that_were_not_seen_are_mixed_up():
    X, y = digits()
    seen = y < 6
    hasher = ClassifierHasher(32, random_state=0).fit(X[seen], y[seen])
    random = LSHHasher(32, random_state=0).fit(X[seen])
    scores = [
        tie_aware_average_precision_score(y[~seen], codes.predict(X[~seen]))
        for codes in (hasher, random)
    ]
    assert scores[0] < scores[1]
    assert hasher.score(X[seen], y[seen]) > 0.9


def test_as_many_classes_as_rows_are_classes():
    X = np.random.default_rng(0).normal(size=(30, 5))
    hasher = ClassifierHasher(8, random_state=0).fit(X, np.arange(30))  # and no warning
    assert len(hasher.classes_) == 30


def test_numbers_that_are_no_labels_are_refused_by_what_helps():
    X = np.random.default_rng(0).normal(size=(30, 5))
    message = r"integers or strings. Got non-integral numbers such as .* such as TALRLinear"
    with pytest.raises(ValueError, match=message):
        ClassifierHasher(8).fit(X, X[:, 0])


@pytest.mark.learning
def test_a_feature_in_another_unit_leaves_the_others_to_be_used():
    """It makes the others small inside, so that their weights have to be large."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 6, 240)
    X = 2 * rng.normal(size=(6, 5))[y] + rng.normal(size=(240, 5))
    scores = []
    for factor in (1, 1e4):
        X[:, 0] *= factor
        hasher = ClassifierHasher(16, random_state=0).fit(X[:120], y[:120])
        scores.append(hasher.score(X[120:], y[120:]))
    assert scores[1] > scores[0] - 0.05
