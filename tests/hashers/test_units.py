"""Features of mixed units: learning from y does not depend on them, and codes of one unit stay."""

import functools
import warnings

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning

from sklearn_hashrank import load_hasher, save_hasher
from sklearn_hashrank._features import scaling as _scaling
from tests.instances import ENCODERS, needs_y

N_BITS = 12
# These do not learn from y. The unit of a feature is the user's: it says how much it counts.
WITHOUT_Y = (
    *("SignHasher", "LSHHasher", "KLSHHasher", "WTAHasher", "CMHHasher", "SKLSHHasher"),
    *("PCAHasher", "ITQHasher", "AGHHasher", "SpectralHasher", "SphericalHasher", "DensityHasher"),
    "BinaryAutoencoderHasher",
)
LEARNERS = [h for h in ENCODERS if type(h).__name__ not in WITHOUT_Y]
BY_DISTANCES = [
    h for h in LEARNERS if type(h).__name__ in ("KSHHasher", "BREHasher", "SSHHasher", "TALRKernel")
]
every_learner = pytest.mark.parametrize("hasher", LEARNERS, ids=repr)
every_learner_by_distances = pytest.mark.parametrize("hasher", BY_DISTANCES, ids=repr)


@functools.cache
def digits(seed=0):
    X, y = load_digits(return_X_y=True)
    rows = np.random.RandomState(seed).permutation(len(y))
    train, new = rows[:500], rows[500:900]
    return X[train], y[train], X[new], y[new]


def with_unit(X, factor, n_features=1, seed=0):
    """Some features that vary much, in another unit."""
    by_deviation = np.argsort(-digits()[0].std(axis=0))
    X = X.copy()
    X[:, by_deviation[5 * seed : 5 * seed + n_features]] *= factor
    return X


def learn(hasher, X, y=None, seed=0):
    hasher = clone(hasher).set_params(n_bits=N_BITS)
    if "random_state" in hasher.get_params():
        hasher.set_params(random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return hasher.fit(X, y)


@functools.cache
def learned(name, factor=1.0, seed=0):
    """A hasher that several tests look at, and change nothing of."""
    X, y, *_ = digits(seed)
    hasher = {repr(h): h for h in ENCODERS}[name]
    return learn(hasher, with_unit(X, factor, seed=seed), y, seed)


def quality(hasher, factor=1.0, n_features=1, dtype=np.float64):
    """Mean of three splits, seeds and choices of the feature, because one of them is noisy."""
    scores = []
    for seed in range(3):
        X, y, new, y_new = digits(seed)
        X, new = (with_unit(each, factor, n_features, seed).astype(dtype) for each in (X, new))
        is_shared = n_features == 1 and dtype is np.float64
        fitted = learned(repr(hasher), factor, seed) if is_shared else learn(hasher, X, y, seed)
        scores.append(fitted.score(new, y_new))
    return np.mean(scores)


@functools.cache
def quality_in_one_unit(name):
    return quality({repr(h): h for h in ENCODERS}[name])


@pytest.mark.learning
@every_learner
def test_a_feature_in_another_unit_costs_little(hasher):
    """A large one: a feature that is too small to count is one of 64 that are missing."""
    assert quality(hasher, 1e4) > quality_in_one_unit(repr(hasher)) - 0.05


@pytest.mark.learning
@every_learner_by_distances
@pytest.mark.parametrize(
    ("factor", "n_features", "dtype"),
    [(100, 1, "float64"), (1e4, 5, "float32"), (1e12, 1, "float32")],
)
def test_so_do_other_factors_and_several_features(hasher, factor, n_features, dtype):
    found = quality(hasher, factor, n_features, dtype)
    assert found > quality_in_one_unit(repr(hasher)) - 0.05


@pytest.mark.learning
@every_learner_by_distances
def test_many_quiet_features_do_not_pull_down_the_others(hasher):
    X, y, new, y_new = digits()
    noise = 0.01 * np.random.default_rng(0).normal(size=(len(X) + len(new), 150))
    found = learn(hasher, np.c_[X, noise[: len(X)]], y)
    expected = learned(repr(hasher)).score(new, y_new)
    assert found.score(np.c_[new, noise[len(X) :]], y_new) > expected - 0.05


@every_learner
def test_features_of_one_unit_have_the_same_codes_to_the_last_bit(hasher, monkeypatch):
    X, y, new, _ = digits()
    found = learned(repr(hasher)).decision_function(new)
    monkeypatch.setattr(_scaling, "in_one_unit", lambda deviations: deviations)
    assert_array_equal(learn(hasher, X, y).decision_function(new), found)


@pytest.mark.parametrize("hasher", [h for h in BY_DISTANCES if not needs_y(h)], ids=repr)
def test_without_y_distances_stay_those_of_the_rows(hasher, monkeypatch):
    X, _, new, _ = digits()
    X, new = with_unit(X, 1e4), with_unit(new, 1e4)
    found = learn(hasher, X).decision_function(new)
    monkeypatch.setattr(_scaling, "in_one_unit", lambda deviations: pytest.fail("was asked"))
    assert_array_equal(learn(hasher, X).decision_function(new), found)


@every_learner_by_distances
@pytest.mark.parametrize("factor", [1e-30, 1e4, 1e12])
def test_sparse_rows_have_the_same_codes(hasher, factor):
    X, y, new, _ = digits()
    X, new = with_unit(X, factor), with_unit(new, factor)
    rows = learn(hasher, sparse.csr_array(X), y)
    expected = learned(repr(hasher), factor).transform(new)
    for form in (np.asarray, sparse.csr_array):
        assert np.mean(rows.transform(form(new)) != expected) < 0.01


@every_learner_by_distances
def test_a_file_keeps_the_units(hasher, tmp_path):
    *_, new, _ = digits()
    hasher = learned(repr(hasher), 1e4)
    save_hasher(tmp_path / "hasher.npz", hasher)
    loaded, new = load_hasher(tmp_path / "hasher.npz"), with_unit(new, 1e4)
    assert_array_equal(loaded.decision_function(new), hasher.decision_function(new))
    assert_array_equal(hasher.encode_blocks(new, batch_size=37), hasher.packed_codes(new))


@pytest.mark.parametrize("name", ["KSHHasher", "TALRKernel"])
def test_anchors_are_rows_in_the_units_of_the_features(name):
    X = with_unit(digits()[0], 1e4)
    [hasher] = [h for h in BY_DISTANCES if type(h).__name__ == name]
    anchors = learned(repr(hasher), 1e4).anchors_[:5]
    nearest = np.abs(X[:, None] - anchors).max(axis=2).min(axis=0)
    assert np.all(nearest < 1e-9 * X.max())


@pytest.mark.parametrize("name", ["TALRLinear", "RSHHasher", "LWHHasher", "DispersionHasher"])
def test_a_feature_that_is_rounding_has_no_weight(name):
    """Embeddings of float32 may have one, which is another number on another machine."""
    hasher = next(h for h in LEARNERS if type(h).__name__ == name)
    X, y, new, _ = (each.astype(np.float32) for each in digits())
    deviation = 1e-8 * np.median(X.std(axis=0))

    def with_errors(rows, seed, size=1.0):
        errors = size * deviation * np.random.RandomState(seed).normal(size=(len(rows), 1))
        return np.hstack([rows, errors]).astype(np.float32)

    fitted = learn(hasher, with_errors(X, 0), y.astype(int))
    assert_array_equal(fitted.components_[:, -1], 0)
    codes = fitted.predict(with_errors(new, 1, 0))
    for size in (1, 100):
        assert_array_equal(fitted.predict(with_errors(new, 2, size)), codes)
