"""What scikit-learn asks of every estimator, and what this package asks of every hasher."""

import copy
import functools

import joblib
import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import parametrize_with_checks
from threadpoolctl import threadpool_limits

from sklearn_hashrank import KSHHasher, LSHHasher, RSHHasher, TALRLinear
from sklearn_hashrank.affinity._euclidean import EuclideanAffinity
from sklearn_hashrank.affinity._labels import LabelAffinity, SharedLabelAffinity
from sklearn_hashrank.base import LinearHasher
from sklearn_hashrank.codes import unpack_codes
from sklearn_hashrank.metrics import tie_aware_average_precision_score
from tests.blas import blas_threads
from tests.instances import ENCODERS, needs_y
from tests.naming import naming

# Checks that compare codes or learn from rows of another shape, for which it matters how many
# bits there are, and how rows are encoded. What the others look at is the same for every instance
# of a class, or has a test of its own below.
CHECKS_OF_CODES = {
    "check_array_api_input",
    "check_estimators_dtypes",
    "check_fit2d_1feature",
    "check_fit2d_1sample",
    "check_fit_idempotent",
    "check_methods_sample_order_invariance",
    "check_methods_subset_invariance",
    "check_transformer_general",
}

ONE_OF_EACH_CLASS = {type(hasher): hasher for hasher in reversed(ENCODERS)}.values()

# What check_estimator leaves to each package. Frames are made around `transform`: one class is
# enough of those that share it.
EXTRA_CHECKS = [
    "check_param_validation",
    "check_set_output_transform",
    "check_transformer_get_feature_names_out",
    "check_transformer_get_feature_names_out_pandas",
    "check_dataframe_column_names_consistency",
    "check_inplace_ensure_writeable",
]
CHECKS_OF_FRAMES = [
    "check_set_output_transform_pandas",
    "check_set_output_transform_polars",
    "check_global_output_transform_pandas",
    "check_global_set_output_transform_polars",
]


def makes_frames(hasher):
    """The methods that frames are made around."""
    names = ("transform", "fit_transform", "get_feature_names_out")
    return tuple(getattr(type(hasher), name) for name in names)


# The checks do so on purpose.
mixes_arrays_and_frames = pytest.mark.filterwarnings(
    "ignore:X (does not have valid|has) feature names:UserWarning"
)
ONE_OF_EACH_TRANSFORM = {makes_frames(hasher): hasher for hasher in ONE_OF_EACH_CLASS}.values()


def every(condition, numbers_of_bits=(5,), hashers=ENCODERS):
    """Parametrize by the hashers that a condition holds for."""
    hashers = [
        clone(hasher).set_params(n_bits=n_bits)
        for hasher in hashers
        if condition(hasher)
        for n_bits in numbers_of_bits
    ]
    return pytest.mark.parametrize("hasher", hashers, ids=repr)


every_hasher = every(lambda hasher: True)
every_class = every(lambda hasher: True, hashers=ONE_OF_EACH_CLASS)
every_linear_hasher = every(lambda hasher: isinstance(hasher, LinearHasher))
every_hasher_without_y = every(lambda hasher: not needs_y(hasher))


@parametrize_with_checks(list(ONE_OF_EACH_CLASS))
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("hasher", ENCODERS, ids=repr)
def test_scikit_learn_checks_with_several_bits(hasher):
    done = set()
    hasher = clone(hasher).set_params(n_bits=2)
    for estimator, check in estimator_checks.estimator_checks_generator(hasher, legacy=True):
        name = getattr(check, "func", check).__name__
        if name in CHECKS_OF_CODES:
            with naming(name):
                check(estimator)
            done.add(name)
    assert CHECKS_OF_CODES - done <= {"check_array_api_input"}  # scikit-learn 1.7 leaves it out


# As many bits as these checks have features; a single one where that may matter, to the columns
# of one class, because all classes share them.
@mixes_arrays_and_frames
@pytest.mark.parametrize(
    "hasher",
    [clone(hasher).set_params(n_bits=2) for hasher in ONE_OF_EACH_CLASS]
    + [LSHHasher(1, random_state=0)],
    ids=repr,
)
def test_checks_left_out_by_check_estimator(hasher):
    for name in EXTRA_CHECKS:
        with naming(name):
            if name == "check_inplace_ensure_writeable" and not hasattr(hasher, "copy"):
                # It sets a parameter `copy`; without one, nothing may be written in place at all.
                X, y = make_blobs(random_state=0)
                X.setflags(write=False)
                assert clone(hasher).fit(X, y).transform(X).flags.writeable
            else:
                getattr(estimator_checks, name)(type(hasher).__name__, clone(hasher))


@mixes_arrays_and_frames
@pytest.mark.parametrize("n_bits", [1, 2])
@pytest.mark.parametrize("hasher", ONE_OF_EACH_TRANSFORM, ids=repr)
def test_frames_come_out(hasher, n_bits):
    for name in CHECKS_OF_FRAMES:
        with naming(name):
            several = clone(hasher).set_params(n_bits=n_bits)
            getattr(estimator_checks, name)(type(hasher).__name__, several)


@functools.cache
def labeled_blobs():
    return make_blobs(n_samples=120, n_features=6, centers=4, random_state=0)


_fitted = {}


def fitted(hasher):
    """A copy of a hasher that several tests look at, fitted to the blobs once."""
    if repr(hasher) not in _fitted:
        _fitted[repr(hasher)] = clone(hasher).fit(*labeled_blobs())
    return copy.deepcopy(_fitted[repr(hasher)])


@every_hasher
def test_outputs_are_one_code_in_three_formats(hasher):
    X, _ = labeled_blobs()
    hasher = fitted(hasher)
    bits = hasher.set_params(output="bits").transform(X)
    assert bits.dtype == np.uint8
    assert bits.shape == (len(X), hasher.n_bits)
    np.testing.assert_array_equal(bits, hasher.decision_function(X) > 0)
    np.testing.assert_array_equal(bits, hasher.predict(X))
    signs = hasher.set_params(output="signs").transform(X)
    assert signs.dtype == np.int8
    np.testing.assert_array_equal(signs, 2 * bits.astype(int) - 1)
    packed = hasher.set_params(output="packed").transform(X)
    assert packed.dtype == np.uint8
    np.testing.assert_array_equal(packed, np.packbits(bits, axis=1))
    np.testing.assert_array_equal(unpack_codes(packed, hasher.n_bits), bits)
    np.testing.assert_array_equal(hasher.codes_, packed)


@every_linear_hasher
def test_code_is_the_sign_of_the_linear_projection(hasher):
    X, _ = labeled_blobs()
    hasher = fitted(hasher)
    projections = X @ hasher.components_.T + hasher.intercept_
    np.testing.assert_allclose(hasher.decision_function(X), projections, rtol=1e-10, atol=1e-10)
    hasher.intercept_ = np.zeros(hasher.n_bits)
    np.testing.assert_array_equal(hasher.predict(np.zeros_like(X[:1])), 0)  # zero is bit 0


@every_hasher
def test_float32_stays_float32(hasher):
    X, y = labeled_blobs()
    hasher = clone(hasher).fit(X.astype(np.float32), y)
    assert hasher.decision_function(X.astype(np.float32)).dtype == np.float32
    if isinstance(hasher, LinearHasher):
        assert hasher.components_.dtype == hasher.intercept_.dtype == np.float32


@every_hasher
def test_sparse_input_gives_the_same_codes(hasher):
    X, y = labeled_blobs()
    dense, from_sparse = fitted(hasher), clone(hasher).fit(sparse.csr_matrix(X), y)
    if isinstance(hasher, RSHHasher):  # more bits than directions are defined up to a rotation
        found, expected = (h.components_.T @ h.components_ for h in (from_sparse, dense))
        np.testing.assert_allclose(found, expected, atol=1e-6)
        dense = from_sparse
    elif isinstance(hasher, LinearHasher):
        np.testing.assert_allclose(from_sparse.components_, dense.components_, atol=1e-6)
    np.testing.assert_array_equal(from_sparse.transform(sparse.csr_array(X)), dense.transform(X))


@every_hasher
def test_entries_of_sparse_rows_may_be_sums(hasher):
    X, y = labeled_blobs()
    rows = sparse.csr_matrix(np.round(X))
    parts = np.repeat(rows.data / 2, 2), np.repeat(rows.indices, 2), 2 * rows.indptr
    sums = sparse.csr_matrix(parts, shape=rows.shape)
    codes = clone(hasher).fit(rows, y).predict(rows)
    assert np.mean(clone(hasher).fit(sums, y).predict(sums) == codes) > 0.99
    assert sums.nnz == 2 * rows.nnz


@every_hasher
def test_codes_survive_pickling(hasher, tmp_path):
    X, _ = labeled_blobs()
    hasher = fitted(hasher)
    joblib.dump(hasher, tmp_path / "hasher.joblib")
    np.testing.assert_array_equal(
        joblib.load(tmp_path / "hasher.joblib").transform(X), hasher.transform(X)
    )


@every_hasher
def test_score_is_tie_aware_average_precision(hasher):
    X, y = labeled_blobs()
    hasher = fitted(hasher)
    expected = tie_aware_average_precision_score(y, hasher.predict(X))
    assert hasher.score(X, y) == pytest.approx(expected, abs=1e-12)
    assert isinstance(hasher.affinity_, LabelAffinity)


@every_hasher_without_y
def test_score_without_y_compares_the_rows_themselves(hasher):
    X, y = labeled_blobs()
    X = np.repeat(X[:60], 2, axis=0)  # every row has one that is equal, so none is left undefined
    y = np.repeat(y[:60], 2)
    unlabeled = clone(hasher).fit(X)
    score = unlabeled.score(X)
    learned = "affinity" in hasher.get_params()
    assert not hasattr(unlabeled, "y_")
    assert hasattr(unlabeled, "affinity_") == learned
    expected = tie_aware_average_precision_score(
        X, unlabeled.predict(X), affinity=EuclideanAffinity()
    )
    assert score == pytest.approx(expected, abs=1e-12)
    from_sparse = clone(hasher).fit(sparse.csr_matrix(X))
    assert from_sparse.score(sparse.csr_matrix(X)) == pytest.approx(score, abs=1e-3)
    assert 0 < clone(hasher).set_params(n_bits=1).fit(X[:, :1]).score(X[:, :1]) < 1
    for labels in (y, X):
        with pytest.raises(ValueError, match="y=None"):
            clone(hasher).fit(X, labels).score(X)


@every_hasher
def test_n_bits_set_after_fit_changes_nothing(hasher):
    X, y = labeled_blobs()
    hasher = fitted(hasher)
    score, n_bits = hasher.score(X, y), hasher.n_bits
    for output in ("bits", "signs", "packed"):
        hasher.set_params(output=output)
        codes, names = hasher.transform(X), hasher.get_feature_names_out()
        for changed in (1, n_bits + 9):
            hasher.set_params(n_bits=changed)
            np.testing.assert_array_equal(hasher.transform(X), codes)
            assert len(hasher.get_feature_names_out()) == len(names) == codes.shape[1]
            assert hasher.score(X, y) == score


@every_class
def test_a_fitted_hasher_shows_itself(hasher):
    if "affinity" in hasher.get_params():
        hasher = clone(hasher).set_params(affinity=LabelAffinity())
    assert type(hasher).__name__ in fitted(hasher)._repr_html_()


@every_hasher
def test_score_checks_features_and_warns_when_all_is_relevant(hasher):
    X, y = labeled_blobs()
    hasher = fitted(hasher)
    with pytest.raises(ValueError, match="5 features.* 6 features"):
        hasher.score(X[:, :5], y)
    with pytest.warns(UserWarning, match="(?i)every pair"):
        assert hasher.score(X, np.zeros(len(X), dtype=int)) == 1


# Of hashers that learn from no affinity, from one of all rows, and from one of minibatches.
@pytest.mark.parametrize("make", [LSHHasher, KSHHasher, RSHHasher, TALRLinear])
def test_refit_forgets_the_old_affinity(make):
    X, y = labeled_blobs()
    hasher = make(5, random_state=0).fit(X, y)
    assert hasher.score(X, y) > 0
    Y = np.eye(4, dtype=int)[y]
    Y[0] = 1  # with one label in every row they would be classes
    hasher.fit(X, Y).score(X, Y)
    assert isinstance(hasher.affinity_, SharedLabelAffinity)


@every_class
def test_fit_keeps_blas_to_one_thread(hasher, monkeypatch):
    def keep_database(*_):
        seen.append(blas_threads())

    seen, (X, y) = [], labeled_blobs()
    monkeypatch.setattr(type(hasher), "_keep_database", keep_database)
    with threadpool_limits(2, user_api="blas"):
        clone(hasher).fit(X, y)
        assert seen == [{1}]
        assert blas_threads() == {2}
