"""DispersionHasher: that it learns, spreads codes, orders label paths; its options and errors."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.decomposition import PCA

from sklearn_hashrank import (
    DispersionHasher,
    EuclideanAffinity,
    HierarchicalAffinity,
    LabelAffinity,
    LSHHasher,
)
from sklearn_hashrank.codes import hamming_distances
from sklearn_hashrank.objectives import Dispersed
from sklearn_hashrank.objectives._objective_names import ZONES
from tests.retrieval import retrieve, shuffled_digits

SUPERCLASS = np.array([2, 3, 4, 4, 3, 4, 2, 3, 2, 4])


@pytest.fixture
def digits():
    return shuffled_digits()


def paths(y):
    return np.column_stack([SUPERCLASS[y], y])


@pytest.mark.learning
@pytest.mark.parametrize("objective", sorted(ZONES))
def test_every_objective_learns(digits, objective):
    X, y, X_query, y_query = digits
    if objective in ("hierarchical", "nested"):
        y, y_query = paths(y), paths(y_query)
    hasher = DispersionHasher(16, objective=objective, max_iter=30, random_state=0).fit(X, y)
    random = LSHHasher(16, random_state=0).fit(X, y)
    random.affinity_ = hasher.affinity_
    learned, random = (retrieve(h, X, y, X_query, y_query) for h in (hasher, random))
    assert learned > random + (1 - random) / 3
    values = hasher.history_["objective"]
    assert len(values) == hasher.n_iter_ == 30
    assert values[0] < values[-1] < 0


@pytest.mark.learning
@pytest.mark.parametrize("objective", ["dsh", "dispersed"])
def test_stochastic_gradient_ascent_learns_too(digits, objective):
    X, y, X_query, y_query = digits
    hasher = DispersionHasher(16, objective=objective, solver="sgd", max_iter=20, random_state=0)
    assert retrieve(hasher.fit(X, y), X, y, X_query, y_query) > 0.6


def test_a_farther_zone_spreads_a_class_over_more_codes(digits):
    X, y, *_ = digits
    options = {"n_bits": 12, "max_iter": 30, "random_state": 0}
    same = y[:, None] == y
    within, used = [], []
    for zone in [(0, 0), (1 / 3, 2 / 3), (2 / 3, 1)]:
        hasher = DispersionHasher(objective=Dispersed(zone=zone), **options).fit(X, y)
        codes = hasher.predict(X)
        within.append(hamming_distances(codes, codes)[same].mean())
        used.append(len(np.unique(hasher.codes_, axis=0)))
    assert within[0] < within[1] - 0.1 < within[2] - 0.2
    assert used[0] < used[1] < used[2]


@pytest.mark.parametrize(
    ("objective", "margin", "zone"),
    [
        ("dsh", 2.0, (1 / 6, 1 / 3)),
        ("dispersed", 1.0, (1 / 3, 2 / 3)),
        ("hierarchical", 1.0, (2 / 3, 1.0)),
    ],
)
def test_margin_and_zone_are_chosen_for_the_objective(digits, objective, margin, zone):
    X, y, *_ = digits
    y = paths(y) if objective == "hierarchical" else y
    options = {"n_bits": 6, "max_iter": 2, "random_state": 0}
    chosen, given, paper = (
        DispersionHasher(objective=each, **options).fit(X, y).components_
        for each in (
            objective,
            ZONES[objective](margin=margin, zone=zone),
            ZONES[objective](margin=2.0, zone=(1 / 6, 1 / 3)),
        )
    )
    assert_array_equal(chosen, given)
    assert np.array_equal(chosen, paper) == (objective == "dsh")


@pytest.mark.learning
def test_label_paths_are_ordered(digits):
    X, y, X_query, y_query = digits
    hasher = DispersionHasher(24, objective="hierarchical", random_state=0).fit(X, paths(y))
    assert isinstance(hasher.affinity_, HierarchicalAffinity)
    level = hasher.affinity_.pairwise(paths(y_query), paths(y))
    distance = hamming_distances(hasher.predict(X_query), hasher.predict(X))
    means = [distance[level == v].mean() for v in (2, 1, 0)]
    assert means[0] + 0.3 < means[1] < means[2] - 2


def test_only_the_hierarchical_objective_tells_levels_apart(digits):
    X, y, *_ = digits
    options = {"n_bits": 8, "max_iter": 3, "random_state": 0}
    for objective in ("dsh", "dispersed"):
        binary = DispersionHasher(objective=objective, **options).fit(X, SUPERCLASS[y])
        graded = DispersionHasher(objective=objective, **options).fit(X, paths(y))
        assert_array_equal(graded.codes_, binary.codes_)
    graded = DispersionHasher(objective="hierarchical", **options).fit(X, paths(y))
    assert np.any(graded.codes_ != binary.codes_)


def test_graded_levels_of_any_affinity_make_a_hierarchy(digits):
    X, *_ = digits
    affinity = EuclideanAffinity((20, 5), (1, 3))
    options = {"objective": "hierarchical", "affinity": affinity, "random_state": 0}
    hasher = DispersionHasher(8, max_iter=2, **options).fit(X[:200])
    assert np.isfinite(hasher.components_).all()


@pytest.mark.slow
@pytest.mark.learning
@pytest.mark.parametrize("objective", ["dsh", "dispersed"])
def test_principal_components_do_as_well_as_the_features(digits, objective):
    X, y, X_query, y_query = digits
    scores = []
    for prepare in (np.asarray, PCA(60, random_state=0).fit(X).transform):
        values = [
            retrieve(
                DispersionHasher(16, objective=objective, random_state=seed).fit(prepare(X), y),
                prepare(X),
                y,
                prepare(X_query),
                y_query,
            )
            for seed in range(3)
        ]
        scores.append(np.mean(values))
    assert scores[1] > scores[0] - 0.01


@pytest.mark.learning
@pytest.mark.parametrize("as_sparse", [False, True])
def test_partial_fit_comes_near_the_quality_of_fit(digits, as_sparse):
    X, y, X_query, y_query = digits
    fitted = DispersionHasher(16, max_iter=20, batch_size=128, random_state=0).fit(X, y)
    streamed = DispersionHasher(16, batch_size=128, random_state=0)
    rng = np.random.default_rng(0)
    for _ in range(30):
        for rows in np.array_split(rng.permutation(len(X)), 7):
            block = sparse.csr_matrix(X[rows]) if as_sparse else X[rows]
            streamed.partial_fit(block, y[rows])
    scores = [retrieve(hasher, X, y, X_query, y_query) for hasher in (fitted, streamed)]
    assert scores[0] - scores[1] < 0.03
    assert not hasattr(streamed, "codes_")


def test_early_stopping_keeps_the_best_weights(digits):
    X, y, *_ = digits
    hasher = DispersionHasher(
        16,
        early_stopping=True,
        validation_fraction=0.2,
        n_iter_no_change=3,
        learning_rate=0.05,
        schedule="constant",
        weight_decay=0,
        max_iter=100,
        random_state=0,
    ).fit(X, y)
    values = hasher.history_["validation"]
    assert len(values) == hasher.n_iter_ < 100
    assert np.argmax(values) == len(values) - 1 - 3
    validation = np.random.RandomState(0).permutation(len(X))[:180]
    objective = ZONES["dispersed"]()
    level = (y[validation][:, None] == y[validation]).astype(np.uint8)
    scores = hasher.decision_function(X[validation])
    best, _ = objective.value_and_gradient(scores, level, np.array([0.0, 1.0]))
    assert best == pytest.approx(max(values), rel=1e-4)


def test_same_random_state_same_codes_and_a_warm_start_goes_on(digits):
    X, y, *_ = digits
    hasher = DispersionHasher(8, max_iter=5, random_state=0, warm_start=True).fit(X, y)
    again = clone(hasher).fit(X, y)
    assert_array_equal(hasher.components_, again.components_)
    first = hasher.history_["objective"][0]
    assert hasher.fit(X, y).history_["objective"][0] > first
    assert np.any(clone(hasher).set_params(random_state=1).fit(X, y).codes_ != again.codes_)


@pytest.mark.parametrize(
    "make",
    [
        lambda X, y: (np.repeat(X[:40], 5, axis=0), np.repeat(y[:40], 5)),
        lambda X, y: (X[:3], np.array([0, 0, 1])),
        lambda X, y: (X[:100], np.arange(100) // 99),
        lambda X, y: (X[:100], np.maximum(np.arange(100), 1)),
        lambda X, y: (np.zeros((20, 4)), y[:20]),
    ],
    ids=["duplicates", "three rows", "one other row", "one pair", "constant"],
)
@pytest.mark.parametrize("objective", ["dsh", "dispersed"])
@pytest.mark.filterwarnings("ignore:all rows of X are equal")
def test_odd_data_gives_finite_projections(digits, make, objective):
    X, y = make(*digits[:2])
    for batch_size in ("auto", 2):
        hasher = DispersionHasher(20, objective=objective, batch_size=batch_size, max_iter=3)
        assert np.isfinite(hasher.fit(X, y).components_).all()
        assert np.isfinite(hasher.decision_function(X)).all()


@pytest.mark.parametrize(
    ("y", "affinity", "got"),
    [
        ([0, 0, 1, 1], "auto", "Got LabelAffinity with 1 level above 0"),
        ([0, 0, 1, 1], LabelAffinity(), "Got LabelAffinity with 1 level above 0"),
        ([[5], [5], [6], [6]], HierarchicalAffinity(), "HierarchicalAffinity with 1 level above"),
        ([[0, 1], [0, 0], [1, 0], [1, 1]], "auto", "SharedLabelAffinity with 2 levels above 0"),
        (None, "auto", "Got NeighborAffinity with 3 levels above 0"),
    ],
)
def test_a_hierarchy_is_asked_for(digits, y, affinity, got):
    X = digits[0][:4]
    hasher = DispersionHasher(4, objective="hierarchical", affinity=affinity)
    message = rf"needs superclasses: y as label paths .* \(n_samples, depth\).*{got}"
    for fit in (hasher.fit, hasher.partial_fit):
        with pytest.raises(ValueError, match=message):
            fit(X, y)


def test_a_hierarchy_is_asked_for_when_the_objective_changes(digits):
    X, y, *_ = digits
    hasher = DispersionHasher(4, objective="dsh", random_state=0).partial_fit(X[:50], y[:50])
    with pytest.raises(ValueError, match="needs superclasses"):
        hasher.set_params(objective="hierarchical").partial_fit(X[50:], y[50:])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"margin": -1.0}, "'margin' parameter .* Got -1.0 instead"),
        ({"regularization": -1.0}, "'regularization' parameter .* Got -1.0 instead"),
        ({"zone": 0.3}, "'zone' parameter .* Got 0.3 instead"),
        ({"zone": (0.3, 0.2)}, r"0 <= low <= high. Got \(0.3, 0.2\) instead"),
        ({"zone": (-0.1, 0.2)}, r"0 <= low <= high. Got \(-0.1, 0.2\) instead"),
        ({"zone": (0.1, 0.2, 0.3)}, "two distances per bit"),
        ({"zone": ("near", "far")}, "two distances per bit"),
        ({"zone": (0.1, np.nan)}, "two distances per bit"),
    ],
)
def test_bad_options_are_refused(digits, options, message):
    X, y, *_ = digits
    with pytest.raises(ValueError, match=message):
        DispersionHasher(objective=Dispersed(**options)).fit(X[:100], y[:100])


def test_an_unknown_name_is_refused(digits):
    X, y, *_ = digits
    with pytest.raises(ValueError, match="'objective'.*'l2'"):
        DispersionHasher(objective="l2").fit(X[:100], y[:100])
