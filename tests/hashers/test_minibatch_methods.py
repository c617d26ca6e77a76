"""MIHasher, DPSHHasher, DTSHHasher, HashNetHasher: that they learn, and what tells them apart."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from sklearn_hashrank import (
    DPSHHasher,
    DTSHHasher,
    HashNetHasher,
    LSHHasher,
    MIHasher,
    TALRLinear,
)
from sklearn_hashrank.objectives import DPSH, DTSH, HashNet, MutualInformation
from sklearn_hashrank.solvers.stochastic import SOLVERS
from tests.retrieval import retrieve, shuffled_digits

OBJECTIVES = {
    MIHasher: MutualInformation,
    DPSHHasher: DPSH,
    DTSHHasher: DTSH,
    HashNetHasher: HashNet,
}

every_hasher = pytest.mark.parametrize("make", OBJECTIVES)


@pytest.fixture(scope="module")
def digits():
    return shuffled_digits()


@every_hasher
def test_learns(digits, make):
    X, y, X_query, y_query = digits
    hasher = make(16, max_iter=20, random_state=0).fit(X, y)
    random = LSHHasher(16, random_state=0).fit(X, y)
    learned, random = (retrieve(h, X, y, X_query, y_query) for h in (hasher, random))
    assert learned > random + (1 - random) / 3
    values = hasher.history_["objective"]
    assert values[0] < values[-1]


@pytest.mark.parametrize("make", [MIHasher, DPSHHasher, DTSHHasher, HashNetHasher])
def test_objective_serves_the_other_trainers(digits, make):
    X, y, *_ = digits
    options = {"max_iter": 3, "random_state": 0}
    steady = {"alpha_end": None} if make is HashNetHasher else {}
    hasher = make(8, **steady, **options)
    objective, _ = hasher._choose_objective(None)
    assert isinstance(objective, OBJECTIVES[make])
    assert_array_equal(
        TALRLinear(8, objective=objective, **options).fit(X, y).codes_, hasher.fit(X, y).codes_
    )


def test_mutual_information_has_a_name(digits):
    X, y, *_ = digits
    options = {"max_iter": 3, "random_state": 0}
    named = TALRLinear(8, objective="mi", **options).fit(X, y)
    assert_array_equal(named.components_, MIHasher(8, **options).fit(X, y).components_)
    with pytest.raises(ValueError, match="'relaxation' parameter .* Got 'simplified'"):
        TALRLinear(8, objective="mi", relaxation="simplified").fit(X, y)


@every_hasher
def test_levels_above_zero_are_relevant(digits, make):
    X, y, *_ = digits
    paths = np.column_stack([y // 4, y])
    options = {"n_bits": 6, "max_iter": 2, "random_state": 0}
    graded, binary = make(**options).fit(X, paths), make(**options).fit(X, y // 4)
    assert_array_equal(graded.codes_, binary.codes_)


@every_hasher
def test_scale_and_offset_of_features_do_not_matter(digits, make):
    X, y, X_query, y_query = digits
    scores = []
    for change in (lambda X: X, lambda X: 1000 * X + 7):
        values = [
            retrieve(
                make(16, max_iter=10, random_state=seed).fit(change(X), y),
                change(X),
                y,
                change(X_query),
                y_query,
            )
            for seed in range(3)
        ]
        scores.append(np.mean(values))
    assert scores[0] == pytest.approx(scores[1], abs=0.01)


@every_hasher
def test_partial_fit_learns_from_blocks(digits, make):
    X, y, X_query, y_query = digits
    streamed = make(16, batch_size=128, random_state=0)
    rng = np.random.default_rng(0)
    for _ in range(10):
        for rows in np.array_split(rng.permutation(len(X)), 4):
            streamed.partial_fit(sparse.csr_matrix(X[rows]), y[rows])
    random = LSHHasher(16, random_state=0).fit(X, y)
    streamed.codes_ = None
    learned, random = (retrieve(h, X, y, X_query, y_query) for h in (streamed, random))
    assert learned > random + (1 - random) / 4


@every_hasher
def test_early_stopping_validates(digits, make):
    X, y, *_ = digits
    options = {"early_stopping": True, "n_iter_no_change": 1, "max_iter": 60, "random_state": 0}
    hasher = make(8, learning_rate=0.1, schedule="constant", **options).fit(X, y)
    assert len(hasher.history_["validation"]) == hasher.n_iter_ < 60


@every_hasher
@pytest.mark.parametrize("solver", sorted(SOLVERS))
@pytest.mark.parametrize("n_classes", [2, 99])
def test_odd_data_gives_finite_projections(digits, make, solver, n_classes):
    X = digits[0][:100]
    for batch_size in ("auto", 2):
        hasher = make(20, solver=solver, batch_size=batch_size, max_iter=3, random_state=0)
        assert np.isfinite(hasher.fit(X, np.arange(100) % n_classes).components_).all()


@every_hasher
def test_stochastic_gradient_ascent_learns_too(digits, make):
    X, y, X_query, y_query = digits
    hasher = make(16, solver="sgd", max_iter=20, random_state=0).fit(X, y)
    assert retrieve(hasher, X, y, X_query, y_query) > 0.6


def test_steepness_grows_to_its_end(digits):
    X, y, *_ = digits
    objective, (grow,) = HashNetHasher(alpha=2.0, alpha_end=5.0)._choose_objective(None)
    steepness = []
    for progress in (0, 0.25, 0.5, 1):
        grow(progress)
        steepness.append(objective.alpha)
    assert steepness[0] == 2
    assert steepness[-1] == 5
    assert np.allclose(np.diff(np.square(steepness)), np.array([0.25, 0.25, 0.5]) * 21)
    steady = HashNetHasher(8, alpha_end=None, max_iter=2, random_state=0).fit(X, y)
    growing = HashNetHasher(8, max_iter=2, random_state=0).fit(X, y)
    assert np.any(steady.components_ != growing.components_)


@pytest.mark.parametrize(
    ("hasher", "name"),
    [
        (MIHasher(alpha=0), "alpha"),
        (MIHasher(n_bins=0), "n_bins"),
        (DPSHHasher(regularization=-1), "regularization"),
        (DTSHHasher(margin=-1), "margin"),
        (HashNetHasher(scale=0), "scale"),
        (HashNetHasher(alpha_end=0), "alpha_end"),
    ],
)
def test_bad_options_are_refused(digits, hasher, name):
    X, y, *_ = digits
    with pytest.raises(ValueError, match=f"The '{name}' parameter of .* Got"):
        hasher.fit(X, y)
