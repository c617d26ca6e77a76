"""Binary autoencoders whose decoder looks nibbles or bytes up in tables."""

import functools
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_digits

from sklearn_hashrank import BinaryAutoencoderHasher, load_hasher, save_hasher
from sklearn_hashrank._features.nearest_rows import METRICS
from sklearn_hashrank._solvers.table_decoder import (
    coupling_of,
    decode,
    fit_tables,
    reconstruct_by_tables,
    values_of_least_error,
)
from sklearn_hashrank.interop._folding import fold
from sklearn_hashrank.neighbors import DecodedNeighbors
from tests.oracle import reconstruction

DECODERS = {"nibbles": 4, "bytes": 8}


def problem(seed, n_rows=25, n_parts=3, size=4, n_features=3):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n_rows, n_features))
    codes = rng.integers(0, size, (n_rows, n_parts))
    return rows, codes, rng.normal(size=(n_parts, size, n_features))


@functools.cache
def digits():
    return load_digits().data


@functools.cache
def fitted(decoder, encoder="descent", n_bits=13):
    return BinaryAutoencoderHasher(
        n_bits, decoder=decoder, encoder=encoder, max_iter=3, random_state=0
    ).fit(digits()[:700])


@given(st.integers(0, 10_000))
def test_descent_is_the_literal_one(seed):
    rows, codes, tables = problem(seed)
    entries = tables.reshape(-1, tables.shape[2])
    fields = rows @ entries.T - (entries**2).sum(axis=1) / 2
    found = codes.copy()
    values_of_least_error(fields, coupling_of(tables), found)
    expected = [reconstruction.descend_by_tables(*pair, tables) for pair in zip(rows, codes)]
    np.testing.assert_array_equal(found, expected)
    # what is left in the fields names the values, and is what a change would cost
    of_parts = fields.reshape(len(rows), *tables.shape[:2])
    np.testing.assert_array_equal(of_parts.argmax(axis=2), found)
    changed = found.copy()
    changed[:, 1] = (changed[:, 1] + 1) % tables.shape[1]
    errors = [((rows - decode(tables, each)) ** 2).sum(axis=1) for each in (found, changed)]
    every = np.arange(len(rows))
    ahead = of_parts[every, 1, found[:, 1]] - of_parts[every, 1, changed[:, 1]]
    np.testing.assert_allclose(errors[1] - errors[0], 2 * ahead, atol=1e-9)


@given(st.integers(0, 10_000), st.sampled_from([0.0, 0.5, 10.0]))
def test_each_table_is_the_best_when_the_others_stay(seed, ridge):
    rows, codes, base = problem(seed)
    tables = base + 0.1
    before = reconstruction.penalized_error(rows, codes, tables, base, ridge)
    residual = fit_tables(rows, codes, tables, base, ridge)
    after = reconstruction.penalized_error(rows, codes, tables, base, ridge)
    assert after <= before + 1e-12
    left = rows - reconstruction.decoded_by_tables(tables, codes)
    np.testing.assert_allclose(residual, left, atol=1e-12)
    # the last table was set last: its derivative is zero wherever a row names the entry
    for value in range(tables.shape[1]):
        names = codes[:, -1] == value
        slope = ridge * (tables[-1, value] - base[-1, value]) - residual[names].sum(axis=0)
        np.testing.assert_allclose(slope, 0, atol=1e-9)


@given(st.integers(0, 10_000), st.sampled_from([0.0, 1.0]))
def test_errors_never_rise_and_forbidden_entries_stay_unnamed(seed, ridge):
    rows, codes, base = problem(seed)
    codes[:, 2] %= 2
    beyond = [10, 11]  # the third part may be 0 or 1
    tables, errors = reconstruct_by_tables(rows, codes, base, 6, ridge, 0.0, beyond)
    assert np.all(np.diff(errors) <= 1e-12)
    assert codes[:, 2].max() < 2
    expected = reconstruction.penalized_error(rows, codes, tables, base, ridge)
    assert errors[-1] == pytest.approx(expected)


@pytest.mark.parametrize("decoder", DECODERS)
@pytest.mark.parametrize("n_bits", [13, 16])
def test_decoding_sums_the_entries_that_codes_name(decoder, n_bits):
    hasher, rows = fitted(decoder, n_bits=n_bits), digits()[700:740]
    codes = hasher.predict(rows)
    width = DECODERS[decoder]
    padded = np.zeros((len(rows), 16), int)
    padded[:, :n_bits] = codes
    values = padded.reshape(len(rows), -1, width) @ (1 << np.arange(width)[::-1])
    expected = reconstruction.decoded_by_tables(hasher.decoder_, values)
    expected += hasher.decoder_intercept_
    np.testing.assert_allclose(hasher.inverse_transform(codes), expected)
    assert np.all((hasher.decision_function(rows) > 0) == codes)
    assert hasher.decoder_.shape == (16 // width, 1 << width, 64)


@pytest.mark.parametrize("decoder", DECODERS)
def test_codes_are_where_no_part_wants_to_change(decoder):
    hasher, rows = fitted(decoder), digits()[700:715].astype(float)
    width = DECODERS[decoder]
    codes = np.pad(hasher.predict(rows), ((0, 0), (0, 3)))
    values = codes.reshape(len(rows), -1, width) @ (1 << np.arange(width)[::-1])
    tables = hasher.decoder_.astype(float)
    errors = ((rows - hasher.decoder_intercept_ - decode(tables, values)) ** 2).sum(axis=1)
    for part in range(values.shape[1]):
        for value in range(1 << width):
            if part == values.shape[1] - 1 and value % 8:
                continue  # bits 14 to 16, which the code does not have
            changed = values.copy()
            changed[:, part] = value
            other = rows - hasher.decoder_intercept_ - decode(tables, changed)
            assert np.all((other**2).sum(axis=1) >= errors - 1e-9)


@pytest.mark.parametrize("decoder", DECODERS)
def test_equal_rows_have_equal_codes(decoder):
    X = digits()[700:800]
    codes = fitted(decoder).predict(X)
    for rows in (X[::-1], np.repeat(X, 3, axis=0), sparse.csr_matrix(X)):
        again = fitted(decoder).predict(rows)
        if rows.shape[0] == len(X):
            np.testing.assert_array_equal(again, codes if sparse.issparse(rows) else codes[::-1])
        else:
            np.testing.assert_array_equal(again, np.repeat(codes, 3, axis=0))
    alone = [fitted(decoder).predict(X[i : i + 1])[0] for i in range(20)]
    np.testing.assert_array_equal(alone, codes[:20])


def test_equal_entries_leave_no_code_to_chance():
    """Two features and 16 bits: rows that no entry tells apart, and a row of zeros."""
    X = np.repeat(np.eye(2), 30, axis=0)
    hasher = BinaryAutoencoderHasher(16, decoder="bytes", random_state=0).fit(X)
    codes = hasher.predict(np.vstack([X, np.zeros((1, 2))]))
    assert len(np.unique(codes[:60], axis=0)) == 2
    np.testing.assert_array_equal(hasher.predict(np.zeros((1, 2)))[0], codes[60])


@pytest.mark.parametrize("decoder", DECODERS)
def test_files_and_pickles_leave_out_what_follows_from_the_tables(tmp_path, decoder):
    hasher, X = fitted(decoder), digits()[700:760]
    codes = hasher.predict(X)
    save_hasher(tmp_path / "hasher", hasher)
    assert pickle.loads(pickle.dumps(hasher))._gram is None
    for again in (pickle.loads(pickle.dumps(hasher)), load_hasher(tmp_path / "hasher")):
        np.testing.assert_array_equal(again.predict(X), codes)
        np.testing.assert_array_equal(again.decoder_, hasher.decoder_)


def test_auto_takes_tables_where_there_are_rows_for_them():
    X = np.random.default_rng(0).normal(size=(512, 3))
    shapes = {
        (n_bits, n_rows): BinaryAutoencoderHasher(n_bits, max_iter=0).fit(X[:n_rows]).decoder_.shape
        for n_bits, n_rows in ((8, 511), (8, 512), (136, 512))
    }
    assert shapes == {(8, 511): (8, 3), (8, 512): (1, 256, 3), (136, 512): (34, 16, 3)}


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix])
def test_cv_takes_the_decoder_that_reconstructs_other_rows(make):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 30))[rng.integers(0, 20, 600)]  # twenty values: a table holds them
    hasher = BinaryAutoencoderHasher(8, decoder="cv", max_iter=3, random_state=0).fit(make(X))
    assert hasher.decoder_.shape == (1, 256, 30)
    assert list(hasher.cv_errors_) == ["linear", "nibbles", "bytes"]
    # the errors are those of rows that are held out
    is_held_out = (order := np.random.RandomState(0)).permutation(600) % 3 == 0
    seed = order.randint(np.iinfo(np.int32).max)
    for decoder, error in hasher.cv_errors_.items():
        plain = BinaryAutoencoderHasher(8, decoder=decoder, max_iter=3, random_state=seed)
        decoded = plain.fit(make(X[~is_held_out])).inverse_transform(plain.predict(X[is_held_out]))
        expected = np.mean((X[is_held_out] - decoded) ** 2) / X[is_held_out].var(axis=0).mean()
        assert error == pytest.approx(expected)


def test_errors_of_cv_do_not_depend_on_the_unit():
    """Squares of numbers next to the ends of float32 would be 0 or infinite there."""
    X = np.random.default_rng(0).normal(size=(60, 5)).astype(np.float32)
    errors = [
        BinaryAutoencoderHasher(8, decoder="cv", max_iter=1, random_state=0)
        .fit(np.ldexp(X, exponent))
        .cv_errors_
        for exponent in (0, 80, -100)
    ]
    assert errors[0]["linear"] > 0.1
    assert errors[1] == pytest.approx(errors[0])
    assert errors[2] == pytest.approx(errors[0])


def test_cv_is_linear_where_tables_learn_by_heart():
    X = np.random.default_rng(0).normal(size=(90, 12))
    hasher = BinaryAutoencoderHasher(16, decoder="cv", max_iter=3, random_state=0).fit(X)
    assert hasher.decoder_.shape == (16, 12)
    assert not hasattr(hasher.set_params(decoder="bytes").fit(X), "cv_errors_")
    wide = BinaryAutoencoderHasher(136, decoder="cv", max_iter=0).fit(X)
    assert list(wide.cv_errors_) == ["linear", "nibbles"]
    with pytest.raises(ValueError, match="6.*n_samples = 5"):
        hasher.set_params(decoder="cv").fit(X[:5])


def test_a_second_fit_forgets_the_tables():
    hasher = BinaryAutoencoderHasher(8, decoder="bytes", max_iter=1).fit(digits()[:300])
    hasher.set_params(decoder="linear").fit(digits()[:300])
    assert hasher.decoder_.shape == (8, 64)
    again = BinaryAutoencoderHasher(8, decoder="linear", max_iter=1)
    assert hasher.transform(digits()).shape == again.fit(digits()).transform(digits()).shape


@pytest.mark.learning
@pytest.mark.parametrize("decoder", DECODERS)
def test_tables_reconstruct_new_rows_better_than_linear_decoders(decoder):
    errors = {}
    for name in ("linear", decoder):
        for encoder in ("descent", "hyperplanes"):
            hasher = fitted(name, encoder, 16)
            decoded = hasher.inverse_transform(hasher.predict(digits()[700:]))
            errors[name, encoder] = ((digits()[700:] - decoded) ** 2).sum()
    assert errors[decoder, "descent"] < 0.98 * errors["linear", "descent"]
    assert errors[decoder, "descent"] < errors[decoder, "hyperplanes"]


def test_hyperplanes_are_exported():
    hasher, X = fitted("bytes", "hyperplanes"), digits()[700:]
    normals, offsets = fold(hasher).hyperplanes
    np.testing.assert_array_equal(X @ normals.T + offsets > 0, hasher.predict(X))
    with pytest.raises(TypeError, match="half-spaces"):
        fold(fitted("bytes"))


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("decoder", DECODERS)
def test_the_index_ranks_by_what_codes_decode_to(decoder, metric):
    hasher, X = fitted(decoder), digits()
    codes = hasher.predict(X)
    index = DecodedNeighbors(hasher, 12, metric=metric).fit(codes)
    distances, indices = index.kneighbors(X[:9])
    decoded = hasher.inverse_transform(codes).astype(float)
    if metric == "inner_product":
        expected = -X[:9] @ decoded.T
    elif metric == "cosine":
        lengths = np.linalg.norm(X[:9], axis=1)[:, None] * np.linalg.norm(decoded, axis=1)
        expected = 1 - X[:9] @ decoded.T / lengths
    else:
        expected = np.linalg.norm(X[:9, None] - decoded, axis=2)
    size = np.abs(expected).max()
    np.testing.assert_allclose(distances, np.sort(expected, axis=1)[:, :12], atol=2e-5 * size)
    found = np.take_along_axis(expected, indices, axis=1)
    np.testing.assert_allclose(distances, found, atol=2e-5 * size)
