"""Signs of the features: what they are compared with, truncation, and sparse rows."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from sklearn_hashrank import SignHasher, load_hasher, save_hasher
from sklearn_hashrank.comparison import compare, method_from_name
from sklearn_hashrank.model_selection import RandomRetrievalSplit

X = np.round(np.random.default_rng(0).exponential(size=(61, 7)), 1) - 0.5
CENTERS = {True: X.mean(axis=0), False: np.zeros(7), "median": np.median(X, axis=0)}


@pytest.mark.parametrize("center", CENTERS)
@pytest.mark.parametrize("n_bits", [None, 1, 3, 7])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, sparse.csr_matrix])
def test_a_bit_says_whether_a_feature_is_above_its_center(center, n_bits, form):
    hasher = SignHasher(n_bits, center=center).fit(form(X))
    assert_array_equal(hasher.transform(form(X)), (CENTERS[center] < X)[:, :n_bits])
    assert_array_equal(hasher.components_, np.eye(7)[:n_bits])
    assert hasher.n_bits_ == (n_bits or 7)


@pytest.mark.filterwarnings("ignore:all rows of X are equal")
def test_zero_is_bit_0():
    assert_array_equal(SignHasher(center=False).fit(X).transform(np.zeros((1, 7))), 0)
    assert_array_equal(SignHasher(center="median").fit(np.ones((5, 2))).codes_, 0)


@pytest.mark.parametrize("center", [True, "median"])
def test_codes_do_not_depend_on_scale_and_offset(center):
    codes = SignHasher(center=center).fit(X).transform(X)
    changed = SignHasher(center=center).fit(1000 * X + 7).transform(1000 * X + 7)
    assert np.mean(codes != changed) < 1e-2  # ties with a median may round


def test_medians_of_sparse_rows_with_repeated_entries():
    rows = sparse.csr_matrix(X)
    parts = np.repeat(rows.data / 2, 2), np.repeat(rows.indices, 2), 2 * rows.indptr
    sums = sparse.csr_matrix(parts, shape=rows.shape)
    codes = SignHasher(center="median").fit(sums).transform(sums)
    assert_array_equal(codes, CENTERS["median"] < X)
    assert sums.nnz == 2 * rows.nnz


def test_many_features_need_no_matrix_of_them(tmp_path):
    n_features = 200_000  # whose identity matrix has 320 GB
    wide = sparse.random_array((20, n_features), density=1e-3, random_state=0, format="csr")
    hasher = SignHasher(16).fit(wide)
    assert hasher.transform(wide).shape == (20, 16)
    hasher = SignHasher().fit(wide)
    assert hasher.n_bits_ == n_features
    assert hasher.codes_.shape == (20, n_features // 8)


def test_it_survives_a_file(tmp_path):
    hasher = SignHasher(5, center="median", output="packed").fit(X)
    save_hasher(tmp_path / "sign.npz", hasher)
    loaded = load_hasher(tmp_path / "sign.npz")
    assert_array_equal(loaded.transform(X), hasher.transform(X))
    assert_array_equal(loaded.components_, hasher.components_)


def test_more_bits_than_features_are_refused():
    with pytest.raises(ValueError, match="n_bits=8 .*n_features = 7"):
        SignHasher(8).fit(X)
    with pytest.raises(ValueError, match="'center'.*SignHasher"):
        SignHasher(center="mean").fit(X)


def test_the_method_is_named_sign():
    assert isinstance(method_from_name("sign:center=False"), SignHasher)
    asked = {"methods": ["sign"], "seeds": 1, "protocol": RandomRetrievalSplit(5, 20)}
    assert [result.n_bits for result in compare(X, n_bits=[4], **asked).results] == [4]
    with pytest.raises(ValueError, match="'sign' with 8 bits: .* n_features = 7"):
        compare(X, n_bits=[4, 8], **asked)
