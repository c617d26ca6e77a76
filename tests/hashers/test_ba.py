"""Binary autoencoders: decoder, descent, encoding and decoding."""

import functools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits

from sklearn_hashrank import BinaryAutoencoderHasher, ITQHasher, SphericalHasher, TALRLinear
from sklearn_hashrank._solvers.binary_autoencoder import (
    fit_decoder,
    reconstruct_in_turn,
    signs_of_least_error,
)
from sklearn_hashrank.interop._folding import fold
from tests.oracle import reconstruction


def problem(seed, n_rows=30, n_bits=6, n_features=4):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n_rows, n_features))
    rows -= rows.mean(axis=0)
    rows /= np.sqrt((rows**2).sum(axis=1).mean())
    signs = np.where(rng.random((n_rows, n_bits)) < 0.4, 1.0, -1.0)
    return rows, signs


@functools.cache
def digits():
    return load_digits(return_X_y=True)


@functools.cache
def fitted(encoder="descent", n_bits=24):
    X, _ = digits()
    hasher = BinaryAutoencoderHasher(n_bits, encoder=encoder, random_state=0)
    return hasher.fit(X[:1000])


def relative_error(X, decoded):
    return ((X - decoded) ** 2).sum() / ((X - X.mean(axis=0)) ** 2).sum()


@given(st.integers(0, 10_000), st.sampled_from([1e-6, 1e-3, 1.0]))
def test_the_decoder_is_a_ridge_regression(seed, ridge):
    rows, signs = problem(seed)
    decoder, offset, explained = fit_decoder(rows, signs, ridge)
    expected, expected_offset = reconstruction.ridge_decoder(rows, signs, ridge)
    np.testing.assert_allclose(decoder, expected, atol=1e-8)
    np.testing.assert_allclose(offset, expected_offset, atol=1e-8)
    errors = ((rows - signs @ decoder - offset) ** 2).sum(axis=1).mean()
    penalized = errors + ridge * (decoder**2).sum()
    assert explained == pytest.approx((rows**2).sum(axis=1).mean() - penalized, abs=1e-9)


@given(st.integers(0, 10_000), st.integers(1, 9))
def test_descent_is_the_literal_one(seed, n_bits):
    rows, signs = problem(seed, 5, n_bits)
    decoder, offset = np.random.default_rng(seed).normal(size=(n_bits, 4)), np.full(4, 0.1)
    fields, found = (rows - offset) @ decoder.T, signs.copy()
    signs_of_least_error(fields, decoder @ decoder.T, found)
    np.testing.assert_array_equal(fields > 0, found > 0)
    for row, start, code, field in zip(rows, signs, found, fields):
        expected, errors = reconstruction.descend(row, start, decoder, offset)
        np.testing.assert_array_equal(code, expected)
        assert np.all(np.diff(errors) <= 1e-12)
        for bit in range(n_bits):  # fields are what a flip costs
            flipped = code.copy()
            flipped[bit] *= -1
            rise = reconstruction.error(row, flipped, decoder, offset) - errors[-1]
            assert rise == pytest.approx(4 * abs(field[bit]), abs=1e-9)
        best = reconstruction.best_code(row, decoder, offset)
        assert errors[-1] >= reconstruction.error(row, best, decoder, offset) - 1e-12


@given(st.integers(0, 10_000))
def test_what_is_explained_never_falls(seed):
    rows, signs = problem(seed)
    decoder, offset, explained = reconstruct_in_turn(rows, signs, 8, 1e-3, 0.0)
    assert np.all(np.diff(explained) >= -1e-12)
    expected, expected_offset = reconstruction.ridge_decoder(rows, signs, 1e-3)
    np.testing.assert_allclose(decoder, expected, atol=1e-8)
    np.testing.assert_allclose(offset, expected_offset, atol=1e-8)


def test_codes_are_those_of_the_literal_descent():
    X, _ = digits()
    hasher, rows = fitted(), X[1000:1030]
    decoder, offset = (each.astype(float) for each in (hasher.decoder_, hasher.decoder_intercept_))
    starts = np.where(rows @ hasher.components_.T + hasher.intercept_ > 0, 1.0, -1.0)
    expected = [
        reconstruction.descend(row, start, decoder, offset)[0] for row, start in zip(rows, starts)
    ]
    np.testing.assert_array_equal(hasher.predict(rows), np.array(expected) > 0)


def test_decoding_inverts_in_every_format():
    X, _ = digits()
    hasher, rows = fitted(), X[1000:]
    decoded = [
        hasher.set_params(output=output).inverse_transform(hasher.transform(rows))
        for output in ("signs", "packed", "bits")
    ]
    signs = 2.0 * hasher.predict(rows) - 1
    expected = signs @ hasher.decoder_ + hasher.decoder_intercept_
    for each in decoded:
        np.testing.assert_allclose(each, expected)
    assert relative_error(rows, expected) < 0.5
    with pytest.raises(ValueError, match="codes"):
        hasher.inverse_transform(np.full((1, 24), 7))


@pytest.mark.learning
def test_descent_reconstructs_better_than_hyperplanes_and_those_than_itq():
    X, _ = digits()
    train, new = X[:1000], X[1000:]
    errors = {}
    for name, hasher in {
        "descent": fitted(),
        "hyperplanes": fitted("hyperplanes"),
        "start": BinaryAutoencoderHasher(
            24, encoder="hyperplanes", max_iter=0, start=ITQHasher(), random_state=0
        ).fit(train),
    }.items():
        errors[name] = relative_error(new, hasher.inverse_transform(hasher.predict(new)))
    assert errors["descent"] < errors["hyperplanes"] < errors["start"] + 0.02
    assert errors["descent"] < 0.95 * errors["start"]


def test_errors_fall_and_end():
    error = fitted().errors_
    assert len(error) == fitted().n_iter_ + 1 > 2
    assert np.all(np.diff(error) <= 0)
    assert 0 < error[-1] < 1


def test_start_is_cloned_and_its_codes_are_kept_without_iterations():
    X, _ = digits()
    start = TALRLinear(max_iter=2)
    hasher = BinaryAutoencoderHasher(
        8, start=start, max_iter=0, encoder="hyperplanes", random_state=3
    ).fit(X[:300])
    assert not hasattr(start, "components_")
    again = BinaryAutoencoderHasher(
        8, start=start, max_iter=0, encoder="hyperplanes", random_state=3
    ).fit(X[:300])
    np.testing.assert_array_equal(hasher.codes_, again.codes_)


def test_more_bits_than_features_and_rows():
    X = np.random.default_rng(0).normal(size=(12, 3))
    hasher = BinaryAutoencoderHasher(20, random_state=0).fit(X)
    assert hasher.transform(X).shape == (12, 20)
    assert relative_error(X, hasher.inverse_transform(hasher.transform(X))) < 0.05


def test_wide_sparse_rows_are_not_made_dense():
    X = sparse.random(200, 50_000, density=1e-3, format="csr", random_state=0)
    hasher = BinaryAutoencoderHasher(4, max_iter=2, random_state=0).fit(X)
    assert hasher.transform(X).shape == (200, 4)


def test_changed_encoder_after_fit_changes_nothing():
    X, _ = digits()
    hasher = BinaryAutoencoderHasher(8, random_state=0).fit(X[:300])
    codes = hasher.predict(X)
    np.testing.assert_array_equal(hasher.set_params(encoder="hyperplanes").predict(X), codes)


def test_hyperplanes_are_exported_and_descent_is_not():
    X, _ = digits()
    codes, hasher = fitted("hyperplanes").predict(X), fitted("hyperplanes")
    normals, offsets = fold(clone(hasher).fit(X[:1000])).hyperplanes
    np.testing.assert_array_equal(X @ normals.T + offsets > 0, codes)
    normals, offsets = hasher.hyperplanes()
    np.testing.assert_array_equal(X @ normals.T + offsets > 0, codes)
    with pytest.raises(TypeError, match="Binary.*encoder='hyperplanes'"):
        fold(fitted())
    with pytest.raises(TypeError, match="SphericalHasher"):
        fold(SphericalHasher(4, random_state=0).fit(X[:100]))
