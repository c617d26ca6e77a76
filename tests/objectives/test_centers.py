"""Centers: against literal formulas and finite differences, and as an objective of learners."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits, make_multilabel_classification

from sklearn_hashrank import (
    ClassifierHasher,
    EuclideanAffinity,
    LabelAffinity,
    SharedLabelAffinity,
    TALRKernel,
    TALRLinear,
)
from sklearn_hashrank._learning.pair_relevance import PairRelevance
from sklearn_hashrank.codes._class_codes import hadamard_codes
from sklearn_hashrank.objectives import BaseObjective, Centers, Prefixes
from sklearn_hashrank.objectives._objective_checks import CheckedObjective
from tests.objectives.differences import central_differences
from tests.oracle.centers import centers_value

LABELS = np.array(["b", "a", "b", "c", "a", "c", "d"])
SETS = np.array(
    [[1, 0, 0, 1], [0, 1, 0, 0], [0, 0, 0, 0], [1, 1, 1, 0], [0, 0, 1, 1], [0, 0, 0, 1]]
)
FORMS = ["softmax", "bits"]


def members_of(y):
    """Indicator of the classes, in the order of their labels."""
    return y if y.ndim == 2 else (y[:, None] == np.unique(y)).astype(int)


def bound(objective, y):
    affinity = SharedLabelAffinity() if y.ndim == 2 else LabelAffinity()
    return objective.bind(affinity.fit(y), y)


@pytest.mark.parametrize("y", [LABELS, SETS], ids=["labels", "sets"])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("seed", range(3))
def test_values_are_those_of_literal_formulas(y, form, seed):
    rng = np.random.RandomState(seed)
    objective = Centers(form, scale=3.0, margin=0.3, quantization=0.1, random_state=seed)
    rows = rng.permutation(len(y))[:5]
    scores = rng.normal(size=(5, 6))
    value, gradient = bound(objective, y)(scores, rows)
    members = members_of(y)[rows]
    assert value == pytest.approx(centers_value(objective, scores, members, seed), rel=1e-10)
    if y.ndim == 2:
        sparse_value, _ = objective.bind(SharedLabelAffinity().fit(y), sparse.csr_matrix(y))(
            scores, rows
        )
        assert sparse_value == value
    expected = central_differences(
        lambda point: centers_value(objective, point, members, seed), scores, 1e-6
    )
    np.testing.assert_allclose(gradient, expected, atol=1e-8)


@pytest.mark.parametrize("form", FORMS)
def test_a_score_of_the_center_is_best(form):
    objective = Centers(form, quantization=0)
    evaluate = bound(objective, LABELS)
    centers = hadamard_codes(4, 8, 0)[np.unique(LABELS, return_inverse=True)[1]].astype(float)
    rows = np.arange(len(LABELS))
    best, gradient = evaluate(centers, rows)
    for seed in range(5):
        scores = np.random.RandomState(seed).normal(size=centers.shape)
        scores *= np.sqrt(8) / np.linalg.norm(scores, axis=1, keepdims=True)
        assert evaluate(scores, rows)[0] < best
    if form == "softmax":  # the length of a row has no part in it
        assert evaluate(7 * centers, rows)[0] == pytest.approx(best)
        np.testing.assert_allclose(np.einsum("ij,ij->i", gradient, centers), 0, atol=1e-12)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_extreme_scores_have_finite_gradients(form, dtype):
    evaluate = bound(Centers(form), LABELS)
    for scores in (np.zeros((7, 4)), np.full((7, 4), 1e15), np.full((7, 4), -1e-30)):
        value, gradient = evaluate(scores.astype(dtype), np.arange(7))
        assert np.isfinite(value)
        assert np.isfinite(gradient).all()
        assert gradient.dtype == dtype


def test_rows_of_many_labels_go_to_the_majority():
    codes = hadamard_codes(4, 16, 0).astype(float)
    objective = Centers("bits", scale=50.0, quantization=0)
    evaluate = bound(objective, SETS)
    votes = codes[:3].sum(axis=0)  # of three labels, without a tie
    value, _ = evaluate(np.sign(votes)[None], np.array([3]))
    assert value == pytest.approx(0, abs=1e-6)
    flipped = np.sign(votes)
    flipped[5] *= -1
    assert evaluate(flipped[None], np.array([3]))[0] < -1


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:900], y[:900], X[900:], y[900:]


@pytest.mark.learning
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("seed", range(2))
def test_learners_go_to_the_centers(digits, form, seed):
    X, y, X_new, y_new = digits
    hasher = TALRLinear(24, objective=Centers(form), max_iter=15, random_state=seed).fit(X, y)
    centers = hadamard_codes(10, 24, 0) > 0
    found = hasher.predict(X_new)
    to_centers = (found[:, None] != centers).sum(axis=2)
    assert np.mean(to_centers.argmin(axis=1) == y_new) > 0.75
    assert hasher.history_["objective"][-1] > hasher.history_["objective"][0]


@pytest.mark.learning
def test_label_sets_kernels_and_validation_learn(digits):
    X, Y = make_multilabel_classification(200, 12, n_classes=5, random_state=0)
    hasher = TALRLinear(
        12, objective=Centers(), max_iter=5, early_stopping=True, random_state=0
    ).fit(X, Y)
    assert len(hasher.history_["validation"]) == 5
    as_sparse = TALRLinear(
        12, objective=Centers(), max_iter=5, early_stopping=True, random_state=0
    ).fit(X, sparse.csr_matrix(Y))
    np.testing.assert_array_equal(hasher.components_, as_sparse.components_)
    X, y, *_ = digits
    kernel = TALRKernel(16, objective=Centers(), max_iter=3, random_state=0).fit(X[:200], y[:200])
    assert kernel.score(X[:200], y[:200]) > 0.5


def test_prefixes_of_centers_are_centers(digits):
    X, y, *_ = digits
    for seed in range(3):
        np.testing.assert_array_equal(
            hadamard_codes(10, 40, seed)[:, :7], hadamard_codes(10, 7, seed)
        )
    objective = Centers(quantization=0.1)
    affinity = LabelAffinity().fit(y)
    scores, rows = np.random.RandomState(0).normal(size=(9, 8)), np.arange(9)
    value, gradient = Prefixes(objective, (3, 8)).bind(affinity, y)(scores, rows)
    each = [objective.bind(affinity, y)(np.ascontiguousarray(scores[:, :n]), rows) for n in (3, 8)]
    assert value == pytest.approx(np.mean([v for v, _ in each]))
    np.testing.assert_allclose(gradient[:, 3:], each[1][1][:, 3:] / 2)
    fitted = TALRLinear(8, objective=objective, prefixes=(4, 8), max_iter=2, random_state=0)
    assert fitted.fit(X, y).truncate(4).n_bits_ == 4


def test_the_classifier_has_the_same_codes(digits):
    X, y, *_ = digits
    hasher = ClassifierHasher(12, codes="hadamard", C=0.01, random_state=3).fit(X[:300], y[:300])
    np.testing.assert_array_equal(hasher.codebook_, hadamard_codes(10, 12, 3))


@pytest.mark.parametrize("n_classes", [1, 2, 10, 150, 200])
def test_codes_of_classes_are_far_apart(n_classes):
    codes = hadamard_codes(n_classes, 64, 0).astype(int)
    distances = (64 - codes @ codes.T) / 2
    apart = distances[~np.eye(n_classes, dtype=bool)]
    assert (apart > 0).all()
    assert n_classes < 3 or abs(apart.mean() - 32) < 3
    with pytest.raises(ValueError, match="n_bits.* 0"):
        hadamard_codes(n_classes, 0)


def test_what_has_no_centers_is_refused(digits):
    X, y, *_ = digits
    with pytest.raises(ValueError, match="class labels or label sets"):
        TALRLinear(8, objective=Centers()).fit(X)
    with pytest.raises(ValueError, match="class labels or label sets.*EuclideanAffinity"):
        TALRLinear(8, objective=Centers(), affinity=EuclideanAffinity()).fit(X, X[:, :3])
    with pytest.raises(ValueError, match="classes of all rows"):
        TALRLinear(8, objective=Centers()).partial_fit(X, y)
    with pytest.raises(ValueError, match="levels of pairs"):
        Centers().value_and_gradient(X[:3], np.zeros((3, 3), np.uint8), np.array([0.0, 1.0]))
    with pytest.raises(ValueError, match="'form' parameter of Centers"):
        TALRLinear(8, objective=Centers("cosine")).fit(X, y)


class Sums(BaseObjective):
    """An objective of a user that learns from rows: scores times y."""

    def __init__(self, result=None):
        self.result = result

    def value_and_gradient(self, scores, level, levels):
        raise AssertionError("never called")

    def bind(self, affinity, y):
        if self.result is not None:
            return self.result
        y = np.asarray(y, dtype=float)[:, None]
        return lambda scores, rows: (float((scores * y[rows]).sum()), y[rows] + 0 * scores)


def test_objectives_of_users_learn_from_rows(digits):
    X, *_ = digits
    y = (X[:, 20] > 8).astype(int)
    hasher = TALRLinear(2, objective=Sums(), max_iter=5, random_state=0).fit(X, y)
    assert (hasher.components_[:, 20] > 0).all()
    assert hasher.history_["objective"][-1] > hasher.history_["objective"][0]


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (3, r"Sums.bind\(affinity, y\) must be callable. Got 3"),
        (
            lambda scores, rows: 0.0,
            r"Sums.bind\(.*\) must return a finite float and a finite array",
        ),
        (lambda scores, rows: (np.nan, scores), "a value of nan"),
    ],
)
def test_bad_results_of_rows_are_refused(result, message):
    checked = CheckedObjective(Sums(result))

    def evaluate():
        checked.bind(PairRelevance(LabelAffinity().fit([0, 1]), [0, 1]))
        checked.of(np.arange(2))(np.zeros((2, 3)))

    with pytest.raises(ValueError, match=message):
        evaluate()


@pytest.mark.parametrize("form", FORMS)
def test_stored_zeros_are_no_labels_and_labels_stay_as_they_are(form):
    dense = SETS.astype(np.float64)
    stored = sparse.csr_array(np.ones_like(dense))
    stored.data[:] = dense.ravel()
    rows, scores = np.arange(len(dense)), np.random.RandomState(0).normal(size=(len(dense), 6))
    value, gradient = bound(Centers(form), dense)(scores, rows)
    found = Centers(form).bind(SharedLabelAffinity().fit(stored), stored)(scores, rows)
    assert found[0] == value
    np.testing.assert_array_equal(found[1], gradient)
    assert stored.nnz == dense.size
    np.testing.assert_array_equal(stored.toarray(), dense)
